"""A card as text: for people and the Hugging Face hub, and in one sentence."""

import re
from collections.abc import Iterator

from simcounsel.corpus.card import UNKNOWN, Card, tallied

_SPDX = re.compile(r"(?i:apache-2\.0|mit|cc0-1\.0|cc-by(-nc)?(-sa|-nd)?-[234]\.0)")
"""Licences that the hub knows by these names, those that data come under."""
_KINDS = {"counselor": "counseling ", "layperson": "everyday ", "both": ""}
"""What dialogues with such partners are called."""


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
        ("themes", tallied(card.themes)),
        ("conditions", tallied(card.conditions)),
        ("languages", tallied(card.languages)),
        ("licences", tallied(card.licences)),
        (
            "models",
            "; ".join(f"{role}: {', '.join(names)}" for role, names in card.models.items())
            or UNKNOWN,
        ),
        ("how lines came about", tallied(card.lines)),
        ("safety protocol", card.safety.summary() or "decided no turn"),
        ("turns merged into the one before", str(card.merged_turns)),
        ("left out", tallied(card.left_out) or "none"),
        ("checks", ", ".join(card.checks.applied) or "none were applied"),
        ("dropped by checks", card.checks.summary() or "none"),
        ("privacy unit", f"{card.privacy.unit}. {card.privacy.meaning}"),
    ):
        yield f"- **{name}**: {value}"
