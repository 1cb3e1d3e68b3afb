"""What the checks say: one finding for each place where a corpus may be wrong, and all of them
together.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from simcounsel.corpus.dialogues import Dialogue

Severity = Literal["error", "warning"]
QUOTED = 80
"""How many characters of a place are quoted at most."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One place that may be wrong."""

    dialogue: str | None = None
    """Its id; None where the whole corpus is meant."""
    turn: int | None = None
    """From 1; None where the whole dialogue is meant."""
    rule: str = ""
    """The name of the rule that found it, which `rules.of_corpus` and `of_dialogue` write in."""
    severity: Severity
    """An `error` makes the dialogue unfit for training, a `warning` is for a person to look at."""
    what: str
    """What was seen, with the place quoted."""
    remedy: str
    """What to do about it."""
    span: tuple[int, int] | None = None
    """Where in the turn's text it stands (characters, from 0, end excluded); None if it has no one
    place.
    """


@dataclass(frozen=True, kw_only=True)
class Count:
    """How often one rule spoke: findings by severity, and the dialogues that they touch."""

    errors: int
    warnings: int
    dialogues: int


@dataclass(frozen=True, kw_only=True)
class Checked:
    """All findings: by the dialogue's place in the corpus, then the rule's place among the rules,
    then turn.
    """

    findings: tuple[Finding, ...]
    rules: tuple[str, ...]
    """Those that were applied."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def kept(self, dialogues: Iterable[Dialogue]) -> tuple[Dialogue, ...]:
        """The dialogues without an error, in their order."""
        faulty = {finding.dialogue for finding in self.errors}
        return tuple(dialogue for dialogue in dialogues if dialogue.id not in faulty)

    def counts(self) -> dict[str, Count]:
        """By rule, in the order of the rules; only rules that found something."""
        return {
            rule: _count([finding for finding in self.findings if finding.rule == rule])
            for rule in self.rules
            if any(finding.rule == rule for finding in self.findings)
        }

    def dropped(self) -> dict[str, int]:
        """How many dialogues each rule rejects by an error; one dialogue may be rejected by several
        rules.
        """
        rejected: dict[str, set[str | None]] = {}
        for finding in self.errors:
            rejected.setdefault(finding.rule, set()).add(finding.dialogue)
        return {rule: len(rejected[rule]) for rule in self.rules if rule in rejected}


def _count(findings: Sequence[Finding]) -> Count:
    errors = sum(finding.severity == "error" for finding in findings)
    touched = {finding.dialogue for finding in findings if finding.dialogue is not None}
    return Count(errors=errors, warnings=len(findings) - errors, dialogues=len(touched))


def quoted(text: str) -> str:
    """The text on one line in quotation marks, cut to QUOTED characters."""
    line = printable(" ".join(text[: 4 * QUOTED].split()))
    return f"“{line if len(line) <= QUOTED else line[: QUOTED - 1] + '…'}”"


def printable(text: str) -> str:
    """The text with a replacement character for what does not print, such as codes that colour a
    terminal or turn the direction of writing.
    """
    return "".join(
        letter if letter.isprintable() or letter in "\u200c\u200d" else "\ufffd" for letter in text
    )
