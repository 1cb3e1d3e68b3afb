"""What a policy does beside its moves: where a protocol stands, what was judged, noted, looked up
and reasoned.

A policy keeps no state of its own: all it knows is what these events of earlier and of the present
conversation say.
"""

from typing import Annotated, Literal

from pydantic import Field

from simcounsel.events.data import Answered, Data
from simcounsel.specs.vocabulary import Danger, RiskLevel


class DangerDetails(Data):
    """What a client's line says about a danger, in the client's words."""

    when: str | None = None
    """The time that they named for it; None: none."""
    people: tuple[str, ...] = ()
    """Those who matter to it: who is in danger, who hurts, who is near or is to know."""
    means: str | None = None
    """What it would be done with; None: not said."""
    whose: str | None = None
    """Whose life or body it is, if not their own ("my brother")."""


class Assessed(Answered):
    """Danger in what a client said, or answered in a questionnaire."""

    kind: Literal["assessed"] = "assessed"
    who: str
    """The client."""
    chat: str | None
    """`chat`, `message`: the line; None for a questionnaire."""
    message: int | None
    level: RiskLevel
    kinds: tuple[Danger, ...]
    by: Literal["words", "classifier", "model", "questionnaire"]
    """Whose judgment the level is: the detector's words, its classifier, a model, or PHQ-9's item
    9.
    """
    evidence: tuple[str, ...]
    """Their words."""
    why: str
    details: Annotated[DangerDetails | None, Field(exclude_if=lambda details: details is None)] = (
        None
    )
    """What the line says about it, by a model; None where none judged the line."""
    noted: Annotated[tuple[Danger, ...], Field(exclude_if=lambda noted: not noted)] = ()
    """Dangers in doubt, of which one line alone begins nothing where no model can judge."""


class Judged(Answered):
    """What was decided about the talk before a transition."""

    kind: Literal["judged"] = "judged"
    who: str
    chat: str
    state: str
    question: str
    """What was asked about it, such as `sufficient`, an intent or `valence`."""
    verdict: str
    """The answer."""
    by: Literal["model", "words", "rule"]
    """A model, words that leave no doubt, or a rule such as the least number of messages."""
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
    """What somebody keeps of a conversation for later."""

    kind: Literal["noted"] = "noted"
    who: str
    chat: str
    about: str
    """The other."""
    text: str
    first: int
    """`first`, `last`: the lines that it covers, from 1."""
    last: int


class Candidate(Data):
    """Something that could be taken, and why it was kept for the choice or left out."""

    id: str
    kept: bool
    why: str


class Retrieved(Answered):
    """A choice out of a library."""

    kind: Literal["retrieved"] = "retrieved"
    who: str
    chat: str
    of: Literal["exercise", "therapy", "meta skill", "skill"]
    """What kind of thing."""
    candidates: tuple[Candidate, ...]
    chosen: tuple[str, ...]
    """Ids, in order."""
    reason: str
    """Of the choice."""


class Reasoned(Answered):
    """What a counselor thinks before a line, which is never said."""

    kind: Literal["reasoned"] = "reasoned"
    who: str
    chat: str
    assessment: str
    client_state: str
    skills: tuple[str, ...]
    """Ids of the skills that the line uses, the leading one first."""
    strategy: str


class SessionPlanned(Answered):
    """What a counselor means to do in a session of a course, before it begins."""

    kind: Literal["session_planned"] = "session_planned"
    who: str
    chat: str
    about: str
    session: int
    """From 1."""
    stage: str
    theme: str
    objective: tuple[str, ...]
    """Never said."""
    goals: tuple[str, ...]
    """Of the stage, still unmet, that it aims at."""
    reason: str
    """What of the plan and of earlier sessions it follows from."""


class MaterialOpened(Answered):
    """Something that a case's plan has for a session: its counselor knows of it from here on."""

    kind: Literal["material_opened"] = "material_opened"
    who: str
    chat: str
    about: str
    session: int
    of: Literal["fact", "objective", "link", "material", "lesson", "rationale"]
    """A fact of the plan that the client told; what the session is to reach, what of the client it
    touches, a word or task of the case, something to come to understand, why this now.
    """
    text: str
    rests_on: tuple[str, ...]
    """Ids of the plan's facts that it is about."""
    quotes: tuple[str, ...]
    """The client's words by which it opened; () where it gives away nothing."""
    message: int | None = None
    """The number of the client's line by which it opened; None where it was in no line of this
    session.
    """


class GoalReview(Data):
    """Whether a session met a goal."""

    goal: str
    met: bool
    quotes: tuple[str, ...] = ()
    """Words that are in its lines and show it; without one no goal is met."""


class SessionReviewed(Answered):
    """A counselor's note on a session of a course."""

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
    """1 (torn) to 5 (firm)."""
    unresolved: tuple[str, ...]
    homework: str | None
    """What was agreed for the time until the next session."""
    dropped: tuple[str, ...] = ()
    """Quotes that were given as evidence and are in no line."""


class FactLearned(Answered):
    """Something that a counselor knows about a client since a session."""

    kind: Literal["fact_learned"] = "fact_learned"
    who: str
    chat: str
    about: str
    session: int
    id: str
    """`F` and a number, by course."""
    text: str
    quote: str
    """The client's words."""
    realm: Literal["reality", "treatment"]
    """What happened, or what belongs to the treatment."""
    status: Literal["fact", "wish", "plan", "feeling"]
    contradicts: tuple[str, ...] = ()
    """Ids of what was known and cannot be true as well, which stays."""
    supersedes: tuple[str, ...] = ()
    """Ids of what was true and is no longer."""


class Formulated(Answered):
    """A row of what a counselor fills in about a client."""

    kind: Literal["formulated"] = "formulated"
    who: str
    chat: str
    about: str
    session: int
    field: str
    """Its id in the therapy."""
    cells: tuple[str, ...]
    """One for each column, or one."""
    quote: str
    """The client's words that it rests on."""


class CourseAdvanced(Answered):
    """How a course goes on after a session."""

    kind: Literal["course_advanced"] = "course_advanced"
    who: str
    chat: str
    about: str
    session: int
    step: Literal["advance", "repeat", "back", "end"]
    """To the next stage, one more session of this one, back to the one before, or the end."""
    options: tuple[str, ...]
    """The steps that the plan left open."""
    origin: str
    stage: str
    focus: str
    """Of the next session."""
    reason: str


class ClientShifted(Answered):
    """Where a client stands with a line, as only the client knows."""

    kind: Literal["client_shifted"] = "client_shifted"
    who: str
    chat: str
    message: int | None = None
    """The number of its line in the conversation, from 1; None in older logs."""
    before: float
    """Openness before the line, 0 (keeps everything back) to 10 (holds nothing back)."""
    openness: float
    """The same with the line."""
    claimed: float
    """The openness that the reply gave: another one where it named no words of the other's, or
    went further than a line can.
    """
    quote: str | None = None
    """The words of the other's last line that touched something; None: none did."""
    touched: str | None = None
    """What they touched of the persona's file: a core belief C1, a rule R1, a way of coping D1."""
    about: str | None = None
    """Its text."""
    held_back: str | None = None
    """What the client did not say."""


class HomeworkAgreed(Answered):
    """What a client takes home from a session to try until the next."""

    kind: Literal["homework_agreed"] = "homework_agreed"
    who: str
    chat: str
    agreed: str
    quote: str
    """The counselor's words for it."""
