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
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import Field, model_validator

from simcounsel.errors import SpecError
from simcounsel.safety.patterns import (
    STEM,
    BadPattern,
    Grammar,
    Pattern,
    any_of,
    between,
    edges,
    read_pattern,
)
from simcounsel.specs.load import Spec, load_spec
from simcounsel.specs.vocabulary import Danger, RiskLevel

Entries = tuple[str, ...]


class Cue(Spec):
    """Words that speak of danger."""

    kind: Danger
    level: RiskLevel | None = None
    """How near, said openly by the client of its own present life; or hint: 0 a trace, nothing by
    itself, 1 a weak one, which alone raises nothing but doubt, 2 a strong one, which alone raises
    to low; hints add up (see `weighing`).
    """
    hint: Literal[0, 1, 2] | None = None
    what: Annotated[str, Field(min_length=3)]
    """What is heard, in words for people, after "the client speaks of"."""
    whose: Literal["found", "stated"] = "found"
    """`found` from the subject before it; `stated` when the words themselves tell, or it does not
    matter.
    """
    deniable: bool = True
    """False where a "not" before it takes nothing back, or is part of it."""
    say: Annotated[Entries, Field(min_length=1)]

    @model_validator(mode="after")
    def _one_weight(self) -> Self:
        if (self.level is None) == (self.hint is None) or self.level == "none":
            raise ValueError("give either `level` (low, high, imminent) or `hint` (0, 1, 2)")
        return self


class Words(Spec):
    """A file in `words/`."""

    names: Annotated[tuple[str, ...], Field(min_length=1)]
    """How files and people call the language, its ISO 639-1 code first."""
    letters: str
    """A regular expression for a letter that this language is known by where nobody names it."""
    spaced: bool
    """Words stand apart."""
    drops_subject: bool = False
    """A sentence may leave out its subject, so that somebody named in another clause is not it."""
    same: Mapping[str, str] = Field(default_factory=dict)
    """Letters that are written for others (traditional characters, signs that look alike)."""
    censored: Entries = ()
    """Words that people write with a digit or a sign in the place of a letter, or with spaces in
    between.
    """
    fillers: Entries = ()
    """Words that may stand between any two of a pattern."""
    turning: Entries = ()
    """Words that a gap in a pattern does not pass over."""
    common: Entries = ()
    """Words too common to look a pattern up by."""
    forms: Mapping[str, str] = Field(default_factory=dict)
    """`forms`, `classes`: see `patterns`."""
    classes: Mapping[str, Entries] = Field(default_factory=dict)
    cues: tuple[Cue, ...]
    """See `Cue`."""
    speaking: Entries
    """Ways of speaking; what lies in one is not meant, unless `meant` stands in the same sentence.
    """
    meant: Entries
    own: Entries
    """`own`, `another`: subjects."""
    own_within: Entries
    """Within a cue these say that it is the client's own, whatever is told around it."""
    another: Entries
    another_within: Entries = ()
    """Words within a cue by which somebody else is its subject."""
    breaks: Entries
    """Words that end a clause."""
    no: Entries
    """`no`, `carried`: a denial is one of `no` before the cue in its clause, with only `carried`
    words between; `undone`: before the cue these make it none ("I can't promise I won't").
    """
    carried: Entries
    undone: Entries
    no_after: Entries
    """Right after a cue these deny it."""
    open_end: Entries
    """After a denial these leave it open ("not yet")."""
    past: Entries
    """`past`, `present`: the first lowers what its sentence speaks of to what it was once, unless
    the second stands there too.
    """
    present: Entries
    told: Entries
    """Film, book, news, work: what is told of in the same sentence and of others is not the
    client's.
    """
    asked: Entries
    """Somebody asked or said it, about the client."""
    now: Entries
    """`now`, `at_hand`: with an open cue they make it nearer (see `weighing`)."""
    at_hand: Entries
    turned: dict[str, str]
    """A counselor's question as the client would say it, word by word."""
    yes: Entries
    """`yes`, `nay`, `unsure`: how answers begin."""
    nay: Entries
    unsure: Entries
    safe: dict[Danger, Entries]
    """Questions by kind to which no means danger."""
    probing: dict[Danger, Entries]
    """Questions by kind to which yes means danger, beside those that name it."""
    taken_up: Entries
    """`taken_up`, `violence_taken_up`, `brushed_off`: how a counselor takes danger up, or waves it
    away; see `taking_up`.
    """
    violence_taken_up: Entries
    brushed_off: Entries


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
    same: Mapping[int, str]
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
                words = _read_words(path)
                code = path.stem
                try:
                    found[code] = lexicon_of(code, words)
                except (BadPattern, re.error) as error:
                    raise SpecError([f"{path}: {error}"]) from None
    return found


def _read_words(path: Path) -> Words:
    """By the fast reader; by the one that says where a fault lies if there is one."""
    try:
        return Words.model_validate(
            yaml.load(
                path.read_text(encoding="utf-8"),
                Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader),
            )
        )
    except (yaml.YAMLError, ValueError):
        return load_spec(path, Words)[0]


def lexicon_of(code: str, words: Words) -> Lexicon:
    """BadPattern says which entry cannot be read."""
    grammar = Grammar(
        spaced=words.spaced,
        fillers=words.fillers,
        classes=words.classes,
        common=frozenset(words.common),
        turning=words.turning,
        forms={base: tuple(forms.split()) for base, forms in words.forms.items()},
    )

    def index(entries: Iterator[tuple[str, str, Cue | None]]) -> Index:
        return Index(
            [
                Entry(
                    section=section, pattern=read_pattern(source, grammar), number=number, cue=cue
                )
                for number, (section, source, cue) in enumerate(entries)
            ],
            grammar,
        )

    def sections(*names: str) -> Iterator[tuple[str, str, Cue | None]]:
        return ((name, source, None) for name in names for source in getattr(words, name))

    begins, ends = edges(grammar)

    def whole(entries: Entries) -> str:
        return f"{begins}{any_of(entries, grammar)}{ends}"

    no, carried, gap = any_of(words.no, grammar), any_of(words.carried, grammar), between(grammar)
    asked = (
        (f"{section} {kind}", source, None)
        for section, by_kind in (("safe", words.safe), ("probing", words.probing))
        for kind, some in by_kind.items()
        for source in some
    )
    filling = "|".join(sorted(map(re.escape, words.fillers), key=len, reverse=True))
    return Lexicon(
        code=code,
        words=words,
        grammar=grammar,
        cues=index(("cues", source, cue) for cue in words.cues for source in cue.say),
        context=index(sections(*CONTEXT)),
        answers=index(sections("yes", "nay", "unsure")),
        questions=index(asked),
        counselor=index(sections("taken_up", "violence_taken_up", "brushed_off")),
        letter=re.compile(words.letters),
        own=re.compile(whole(words.own)),
        own_within=re.compile(whole(words.own_within)),
        another=re.compile(whole(words.another)),
        another_within=re.compile(whole(words.another_within)),
        breaks=re.compile(rf"[.,;:!?…\n。，！？；：—]|{whole(words.breaks)}"),
        denial=re.compile(rf"{begins}{no}(?:{gap}{carried})*(?:{gap})?[ ,]*\Z"),
        undone=re.compile(whole(words.undone)),
        filled=re.compile(rf"(?<![\w'])(?:{filling})(?![\w'])" if filling else r"(?!)"),
        same={ord(one): other for one, other in words.same.items()},
        censored={
            length: tuple(word for word in words.censored if len(word) == length)
            for length in {len(word) for word in words.censored}
        },
    )
