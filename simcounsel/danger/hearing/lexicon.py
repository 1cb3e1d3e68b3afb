"""The words of danger of each language, read from `words/LANGUAGE.yaml`: a further language is a
further file.

`Words` says what each section means; `patterns` says how an entry is written. A file with a fault
is refused with its name and the entry.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

from simcounsel.danger.hearing.pattern_nodes import BadPattern, Grammar
from simcounsel.danger.hearing.patterns import STEM, Pattern, any_of, between, edges, read_pattern
from simcounsel.danger.hearing.wordlist import Cue, Entries, Words, read_words
from simcounsel.errors import SpecError

Written = tuple[str, str, Cue | None]
"""An entry as it is written: its section, its pattern, and the cue that it belongs to."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Entry:
    """A pattern in its section."""

    section: str
    pattern: Pattern
    number: int
    """Its place in the file."""
    cue: Cue | None = None
    """Only in `cues`."""


class Index:
    """Entries by the words they need."""

    def __init__(self, entries: Iterable[Entry], grammar: Grammar) -> None:
        self._spaced = grammar.spaced
        self._by: dict[str, list[Entry]] = {}
        for entry in entries:
            for key in entry.pattern.keys:
                self._by.setdefault(key, []).append(entry)
        self._stems = any(key.endswith("*") for key in self._by)

    def fitting(self, text: str) -> list[Entry]:
        """Those that a text has the words for, in the order of the file."""
        by = self._by
        found: dict[int, Entry] = {}
        for key in self._keys(text):
            for entry in by.get(key, ()):
                found[entry.number] = entry
        return [found[number] for number in sorted(found)]

    def _keys(self, text: str) -> set[str]:
        if not self._spaced:
            return {text[at : at + 2] for at in range(len(text) - 1)} | set(text)
        words = set(_WORDS.findall(text.lower().replace("'", "")))
        return words | {f"{word[:STEM]}*" for word in words} if self._stems else words


_WORDS = re.compile(r"\w+|[\u2600-\u27bf\U0001f300-\U0001faff]")
CONTEXT = (
    "speaking",
    "meant",
    "no_after",
    "open_end",
    "past",
    "present",
    "told",
    "asked",
    "now",
    "at_hand",
    "accepts",
)
"""Sections that are looked at only where something was found."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Lexicon:
    """A language's words, ready to be found."""

    code: str
    words: Words
    grammar: Grammar
    cues: Index
    context: Index
    answers: Index
    questions: Index
    counselor: Index
    letter: re.Pattern[str]
    own: re.Pattern[str]
    own_within: re.Pattern[str]
    another: re.Pattern[str]
    another_within: re.Pattern[str]
    breaks: re.Pattern[str]
    denial: re.Pattern[str]
    undone: re.Pattern[str]
    filled: re.Pattern[str]
    censored: Mapping[int, tuple[str, ...]]

    def known(self, word: str) -> bool:
        """Whether patterns are looked up by a word; for repairing spelling."""
        return word in self.cues._by or word in self.context._by


@cache
def lexicons() -> Mapping[str, Lexicon]:
    """All languages by code. SpecError names the file and entry of a fault."""
    found: dict[str, Lexicon] = {}
    for file in sorted(files(__package__).joinpath("words").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".yaml"):
            with as_file(file) as path:
                words = read_words(path)
                code = path.stem
                try:
                    found[code] = lexicon_of(code, words)
                except (BadPattern, re.error) as error:
                    raise SpecError([f"{path}: {error}"]) from None
    return found


def lexicon_of(code: str, words: Words) -> Lexicon:
    """BadPattern says which entry cannot be read."""
    made = _Making(words)
    grammar, whole = made.grammar, made.whole
    return Lexicon(
        code=code,
        words=words,
        grammar=grammar,
        cues=made.index(("cues", source, cue) for cue in words.cues for source in cue.say),
        context=made.index(made.sections(*CONTEXT)),
        answers=made.index(made.sections("yes", "nay", "unsure")),
        questions=made.index(made.questions()),
        counselor=made.index(made.sections("acknowledged", "violence_acknowledged", "brushed_off")),
        letter=re.compile(words.letters),
        own=re.compile(whole(words.own)),
        own_within=re.compile(whole(words.own_within)),
        another=re.compile(whole(words.another)),
        another_within=re.compile(whole(words.another_within)),
        breaks=re.compile(rf"[.,;:!?…\n。，！？；：—]|{whole(words.breaks)}"),
        denial=re.compile(made.denial()),
        undone=re.compile(whole(words.undone)),
        filled=re.compile(made.filled()),
        censored={
            length: tuple(word for word in words.censored if len(word) == length)
            for length in {len(word) for word in words.censored}
        },
    )


class _Making:
    """The entries of one file, made ready to be found."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.grammar = Grammar(
            spaced=words.spaced,
            fillers=words.fillers,
            classes=words.classes,
            common=frozenset(words.common),
            turning=words.turning,
            forms={base: tuple(forms.split()) for base, forms in words.forms.items()},
        )

    def index(self, entries: Iterable[Written]) -> Index:
        """Entries in the order of the file, by the words they need."""
        return Index(
            [
                Entry(
                    section=section,
                    pattern=read_pattern(source, self.grammar),
                    number=number,
                    cue=cue,
                )
                for number, (section, source, cue) in enumerate(entries)
            ],
            self.grammar,
        )

    def sections(self, *names: str) -> Iterator[Written]:
        """The entries of some sections."""
        return ((name, source, None) for name in names for source in getattr(self.words, name))

    def questions(self) -> Iterator[Written]:
        """A counselor's questions, each in a section of its own for its kind of danger."""
        for section, by_kind in (("safe", self.words.safe), ("probing", self.words.probing)):
            for kind, some in by_kind.items():
                yield from ((f"{section} {kind}", source, None) for source in some)

    def whole(self, entries: Entries) -> str:
        """Any of these as whole words."""
        begins, ends = edges(self.grammar)
        return f"{begins}{any_of(entries, self.grammar)}{ends}"

    def denial(self) -> str:
        """A denial up to the place where a cue begins."""
        no, carried = (any_of(some, self.grammar) for some in (self.words.no, self.words.carried))
        gap = between(self.grammar)
        return rf"{edges(self.grammar)[0]}{no}(?:{gap}{carried})*(?:{gap})?[ ,]*\Z"

    def filled(self) -> str:
        """Any filler; nothing fits where there is none."""
        some = "|".join(sorted(map(re.escape, self.words.fillers), key=len, reverse=True))
        return rf"(?<![\w'])(?:{some})(?![\w'])" if some else r"(?!)"
