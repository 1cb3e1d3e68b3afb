"""The contract checkers pass what comes with simcounsel, and name all that is wrong with what is broken."""

import sys
from collections.abc import Sequence
from types import ModuleType
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
from simcounsel.policies.policy import NoSettings, PolicyKind
from simcounsel.runs.run import Run
from simcounsel.testing import BrokenContract, check_instrument, check_policy, check_provider
from tests.each import each
from tests.llm.server import FaultServer, default_answer


def wrong(caught: pytest.ExceptionInfo[BrokenContract], *said: str) -> None:
    """Each is said, and nothing else."""
    problems = caught.value.problems
    for one in said:
        assert any(one in problem for problem in problems), (one, problems)
    assert len(problems) == len(said), problems


# policies


@each("name", POLICIES.names())
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
        yield from ask(
            Question(
                verb="choose", purpose="odd", who=view.other, options=("a", "b"), fallback=None
            )
        )
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


def ours(name: str) -> Provider:
    found = PROVIDERS.get(name)
    assert found is not None
    return found


def test_the_scripted_provider() -> None:
    scripted = ours("scripted")
    check_provider(scripted, chat="scripted", embed="scripted")
    check_provider(scripted, chat="scripted:planted=2")
    with pytest.raises(BrokenContract) as caught:
        check_provider(scripted, chat="scripted:odd")
    wrong(caught, "scripted:odd cannot be opened: no model 'scripted:odd'")


@pytest.mark.weights
def test_the_embedded_provider() -> None:
    check_provider(ours("embedded"), chat="embedded", embed="embedded")


def test_the_providers_of_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer() as server:
        check_provider(ours("http"), chat=f"{server.url}/m", embed=f"{server.url}/m")
        check_provider(ours("https"), chat=f"{server.url}#m", embed=f"{server.url}#m")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        check_provider(ours("openai"), chat="openai:m", embed="openai:m")
    with FaultServer(faults=lambda index: "null content") as server:
        with pytest.raises(BrokenContract) as caught:
            check_provider(ours("http"), chat=f"{server.url}/m")
        wrong(caught, *(f"{verb}: no answer (" for verb in ("write", "choose", "rate", "fill")))


def test_the_provider_of_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own package is not needed: a chat model of langchain-core answers as the server does."""
    core = pytest.importorskip("langchain_core.language_models.chat_models")

    class Answering(core.SimpleChatModel):  # type: ignore[name-defined, misc]
        _llm_type = "answering"

        def _call(self, asked: list[Any], *_: Any, **__: Any) -> str:
            told = [{"role": one.type, "content": one.content} for one in asked]
            return default_answer({"messages": told, "logprobs": "tired" in asked[-1].content})

    package = ModuleType("langchain.chat_models")
    package.init_chat_model = lambda model, **settings: Answering()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "langchain", ModuleType("langchain"))
    monkeypatch.setitem(sys.modules, "langchain.chat_models", package)
    check_provider(ours("langchain"), chat="langchain:any:m")


def test_the_provider_of_recordings(lived: Run) -> None:
    """A recording answers what is in it; whatever else is asked fails as a provider should."""
    name = f"recorded:{lived.folder}"
    check_provider(ours("recorded"), embed=name)
    with pytest.raises(BrokenContract) as caught:
        check_provider(ours("recorded"), chat=name)
    verbs = ("write", "choose", "rate", "fill")
    wrong(caught, *(f"{verb}: no answer (the recorded reply to 'check' does" for verb in verbs))


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


@each("name", INSTRUMENTS.names())
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
