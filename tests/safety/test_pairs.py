"""Minimal pairs: what is said openly is heard with and without time, adverb, contraction, another clause and marks, by the
words alone; and harmless twins of the same words are not.
"""

from itertools import product

import pytest

from simcounsel.safety.detector import heard_by_words
from simcounsel.specs.vocabulary import RISK_LEVELS, Danger, RiskLevel

WANTS = (
    "I'm going to",
    "I am going to",
    "I'm gonna",
    "I want to",
    "I wanna",
    "I'm about to",
    "I plan to",
    "I will",
    "I'll",
)
THEIRS = ("He", "She", "My husband", "My dad", "My boyfriend")
OPEN: tuple[tuple[Danger, RiskLevel, tuple[str, ...]], ...] = (
    ("suicide", "high", tuple(f"{want} {act}" for want, act in product(WANTS, ("kill myself", "end my life", "hang myself", "take my own life")))),
    ("suicide", "high", ("I tried to kill myself", "I'm thinking of killing myself", "I think about suicide", "I'm suicidal", "I've taken an overdose", "I just took all my pills", "I just swallowed some of them", "I swallowed the whole bottle", "I want to be dead when that tram has gone by")),
    ("suicide", "low", ("I want to die", "I wish I were dead", "I don't want to live", "I'd rather be dead", "I don't want to be alive", "I do not want to be here anymore")),
    ("self_harm", "high", tuple(f"I {act}" for act in ("cut myself", "cut myself on purpose", "hurt myself on purpose", "burned myself on purpose", "cut my arm on purpose", "hurt myself again", "self-harm", "have been cutting again"))),
    ("harm_to_others", "high", tuple(f"{want} {act} {whom}" for want, act, whom in product(WANTS, ("kill", "stab", "shoot"), ("him", "her", "my boss", "my brother")))),
    ("abuse", "high", tuple(f"{who} {act}" for who, act in product(THEIRS, ("hits me", "hit me", "beats me", "choked me", "raped me", "threatens me", "threatened me", "threatened to kill me", "said he'd kill me", "locks me in")))),
)  # fmt: skip
BEFORE = (
    "",
    "Honestly, ",
    "I don't know. ",
    "You asked, so: ",
    "I've told nobody, ",
    "Look. ",
    "Okay, ",
)
AFTER = (
    "",
    " again",
    " tonight",
    " last night",
    " yesterday",
    ", I think",
    " and nobody knows",
    ". That's how it is",
    ". Sorry",
)
WRITTEN = (str, str.lower, lambda text: text.lower().replace("'", ""), lambda text: text + ".", lambda text: text + "!!")  # fmt: skip
HARMLESS = (
    "He killed it on stage", "She killed it at the interview", "My phone died", "I'm dying to see it", "I'm dying of laughter", "This heat is killing me",
    "My feet are killing me", "I could kill for a coffee", "I'd kill for a nap", "Kill the lights", "We killed time at the station", "I'm going to shoot him an email",
    "I'm going to hang my coat", "I hung the pictures", "I cut back on sugar", "I cut myself some slack", "I cut my hair", "I burned the toast", "He beat me at chess",
    "She beats me at tennis every time", "He hit me up for a loan", "A drink in my hand and I was fine", "I want to jump at the chance", "I'm going to end the contract",
    "I'm going to kill the engine", "The job is murder", "He shot me a look", "I took the pills with breakfast", "I took my tablets as prescribed", "My mum will kill me if I'm late",
    "I'm going to take my driving test", "I want to live by the sea", "He stabbed the steak with a fork", "I locked myself out", "I swallowed my pride", "We threatened to cancel the contract",
)  # fmt: skip


def at_least(level: RiskLevel) -> tuple[RiskLevel, ...]:
    return RISK_LEVELS[RISK_LEVELS.index(level) :]


@pytest.mark.parametrize(
    ("kind", "level", "core"),
    [(kind, level, core) for kind, level, cores in OPEN for core in cores],
    ids=lambda value: value if isinstance(value, str) else str(value),
)
def test_what_keeps_the_meaning_keeps_the_level(kind: Danger, level: RiskLevel, core: str) -> None:
    """Some 40,000 lines in all."""
    missed = []
    for before, after, written in product(BEFORE, AFTER, WRITTEN):
        text = written(f"{before}{core}{after}")
        heard = heard_by_words(text, "en")
        if kind not in heard.kinds or heard.level not in at_least(level):
            missed.append(f"{heard.level}: {text}")
    assert missed == []


@pytest.mark.parametrize("core", HARMLESS)
def test_harmless_twins_are_not_heard(core: str) -> None:
    taken = [
        text
        for before, written in product(BEFORE, WRITTEN)
        if heard_by_words(text := written(f"{before}{core}"), "en").level != "none"
    ]
    assert taken == []
