"""Studies of recall, of persona consistency and of how realistic a change is: what raters see, what the key knows, what the CSV says."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.engine.recalling import recalled_in_ways
from simcounsel.errors import StudyError
from simcounsel.runs.run import Run
from simcounsel.studies.answers import Answer, append
from simcounsel.studies.from_runs import WAYS
from simcounsel.studies.instrument import load_instrument
from simcounsel.studies.items import Choice
from simcounsel.studies.study import Study, open_key, open_study
from simcounsel.studies.table import write_csv
from tests.stage import changed, live, three
from tests.studies.studies import HOSTILE, instrument, made

TELLING = ("Ines", "Miriam", "Omar", "counselor", "emotion_aware", "generative")


def recalling(folder: Path, hostile: bool = False) -> Run:
    """A run in which the two ways of recall differ; hostile: what is said, remembered, done and written of people is code."""
    world = three()
    memory = world.memory.model_copy(update={"top_k": 2})
    run = live(folder, changed(world, memory=memory, ticks=8))
    if hostile:
        for name in ("events.jsonl", "calls.jsonl"):
            file = run.folder / name
            lines = [
                _with_code(json.loads(line))
                for line in file.read_text(encoding="utf-8").splitlines()
            ]
            file.write_text("".join(map(line_of, lines)), encoding="utf-8")
    return run


def line_of(fields: dict[str, Any]) -> str:
    """As a log holds it."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def _with_code(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.get("kind") == "remembered":
        fields["memory"]["text"] += HOSTILE
    for kind, name in (
        ("acted", "activity"),
        ("said", "text"),
        ("persona_changed", "characteristic"),
    ):
        if fields.get("kind") == kind:
            fields[name] += f"{HOSTILE} {fields['seq']}"
    if fields.get("purpose") == "remember" and fields.get("verb") == "embed":
        fields["texts"] = [text + HOSTILE for text in fields["texts"]]
    return fields


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds") / "runs"
    recalling(folder)
    return folder


def study_of(runs: Path, out: Path, about: str, **kind: Any) -> Study:
    return made(runs, out, about, choice=Choice(fewest_lines=1), **kind)


def offline(out: Path) -> str:
    return (out / "offline" / "rater-01.html").read_text(encoding="utf-8")


def test_two_recalls_of_one_moment(runs: Path, tmp_path: Path) -> None:
    """The sides are drawn, the key knows them, and both are what recall gives at that moment."""
    (folder,) = runs.iterdir()
    run = Run.open(folder)
    ways = {way: run.world.memory.model_copy(update={"recall": way}) for way in WAYS}
    moments = {one.chat: {} for one in recalled_in_ways(run, "Ines", ways)}  # type: ignore[var-annotated]
    lines = {
        line.recalled.seq: line.message
        for held in _talks(run)
        for line in held.lines
        if line.recalled
    }
    for one in recalled_in_ways(run, "Ines", ways):
        moments[one.chat][lines[one.seq]] = one
    sides = set()
    for seed in range(6):
        study = study_of(runs, tmp_path / str(seed), "recall_aptness", seed=seed)
        key = open_key(tmp_path / str(seed))
        for item in study.items:
            origin = key.items[item.id]
            moment = moments[origin.chat][origin.message]
            sides.add(origin.ways)
            assert sorted(origin.ways) == sorted(WAYS)
            for way, shown in zip(origin.ways, item.recalls, strict=True):
                assert len(shown) == len(moment.texts[way])
                for blind, text in zip(shown, moment.texts[way], strict=True):
                    assert blind.split()[-1] == text.split()[-1] or "[" in blind
            assert set(item.recalls[0]) != set(item.recalls[1]), "nothing to compare else"
            assert item.mood == f"A feels {ADJECTIVE[moment.emotion]}."
            assert item.lines and item.lines[-1].speaker == "B"
    assert len(sides) == 2


def _talks(run: Run) -> list[Any]:
    from simcounsel.runs.history import History

    return list(History.of(run).conversations())


def test_what_is_asked_of_each_is_asked_twice(runs: Path, tmp_path: Path) -> None:
    study = study_of(runs, tmp_path, "recall_aptness")
    assert [(one.id, one.of) for one in study.instrument.items] == [
        ("apter", None), ("closer_to_feeling", None),
        ("fits_1", 1), ("fits_2", 2), ("human_1", 1), ("human_2", 2),
    ]  # fmt: skip
    assert open_study(tmp_path).instrument == study.instrument


def test_the_csv_says_which_way_it_was(runs: Path, tmp_path: Path) -> None:
    """Worked out by hand: 4 for the second side, and 5 and 2 for each; `cannot say` stays empty."""
    study = study_of(runs, tmp_path, "recall_aptness", raters=1)
    key, rater = open_key(tmp_path), study.raters[0]
    answers = {
        "apter": 4,
        "closer_to_feeling": None,
        "fits_1": 5,
        "fits_2": 2,
        "human_1": 1,
        "human_2": None,
    }
    append(
        tmp_path,
        [
            Answer(study=study.study, rater=rater.name, item=id, position=number, time="2026-03-02T10:00:00Z", answers=answers)
            for number, id in enumerate(rater.order, 1)
        ],
    )  # fmt: skip
    write_csv(tmp_path, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    for id, origin in key.items.items():
        first, second = origin.ways
        own = {(row["question"], row["way"]): row for row in table if row["item"] == id}
        assert set(own) == {
            ("apter", ""),
            ("closer_to_feeling", ""),
            *(("fits", way) for way in WAYS),
            *(("human", way) for way in WAYS),
        }
        assert own["apter", ""]["toward_emotion_aware"] == (
            "4" if second == "emotion_aware" else "2"
        )
        assert own["closer_to_feeling", ""]["toward_emotion_aware"] == ""
        assert (own["fits", first]["value"], own["fits", second]["value"]) == ("5", "2")
        assert (own["human", first]["value"], own["human", second]["value"]) == ("1", "")
        assert {row["toward_later"] for row in own.values()} == {""}


def test_a_persona_beside_what_was_said_and_done(runs: Path, tmp_path: Path) -> None:
    study = study_of(runs, tmp_path, "persona_consistency")
    assert {origin.partner_role for origin in open_key(tmp_path).items.values()} == {
        "counselor",
        "layperson",
    }
    for item in study.items:
        assert {part.heading for part in item.sheet} >= {
            "",
            "Background",
            "Core beliefs",
            "Ways of coping",
        }
        assert item.lines and item.did and not item.texts and not item.recalls
        assert [part.heading for part in item.did] == sorted(part.heading for part in item.did)
        assert "next door to the baker" in item.sheet[1].text
    later = max(study.items, key=lambda item: len(item.did))
    assert all(one.text != two.text for one, two in zip(later.did, later.did[1:], strict=False))


@pytest.mark.parametrize("about", ["recall_aptness", "persona_consistency", "change_realism"])
def test_nothing_tells_where_it_comes_from(runs: Path, tmp_path: Path, about: str) -> None:
    if about == "change_realism":
        _changed(runs, tmp_path / "runs")
        runs = tmp_path / "runs"
    study_of(runs, tmp_path / "study", about)
    data = offline(tmp_path / "study").split("const STUDY = ")[1].split("\n")[0]
    shown = json.dumps(json.loads(data.rstrip(";"))["items"])
    assert not [word for word in TELLING if re.search(rf"\b{word}", shown, re.IGNORECASE)]


def _changed(runs: Path, out: Path) -> None:
    """The same run, in which the persona changed once more at its end."""
    (folder,) = runs.iterdir()
    log = shutil.copytree(folder, out / folder.name) / "events.jsonl"
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    last = [one for one in events if one["kind"] == "persona_changed" and one["who"] == "Ines"][-1]
    end = {name: events[-1][name] for name in ("seq", "tick", "minute")}
    later = last | end | {"version": last["version"] + 1, "characteristic": "Ines laughs more."}
    events.insert(len(events) - 1, later)
    log.write_text("".join(map(line_of, events)), encoding="utf-8")


def test_the_order_of_a_change_can_be_told(runs: Path, tmp_path: Path) -> None:
    _changed(runs, tmp_path / "runs")
    for seed in range(5):
        study = study_of(tmp_path / "runs", tmp_path / str(seed), "change_realism", seed=seed)
        (item,) = [one for one in study.items if "laughs" in one.texts[1].characteristic]
        assert open_key(tmp_path / str(seed)).items[item.id].earlier == 1
    unchanged = tmp_path / "unchanged"
    (folder,) = runs.iterdir()
    log = shutil.copytree(folder, unchanged / folder.name) / "events.jsonl"
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    first = [one for one in events if one["kind"] != "persona_changed" or one["version"] == 0]
    log.write_text("".join(map(line_of, first)), encoding="utf-8")
    (same,) = study_of(unchanged, tmp_path / "same", "change_realism").items
    assert same.texts[0] == same.texts[1]
    with pytest.raises(StudyError, match="no client whose persona changed"):
        study_of(unchanged, tmp_path / "none", "persona_change")
    hidden = {
        open_key(tmp_path / f"hidden-{seed}").items["P1"].earlier
        for seed in range(24)
        if study_of(tmp_path / "runs", tmp_path / f"hidden-{seed}", "persona_change", seed=seed)
    }
    assert hidden == {1, 2}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"order": "told"}, "`order: told` is for two versions"),
        ({"items": [{"id": "a", "text": "A", "low": "l", "high": "h", "each": True}]}, "`each` is asked of two recalls"),
        (
            {"about": "personas", "order": "told", "items": [{"id": "a", "text": "A", "low": "l", "high": "h", "compares": True}]},
            "whose order is hidden",
        ),
    ],
)  # fmt: skip
def test_an_instrument_that_does_not_fit_what_it_is_about(
    changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        instrument(**changes)


@pytest.mark.parametrize("name", ["recall_aptness", "persona_consistency", "change_realism"])
def test_shipped(name: str) -> None:
    assert load_instrument(name).items
