"""What a policy does beside its moves: where a protocol stands, what was judged, noted, looked up and reasoned.

A policy keeps no state of its own: all it knows is what these events of earlier and of the present conversation say.
"""

from typing import Literal

from simcounsel.events.data import Data
from simcounsel.specs.vocabulary import Danger, RiskLevel


class Assessed(Data):
    """Danger in what a client said, or answered in a questionnaire. who: the client; chat, message: the line; None for a
    questionnaire. evidence: their words. by: whose judgement the level is."""

    kind: Literal["assessed"] = "assessed"
    who: str
    chat: str | None
    message: int | None
    level: RiskLevel
    kinds: tuple[Danger, ...]
    by: Literal["detector", "model", "questionnaire"]
    evidence: tuple[str, ...]
    why: str


class Judged(Data):
    """What was decided about the talk before a transition. question: what was asked about it, such as `sufficient`, an intent or
    `valence`; verdict: the answer; by: a model, words that leave no doubt, or a rule such as the least number of messages."""

    kind: Literal["judged"] = "judged"
    who: str
    chat: str
    state: str
    question: str
    verdict: str
    by: Literal["model", "words", "rule"]
    reason: str


class Transitioned(Data):
    """A protocol moves on. protocol: the manual's name, or `safety`; origin: the state it leaves, None when it begins or is
    taken up again."""

    kind: Literal["transitioned"] = "transitioned"
    who: str
    chat: str
    protocol: str
    origin: str | None
    state: str
    reason: str


class Noted(Data):
    """What somebody keeps of a conversation for later. about: the other; first, last: the lines that it covers, from 1."""

    kind: Literal["noted"] = "noted"
    who: str
    chat: str
    about: str
    text: str
    first: int
    last: int


class Candidate(Data):
    """Something that could be taken, and why it was kept for the choice or left out."""

    id: str
    kept: bool
    why: str


class Retrieved(Data):
    """A choice out of a library. of: what kind of thing; chosen: ids, in order; reason: of the choice."""

    kind: Literal["retrieved"] = "retrieved"
    who: str
    chat: str
    of: Literal["exercise", "meta skill", "skill"]
    candidates: tuple[Candidate, ...]
    chosen: tuple[str, ...]
    reason: str


class Reasoned(Data):
    """What a counselor thinks before a line, which is never said. skill: id of the skill that it means to use, if any."""

    kind: Literal["reasoned"] = "reasoned"
    who: str
    chat: str
    assessment: str
    client_state: str
    skill: str | None
    strategy: str
