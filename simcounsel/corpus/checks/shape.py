"""Rules about the shape of a dialogue: who speaks when, and how much."""

from collections import Counter
from collections.abc import Iterator

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.rules import Corpus, Limits
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.measures import unit_of, units

FAR = 5
"""A line of this many times the limit is an error: a pasted text, not speech."""


def length(text: str) -> int:
    """Words; of a Chinese or Japanese text, characters (see `measures.units`)."""
    return len(units(text))


def _turns(count: int) -> str:
    return f"{count:,} turn{'' if count == 1 else 's'}"


def empty_corpus(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
    """No dialogue at all."""
    if not corpus:
        yield Finding(
            dialogue=None,
            turn=None,
            rule="empty_corpus",
            severity="error",
            what="the corpus holds no dialogue",
            remedy=(
                "look at how the file was made; a run needs at least one conversation with a client"
            ),
        )


def repeated_id(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
    """Two dialogues with one id: findings, ratings and splits could not tell them apart."""
    for name, times in Counter(dialogue.id for dialogue in corpus).items():
        if times > 1:
            yield Finding(
                dialogue=name,
                turn=None,
                rule="repeated_id",
                severity="error",
                what=f"{times} dialogues have the id {quoted(name)}",
                remedy="give each dialogue an id of its own, or drop the copies",
            )


def single_speaker(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """A conversation takes two; a dialogue without turns is found here too."""
    speakers = sorted({turn.speaker for turn in dialogue.turns})
    if len(speakers) < 2:
        who = (
            f"only the {speakers[0]} speaks, in {_turns(len(dialogue.turns))}"
            if speakers
            else "nobody speaks: it has no turns"
        )
        yield Finding(
            dialogue=dialogue.id,
            turn=None,
            rule="single_speaker",
            severity="error",
            what=who,
            remedy="drop it, or look whether the roles were read wrongly from its source",
        )


def repeated_speaker(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """One speaker twice or more in a row; once for each stretch."""
    if len({turn.speaker for turn in dialogue.turns}) < 2:
        return
    before, start = None, 0
    for number, turn in enumerate((*dialogue.turns, None), start=1):
        speaker = turn.speaker if turn else None
        if speaker == before:
            continue
        if before and number - start > 1:
            yield Finding(
                dialogue=dialogue.id,
                turn=start + 1,
                rule="repeated_speaker",
                severity="warning",
                what=(
                    f"the {before} speaks {number - start} times in a row, in turns {start} to"
                    f" {number - 1}"
                ),
                remedy=(
                    "`export` makes one turn of them; look whether a line of the other is missing"
                ),
            )
        before, start = speaker, number


def ends_on_client(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """The last line has no answer, so nothing is learned from it about answering."""
    if dialogue.turns and dialogue.turns[-1].speaker == "client":
        yield Finding(
            dialogue=dialogue.id,
            turn=len(dialogue.turns),
            rule="ends_on_client",
            severity="warning",
            what=f"ends with the client, unanswered: {quoted(dialogue.turns[-1].text)}",
            remedy="add the counselor's last line, or cut the client's",
        )


def empty_turn(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """A turn without a letter, digit or sign. "..." is a silence, and speech; what is blank is
    not.
    """
    for number, turn in enumerate(dialogue.turns, start=1):
        if not any(character.isprintable() and not character.isspace() for character in turn.text):
            yield Finding(
                dialogue=dialogue.id,
                turn=number,
                rule="empty_turn",
                severity="error",
                what=f"the {turn.speaker}'s turn is empty",
                remedy='drop the turn, or write "..." if a silence is meant',
            )


def overlong_turn(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """A line beyond `Limits.max_counselor` or `max_client`."""
    for number, turn in enumerate(dialogue.turns, start=1):
        allowed = limits.max_client if turn.speaker == "client" else limits.max_counselor
        words = length(turn.text)
        unit = unit_of([Dialogue(id="", client="", turns=(turn,))]) if words > allowed else ""
        if words > allowed:
            yield Finding(
                dialogue=dialogue.id,
                turn=number,
                rule="overlong_turn",
                severity="error" if words > FAR * allowed else "warning",
                what=(
                    f"{words:,} {unit} in one turn of the {turn.speaker} (at most {allowed}):"
                    f" {quoted(turn.text)}"
                ),
                remedy=(
                    "cut it to what somebody would say in one breath, or split the dialogue there"
                ),
            )


def too_short(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """Fewer than `Limits.min_turns` turns."""
    if 0 < len(dialogue.turns) < limits.min_turns:
        yield Finding(
            dialogue=dialogue.id,
            turn=None,
            rule="too_short",
            severity="error",
            what=f"{_turns(len(dialogue.turns))} (at least {limits.min_turns})",
            remedy="drop it: it shows no course of a talk",
        )
