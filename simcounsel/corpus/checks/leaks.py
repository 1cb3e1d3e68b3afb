"""What should have stayed in the counselor's head, or in the machine, and was said aloud."""

from collections.abc import Iterator

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.rules import Limits, of_dialogue
from simcounsel.corpus.checks.wordlists import phrases
from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.measures import is_character, units

SAME_WORDS, SAME_CHARACTERS = 6, 12
"""As many words (Chinese characters) in a row as this that are in the counselor's reasoning and
in the line, and were not said before, were read out.
"""
Run = tuple[str, ...]


@of_dialogue("leak", looks_for="agenda, reasoning or prompt said aloud")
def leak(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """Prompt artefacts in any line; stages, techniques and notes in a counselor's; and what a
    counselor thought before its line (reasoning, assessment, the client's state) read out.
    """
    said: set[Run] = set()
    for number, turn in enumerate(dialogue.turns, start=1):
        yield from _named(number, turn)
        if turn.speaker != "client":
            yield from _read_out(number, turn, said)
        said |= _runs(turn.text)


def _named(number: int, turn: Turn) -> Iterator[Finding]:
    """At most one finding of each kind in a turn."""
    for what, pattern in {
        **phrases("leak"),
        **(phrases("agenda") if turn.speaker != "client" else {}),
    }.items():
        found = pattern.search(turn.text)
        if found:
            yield Finding(
                turn=number,
                severity="error",
                what=f"{what}: {quoted(turn.text[found.start() :])}",
                span=found.span(),
                remedy="cut it out of the line; what a counselor thinks belongs into `reasoning`",
            )


def _runs(text: str) -> set[Run]:
    """All stretches of SAME_WORDS words, or of SAME_CHARACTERS characters of a Chinese text."""
    words = units(text)
    size = SAME_CHARACTERS if sum(map(is_character, words)) * 2 > len(words) else SAME_WORDS
    return {tuple(words[start : start + size]) for start in range(len(words) - size + 1)}


def _read_out(number: int, turn: Turn, said: set[Run]) -> Iterator[Finding]:
    """At most one finding in a turn."""
    thoughts = {
        "reasoning": turn.reasoning,
        "assessment": turn.assessment,
        "view of the client's state": turn.client_state,
    }
    for what, thought in thoughts.items():
        shared = (_runs(thought) & _runs(turn.text)) - said if thought else set()
        if shared:
            run = min(shared)
            words = ("" if len(run) == SAME_CHARACTERS else " ").join(run)
            yield Finding(
                turn=number,
                severity="error",
                what=f"the counselor's {what}, read out: {quoted(words)}",
                remedy=f"cut it out of the line; the {what} is kept apart and never said",
            )
            return
