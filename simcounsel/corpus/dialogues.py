"""A dialogue as a corpus holds it, whoever wrote it: what was said, by whom, and what is known
about it.

A corpus file (`corpus.jsonl`) is one Dialogue a line, as JSON. All checks, formats and measures
work on Dialogues; `reading` makes them of runs, of syntheses, of the samples and of other people's
files.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from simcounsel.runs.authors import HAND, RANDOM
from simcounsel.specs.vocabulary import Danger, Role, Source

LANGUAGES = {
    "english": "en",
    "chinese": "zh",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "japanese": "ja",
}
"""Codes of languages (ISO 639-1) by their English names."""
Split = Literal["train", "validation", "test"]
Written = Source | Literal["by hand"]
"""How a line came about: by a model, out of lines that people wrote, ready-made where no model's
line would do, by somebody who took part; by hand or at random in a model's place.
"""
Skill = Literal[
    "reflection",
    "open question",
    "closed question",
    "clarification",
    "summary",
    "affirmation",
    "validation",
    "silence",
    "normalizing",
    "psychoeducation",
    "confrontation",
    "permission",
    "goal",
    "suggestion",
    "immediacy",
    "risk inquiry",
    "feedback",
    "closing",
]
"""What a counselor's line does, after the verbal response modes of Hill (2020) and MITI; the
samples use these words, others may use their own.
"""


CANARY = "canary"
"""The origin (`Origin.file`) of a dialogue that was made up to audit a training; it never leaves in
an export.
"""


class Part(BaseModel):
    """Part of a dialogue: frozen, no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Draft(Part):
    """What was in a turn before it was revised."""

    text: str
    reason: str
    """Why it was revised."""
    ratings: dict[str, float] = Field(default_factory=dict)
    """Qualities, 1 to 10."""


def written(source: Written, author: str) -> Written:
    """How a line came about. source: as its event says. author: who worded it (`runs.authors`)."""
    return HAND if author == HAND else RANDOM if author == RANDOM else source


class Turn(Part):
    """One line of one speaker. All but speaker and text may be unknown (None)."""

    speaker: Role
    text: str
    stage: str | None = None
    """How far the client has opened up, or what the counselor works on."""
    skill: str | None = None
    """What a counselor's line does."""
    skills: tuple[str, ...] = ()
    """All skills that a line of a course uses, the leading one first; () where nobody says more
    than `skill`.
    """
    reasoning: str | None = None
    """What the counselor thought before it; never said. In a course: the strategy."""
    assessment: str | None = None
    """In a course: how the counselor saw the moment, before the line; never said."""
    client_state: str | None = None
    """In a course: how the counselor saw the client, before the line; never said."""
    emotion: str | None = None
    """One of Plutchik's eight or `neutral`, and its intensity, 1 to 10."""
    intensity: int | None = None
    source: Written | None = None
    """How the line came about."""
    draft: Draft | None = None
    """What was revised."""
    merged: int = Field(default=1, ge=1)
    """How many turns of one speaker in a row were made into this one."""
    portable: bool = False
    """Whether the line would fit another story at this point."""
    answers: str | None = None
    """The skill that a portable line answers."""
    protocol: Literal["safety"] | None = None
    """`safety` where the safety protocol decided a counselor's line, and no policy of therapy."""


def skills_of(turn: Turn) -> tuple[str, ...]:
    """The skills of a counselor's line; () of a client's, and where none is given."""
    if turn.speaker == "client":
        return ()
    return turn.skills or ((turn.skill,) if turn.skill else ())


class CourseSession(Part):
    """A session of a course of therapy, as its counselor planned it and kept it; never said."""

    course: str
    """All sessions of one course share it."""
    number: int = Field(ge=1)
    """From 1."""
    first: int | None = None
    """The turn (from 1) with which it begins in this dialogue; None: it was held before."""
    therapy: str | None = None
    """Its id, such as `cbt`."""
    stage: str | None = None
    theme: str | None = None
    objective: tuple[str, ...] = ()
    """What the counselor meant it for."""
    reason: str | None = None
    """What of the plan and of earlier sessions it follows from."""
    schools: tuple[str, ...] = ()
    """Of an integrative course: the therapies that were planned for it, by id."""
    links: tuple[str, ...] = ()
    """Which parts of the client's file were planned to come up."""
    material: tuple[str, ...] = ()
    """Tasks and points that were planned for it."""
    skills: tuple[str, ...] = ()
    """The skills that the counselor was offered for it."""
    summary: str | None = None
    """The counselor's note, written after it."""
    client_state: str | None = None
    """How the counselor found the client, written after it."""
    goals_met: tuple[str, ...] = ()
    goal_assessment: str | None = None
    """How far the objective was reached, and by which evidence, written after it."""
    unresolved: tuple[str, ...] = ()
    homework: tuple[str, ...] = ()
    """What was agreed for the time until the next session."""


class Fault(Part):
    """A planted fault: its kind, the turns that show it (from 1), the quality that suffers most,
    and why.
    """

    kind: str
    turns: tuple[int, ...]
    quality: str
    why: str


class Origin(Part):
    """Where a dialogue comes from."""

    file: str
    """The run's folder name or the file's name."""
    hash: str = ""
    """SHA-256 (hex) of what was read."""
    chat: str = ""
    """The conversation's or session's id there."""
    models: dict[str, str] = Field(default_factory=dict)
    """Which model wrote what, by role."""


class Dialogue(Part):
    """A conversation with a client, and what is known about it."""

    id: str
    """Unique in its corpus."""
    client: str
    """The privacy unit; all dialogues of one client share it, also over sessions and runs."""
    turns: tuple[Turn, ...]
    theme: str | None = None
    language: str | None = None
    """An ISO 639-1 code, None when unknown."""
    situation: str | None = None
    """The client's file, in words; parts of it may never be said."""
    dangers: tuple[Danger, ...] = ()
    """Kinds of danger that the client's file speaks of, where the safety protocol decided a line;
    () elsewhere.
    """
    undisclosed: tuple[str, ...] = ()
    """Facts of the file that had not been said by the end."""
    objectives: tuple[str, ...] = ()
    """What the counselor meant the session for, never said; () where nobody says so."""
    sessions: tuple[CourseSession, ...] = ()
    """In a course: the sessions up to and with this dialogue's, in order; () elsewhere."""
    plan: tuple[str, ...] = ()
    """In a course: what was planned, a text for each session or stage; () elsewhere."""
    condition: str | None = None
    origin: Origin | None = None
    licence: str | None = None
    ratings: dict[str, dict[str, float | None]] = Field(default_factory=dict)
    """By instrument, then by score, in the instrument's own unit."""
    names: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    note: str | None = None
    split: Split | None = None

    @property
    def client_unknown(self) -> bool:
        """Whether nobody said who the client is, so that `reading` named one after the row of the
        file.
        """
        return self.origin is not None and self.client == unknown_client(
            self.origin.file, self.origin.chat
        )

    @property
    def canary(self) -> bool:
        """Whether it was made up to audit a training."""
        return self.origin is not None and self.origin.file == CANARY

    def lines(self, *speakers: Role) -> list[str]:
        """What the named speakers said; all, if none is named."""
        return [turn.text for turn in self.turns if not speakers or turn.speaker in speakers]


def unknown_client(file: str, chat: str) -> str:
    """What a client is called of whom only the place is known: a file's name, and the row's id or
    number.
    """
    return f"{file}:{chat}"


@dataclass(frozen=True, kw_only=True)
class Merged:
    """Dialogues whose speakers alternate, and how many turns became part of the one before."""

    dialogues: tuple[Dialogue, ...]
    turns: int


def merge_turns(dialogues: Iterable[Dialogue]) -> Merged:
    """Make consecutive turns of one speaker one turn, joined by a line break. What is known of a
    turn stays if only one of them has it; of several the first is kept, since a turn's purpose
    shows in its beginning. A draft is dropped where its turn was merged: it is a draft of only a
    part. Of several sources a fallback is told, so that it is not learned.
    """
    made, count = [], 0
    for dialogue in dialogues:
        turns: list[Turn] = []
        for turn in dialogue.turns:
            if turns and turns[-1].speaker == turn.speaker:
                turns[-1] = _joined(turns[-1], turn)
                count += 1
            else:
                turns.append(turn)
        made.append(
            dialogue
            if len(turns) == len(dialogue.turns)
            else dialogue.model_copy(update={"turns": tuple(turns)})
        )
    return Merged(dialogues=tuple(made), turns=count)


def _joined(first: Turn, second: Turn) -> Turn:
    kept = {
        name: getattr(second, name)
        for name in (
            "stage",
            "skill",
            "emotion",
            "intensity",
            "assessment",
            "client_state",
            "protocol",
        )
        if getattr(first, name) is None
    }
    reasoning = "\n".join(part for part in (first.reasoning, second.reasoning) if part) or None
    text = "\n".join(part for part in (first.text, second.text) if part)
    source = "fallback" if "fallback" in (first.source, second.source) else first.source
    return first.model_copy(
        update=kept
        | {
            "source": source,
            "text": text,
            "reasoning": reasoning,
            "skills": tuple(dict.fromkeys((*first.skills, *second.skills))),
            "draft": None,
            "merged": first.merged + second.merged,
            "portable": False,
        }
    )
