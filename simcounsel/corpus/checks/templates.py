"""Replies cut to one pattern: the same phrase in line after line of a dialogue, or of a corpus."""

from collections import Counter
from collections.abc import Iterator

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.rules import Corpus, Limits, of_corpus
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.measures import is_character, units
from simcounsel.texts import sentences

FRAME, FRAME_CHARACTERS = 4, 6
"""How many words (of a Chinese sentence: characters) at the head of a sentence are its frame."""
IN_LINES, SHARE, FAR_SHARE = 3, 0.3, 0.5
"""In a dialogue a frame is a template in at least this many lines and this share of the counselor's
lines; from the second share on an error.
"""
CORPUS_LINES, CORPUS_DIALOGUES, CORPUS_SHARE = 10, 5, 0.02
"""In a corpus a frame is a template in at least this many lines, of this many dialogues, and this
share of all lines of counselors.
"""
LISTED = 10
"""How many templates of a corpus are told, the most frequent first."""
Frame = tuple[str, ...]


@of_corpus("templated", looks_for="replies cut to one pattern")
def templated(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
    """Frames that recur in one dialogue (once for each dialogue, with the most frequent), then
    those that recur over the corpus.

    The heads of sentences show a template that a word in the middle hides ("It sounds like you are
    feeling X"). What people do repeat, such as "Mm." or a question of two words, is shorter than a
    frame.
    """
    lines: Counter[Frame] = Counter()
    where: Counter[Frame] = Counter()
    total = 0
    for dialogue in corpus:
        by_line = [_frames(text) for text in dialogue.lines("counselor", "layperson")]
        counts = Counter(frame for frames in by_line for frame in frames)
        yield from _in_dialogue(dialogue, counts, len(by_line))
        total += len(by_line)
        lines.update(counts)
        where.update(counts.keys())
    yield from _in_corpus(lines, where, total)


def _frames(text: str) -> set[Frame]:
    """The frames of a line's sentences, each once."""
    return {frame for sentence in sentences.bare(text) if (frame := _frame(sentence))}


def _frame(sentence: str) -> Frame | None:
    """How a sentence begins; None if it is shorter than a frame."""
    words = units(sentence)
    size = FRAME_CHARACTERS if words and is_character(words[0]) else FRAME
    return tuple(words[:size]) if len(words) >= size else None


def _in_dialogue(dialogue: Dialogue, counts: Counter[Frame], total: int) -> Iterator[Finding]:
    frame, times = min(counts.items(), key=lambda entry: (-entry[1], entry[0]), default=((), 0))
    if times < IN_LINES or times < SHARE * total:
        return
    turn, span = _place(dialogue, frame)
    far = times > IN_LINES and times >= FAR_SHARE * total
    yield Finding(
        dialogue=dialogue.id,
        turn=turn,
        severity="error" if far else "warning",
        span=span,
        what=(
            f"{times} of the counselor's {total} lines have a sentence that begins"
            f" {quoted(_spelled(frame))}"
        ),
        remedy="say it differently, in the client's own words; keep at most one of them",
    )


def _place(dialogue: Dialogue, frame: Frame) -> tuple[int | None, tuple[int, int] | None]:
    """The second turn with this frame, where it begins to be a template, and where its sentence
    is there.
    """
    places = [
        (number, span)
        for number, turn in enumerate(dialogue.turns, start=1)
        if turn.speaker != "client"
        for span in sentences.bare_spans(turn.text)
        if _frame(turn.text[slice(*span)]) == frame
    ]
    later = [place for place in places if place[0] != places[0][0]]
    return later[0] if later else (None, None)


def _in_corpus(lines: Counter[Frame], where: Counter[Frame], total: int) -> Iterator[Finding]:
    least = max(CORPUS_LINES, CORPUS_SHARE * total)
    shared = sorted(
        (-times, frame)
        for frame, times in lines.items()
        if times >= least and where[frame] >= CORPUS_DIALOGUES
    )
    for times, frame in shared[:LISTED]:
        yield Finding(
            severity="warning",
            what=(
                f"{-times:,} of {total:,} counselor lines ({-times / total:.0%}), in"
                f" {where[frame]:,} dialogues, have a sentence that begins"
                f" {quoted(_spelled(frame))}"
            ),
            remedy=(
                "a model trained on this will say it at every turn; reword most of them, or keep"
                " fewer dialogues that have it"
            ),
        )


def _spelled(frame: Frame) -> str:
    return ("" if is_character(frame[0]) else " ").join(frame) + " …"
