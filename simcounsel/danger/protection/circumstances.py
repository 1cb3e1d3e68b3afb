"""What a client's words tell of a danger beyond its level and kind: whose it is, how old they are,
what was done already, what makes it nearer.

Read from the client's lines of the conversation by words (`ways/`), without a model; what is not
said in as many words is not known.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from simcounsel.agents.talk import TalkView
from simcounsel.danger.hearing.detector import as_learned
from simcounsel.danger.hearing.grammar import Line
from simcounsel.danger.hearing.lexicon import lexicons
from simcounsel.danger.hearing.reading import languages_of
from simcounsel.danger.protection.data import ways
from simcounsel.specs.vocabulary import Danger
from simcounsel.texts import sentences

OF_AGE = 18
BY_OWN_HAND: tuple[Danger, ...] = ("suicide", "self_harm")


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What was said of them so far."""

    another: str | None = None
    """Who may die or be hurt by their own hand, where it is not the client, as a counselor calls
    them ("your brother"); None: the client, or nobody.
    """
    hurt: str | None = None
    """Who is hurt by somebody, where it is not the client; None: the client, or nobody."""
    own: bool = False
    """They have spoken of death or harm by their own hand that is theirs."""
    soon: bool = False
    """Somebody else is said to mean it for today, or to have done it."""
    age: int | None = None
    """Of the client, in years: as they said it, else as their file has it."""
    pupil: bool = False
    """They said that they go to a school for those under age."""
    secrecy: bool = False
    """They asked that nobody be told."""
    near: bool = False
    """Where the client is hurt there is a weapon, or they go back there now."""
    voices: bool = False
    """Voices give them orders, or they are sure that they must act before somebody does."""
    done: bool = False
    """They have done something that may kill or badly hurt them."""

    @property
    def minor(self) -> bool:
        """Whether they are under age, as far as they said it."""
        return self.age < OF_AGE if self.age is not None else self.pupil


def circumstances(view: TalkView, *, last: bool = False) -> Circumstances:
    """What the other has said. last: in their last line only."""
    told = [as_meant(line.text, view) for line in view.lines if line.who == view.other]
    said = told[-1:] if last else told
    language = view.language
    own, whom = whose_danger(view)
    return Circumstances(
        another=whom,
        hurt=_hurt(told, language),
        own=own,
        soon=any(_soon(one, language) for one in said),
        age=next((age for one in reversed(said) if (age := _age(one, language))), view.meeting.age),
        pupil=_any(said, "pupil", language),
        secrecy=_any(said, "secrecy", language),
        near=_any(said, "near", language),
        voices=_any(said, "voices", language),
        done=whom is None and _any(said, "done", language),
    )


def as_meant(text: str, view: TalkView) -> str:
    """A line without slips of the pen, and in Chinese with one form of each character."""
    return as_learned(text, view.language) if view.language in lexicons() else text


def asks_for_secrecy(view: TalkView) -> bool:
    """Whether the other's last line, which is still to be answered, asks that nobody be told."""
    return (
        view.heard is not None
        and view.lines[-1].who == view.other
        and _says(as_meant(view.heard.text, view), "secrecy", view.language)
    )


def whose_danger(view: TalkView) -> tuple[bool, str | None]:
    """Whether a client has spoken of danger by their own hand that is theirs; and who it is when
    they have spoken of somebody else's and of none of their own, or have said since that it is not
    theirs. What was said of themselves alone ("I want to
    die") no later word takes back; what no words tell, but a model heard, is theirs.
    """
    language, judged = view.language, _judged(view)
    seen = own = firm = False
    named = called = None
    for number, line in enumerate(view.lines, 1):
        if line.who != view.other:
            continue
        text = as_meant(line.text, view)
        named = _called(text, language) or named
        if _corrects(text, language):
            seen, own, called = True, False, _called(text, language) or called or named
            continue
        whose: str | None = "own"
        if number in judged:
            if said := judged[number]:
                whose, called = "another", called or _called(said, language) or said
        else:
            whose = _whose(text, language) or ("own" if number in _felt(view) else None)
        seen, own = seen or whose == "another", own or whose == "own"
        firm = firm or (whose == "own" and not _of_others(text, language))
        if whose and not called:
            called = named
    own = own or firm
    return own, (called or str(ways(language)["somebody"])) if seen and not own else None


def _hurt(told: Iterable[str], language: str) -> str | None:
    """Who is hurt by somebody, as a counselor calls them, where they have said nothing of the kind
    of themselves.
    """
    whom = None
    for text in told:
        if _says(text, "hurt_own", language):
            return None
        for one in sentences.bare(text):
            found = _pattern(language, "hurt_other").search(one)
            if found and not _pattern(language, "unless").search(one):
                kin = next(group for group in found.groups() if group)
                whom = str(ways(language)["called"]).format(kin.casefold())
    return whom


def _judged(view: TalkView) -> dict[int, str | None]:
    """Whose death or harm by their own hand it is, by the model that judged the line: in the
    client's words where it is not theirs.
    """
    return {
        event.message: event.details.whose
        for event in view.assessed
        if event.message is not None
        and event.details is not None
        and set(event.kinds) & set(BY_OWN_HAND)
    }


def _felt(view: TalkView) -> set[int]:
    """Lines in which something else than words tells of the client's death or harm by their own
    hand.
    """
    return {
        event.message
        for event in view.assessed
        if event.message is not None
        and event.by in ("model", "classifier")
        and event.level != "none"
        and set(event.kinds) & set(BY_OWN_HAND)
        and not _of_others(view.lines[event.message - 1].text, view.language)
    }


def _corrects(text: str, language: str) -> bool:
    return _pattern(language, "not_me").search(text) is not None


def _of_others(text: str, language: str) -> bool:
    """Whether a line names or points to anybody else at all."""
    lexicon = lexicons().get(language)
    return _called(text, language) is not None or (
        lexicon is not None and lexicon.another.search(text) is not None
    )


@lru_cache(maxsize=4096)
def _whose(text: str, language: str) -> str | None:
    """Whose death or harm by their own hand a line speaks of; None: of nobody's."""
    if _says(text, "another", language):
        return "another"
    whose = {
        found.whose
        for code in languages_of(text, language)
        if (lexicon := lexicons().get(code)) is not None
        for found in Line(text, lexicon).cues()
        if found.cue.kind in BY_OWN_HAND and found.cue.level is not None and not found.denied
    }
    return "own" if "own" in whose else "another" if whose else None


def _soon(text: str, language: str) -> bool:
    """Whether it is said that somebody else means it for today, or does it now."""
    return _says(text, "happening", language) or (
        _says(text, "soon", language) and _whose(text, language) == "another"
    )


def _called(text: str, language: str) -> str | None:
    """As whom a counselor calls the person a line names ("my brother": "your brother")."""
    found = _pattern(language, "person").search(text)
    return str(ways(language)["called"]).format(found[1].casefold()) if found else None


def _age(text: str, language: str) -> int | None:
    found = _pattern(language, "age").search(text)
    if not found:
        return None
    said = next(one for one in found.groups() if one).casefold()
    return int(said) if said.isdigit() else int(ways(language)["numbers"][said])


def _any(texts: Iterable[str], name: str, language: str) -> bool:
    return any(_says(text, name, language) for text in texts)


def _says(text: str, name: str, language: str) -> bool:
    """Whether a sentence says it and nothing in that sentence takes it back."""
    unless = _pattern(language, "unless")
    return any(
        _pattern(language, name).search(one) and not unless.search(one)
        for one in (text[start:end] for start, end in sentences.spans(text))
    )


@cache
def _pattern(language: str, name: str) -> re.Pattern[str]:
    known = ways(language)["heard"]
    said = "|".join(f"(?:{one})" for one in known[name]).replace("’", "'")
    for slot in ("kin", "number"):
        said = said.replace(f"<{slot}>", known["of"][slot])
    return re.compile(said.replace("'", "['’]?"), re.IGNORECASE)
