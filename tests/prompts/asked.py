"""Questions that are answered by a schema, of every purpose, as runs and commands of ours ask them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from simcounsel.bench.protocol.counselor import Seat, stage
from simcounsel.bench.protocol.crises import SHIPPED, read_crises
from simcounsel.engine.conversation import converse
from simcounsel.instruments.labelled import read_labelled
from simcounsel.llm.question import Question
from simcounsel.measuring.validate import Validation
from simcounsel.measuring.validation_plan import plan_validation
from simcounsel.therapies.specs.therapy import shipped_therapy
from tests.bench.test_benchmark import Spy, done
from tests.corpus.bench import judges, roles, settings, written
from tests.instruments.test_coding import rated, says
from tests.instruments.test_validation import OURS
from tests.prompts.recorded import recorded
from tests.stage import Listening, switchboard
from tests.therapies.held import held, world
from tests.therapies.test_case import CASES, reading

Asked = list[Question[Any]]
POLICIES = ("socratic", "staged", "course", "danger")
"""Those whose prompts or schemas are unlike."""


def in_worlds(folder: Path) -> Asked:
    """Worlds with every policy, in English and in Chinese, with interviews and questionnaires."""
    english = [one for policy in POLICIES for one in recorded(policy).questions]
    integrative = world(8, therapy=shipped_therapy("integrative"), lines=8)
    course = held(folder / "course", integrative, ticks=3)[1]
    return [*english, *recorded("course", language="zh").questions, *course]


def in_a_synthesis(folder: Path) -> Asked:
    """Situations taken apart, dialogues written and revised, strategies carried."""
    revising = Listening(roles(evaluate=judges(revise=True)))
    return [
        one
        for number, model in enumerate((Listening(roles()), revising))
        for one in written(folder / f"synthesis-{number}", settings(3), model)[1].requests
    ]


def in_a_case(folder: Path) -> Asked:
    """A case report read."""
    return reading(CASES[0])[1]


def by_judges(folder: Path) -> Asked:
    """Turns coded, and conversations compared."""
    spy = Listening()
    models = switchboard(spy)
    plan = plan_validation(read_labelled(OURS), ("depth",), rounds=1)
    Validation(plan, "x", folder / "validation").collect(models)
    models.close()
    return [*spy.requests, *rated(says({1: [], 2: [], 3: []}))[1]]


def in_benchmarks(folder: Path) -> Asked:
    """Replies judged, a course's among them, and a crisis that a model plays."""
    spy = Spy()
    done(folder / "bench", spy, policy="course:cbt", sample=1)
    crisis = read_crises(Path(SHIPPED))[0][0]
    seat = Seat(policy=None, protected=False, client_model=True, seed=1)
    playing = Listening()
    models = switchboard(playing)
    models.chat["seeker"] = playing
    talk = stage(crisis, seat)
    models.ask(
        {"talk": converse(replace(talk.counselor, listeners=()), talk.client, talk.started, 8)}
    )
    models.close()
    return [*spy.asked, *playing.requests]


WHERE: tuple[Callable[[Path], Asked], ...] = (
    in_worlds,
    in_a_synthesis,
    in_a_case,
    by_judges,
    in_benchmarks,
)


def filled() -> Iterator[Question[Any]]:
    """All of them, each once."""
    with TemporaryDirectory() as folder:
        for ask in WHERE:
            found = {one.key: one for one in ask(Path(folder)) if one.sent_schema}
            yield from found.values()
