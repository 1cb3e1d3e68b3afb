"""Rules about the shape of a dialogue: who speaks when, and how much."""

from collections import Counter
from collections.abc import Iterator

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.rules import Corpus, Limits, of_corpus, of_dialogue
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.measures import unit_of, units

FAR = 5
"""A line of this many times the limit is an error: a pasted text, not speech."""


def length(text: str) -> int:
    """Words; of a Chinese or Japanese text, characters (see `measures.units`)."""
    return len(units(text))


def _turns(count: int) -> str:
    return f"{count:,} turn{'' if count == 1 else 's'}"


@of_corpus("empty_corpus", looks_for="a corpus without dialogues")
def empty_corpus(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
    """No dialogue at all."""
    if not corpus:
        yield Finding(
            severity="error",
            what="the corpus holds no dialogue",
            remedy=(
                "look at how the file was made; a run needs at least one conversation with a client"
            ),
        )


@of_corpus("repeated_id", looks_for="two dialogues with one id")
def repeated_id(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
    """Two dialogues with one id: findings, ratings and splits could not tell them apart."""
    for name, times in Counter(dialogue.id for dialogue in corpus).items():
        if times > 1:
            yield Finding(
                dialogue=name,
                severity="error",
                what=f"{times} dialogues have the id {quoted(name)}",
                remedy="give each dialogue an id of its own, or drop the copies",
            )


@of_dialogue("single_speaker", looks_for="only one of the two speaks")
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
            severity="error",
            what=who,
            remedy="drop it, or look whether the roles were read wrongly from its source",
        )


@of_dialogue("repeated_speaker", looks_for="one speaker twice in a row")
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
                turn=start + 1,
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


@of_dialogue("ends_on_client", looks_for="the client's last line stays unanswered")
def ends_on_client(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """The last line has no answer, so nothing is learned from it about answering."""
    if dialogue.turns and dialogue.turns[-1].speaker == "client":
        yield Finding(
            turn=len(dialogue.turns),
            severity="warning",
            what=f"ends with the client, unanswered: {quoted(dialogue.turns[-1].text)}",
            remedy="add the counselor's last line, or cut the client's",
        )


@of_dialogue("empty_turn", looks_for="a turn without words")
def empty_turn(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """A turn without a letter, digit or sign. "..." is a silence, and speech; what is blank is
    not.
    """
    for number, turn in enumerate(dialogue.turns, start=1):
        if not any(character.isprintable() and not character.isspace() for character in turn.text):
            yield Finding(
                turn=number,
                severity="error",
                what=f"the {turn.speaker}'s turn is empty",
                remedy='drop the turn, or write "..." if a silence is meant',
            )


@of_dialogue("overlong_turn", looks_for="a turn longer than speech")
def overlong_turn(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """A line beyond `Limits.max_counselor` or `max_client`."""
    for number, turn in enumerate(dialogue.turns, start=1):
        allowed = limits.max_client if turn.speaker == "client" else limits.max_counselor
        words = length(turn.text)
        unit = unit_of([Dialogue(id="", client="", turns=(turn,))]) if words > allowed else ""
        if words > allowed:
            yield Finding(
                turn=number,
                severity="error" if words > FAR * allowed else "warning",
                what=(
                    f"{words:,} {unit} in one turn of the {turn.speaker} (at most {allowed}):"
                    f" {quoted(turn.text)}"
                ),
                remedy=(
                    "cut it to what somebody would say in one breath, or split the dialogue there"
                ),
            )


@of_dialogue("too_short", looks_for="too few turns")
def too_short(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """Fewer than `Limits.min_turns` turns."""
    if 0 < len(dialogue.turns) < limits.min_turns:
        yield Finding(
            severity="error",
            what=f"{_turns(len(dialogue.turns))} (at least {limits.min_turns})",
            remedy="drop it: it shows no course of a talk",
        )
