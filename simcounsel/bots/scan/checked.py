"""How often each scanner is right, on labelled lines that its author had not seen.

The lines (`labelled/`) were written and labelled by a language model before the scanners were
tuned; the `test` lines were measured once. No clinician has labelled any.
"""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

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
    """Every scanner, on the lines of a language. part: `test`, or `tune`, on which they were
    tuned.
    """
    text = files(__package__) / "labelled" / f"{language}_{part}.jsonl"
    right, found, there = Counter[str](), Counter[str](), Counter[str]()
    for line in text.read_text(encoding="utf-8").splitlines():
        one = json_data(line)
        marks = {LABEL_OF.get(m, m) for m in marks_of(one["line"], language, one["before"])}
        right.update(marks & set(one["labels"]))
        found.update(marks)
        there.update(one["labels"])
    labels = {mark: LABEL_OF.get(mark, mark) for mark in MARKS}
    return {
        mark: Checked(
            lines=there[label],
            recall=right[label] / there[label] if there[label] else 0.0,
            precision=right[label] / found[label] if found[label] else 1.0,
        )
        for mark, label in labels.items()
    }
