"""Findings as one self-contained page: a table, and examples of each rule in their context."""

import html
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template

from simcounsel.corpus.checks.as_text import place
from simcounsel.corpus.checks.checking import RULES
from simcounsel.corpus.checks.findings import Checked, Finding
from simcounsel.corpus.dialogues import Dialogue

IN_CONTEXT, LISTED = 12, 500
"""How many findings of a rule are shown among their neighbouring turns, and how many more in a
line each; `--json` holds all.
"""
LONG = 600
"""A longer turn is shown from this many characters before the place to as many after it."""


def page(checked: Checked, dialogues: Sequence[Dialogue], source: str) -> str:
    """The page as HTML; whatever a dialogue holds is shown as text. source: what was checked, for
    the title.
    """
    by_id = {dialogue.id: dialogue for dialogue in dialogues}
    counts = checked.counts()
    silent = ", ".join(rule for rule in checked.rules if rule not in counts) or "none"
    text = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return Template(text).substitute(
        title=escaped(f"{source}: corpus check"),
        verdict=escaped(verdict(checked, len(dialogues))),
        silent=escaped(silent),
        table=_table(checked),
        sections="\n".join(_section(rule, checked, by_id) for rule in counts),
    )


def verdict(checked: Checked, dialogues: int) -> str:
    """In a sentence: how many dialogues, how many without an error."""
    faulty = len({finding.dialogue for finding in checked.errors} - {None})
    warnings = len(checked.findings) - len(checked.errors)
    return (
        f"{_many(dialogues, 'dialogue')}, {max(dialogues - faulty, 0):,} without an error;"
        f" {_many(len(checked.errors), 'error')} and {_many(warnings, 'warning')} by"
        f" {_many(len(checked.rules), 'rule')}"
    )


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def escaped(text: str) -> str:
    """Text that is only text in HTML; what cannot be printed or encoded becomes a replacement
    character.
    """
    shown = "".join(
        (
            character
            if character.isprintable() or character in "\n\t\u200c\u200d\u3000\xa0"
            else "\ufffd"
        )
        for character in text
    )
    return html.escape(shown)


def _table(checked: Checked) -> str:
    rows = "".join(
        f'<tr><td><a href="#{rule}">{_broken(rule)}</a><br><span class="soft'
        f' small">{escaped(RULES[rule].looks_for)}</span></td><td'
        f' class="number">{count.errors:,}</td><td class="number">{count.warnings:,}</td><td'
        f' class="number">{count.dialogues:,}</td></tr>'
        for rule, count in checked.counts().items()
    )
    head = '<tr><th scope="col">rule</th>' + "".join(
        f'<th scope="col" class="number">{name}</th>'
        for name in ("errors", "warnings", "dialogues")
    )
    return f"<table><thead>{head}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""


def _broken(rule: str) -> str:
    """A rule's name that may be broken after an underscore, for narrow screens."""
    return rule.replace("_", "_<wbr>")


def _section(rule: str, checked: Checked, by_id: Mapping[str, Dialogue]) -> str:
    """Errors before warnings; the first in context, the next in a list, of the rest how many they
    are.
    """
    mine = sorted(
        (finding for finding in checked.findings if finding.rule == rule),
        key=lambda finding: finding.severity,
    )
    later, left = mine[IN_CONTEXT : IN_CONTEXT + LISTED], len(mine) - IN_CONTEXT - LISTED
    examples = "".join(_example(finding, by_id) for finding in mine[:IN_CONTEXT])
    items = "".join(
        f"<li>{_sign(finding)} {escaped(place(finding))}: {escaped(finding.what)}</li>"
        for finding in later
    )
    more = (
        f"<details><summary>{len(later):,} more</summary><ol>{items}</ol></details>"
        if later
        else ""
    )
    rest = (
        f'<p class="soft">and {left:,} more, which <code>--json</code> lists</p>'
        if left > 0
        else ""
    )
    return (
        f'<section><h2 id="{rule}">{rule}</h2><p'
        f' class="soft">{escaped(RULES[rule].looks_for)}</p>{examples}{more}{rest}</section>'
    )


def _sign(finding: Finding) -> str:
    return f'<span class="sign {finding.severity}">{finding.severity}</span>'


def _example(finding: Finding, by_id: Mapping[str, Dialogue]) -> str:
    context = _context(finding, by_id[finding.dialogue]) if finding.dialogue is not None else ""
    return (
        f"<article><h3>{_sign(finding)}"
        f" {escaped(place(finding))}</h3><p>{escaped(finding.what)}</p>{context}"
        f'<p class="small"><b>Remedy:</b> {escaped(finding.remedy)}</p></article>'
    )


def _context(finding: Finding, dialogue: Dialogue) -> str:
    """The turn with its neighbours, the place marked; of a finding on the whole dialogue the first
    turns.
    """
    first = max(0, (finding.turn or 2) - 2)
    shown = []
    for number, turn in enumerate(dialogue.turns[first : first + 3], start=first + 1):
        here = number == finding.turn
        said = _said(turn.text, finding.span if here else None)
        shown.append(
            f'<li class="turn{" here" if here else ""}"><span class="who">{number}'
            f' {turn.speaker}</span><span class="said" dir="auto">{said}</span></li>'
        )
    return f"<ol>{''.join(shown)}</ol>" if shown else ""


def _said(text: str, span: tuple[int, int] | None) -> str:
    """A turn's text with the span marked, cut to what is around it."""
    start, end = span or (0, 0)
    before, marked, after = (
        text[max(0, start - LONG) : start],
        text[start:end],
        text[end : end + LONG],
    )
    before = ("…" if start > LONG else "") + escaped(before)
    marked = (
        f"<mark>{escaped(marked[:LONG])}{'…' if len(marked) > LONG else ''}</mark>"
        if marked
        else ""
    )
    return before + marked + escaped(after) + ("…" if end + LONG < len(text) else "")
