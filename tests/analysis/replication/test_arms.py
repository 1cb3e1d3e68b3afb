"""What the counselors of Structure Matters are told: the first arm alone remembers, and each brief agrees with itself."""

import re
from pathlib import Path
from typing import Any

import pytest

from analysis.replication.design import chosen, written_experiment
from analysis.replication.options import Choices
from simcounsel.engine.simulation import Simulation
from simcounsel.events import Said
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.scripted import Scripted
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.world import World
from simcounsel.therapies.single import Single
from simcounsel.therapies.staged.manuals import names, shipped
from tests.stage import happened, said, view

DAYS = 2
DATE = re.compile(r"It is (\w+ \d+ \w+), ")


class Listening(Scripted):
    """The scripted model, keeping what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Question[Any]] = []

    async def complete(self, request: Question[Any], complaint: str | None) -> Completion:
        self.asked.append(request)
        return await super().complete(request, complaint)


class Sessions:
    """By session, from 0: the prompts of the counselor's lines, and the lines that were said."""

    def __init__(self, world: World, out: Path) -> None:
        model = Listening()
        models = Switchboard({"reason": model, "quick": model, "judge": model}, HashEmbeddings())
        run = Simulation(world, out=out, models=models).run()
        prompts: dict[str, list[str]] = {}
        for one in model.asked:
            if one.purpose == "line_counselor":
                day = DATE.search(one.prompt)
                assert day is not None, one.prompt
                prompts.setdefault(day[1], []).append(f"{one.system}\n\n{one.prompt}")
        lines: dict[str, list[str]] = {}
        for line in happened(run, Said):
            lines.setdefault(line.chat, []).append(line.text)
        self.prompts = list(prompts.values())
        self.lines = list(lines.values())
        assert len(self.prompts) == len(self.lines) == DAYS


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sessions]:
    out = tmp_path_factory.mktemp("arms")
    cast = chosen("structure_matters", 3, [], out)
    file = written_experiment("structure_matters", cast, out, Choices(days=DAYS))
    _, cells = load_experiment(file, {"reason": "scripted", "embed": "scripted"})
    return {str(cell.arm): Sessions(cell.world, out / str(cell.arm)) for cell in cells}


def test_only_the_first_arm_remembers(arms: dict[str, Sessions]) -> None:
    assert sorted(arms) == ["single", "staged", "unguided"]
    later = {arm: "\n".join(sessions.prompts[1]) for arm, sessions in arms.items()}
    for sign in ("What comes to Miriam's mind", "What is known of", "session number 2", "last one"):
        assert sign in later["staged"], sign
        assert sign not in later["single"] and sign not in later["unguided"], sign
    for arm in ("single", "unguided"):
        earlier, now = arms[arm].lines
        told = {line for line in earlier if line in later[arm] and line not in now}
        assert not told, (arm, told)
        assert "first session" not in later[arm], "nor is it said to be the first"


def test_each_brief_agrees_with_itself(arms: dict[str, Sessions]) -> None:
    """What a brief speaks of is in the same prompt."""
    for arm, sessions in arms.items():
        for prompt in (one for several in sessions.prompts for one in several):
            if "What is known of" not in prompt:
                assert "notes say" not in prompt and "in the notes" not in prompt, (arm, prompt)
                assert "If the notes" not in prompt, (arm, prompt)
            assert "named below" not in prompt, (arm, prompt)
            if "Offer one exercise" in prompt and arm == "staged":
                assert prompt.count("The exercise: ") == 1, prompt
            if arm == "single":
                assert prompt.count("\n- ") == prompt.count("Afterwards ask: ") == 3, prompt


def test_single_has_the_words_of_staged(arms: dict[str, Sessions]) -> None:
    """The paper's second arm has the prompts of the first in one brief."""
    states = [one for one in shipped("attachment_selfcare", "en").states.values() if one.prompt]
    for several in arms["single"].prompts:
        assert all(state.prompt in prompt for prompt in several for state in states)
    staged = "\n".join(prompt for several in arms["staged"].prompts for prompt in several)
    assert sum(state.prompt in staged for state in states) >= 5, "those that the sessions reached"
    for prompts in arms["unguided"].prompts:
        assert not any(state.prompt in prompt for prompt in prompts for state in states)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_manual_speaks_of_what_a_single_brief_has_not(language: str) -> None:
    for name in names(language):
        talk = view(said("Ines", "…"), me="Miriam", other="Ines", language=language)
        single = Single(shipped(name, language))
        brief = single.brief(talk, ())
        for word in ("notes", "named below", "记录", "下面的步骤", "下面这一个"):
            assert word not in brief, (name, word)
