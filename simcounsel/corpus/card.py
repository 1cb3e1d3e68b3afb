"""A card says what training data hold, where they come from and what was done to them. It has no
date, so that the same sources and options give the same bytes.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from simcounsel import __version__
from simcounsel.corpus.dialogues import Dialogue, Part
from simcounsel.corpus.measures import Unit, unit_of, units
from simcounsel.corpus.split import SPLITS
from simcounsel.runs.manifest import label_of

UNKNOWN = "unknown"
PRIVACY = (
    "All dialogues of one client stand in one split, and a promise about privacy (such as"
    " differential privacy in training) has to be made for a client with all of its dialogues, not"
    " for a single line or dialogue."
)

_SPDX = re.compile(r"(?i:apache-2\.0|mit|cc0-1\.0|cc-by(-nc)?(-sa|-nd)?-[234]\.0)")
"""Licences that the hub knows by these names, those that data come under."""
_KINDS = {"counselor": "counseling ", "layperson": "everyday ", "both": ""}
"""What dialogues with such partners are called."""


class Counts(Part):
    """How much there is."""

    dialogues: int
    clients: int
    turns: int
    words: int
    """Chinese and Japanese characters count as one each."""
    rows: int = 0
    """Lines of the files."""


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
        return f"{self.rejected}{several}: {_tallied(self.dropped)}" if self.dropped else ""


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
        sources=_sources(dialogues),
        merged_turns=merged_turns,
        left_out=dict(sorted(left_out.items())),
        checks=checks,
        damaged=tuple(damaged),
        labels=tuple(filter(None, [label_of(n for names in models.values() for n in names)])),
        files=files,
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


def readme(card: Card) -> str:
    """The card for people, with the head that the Hugging Face hub and
    `datasets.load_dataset(FOLDER)` read.
    """
    return "\n".join([*_head(card), "", *_body(card), ""])


def _head(card: Card) -> Iterator[str]:
    languages = [language for language in card.languages if language != UNKNOWN]
    yield "---"
    if languages:
        yield f"language: [{', '.join(languages)}]"
    yield from _licence(card)
    yield f"pretty_name: {about(card).partition(':')[0]}"
    yield "task_categories: [text-generation]"
    yield f"size_categories: [{_size(card.counts.rows)}]"
    counsels = card.options.get("partner", "counselor") != "layperson"
    yield f"tags: [{'counseling, ' if counsels else ''}simulation, simcounsel]"
    yield "configs:"
    yield "- config_name: default"
    yield "  data_files:"
    for file in card.files:
        yield f"  - {{split: {file.split('.')[0]}, path: {file}}}"
    yield "---"


def _licence(card: Card) -> Iterator[str]:
    """By the hub's names, which are SPDX's in small letters; `other` where there are several, or
    one that has no such name.
    """
    licences = [one for one in card.licences if one != UNKNOWN]
    if licences:
        known = len(card.licences) == 1 and _SPDX.fullmatch(licences[0])
        yield f"license: {licences[0].lower() if known else 'other'}"


def _size(rows: int) -> str:
    """How many rows there are, in the hub's classes."""
    bounds = (1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M")
    return next((name for bound, name in bounds if rows < bound), "n>1M")


def about(card: Card) -> str:
    """The data in a sentence."""
    kind = _KINDS[card.options.get("partner", "counselor")]
    return (
        f"{card.counts.dialogues} {kind}dialogues as training data ({card.format}): made by"
        " simcounsel export, for research and not for care."
    )


def _body(card: Card) -> Iterator[str]:
    yield f"# {about(card).partition(':')[0]}"
    yield ""
    yield (
        "Made by `simcounsel export`; `card.json` holds all of this and more. What a simulation"
        " says is no evidence about people, and a"
    )
    yield "model trained on it is no counselor: it belongs in research, not in care."
    for label in card.labels:
        yield f"\n**{label[:1].upper()}{label[1:]}.**"
    if places := "; ".join(card.damaged):
        yield f"\n**Runs were damaged; what could be read of them is here.** {places}"
    yield ""
    yield "| | dialogues | clients | turns | words | rows |"
    yield "|---|---|---|---|---|---|"
    for name, part in [*card.splits.items(), ("all", card.counts)]:
        yield (
            f"| {name} | {part.dialogues} | {part.clients} | {part.turns} | {part.words} |"
            f" {part.rows} |"
        )
    yield ""
    for name, value in (
        (
            "options",
            ", ".join(
                f"{key} {value}"
                for key, value in card.options.items()
                if key != "system" and value not in (None, "", [])
            ),
        ),
        ("themes", _tallied(card.themes)),
        ("conditions", _tallied(card.conditions)),
        ("languages", _tallied(card.languages)),
        ("licences", _tallied(card.licences)),
        (
            "models",
            "; ".join(f"{role}: {', '.join(names)}" for role, names in card.models.items())
            or UNKNOWN,
        ),
        ("how lines came about", _tallied(card.lines)),
        ("turns merged into the one before", str(card.merged_turns)),
        ("left out", _tallied(card.left_out) or "none"),
        ("checks", ", ".join(card.checks.applied) or "none were applied"),
        ("dropped by checks", card.checks.summary() or "none"),
        ("privacy unit", f"{card.privacy.unit}. {card.privacy.meaning}"),
    ):
        yield f"- **{name}**: {value}"


def _tallied(tally: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in tally.items())
