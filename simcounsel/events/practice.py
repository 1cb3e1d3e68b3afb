"""What a policy does beside its moves: where a protocol stands, what was judged, noted, looked up
and reasoned.

A policy keeps no state of its own: all it knows is what these events of earlier and of the present
conversation say.
"""

from typing import Literal

from simcounsel.events.data import Answered, Data
from simcounsel.specs.vocabulary import Danger, RiskLevel


class Assessed(Answered):
    """Danger in what a client said, or answered in a questionnaire. who: the client; chat, message:
    the line; None for a questionnaire. evidence: their words. by: whose judgement the level is.
    """

    kind: Literal["assessed"] = "assessed"
    who: str
    chat: str | None
    message: int | None
    level: RiskLevel
    kinds: tuple[Danger, ...]
    by: Literal["detector", "model", "questionnaire"]
    evidence: tuple[str, ...]
    why: str


class Judged(Answered):
    """What was decided about the talk before a transition. question: what was asked about it, such
    as `sufficient`, an intent or `valence`; verdict: the answer; by: a model, words that leave no
    doubt, or a rule such as the least number of messages.
    """

    kind: Literal["judged"] = "judged"
    who: str
    chat: str
    state: str
    question: str
    verdict: str
    by: Literal["model", "words", "rule"]
    reason: str


class Transitioned(Data):
    """A protocol moves on."""

    kind: Literal["transitioned"] = "transitioned"
    who: str
    chat: str
    protocol: str
    """The manual's name, or `safety`."""
    origin: str | None
    """The state that it leaves; None when it begins or is resumed."""
    state: str
    reason: str
    """In words for people."""
    forced: bool = False
    """Whether time or a leave-taking sent it to the close, and no verdict."""
    resumed: bool = False
    """Whether it goes on where an earlier conversation was broken off."""


class Noted(Answered):
    """What somebody keeps of a conversation for later. about: the other; first, last: the lines
    that it covers, from 1.
    """

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


class Retrieved(Answered):
    """A choice out of a library. of: what kind of thing; chosen: ids, in order; reason: of the
    choice.
    """

    kind: Literal["retrieved"] = "retrieved"
    who: str
    chat: str
    of: Literal["exercise", "therapy", "meta skill", "skill"]
    candidates: tuple[Candidate, ...]
    chosen: tuple[str, ...]
    reason: str


class Reasoned(Answered):
    """What a counselor thinks before a line, which is never said. skill: id of the skill that it
    means to use, if any.
    """

    kind: Literal["reasoned"] = "reasoned"
    who: str
    chat: str
    assessment: str
    client_state: str
    skill: str | None
    strategy: str


class SessionPlanned(Answered):
    """What a counselor means to do in a session of a course, before it begins. session: from 1;
    objective: never said; goals: of the stage, still unmet, that it aims at; reason: what of the
    plan and of earlier sessions it follows from.
    """

    kind: Literal["session_planned"] = "session_planned"
    who: str
    chat: str
    about: str
    session: int
    stage: str
    theme: str
    objective: tuple[str, ...]
    goals: tuple[str, ...]
    reason: str


class GoalReview(Data):
    """Whether a session met a goal. quotes: words that stand in its lines and show it; without one
    no goal is met.
    """

    goal: str
    met: bool
    quotes: tuple[str, ...] = ()


class SessionReviewed(Answered):
    """A counselor's note on a session of a course. alliance: 1 (torn) to 5 (firm); homework: what
    was agreed for the time until the next session; dropped: quotes that were given as evidence and
    stand in no line.
    """

    kind: Literal["session_reviewed"] = "session_reviewed"
    who: str
    chat: str
    about: str
    session: int
    stage: str
    summary: str
    goals: tuple[GoalReview, ...]
    client_state: str
    alliance: int
    unresolved: tuple[str, ...]
    homework: str | None
    dropped: tuple[str, ...] = ()


class FactLearned(Answered):
    """Something that a counselor knows about a client since a session. id: `F` and a number, by
    course; quote: the client's words; realm: what happened, or what belongs to the treatment;
    contradicts: ids of what was known and cannot be true as well, which stays; supersedes: ids of
    what was true and is no longer.
    """

    kind: Literal["fact_learned"] = "fact_learned"
    who: str
    chat: str
    about: str
    session: int
    id: str
    text: str
    quote: str
    realm: Literal["reality", "treatment"]
    status: Literal["fact", "wish", "plan", "feeling"]
    contradicts: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()


class Formulated(Answered):
    """A row of what a counselor fills in about a client. field: its id in the therapy; cells: one
    for each column, or one; quote: the client's words that it rests on.
    """

    kind: Literal["formulated"] = "formulated"
    who: str
    chat: str
    about: str
    session: int
    field: str
    cells: tuple[str, ...]
    quote: str


class CourseAdvanced(Answered):
    """How a course goes on after a session. step: to the next stage, one more session of this one,
    back to the one before, or the end; options: the steps that the plan left open; focus: of the
    next session.
    """

    kind: Literal["course_advanced"] = "course_advanced"
    who: str
    chat: str
    about: str
    session: int
    step: Literal["advance", "repeat", "back", "end"]
    options: tuple[str, ...]
    origin: str
    stage: str
    focus: str
    reason: str


class ClientShifted(Answered):
    """Where a client stands with a line, or after a conversation, as only the client knows.
    resistance, mood: 0 to 10; guard: the way of guarding itself that was touched by what was said
    to it; softened: how often each such way has been touched, in the order of the persona;
    homework: what came of what was agreed; insight: what the client has come to see, which stays.
    """

    kind: Literal["client_shifted"] = "client_shifted"
    who: str
    chat: str
    resistance: float
    mood: float
    guard: int | None = None
    softened: tuple[int, ...] = ()
    agreed: str | None = None
    homework: Literal["done", "partly", "not done"] | None = None
    insight: str | None = None
