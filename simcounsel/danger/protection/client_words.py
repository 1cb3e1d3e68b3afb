"""The client's own words that a step of the safety protocol repeats instead of asking as if nothing
had been said.

Both are narrow on purpose: a sentence is said back only if the whole of it is one that the words
know, so that no means, nobody else's words and no half sentence is; and somebody counts as lived
for only where the client says so in as many words.
"""

import re
from functools import cache

from simcounsel.agents.talk import TalkView
from simcounsel.danger.protection.data import words
from simcounsel.danger.protection.ladder import Step
from simcounsel.danger.protection.state import ProtocolState
from simcounsel.specs.vocabulary import Danger
from simcounsel.texts import sentences

OTHERS: tuple[Danger, ...] = ("harm_to_others", "abuse")
Slots = dict[str, str]
_STOP = re.compile(r"(?<![.。])[.。]$")


def repeated(step: Step, protocol: ProtocolState, view: TalkView) -> tuple[str, Slots] | None:
    """The name of the lines that repeat something, and what goes into their slots; None where
    there is nothing to repeat.

    `said` at `acknowledge` and `ask_directly` about suicide: {said}, the client's plain sentence
    ("I want to die"). `openly` at `plan`, where it needed no question whether it is there.
    `dated` at `agree`: {when}, the time to come that they named ("after Thursday").
    `named` at `protective`: {whom}, somebody of whom the client said that they live for them ("I
    couldn't do that to my daughter"); not where anybody harms or is harmed, who might be the same.
    """
    if (
        step in ("acknowledge", "ask_directly")
        and protocol.kind_of(step) == "suicide"
        and not protocol.of_another
        and (sentence := said_plainly(view))
    ):
        return "said", {"{said}": sentence}
    if step == "plan" and protocol.openly:
        return "openly", {}
    if step == "protective" and not _others_in_it(protocol, view) and (whom := lived_for(view)):
        return "named", {"{whom}": whom}
    if step == "agree" and protocol.timed and protocol.told.when and not protocol.told.today:
        return "dated", {"{when}": protocol.told.when}
    return None


def said_plainly(view: TalkView) -> str | None:
    """The client's last plain sentence in a line in which danger to their own life was heard."""
    plain = _pattern(view.language, "said_plainly")
    for event in reversed(view.assessed):
        if event.message is None or "suicide" not in event.kinds:
            continue
        text = view.lines[event.message - 1].text
        some = [_STOP.sub("", text[start:end].strip()) for start, end in sentences.spans(text)]
        if found := next((one for one in reversed(some) if plain.fullmatch(one)), None):
            return found[:1].upper() + found[1:]
    return None


def _others_in_it(protocol: ProtocolState, view: TalkView) -> bool:
    heard = {kind for event in view.assessed for kind in event.kinds}
    return bool({*heard, *protocol.owed_kinds} & set(OTHERS))


def lived_for(view: TalkView) -> str | None:
    """Of whom the client said last that they live for them, as a counselor calls them ("your
    daughter", "Lena").
    """
    known = words(view.language)["lived_for"]
    for line in reversed(view.lines):
        if line.who != view.other:
            continue
        for start, end in sentences.spans(line.text):
            sentence = line.text[start:end]
            for name in ("lived_for", "lived_for_by_name"):
                found = _pattern(view.language, name).search(sentence)
                rest = sentence[: found.start()] + sentence[found.end() :] if found else ""
                if found and not re.search(known["unless"], rest, re.IGNORECASE):
                    whom = next(one for one in found.groups() if one)
                    by_name = name == "lived_for_by_name" and whom != view.me
                    return whom if by_name else str(known["called"]).format(whom.casefold())
    return None


@cache
def _pattern(language: str, name: str) -> re.Pattern[str]:
    known = words(language)
    of = known["lived_for"]
    some = {
        "said_plainly": known["said_plainly"],
        "lived_for": [one.replace("<kin>", f"({of['kin']})") for one in of["said"]],
        "lived_for_by_name": [one.replace("<name>", of["name"]) for one in of["said_by_name"]],
    }[name]
    return re.compile("|".join(f"(?:{one})" for one in some), re.IGNORECASE)
