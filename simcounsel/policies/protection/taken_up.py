"""What the client has already said that a step of the safety protocol takes up instead of asking as if nothing had been said."""

import re
from functools import cache

from simcounsel.agents.talk import TalkView
from simcounsel.policies.protection.data import words
from simcounsel.policies.protection.ladder import Step
from simcounsel.policies.protection.standing import Standing
from simcounsel.safety.phrases import means_named
from simcounsel.safety.reading import sentences
from simcounsel.specs.vocabulary import RISK_LEVELS, Danger

LONGEST_QUOTE = {"zh": 24}
LONGEST_QUOTE_OTHERWISE = 90
"""Characters of a sentence that is said back; a longer one is not."""
OWN_LIFE: tuple[Danger, ...] = ("suicide", "self_harm")
Slots = dict[str, str]


def taken_up(step: Step, stand: Standing, view: TalkView) -> tuple[str, Slots] | None:
    """The name of the lines that take something up, and what goes into their slots; None where there is nothing to take up.

    `said` where danger is asked about by name: {said}, the sentence in which it was heard, unless it names a means. `named` at
    `protective`: {whom}, somebody of whom the client said that they live for them ("I couldn't do that to my daughter").
    """
    if step in ("ask_directly", "ask_also") and (sentence := _sentence_of_danger(stand.kind_of(step), stand, view)):
        return "said", {"{said}": sentence}
    if step == "protective" and stand.kind in OWN_LIFE and (whom := _lived_for(view)):
        return "named", {"{whom}": whom}
    return None


def _sentence_of_danger(kind: Danger, stand: Standing, view: TalkView) -> str | None:
    """The client's last sentence in which that danger alone was heard, as near as it is now."""
    least = RISK_LEVELS.index(stand.level)
    for event in reversed(view.assessed):
        if event.message is None or event.kinds != (kind,) or RISK_LEVELS.index(event.level) < least:
            continue
        text = view.lines[event.message - 1].text
        some = [text[start:end].strip() for start, end in sentences(text)]
        found = next((one for one in some if any(words_ in one for words_ in event.evidence)), None)
        if found and _may_be_said_back(found, view.language):
            return found.rstrip(" .!?…。！？,，;；").replace("“", "").replace("”", "").replace('"', "")
    return None


def _may_be_said_back(sentence: str, language: str) -> bool:
    return len(sentence) <= LONGEST_QUOTE.get(language, LONGEST_QUOTE_OTHERWISE) and means_named(sentence, language) is None


def _lived_for(view: TalkView) -> str | None:
    """Of whom the client said last that they live for them, as a counselor calls them ("your daughter")."""
    known = words(view.language)["lived_for"]
    for line in reversed(view.lines):
        found = list(_living_for(view.language).finditer(line.text)) if line.who == view.other else []
        if found:
            return str(known["called"]).format(next(one for one in found[-1].groups() if one).casefold())
    return None


@cache
def _living_for(language: str) -> re.Pattern[str]:
    known = words(language)["lived_for"]
    return re.compile("|".join(one.replace("<kin>", f"({known['kin']})") for one in known["said"]), re.IGNORECASE)
