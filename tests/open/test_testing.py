"""The contract checkers pass what comes with simcounsel, and name all that is wrong with what is broken."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import BaseModel

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.events import Data, ItemAnswer
from simcounsel.instruments.kind import Counted, ScaleFile
from simcounsel.instruments.scale import INSTRUMENTS
from simcounsel.llm.catalog import PROVIDERS
from simcounsel.llm.models import Completion, Failure, Provider
from simcounsel.llm.question import Ask, Question, ask
from simcounsel.policies import POLICIES
from simcounsel.policies.kind import NoSettings, PolicyKind
from simcounsel.testing import BrokenContract, check_instrument, check_policy, check_provider


def wrong(caught: pytest.ExceptionInfo[BrokenContract], *said: str) -> None:
    """Each is said, and nothing else."""
    problems = caught.value.problems
    for one in said:
        assert any(one in problem for problem in problems), (one, problems)
    assert len(problems) == len(said), problems


# policies


@pytest.mark.parametrize("name", POLICIES.names())
def test_our_policies(name: str) -> None:
    kind = POLICIES.get(name)
    assert kind is not None
    check_policy(name, kind)


class Told(Data):
    kind: Literal["odd.told"] = "odd.told"
    who: str
    chat: str


class Odd:
    """Keeps a count to itself, asks without a fallback, and forgets its options."""

    name = "even"

    def __init__(self) -> None:
        self.turns = 0

    def decide(self, view: TalkView) -> Ask[Decision]:
        self.turns += 1
        yield from ask(Question(verb="choose", purpose="odd", who=view.other, options=("a", "b")))
        return Decision(
            move=f"move {self.turns}",
            options=("ask",),
            reason="",
            aim="to ask",
            events=(Told(who=view.other, chat=view.chat),),
        )


def test_a_broken_policy() -> None:
    kind = PolicyKind(
        make=lambda told, lang: Odd(), settings=NoSettings, roles=frozenset({"client"})
    )
    with pytest.raises(BrokenContract) as caught:
        check_policy("odd", kind)
    said = [
        problem for problem in caught.value.problems if "is not one of the options" not in problem
    ]
    assert len(said) < len(caught.value.problems)
    for one in (
        "its `name` is 'even'; it is registered as 'odd'",
        "gave other decisions the second time",
        "question 'odd': `who` is 'Miriam'; it is view.me who asks",
        "question 'odd': no fallback",
        "question 'odd': the fallback None is not one of its options",
        "a decision has no reason",
        "event odd.told: `who` is 'Miriam'",
    ):
        assert any(one in problem for problem in said), one
    assert len(said) == 7


class Settings(BaseModel):
    depth: int


class Raising:
    name = "raising"

    def decide(self, view: TalkView) -> Ask[Decision]:
        raise KeyError("no such move")
        yield


def test_what_a_policy_raises_is_named() -> None:
    kind = PolicyKind(make=lambda told, lang: Raising(), settings=Settings)
    with pytest.raises(BrokenContract) as caught:
        check_policy("raising", kind)
    wrong(caught, "it cannot be made with {}: 1 validation error")
    with pytest.raises(BrokenContract) as caught:
        check_policy("raising", kind, settings={"depth": 1})
    wrong(
        caught,
        "as counselor: decide raised KeyError: 'no such move'",
        "as layperson: decide raised KeyError: 'no such move'",
    )


# providers


def test_our_providers() -> None:
    scripted = PROVIDERS.get("scripted")
    assert scripted is not None
    check_provider(scripted, chat="scripted", embed="scripted")
    with pytest.raises(BrokenContract) as caught:
        check_provider(scripted, chat="scripted:odd")
    wrong(caught, "scripted:odd cannot be opened: no model 'scripted:odd'")


@pytest.mark.weights
def test_the_embedded_vectors() -> None:
    embedded = PROVIDERS.get("embedded")
    assert embedded is not None
    check_provider(embedded, embed="embedded")


class Mute:
    name = ""

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        if question.verb == "rate":
            raise ValueError("no numbers")
        if question.verb == "fill":
            raise Failure("too long")
        return Completion(text="cocoa", tokens_in=-1, tries=0)

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.arange(len(texts) * 2, dtype=np.float64).reshape(-1, 2)

    async def close(self) -> None: ...


def test_a_broken_provider() -> None:
    with pytest.raises(BrokenContract) as caught:
        check_provider(
            Provider(chat=lambda name: Mute(), embed=lambda name: Mute()), chat="x:a", embed="x:b"
        )
    wrong(
        caught,
        "forms: say how its models are written",
        "a chat model has no name",
        "write: tokens_in is -1",
        "write: tries is 0",
        "choose: the answer 'cocoa' does not fit",
        "choose: tokens_in is -1",
        "choose: tries is 0",
        "rate: it raised or returned ValueError: no numbers; raise Failure",
        "fill: no answer (too long)",
        "an embedding model has no name",
        "embed: float64; vectors are float32",
        "embed: vectors of another length than 1",
        "embed: the same text has two vectors",
    )


# instruments


@pytest.mark.parametrize("name", INSTRUMENTS.names())
def test_our_instruments(name: str) -> None:
    check_instrument(name, INSTRUMENTS.get(name))  # type: ignore[arg-type]


def test_broken_instruments() -> None:
    def count(lines: Sequence[tuple[str, str]]) -> tuple[ItemAnswer, ...]:
        return (ItemAnswer(id="words", value=None), ItemAnswer(id="turns", value=3))

    with pytest.raises(BrokenContract) as caught:
        check_instrument("sums", Counted(id="words", version="1", scores=("words",), measure=count))
    wrong(
        caught,
        "its id is 'words'; it is registered as 'sums'",
        "it measured ['words', 'turns'], and its scores are ('words',)",
        "words: value None, reason None",
        "it counted something where nothing was said",
    )
    with pytest.raises(BrokenContract) as caught:
        check_instrument("none", ScaleFile(package="simcounsel", file="none.yaml"))
    wrong(caught, "its file cannot be read")
