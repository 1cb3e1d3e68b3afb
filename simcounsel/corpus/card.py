"""A card says what training data hold, where they come from and what was done to them. It has no
date, so that the same sources and options give the same bytes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from simcounsel import __version__
from simcounsel.corpus.dialogues import Dialogue, Part
from simcounsel.corpus.measures import Unit, unit_of, units
from simcounsel.corpus.split import SPLITS
from simcounsel.runs.manifest import label_of

UNKNOWN = "unknown"
PRIVACY = (
    "All dialogues of one client are in one split, and a promise about privacy (such as"
    " differential privacy in training) has to be made for a client with all of its dialogues, not"
    " for a single line or dialogue."
)


class Counts(Part):
    """How much there is."""

    dialogues: int
    clients: int
    turns: int
    words: int
    """Chinese and Japanese characters count as one each."""
    rows: int = 0
    """Lines of the files."""


class Safety(Part):
    """Turns of counselors that the safety protocol decided, and not a policy of therapy."""

    moves: int = 0
    of: int = 0
    """All turns of counselors."""
    without_danger: int = 0
    """Moves in dialogues with clients whose file speaks of no danger."""

    def summary(self) -> str:
        """In words; '' where there is none."""
        return (
            f"{self.moves} of {self.of} turns of counselors were decided by the safety protocol,"
            f" {self.without_danger} of them with clients whose file speaks of no danger"
            if self.moves
            else ""
        )


class Source(Part):
    """A file or run that was read."""

    file: str
    hash: str
    """SHA-256 (hex), of a run that of its log; '' when unknown."""
    dialogues: int
    """How many of it are here."""


class Checks(Part):
    """Which rules looked at the dialogues, how many were rejected, how many by each (one may be
    rejected by several), and how often each only warned.
    """

    applied: tuple[str, ...] = ()
    rejected: int = 0
    dropped: dict[str, int] = Field(default_factory=dict)
    warned: dict[str, int] = Field(default_factory=dict)

    def summary(self) -> str:
        """What was dropped, in words; '' for nothing."""
        several = (
            " (a dialogue can break several rules)"
            if sum(self.dropped.values()) > self.rejected
            else ""
        )
        return f"{self.rejected}{several}: {tallied(self.dropped)}" if self.dropped else ""


class Privacy(Part):
    """Whose data one unit of privacy is."""

    unit: str = "client"
    meaning: str = PRIVACY


class Written(Part):
    """A file that was written."""

    rows: int
    bytes: int
    hash: str


class Card(Part):
    """All that a reader of the data should know."""

    simcounsel: str = __version__
    format: str
    options: dict[str, Any]
    counts: Counts
    words_are: Unit
    splits: dict[str, Counts]
    themes: dict[str, int]
    conditions: dict[str, int]
    languages: dict[str, int]
    licences: dict[str, int]
    models: dict[str, tuple[str, ...]]
    """By role, all that had it."""
    lines: dict[str, int]
    """Turns by how they came about."""
    safety: Safety = Safety()
    sources: tuple[Source, ...]
    merged_turns: int
    """Turns that became part of the one before, since both were of one speaker."""
    left_out: dict[str, int]
    """Dialogues by the reason, before any check."""
    checks: Checks
    privacy: Privacy = Privacy()
    damaged: tuple[str, ...] = ()
    """Where runs among the sources are not as they were written; what could be read of them is in
    the data.
    """
    labels: tuple[str, ...] = ()
    """What has to be said of runs among the sources wherever they appear."""
    files: dict[str, Written]


def counts(dialogues: Sequence[Dialogue], rows: int = 0) -> Counts:
    """Of some dialogues."""
    words = sum(len(units(turn.text)) for dialogue in dialogues for turn in dialogue.turns)
    turns = sum(len(dialogue.turns) for dialogue in dialogues)
    return Counts(
        dialogues=len(dialogues),
        clients=len({one.client for one in dialogues}),
        turns=turns,
        words=words,
        rows=rows,
    )


def make_card(
    dialogues: Sequence[Dialogue],
    *,
    format: str,
    options: dict[str, Any],
    rows: Mapping[str, int],
    merged_turns: int,
    left_out: Mapping[str, int],
    checks: Checks,
    damaged: Sequence[str] = (),
    files: dict[str, Written],
) -> Card:
    """The card of dialogues that bear their splits. rows: by split."""
    models = _models(dialogues)
    return Card(
        format=format,
        options=options,
        counts=counts(dialogues, sum(rows.values())),
        words_are=unit_of(dialogues),
        splits={
            split: counts([one for one in dialogues if one.split == split], rows.get(split, 0))
            for split in SPLITS
        },
        themes=_tally(dialogues, lambda one: one.theme),
        conditions=_tally(dialogues, lambda one: one.condition),
        languages=_tally(dialogues, lambda one: one.language),
        licences=_tally(dialogues, lambda one: one.licence),
        models=models,
        lines=dict(
            sorted(
                Counter(turn.source or UNKNOWN for one in dialogues for turn in one.turns).items()
            )
        ),
        safety=_safety(dialogues),
        sources=_sources(dialogues),
        merged_turns=merged_turns,
        left_out=dict(sorted(left_out.items())),
        checks=checks,
        damaged=tuple(damaged),
        labels=tuple(filter(None, [label_of(n for names in models.values() for n in names)])),
        files=files,
    )


def _safety(dialogues: Iterable[Dialogue]) -> Safety:
    turns = [
        (dialogue, turn)
        for dialogue in dialogues
        for turn in dialogue.turns
        if turn.speaker == "counselor"
    ]
    moves = [dialogue for dialogue, turn in turns if turn.protocol]
    return Safety(
        moves=len(moves), of=len(turns), without_danger=sum(not one.dangers for one in moves)
    )


def _tally(dialogues: Iterable[Dialogue], of: Callable[[Dialogue], str | None]) -> dict[str, int]:
    return dict(sorted(Counter(of(one) or UNKNOWN for one in dialogues).items()))


def _models(dialogues: Iterable[Dialogue]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for dialogue in dialogues:
        for role, model in (dialogue.origin.models if dialogue.origin else {}).items():
            found.setdefault(role, set()).add(model)
    return {role: tuple(sorted(found[role])) for role in sorted(found)}


def _sources(dialogues: Iterable[Dialogue]) -> tuple[Source, ...]:
    tally = Counter(
        (one.origin.file, one.origin.hash) if one.origin else (UNKNOWN, "") for one in dialogues
    )
    return tuple(
        Source(file=file, hash=hash, dialogues=count)
        for (file, hash), count in sorted(tally.items())
    )


def tallied(tally: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in tally.items())
