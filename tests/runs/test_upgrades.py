"""A run of an older version, read as if this one had written it."""

import json
import shutil
from pathlib import Path

import pytest

from simcounsel.engine.forking import fork
from simcounsel.errors import RunError
from simcounsel.runs import upgrades
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.specs.world_settings import MemorySettings
from simcounsel.viewer import parts
from tests.each import each
from tests.stage import go_on


@pytest.fixture
def old(lived: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lived run as an imaginary version 0 would have written it: `activity` was called `does`, `world` `town`."""
    folder = Path(shutil.copytree(lived.folder, tmp_path / "old"))
    log = (folder / "events.jsonl").read_text(encoding="utf-8")
    (folder / "events.jsonl").write_text(log.replace('"activity":', '"does":'), encoding="utf-8")
    data = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    data |= {"schema_version": 0, "town": data.pop("world")}
    (folder / "manifest.json").write_text(json.dumps(data), encoding="utf-8")

    def event(fields: upgrades.Fields) -> upgrades.Fields:
        return json.loads(json.dumps(fields).replace('"does":', '"activity":'))  # type: ignore[no-any-return]

    def manifest(fields: upgrades.Fields) -> upgrades.Fields:
        return {"world" if key == "town" else key: value for key, value in fields.items()}

    monkeypatch.setitem(upgrades.UPGRADES, 0, (manifest, event))
    return folder


def test_it_is_read_as_of_today(old: Path, lived: Run) -> None:
    run = Run.open(old)
    assert run.world == lived.world
    assert list(run.entries()) == list(lived.entries())


def test_the_viewer_shows_it(old: Path, lived: Run) -> None:
    log, today = Log(old), Log(lived.folder)
    for one in (log, today):
        one.refresh()
    assert log.problems() == []
    assert parts.overview(History(log)) | {"run": "", "size": 0} == parts.overview(
        History(today)
    ) | {"run": "", "size": 0}


def test_it_cannot_be_gone_on_with_but_forked(old: Path, tmp_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in old.glob("*.json*")}
    with pytest.raises(
        RunError,
        match="written with log version 0; it can be looked at and forked, but not gone on with",
    ):
        go_on(Run.open(old))
    assert go_on(fork(Run.open(old), 6, {}, tmp_path / "forks")).ticks_done() == 12
    assert {file.name: file.read_bytes() for file in old.glob("*.json*")} == before


def test_without_a_step_it_is_refused(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(upgrades.UPGRADES, 0)
    with pytest.raises(RunError, match="written with log version 0, this simcounsel reads 5"):
        Run.open(old)


@pytest.mark.parametrize(
    ("reason", "forced", "resumed"),
    [
        ("broken off: time is nearly up", True, False),
        ("taken up again where it was broken off; day 2 of 8", False, True),
        ("sufficient: 24 words", False, False),
    ],
)
def test_version_1_said_in_prose_what_ended_a_session(
    reason: str, forced: bool, resumed: bool
) -> None:
    old = {"kind": "transitioned", "reason": reason}
    assert upgrades.event_of_today(old, 1) == old | {"forced": forced, "resumed": resumed}
    other = {"kind": "judged", "reason": reason}
    assert upgrades.event_of_today(other, 1) == other


@pytest.mark.parametrize(
    ("kind", "before", "now"),
    [("said", "stressed", "emphasis"), ("client_shifted", "guard", "defense")],
)
def test_version_1_had_other_names(kind: str, before: str, now: str) -> None:
    old = {"kind": kind, "chat": "2:Ines+Miriam", before: "x"}
    assert upgrades.event_of_today(old, 1) == {"kind": kind, "chat": "2:Ines+Miriam", now: "x"}
    other = {"kind": "judged", before: "x"}
    assert upgrades.event_of_today(other, 1) == other


@each(
    ("before", "now"),
    [
        (
            {"kind": "remembered", "memory": {"id": "1:Ines:1", "company": ["Miriam"]}},
            {"kind": "remembered", "memory": {"id": "1:Ines:1", "present": ["Miriam"]}},
        ),
        (
            {
                "kind": "decided",
                "policy": "changing",
                "move": "guard",
                "options": ["guard", "early"],
            },
            {
                "kind": "decided",
                "policy": "changing",
                "move": "defending",
                "options": ["defending", "early"],
            },
        ),
        (
            {"kind": "session_ended", "cause": "told"},
            {"kind": "session_ended", "cause": "disclosed"},
        ),
        (
            {
                "kind": "measured",
                "instrument": "safety_audit",
                "items": [{"id": "taken_up", "value": 1}],
            },
            {
                "kind": "measured",
                "instrument": "safety_audit",
                "items": [{"id": "acknowledged", "value": 1}],
            },
        ),
    ],
)
def test_version_2_had_other_names(before: dict[str, object], now: dict[str, object]) -> None:
    assert upgrades.event_of_today(before, 2) == now
    assert upgrades.event_of_today(before, 1)["kind"] == now["kind"]
    of_others = before | {"kind": "mypackage.noted"}
    assert upgrades.event_of_today(of_others, 2) == of_others


def test_version_3_counted_resistance_and_named_two_policies() -> None:
    old = {
        "kind": "client_shifted",
        "who": "Ines",
        "chat": "2:Ines+Miriam",
        "resistance": 6.25,
        "mood": 4,
        "defense": 1,
        "softened": [0, 1],
    }
    assert upgrades.event_of_today(old, 3) == {
        "kind": "client_shifted",
        "who": "Ines",
        "chat": "2:Ines+Miriam",
        "before": 3.75,
        "openness": 3.75,
        "claimed": 3.75,
        "touched": "D2",
    }
    residents = [{"name": "Ines", "policy": {"name": "changing"}}, {"name": "Omar", "policy": None}]
    now = upgrades.manifest_of_today({"world": {"residents": residents}, "schema_version": 3})
    assert now["world"]["residents"] == [
        {"name": "Ines", "policy": None, "client_state": "moves"},
        {"name": "Omar", "policy": None},
    ]


def test_in_version_3_everything_could_come_to_mind() -> None:
    world = {"residents": [], "memory": {"top_k": 3}}
    now = upgrades.manifest_of_today({"world": world, "schema_version": 3})
    settings = MemorySettings.model_validate(now["world"]["memory"])
    plain = MemorySettings(
        top_k=3,
        only_lived=False,
        habituation_lines=0,
        initial_most=None,
        initial_age_hours=0,
        conclusions_replace=False,
    )
    assert now["world"]["feelings_fade_minutes"] is None
    assert settings == plain != MemorySettings(top_k=3)


def test_version_3_knew_one_skill_of_a_line() -> None:
    kept = {"kind": "reasoned", "who": "Miriam", "chat": "1:Ines+Miriam", "strategy": "slowly"}
    assert upgrades.event_of_today(kept | {"skill": "pin_down"}, 3) == kept | {
        "skills": ("pin_down",)
    }
    assert upgrades.event_of_today(kept | {"skill": None}, 3) == kept | {"skills": ()}


def test_in_version_4_the_detector_was_its_words() -> None:
    heard = {"kind": "assessed", "who": "Ines", "level": "low", "by": "detector"}
    assert upgrades.event_of_today(heard, 4) == heard | {"by": "words"}
    judged = heard | {"by": "model"}
    assert upgrades.event_of_today(judged, 4) == judged
