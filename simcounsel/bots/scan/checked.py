"""How often each scanner is right, on labelled lines that its author had not seen.

The lines (`labelled/`) were written and labelled by a language model, `test` and `tune` before the
rules were tuned, `train` later and without sight of `test`. The `test` lines were measured twice:
for rules alone, and for rules with classifiers. No clinician has labelled any.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from simcounsel.bench.cases import Kept
from simcounsel.bots.scan.scanners import MARKS, marks_of
from simcounsel.intake import json_data
from simcounsel.specs.vocabulary import Language

LABEL_OF = {"takes_up": "reflects"}
"""What a mark is held against, where the labels call it otherwise."""


class Checked(Kept):
    """A scanner beside the labels."""

    lines: int
    """That have the label."""
    recall: float
    """Of the lines with the label, the share that it finds."""
    precision: float
    """Of the lines that it finds, the share with the label; 1 where it finds none."""


@cache
def checked(language: Language, part: str = "test") -> Mapping[str, Checked]:
    """Every scanner, on the lines of a language. part: `test`, or `tune` or `train`, on which
    they were tuned.
    """
    lines = labelled(language, part)
    return against(lines, [marks_of(one["line"], language, one["before"]) for one in lines])


@cache
def labelled(language: Language, part: str) -> tuple[dict[str, Any], ...]:
    """The lines: `before`, the client's; `line`, the bot's; `labels`."""
    text = files(__package__) / "labelled" / f"{language}_{part}.jsonl"
    return tuple(json_data(line) for line in text.read_text(encoding="utf-8").splitlines())


def against(
    lines: Sequence[Mapping[str, Any]], found: Sequence[frozenset[str]]
) -> Mapping[str, Checked]:
    """What was found in each line beside its labels."""
    right, seen, there = Counter[str](), Counter[str](), Counter[str]()
    for one, marks in zip(lines, found, strict=True):
        named = {LABEL_OF.get(mark, mark) for mark in marks}
        right.update(named & set(one["labels"]))
        seen.update(named)
        there.update(one["labels"])
    labels = {mark: LABEL_OF.get(mark, mark) for mark in MARKS}
    return {
        mark: Checked(
            lines=there[label],
            recall=right[label] / there[label] if there[label] else 0.0,
            precision=right[label] / seen[label] if seen[label] else 1.0,
        )
        for mark, label in labels.items()
    }
