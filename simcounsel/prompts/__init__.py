"""Every text that is sent to a model is a file in this folder: `NAME.txt`, a `string.Template`.

A prompt is made of blocks, each below a line `--- NAME`, in the one order of `BLOCKS`: first what
stays the same for the whole run, then what only grows, at last what is new each time, so that a
server can keep most of it from the request before. The first blocks are the system message, the
others the user message. A file that is asked without a person needs no names: a bare line `---`
parts its system message (above) from its user message (below), and a file without one is all user
message. A `$slot` must be filled; a literal dollar is written `$$`. What is there in another
language is `LANGUAGE/NAME.txt`; where there is no such file the English one is sent, and
`LANGUAGE/in_this_language.txt` after it, which asks for an answer in that language.

`$slot_600` is a slot's beginning, whole sentences or lines of at most 600 characters;
`$slot_last_600` is its end; `$slot_0` leaves it out.

Within `replaced`, texts of a set in other words come first (`prompts.sets`).
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from string import Template

SYSTEM = ("person", "manner", "rules")
"""Blocks of the system message: what somebody knows of themselves, the same in every prompt about
them; how they speak; and how this kind of question is answered."""
USER = ("day", "talk", "mind", "now", "answer")
"""Blocks of the user message: when and where, what was said so far, what comes to mind, what they
do now, what to answer."""
BLOCKS = (*SYSTEM, *USER)
_RULE = re.compile(r"^---[ \t]*(\w*)[ \t]*$\n?", re.MULTILINE)
NOTE = "in_this_language"
OWN_NAME = "own_name"
"""The file that says what a language is called in it."""
_GAP = re.compile(r"\n{3,}")
SHORTENED = re.compile(r"(\w+?)_(last_)?(\d+)", re.ASCII)
"""The name of a slot that is to be shortened, the slot, which end, and the most characters."""
_ENDS, _PAUSES = re.compile(r"(?<=[.!?;])\s+|[\n。！？；]+[”’」』]*"), re.compile(r"\s+|[，、]+")
_NUMBER = re.compile(
    r"(?:\A|\n|(?<=[.!?;。！？；])\s+)(?:[A-Z]{0,2}\d[\d.-]*|\w+_\w+)[.．]\Z", re.ASCII
)
"""The number or id of what comes next, with nothing behind it."""


_REPLACED: ContextVar[Mapping[str, str] | None] = ContextVar("replaced", default=None)


@contextmanager
def replaced(texts: Mapping[str, str] | None) -> Iterator[None]:
    """Within, prompts are these texts where they are among them, by name, as `zh/NAME` in another
    language; None: as they are included.
    """
    token = _REPLACED.set(texts)
    try:
        yield
    finally:
        _REPLACED.reset(token)


def prompt_text(name: str, language: str = "en") -> str:
    """The whole of a prompt in a language, or in English where there is none. Raises
    FileNotFoundError when there is no such prompt.
    """
    own = _in_other_words(name, language)
    return _shipped_text(name, language) if own is None else own


def _in_other_words(name: str, language: str) -> str | None:
    """The text of the set that is in use, if there is one and it has this prompt."""
    texts = _REPLACED.get()
    return texts.get(key_of(name, language)) if texts else None


def key_of(name: str, language: str) -> str:
    """Under which a set has a prompt."""
    return name if language == "en" else f"{language}/{name}"


@cache
def _shipped_text(name: str, language: str) -> str:
    own = _own(name, language)
    return (own or files(__name__).joinpath(f"{name}.txt")).read_text(encoding="utf-8").strip()


def _own(name: str, language: str) -> Traversable | None:
    file = files(__name__).joinpath(language, f"{name}.txt")
    return file if language != "en" and file.is_file() else None


def prompt(name: str) -> Template:
    """The whole of `NAME.txt`. Raises FileNotFoundError when there is no such prompt."""
    return Template(prompt_text(name))


@cache
def blocks_of(text: str) -> Mapping[str, str]:
    """The blocks of a prompt's text by name, as they are; one without names has its system part
    as `above` and its user part as '', the latter alone where nothing parts them. ValueError for
    blocks that are unknown, come twice or are in another order.
    """
    above, *rest = _RULE.split(text)
    named = dict(zip(rest[::2], rest[1::2], strict=True))
    if not named:
        return {"": above}
    if list(named) == [""]:
        return {"above": above, "": named[""]}
    if above.strip() or rest[::2] != [one for one in BLOCKS if one in named]:
        raise ValueError(
            f"blocks are {', '.join(BLOCKS)}, in this order; found"
            f" {', '.join(repr(one) for one in rest[::2])}"
        )
    return named


@cache
def _parts(text: str) -> tuple[Template | None, Template]:
    """System part (None when the text has none) and user part of a prompt's text."""
    named = blocks_of(text)
    if "" in named:
        above = named.get("above")
        return None if above is None else Template(above), Template(named[""])
    system, user = (
        "\n\n".join(named[one].strip() for one in blocks if one in named)
        for blocks in (SYSTEM, USER)
    )
    return Template(system), Template(user)


def render(name: str, language: str = "en", /, **slots: object) -> tuple[str, str]:
    """System and user message of `NAME.txt`, its slots filled; runs of blank lines become one.

    The file is parted before it is filled, so a slot may hold any text. The system message is ''
    when the file has none. Raises KeyError with the name of a slot that was not given.
    """
    try:
        system, user = _parts(prompt_text(name, language))
    except ValueError as error:
        raise ValueError(f"prompts/{name}.txt ({language}): {error}") from None
    asked = _fill(user, slots)
    if language != "en" and _own(name, language) is None:
        asked = f"{asked}\n\n{prompt_text(NOTE, language)}"
    return ("" if system is None else _fill(system, slots)), asked


def phrases(name: str, language: str = "en") -> dict[str, str]:
    """The lines `key: text` of a prompt file that holds short phrases; those that a set does not
    have are as they are included.
    """
    usual = _phrases_in(_shipped_text(name, language))
    own = _in_other_words(name, language)
    return usual if own is None else _over(_shipped_text(name, language), own)


@cache
def _over(usual: str, own: str) -> dict[str, str]:
    return _phrases_in(usual) | _phrases_in(own)


@cache
def _phrases_in(text: str) -> dict[str, str]:
    pairs = (line.split(":", 1) for line in text.splitlines() if line.strip())
    return {key.strip(): told.strip() for key, told in pairs}


@cache
def twins(name: str, language: str) -> dict[str, str]:
    """The lines `English | as it is said there` of `LANGUAGE/NAME.txt`; {} where there is none."""
    own = _own(name, language)
    lines = own.read_text(encoding="utf-8").splitlines() if own else []
    pairs = (line.rsplit(" | ", 1) for line in lines if line.strip())
    return {english.strip(): told.strip() for english, told in pairs}


def phrase(name: str, key: str, language: str = "en", /, **slots: object) -> str:
    """One of them, its slots filled."""
    return Template(phrases(name, language)[key]).substitute(_Slots(slots))


class _Slots(dict[str, object]):
    """Slots by name, shortened where the name says so."""

    def __missing__(self, name: str) -> str:
        found = SHORTENED.fullmatch(name)
        if found is None or found[1] not in self:
            raise KeyError(name)
        return shortened(str(self[found[1]]), int(found[3]), last=bool(found[2]))


def shortened(text: str, most: int, *, last: bool = False) -> str:
    """The beginning of a text, or its end: as many whole lines, sentences or parts of a list as fit
    into so many characters, and where none does, words. Space in front stays.
    """
    told = text.lstrip()
    if len(told) <= most:
        return text if most else ""
    space = text[: len(text) - len(told)]
    return (space if most else "") + (_end if last else _beginning)(told, most)


def _beginning(text: str, most: int) -> str:
    for ends in (_ENDS, _PAUSES):
        near = takewhile(lambda one: one.start() <= most, ends.finditer(text))
        for at in reversed([one.end() for one in near]):
            cut = text[:at].rstrip()
            if len(cut) <= most and (whole := _NUMBER.sub("", cut).rstrip(";；，、 \n")):
                return whole
    return text[:most]


def _end(text: str, most: int) -> str:
    for ends in (_ENDS, _PAUSES):
        if fit := [one.end() for one in ends.finditer(text) if 0 < len(text) - one.end() <= most]:
            return text[fit[0] :].strip()
    return text[-most:] if most else ""


def _fill(template: Template, slots: dict[str, object]) -> str:
    return _GAP.sub("\n\n", template.substitute(_Slots(slots))).strip()
