"""Whose danger a cue speaks of, whether it is denied, past, told of, or a way of speaking: what
is around it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from simcounsel.danger.hearing.lexicon import Entry, Lexicon
from simcounsel.danger.hearing.reading import normal
from simcounsel.danger.hearing.wordlist import Cue
from simcounsel.texts import sentences
from simcounsel.texts.sentences import Span

WINDOW = 110
"""How many characters before a cue are looked at."""
AFTER = 60
MOST = 24
"""At most this many places of one pattern are looked at in a text; nobody says a thing more often
in a line.
"""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A cue at a place, and what is around it."""

    cue: Cue
    span: Span
    whose: str = "own"
    """`own`, or `another` when somebody else is its subject."""
    denied: bool = False
    """Said not to be so."""
    open: bool = False
    """Denied in a way that leaves it open."""
    past: bool = False
    """Of what was."""
    told: bool = False
    """Of a film, the news, work."""
    asked: bool = False
    """As what somebody else asked or said."""


class Line:
    """A text in one language's grammar."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.text = normal(text, lexicon)
        self._said: dict[tuple[str, Span], bool] = {}

    @cached_property
    def sentences(self) -> tuple[Span, ...]:
        return tuple(sentences.spans(self.text))

    @cached_property
    def context(self) -> dict[str, list[Entry]]:
        """What could be around a cue, by section."""
        found: dict[str, list[Entry]] = {}
        for entry in self.lexicon.context.fitting(self.text):
            found.setdefault(entry.section, []).append(entry)
        return found

    @cached_property
    def idioms(self) -> tuple[Span, ...]:
        """Where ways of speaking stand that are not meant."""
        places = [span for entry in self.context.get("speaking", ()) for span in self.places(entry)]
        return tuple(span for span in places if not self.says("meant", self.sentence(span)))

    def sentence(self, span: Span) -> Span:
        """The sentence in which a place begins."""
        return next(
            (one for one in self.sentences if one[0] <= span[0] < one[1]), (0, len(self.text))
        )

    def near(self, span: Span) -> Span:
        """The sentence in which a place begins, with the one before and the one after it."""
        at = next(
            (number for number, one in enumerate(self.sentences) if one[0] <= span[0] < one[1]), 0
        )
        around = self.sentences[max(0, at - 1) : at + 2]
        return around[0][0], around[-1][1]

    def places(self, entry: Entry, within: Span | None = None) -> Iterator[Span]:
        """Where a pattern stands, at most MOST times; of several parts the first one's place."""
        start, end = within or (0, len(self.text))
        first, *others = entry.pattern.parts
        for number, found in enumerate(first.regex.finditer(self.text, start, end)):
            if number == MOST:
                return
            if found.end() == found.start():
                continue
            near = self.near(found.span()) if others or entry.pattern.absent else found.span()
            absent = not any(part.regex.search(self.text, *near) for part in entry.pattern.absent)
            if absent and all(part.regex.search(self.text, *near) for part in others):
                yield found.span()

    def says(self, section: str, within: Span) -> bool:
        """Whether anything of a section is there."""
        if (section, within) not in self._said:
            self._said[section, within] = any(
                True for entry in self.context.get(section, ()) for _ in self.places(entry, within)
            )
        return self._said[section, within]

    def cues(self, *, plain: bool = False) -> Iterator[Found]:
        """Every cue that is no way of speaking. plain: whatever is around them."""
        for entry in self.lexicon.cues.fitting(self.text):
            assert entry.cue is not None
            for span in self.places(entry):
                if not any(start < span[1] and span[0] < end for start, end in self.idioms):
                    yield Found(cue=entry.cue, span=span) if plain else self.around(entry.cue, span)

    def around(self, cue: Cue, span: Span) -> Found:
        """What is around a cue."""
        sentence = self.sentence(span)
        whose = "own" if cue.whose == "stated" else self.whose(span, sentence)
        mine = whose == "own" and self.lexicon.own_within.search(self.text, *span) is not None
        denied = cue.deniable and self.denied(span, sentence)
        return Found(
            cue=cue,
            span=span,
            whose=whose,
            denied=denied,
            open=denied and self.says("open_end", (span[0], min(sentence[1], span[1] + AFTER))),
            past=self.says("past", sentence) and not self.says("present", sentence),
            told=not mine and self.says("told", sentence),
            asked=self.says("asked", (sentence[0], span[1])),
        )

    def whose(self, span: Span, sentence: Span) -> str:
        """The subject within a place, or else the last one before it, in its clause or else its
        sentence; the client's own where none is named.
        """
        if self.lexicon.another_within.search(self.text, *span):
            return "another"
        if self.lexicon.own.search(self.text, *span):
            return "own"
        starts = [self.clause(span, sentence)]
        if not self.lexicon.words.drops_subject:
            starts.append(max(sentence[0], span[0] - WINDOW))
        for start in starts:
            own, another = (
                max(
                    (found.end() for found in subject.finditer(self.text, start, span[0])),
                    default=-1,
                )
                for subject in (self.lexicon.own, self.lexicon.another)
            )
            if max(own, another) >= 0:
                return "own" if own >= another else "another"
        return "own"

    def clause(self, span: Span, sentence: Span) -> int:
        """Where the clause of a place begins."""
        start = max(sentence[0], span[0] - WINDOW)
        return max(
            (found.end() for found in self.lexicon.breaks.finditer(self.text, start, span[0])),
            default=start,
        )

    def denied(self, span: Span, sentence: Span) -> bool:
        """Whether the clause says before the place, or the sentence right after it, that it is not
        so.
        """
        start = self.clause(span, sentence)
        if self.lexicon.denial.search(self.text, start, span[0]) and not self.lexicon.undone.search(
            self.text, start, span[0]
        ):
            return True
        return any(
            place[0] <= span[1] + 3
            for entry in self.context.get("no_after", ())
            for place in self.places(entry, (span[1], span[1] + AFTER))
        )
