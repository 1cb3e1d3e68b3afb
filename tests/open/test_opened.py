"""A policy, a mind and models of one's own in a world: lived, resumed, forked, the same each time."""

from pathlib import Path
from typing import Any

import pytest

from simcounsel.engine.forking import fork
from simcounsel.engine.opening import check_models
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import ModelError, PluginError, SpecError
from simcounsel.events import Decided, Foreign, Said
from simcounsel.runs.run import Run
from simcounsel.specs.world_file import load_world
from tests.each import each
from tests.open.installed import distribution
from tests.stage import TINY, go_on, happened, live, log, tiny

ODD = """
from dataclasses import replace
from typing import Literal
from pydantic import BaseModel, ConfigDict
from simcounsel.agents.person import Person
from simcounsel.events import Data
from simcounsel.llm.models import Provider
from simcounsel.policies.policy import PolicyKind
from simcounsel.policies.socratic import Socratic
from simcounsel.scripted import Scripted

class Counted(Data):
    kind: Literal["odd.counted"] = "odd.counted"
    who: str
    chat: str
    turn: int
    by: int

class Felt(Data):
    kind: Literal["odd.felt"] = "odd.felt"
    who: str
    times: int

class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    by: int = 1

class Counting:
    name = "counting"
    def __init__(self, by):
        self.by = by
    def decide(self, view):
        decision = yield from Socratic().decide(view)
        before = view.written(Counted)
        turn = before[-1].turn + self.by if before else 0
        event = Counted(who=view.me, chat=view.chat, turn=turn, by=self.by)
        return replace(decision, reason=f"turn {turn}", events=(event,))

class Stateful(Person):
    def appraise(self, scene):
        lived = yield from super().appraise(scene)
        times = len(self.resident.written(Felt)) + 1
        return replace(lived, events=(*lived.events, Felt(who=self.resident.name, times=times)))

def chat(name):
    model = Scripted()
    model.name = name
    return model

POLICY = PolicyKind(make=lambda told, language: Counting(told.by), settings=Settings)
PROVIDER = Provider(chat=chat)
NUMBER = 3
"""


@pytest.fixture(autouse=True)
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "installed"
    monkeypatch.syspath_prepend(folder)
    distribution(
        folder,
        "odd-counselors",
        {
            "simcounsel.policies": {"counting": "odd_counselors:POLICY"},
            "simcounsel.minds": {"stateful": "odd_counselors:Stateful"},
            "simcounsel.providers": {"odd": "odd_counselors:PROVIDER"},
        },
        odd_counselors=ODD,
    )


def odd_world(**more: Any) -> Any:
    return tiny(
        **{
            "residents__Miriam__policy__name": "counting",
            "residents__Miriam__policy__settings__by": 2,
            "residents__Ines__mind": "stateful",
        }
        | more
    )


def test_what_they_write_survives_resume_and_fork(tmp_path: Path) -> None:
    whole = live(tmp_path / "whole", odd_world())
    counted = [e for e in happened(whole, Foreign) if e.kind == "odd.counted"]
    felt = [e.fields["times"] for e in happened(whole, Foreign) if e.kind == "odd.felt"]
    reasons = [e.reason for e in happened(whole, Decided) if e.policy == "counting"]
    assert [e.fields["turn"] for e in counted] == list(range(0, 2 * len(counted), 2))
    assert reasons == [f"turn {e.fields['turn']}" for e in counted] and len(reasons) > 1
    assert felt == list(range(1, len(felt) + 1)) and len(felt) > 3
    said = happened(whole, Said)
    middle = next(e.tick for e in whole.entries() if e.event == said[-1])

    started = live(tmp_path / "parts", odd_world(), ticks=middle)
    assert log(go_on(started)) == log(whole)
    forked = fork(Run.open(whole.folder), middle, {}, tmp_path / "forked")
    again = Simulation(forked.world, run=forked).run()
    assert [e.fields for e in happened(again, Foreign)] == [
        e.fields for e in happened(whole, Foreign)
    ]


def test_client_counselor_and_judge_by_three_models(tmp_path: Path) -> None:
    world = tiny(
        residents__Miriam__models__reason="odd:counselor",
        residents__Ines__models__reason="odd:client",
        residents__Miriam__models__quick="odd:feelings",
    )
    run = live(tmp_path, world, ticks=8)
    assert run.manifest.models == {
        "reason": "scripted",
        "quick": "scripted",
        "judge": "scripted",
        "embed": "scripted",
        "reason:Ines": "odd:client",
        "quick:Ines": "odd:client",
        "reason:Miriam": "odd:counselor",
        "quick:Miriam": "odd:feelings",
    }
    asked = {(call["who"], call["tier"], call["model"]) for call in run.calls() if "tier" in call}
    assert {one for one in asked if one[1] != "embed"} >= {
        ("Ines", "reason", "odd:client"),
        ("Miriam", "quick", "odd:feelings"),
        ("Miriam", "reason", "odd:counselor"),
    }
    with Simulation(world, model="scripted", out=tmp_path) as simulation:
        assert ":" not in "".join(simulation.record.manifest.models)


@each(
    ("change", "error", "said"),
    [
        (
            {"residents__Ines__mind": "none"},
            SpecError,
            "no mind 'none'; there are bot, concordia, cut, patienthub, person, safety_client, safety_friend; stateful",
        ),
        ({"residents__Ines__mind": "odd_counselors:NUMBER"}, SpecError, "is int; a mind is made"),
        ({"residents__Ines__mind": "no_such:Mind"}, PluginError, "no file of a module 'no_such'"),
        ({"residents__Ines__models__reason": "gpt4"}, ModelError, "no model 'gpt4'"),
        (
            {"residents__Miriam__policy": {"name": "counting", "settings": {"deep": 2}}},
            SpecError,
            "counting takes no deep; it takes by",
        ),
        (
            {"residents__Miriam__policy": {"name": "counting", "settings": {"by": "x"}}},
            SpecError,
            "counting: by: Input should be a valid integer",
        ),
        (
            {"residents__Miriam__policy": "freudian"},
            SpecError,
            r"supportive, unguided; counting \(from odd-counselors\)",
        ),
    ],
)
def test_what_is_wrong_is_said_before_a_folder_is_made(
    change: dict[str, Any], error: type[Exception], said: str
) -> None:
    world = load_world(TINY, **{key.replace("__", "."): value for key, value in change.items()})
    with pytest.raises(error, match=said):
        check_models(world)


def test_a_wrong_model_is_said_before_a_folder_is_made(tmp_path: Path) -> None:
    for model, said in (("gpt4", "gpt4"), ("openai:m", "no API key"), ("scripted:x", "planted")):
        with pytest.raises(ModelError, match=said):
            Simulation(tiny(), model=model, out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
