"""What a client has told of a danger that the safety protocol need not ask again: a time, a means,
who is near, whom they live for.

Read by words (`told/`), from the lines in which danger was heard and the answers to the protocol's
own questions; what is not said in as many words is not known.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from simcounsel.agents.talk import TalkView
from simcounsel.danger.protection.data import told, ways
from simcounsel.danger.protection.ladder import QUESTIONS
from simcounsel.danger.protection.owed import PROTOCOL
from simcounsel.events import Assessed
from simcounsel.texts import sentences

DATING = ("ask_directly", "follow_up", "ask_also", "plan", "intent", "intent_also", "acknowledge")
"""Questions of the protocol in whose answers a time that is named is one for the danger."""
OF_MEANS = ("plan", "means", "intent", "intent_also")
"""Those in whose answers a means is one for the danger."""
LONGEST = 160
"""Of a quotation, in characters."""


@dataclass(frozen=True, kw_only=True)
class Disclosures:
    """What is known so far."""

    when: str | None = None
    """The last time to come that they named, in their words ("after Thursday"); None: none."""
    today: bool = False
    """Whether it is today."""
    means: tuple[str, ...] = ()
    """Categories of means of which they spoke, such as "medicine", in the language of the talk."""
    people: tuple[str, ...] = ()
    """Who is with them or on the way, as a counselor calls them ("your sister", "Lena")."""
    named: tuple[str, ...] = ()
    """Others whom they named, in their words, by a model."""
    alone: bool = False
    """They said last that nobody is with them."""
    quotes: tuple[str, ...] = ()
    """The first and the last of their lines in which danger was heard."""


def told_so_far(view: TalkView) -> Disclosures:
    """What `view.other` has told in this conversation."""
    language = view.language
    when, today, alone = None, False, False
    means: dict[str, None] = {}
    people: dict[str, None] = {}
    named: dict[str, None] = {}
    quotes: list[str] = []
    for text, heard, step in _about_it(view):
        if heard:
            quotes.append(text)
        if heard or step in DATING:
            for found in _times(text, heard, language):
                when, today = found, _today(found, language)
        if heard or step in OF_MEANS:
            means |= dict.fromkeys(_all_means(text, heard, language))
        named |= dict.fromkeys(heard.details.people if heard and heard.details else ())
        here = _with_them(text, language)
        people |= dict.fromkeys(here)
        if here or (by_themselves := _pattern(language, "alone").search(text) is not None):
            alone = not here and by_themselves
    return Disclosures(
        when=when,
        today=today,
        means=tuple(means),
        people=tuple(people),
        named=tuple(named),
        alone=alone,
        quotes=tuple(one[:LONGEST] for one in dict.fromkeys((*quotes[:1], *quotes[-1:]))),
    )


def names_it(sentence: str | None, language: str) -> bool:
    """Whether a sentence says by name that its speaker thinks of suicide."""
    return sentence is not None and _pattern(language, "names_it").search(sentence) is not None


def time_named(text: str, language: str) -> bool | None:
    """Whether an answer names a time to come that is today (True), or later (False); None: none, or
    not as one for it ("I don't know about tonight").
    """
    for sentence in sentences.bare(text):
        found = _pattern(language, "when").search(sentence)
        if found and not _pattern(language, "not_when").search(sentence):
            rest = sentence[: found.start()] + sentence[found.end() :]
            if not _pattern(language, "takes_back").search(rest):
                return _today(found.group(), language)
    return None


def means_another(text: str, language: str) -> bool:
    """Whether an answer says that another danger is there than the one that was asked about."""
    return _pattern(language, "another_kind").search(text) is not None


def conditional(text: str, language: str) -> bool:
    """Whether an answer holds only from a time on, or in a case."""
    return _pattern(language, "condition").search(text) is not None


def _about_it(view: TalkView) -> Iterator[tuple[str, Assessed | None, str | None]]:
    """The other's lines that are about the danger: the text, what was heard of danger in it, and
    the step of the protocol that it answers, if any.
    """
    heard = {
        event.message: event
        for event in view.assessed
        if event.message is not None and event.level != "none"
    }
    number, step = -1, None
    for place, line in enumerate(view.lines, 1):
        if line.who == view.me:
            number += 1
            step = _step(view, number)
        elif place in heard or step in QUESTIONS:
            yield line.text, heard.get(place), step


def _step(view: TalkView, number: int) -> str | None:
    """The step of the protocol with which an own line was said; None where it was another's."""
    turn = view.turns[number] if number < len(view.turns) else None
    return turn.move if turn is not None and turn.decider == PROTOCOL else None


def _times(text: str, heard: Assessed | None, language: str) -> Sequence[str]:
    """The times that a line names for it: by the model that judged the line, else by rules."""
    if heard is not None and heard.details is not None:
        return [heard.details.when] if heard.details.when else []
    return [found for one in sentences.bare(text) if (found := _when(one, language))]


def _all_means(text: str, heard: Assessed | None, language: str) -> Sequence[str]:
    """The categories of means in it; where a model found one that is in none, its words."""
    by_words = _means(text, language)
    said = heard.details.means if heard is not None and heard.details else None
    return by_words or ([said] if said else [])


def _when(sentence: str, language: str) -> str | None:
    if _pattern(language, "not_when").search(sentence):
        return None
    some = [
        found.group().strip()
        for found in _pattern(language, "when").finditer(sentence)
        if not _pattern(language, "not_then").search(sentence[: found.start()])
    ]
    placed = [one for one in some if _pattern(language, "placed").search(one)]
    if placed or not some or _pattern(language, "takes_back").search(sentence):
        return placed[0] if placed else None
    return some[0]


def _today(when: str, language: str) -> bool:
    return (
        _pattern(language, "today").search(when) is not None
        and _pattern(language, "not_today").search(when) is None
    )


def _means(text: str, language: str) -> Sequence[str]:
    some = told(language)["means"].items()
    return [name for name, words in some if re.search(words, text, re.IGNORECASE)]


def _with_them(text: str, language: str) -> Sequence[str]:
    return [
        _called(next(one for one in found.groups() if one), language)
        for found in _pattern(language, "with_them").finditer(text)
    ]


def _called(who: str, language: str) -> str:
    """ "my sister" as a counselor says it; a name as it is."""
    kin = re.fullmatch(r"(?:my |我的?|我)(.+)", who, re.IGNORECASE)
    return str(ways(language)["called"]).format(kin[1].casefold()) if kin else who


@cache
def _pattern(language: str, name: str) -> re.Pattern[str]:
    said = "|".join(f"(?:{one})" for one in told(language)["heard"][name]).replace("’", "'")
    of = ways(language)["heard"]["of"]
    return re.compile(said.replace("<kin>", of["kin"]).replace("'", "['’]?"), re.IGNORECASE)
