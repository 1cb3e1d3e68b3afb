"""Findings as lines of a terminal and as JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict

from simcounsel.corpus.checks.findings import Checked, Finding, printable

SHOWN = 5
"""How many findings of each rule are told in the terminal; the page and the JSON hold more."""


def place(finding: Finding) -> str:
    """Where it is, for people: the dialogue's id and the turn."""
    if finding.dialogue is None:
        return "the corpus"
    name = printable(finding.dialogue)
    return name if finding.turn is None else f"{name}, turn {finding.turn}"


def table(checked: Checked, width: int) -> Iterator[str]:
    """A line a rule that found something: errors, warnings, dialogues, and an example cut to the
    width (in characters).
    """
    counts = checked.counts()
    if not counts:
        return
    name = max(len(rule) for rule in (*counts, "rule"))
    yield f"{'rule':<{name}}  {'errors':>8}  {'warnings':>8}  {'dialogues':>9}  example"
    for rule, count in counts.items():
        first = min(
            (finding for finding in checked.findings if finding.rule == rule),
            key=lambda finding: finding.severity,
        )
        start = f"{rule:<{name}}  {count.errors:>8,}  {count.warnings:>8,}  {count.dialogues:>9,}  "
        yield start + _cut(f"{place(first)}: {first.what}", max(30, width - len(start)))


def finding_lines(checked: Checked, shown: int = SHOWN) -> Iterator[str]:
    """Each finding on a line with its remedy on the next; of each rule the first `shown`, errors
    before warnings, and how many more there are.
    """
    for rule in checked.counts():
        mine = sorted(
            (finding for finding in checked.findings if finding.rule == rule),
            key=lambda finding: finding.severity,
        )
        for finding in mine[:shown]:
            yield f"{place(finding)}: {finding.severity}: {rule}: {finding.what}"
            yield f"    {finding.remedy}"
        if len(mine) > shown:
            yield f"    and {len(mine) - shown:,} more of {rule}; --html FILE or --json shows them"


def as_json(checked: Checked, dialogues: int) -> str:
    """Everything, for programs; ASCII, so that any text survives."""
    whole = {
        "dialogues": dialogues,
        "rules": list(checked.rules),
        "counts": {rule: asdict(count) for rule, count in checked.counts().items()},
        "findings": [asdict(finding) for finding in checked.findings],
    }
    return json.dumps(whole, indent=1)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
