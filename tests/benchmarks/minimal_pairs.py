"""Minimal pairs: whether what is said openly is heard with and without time, adverb, contraction, another
clause and marks, by the words alone; and whether harmless twins of the same words are not.

    python -m tests.benchmarks.minimal_pairs

Writes some 70,000 lines out of the tables below, and prints of each danger and level how many were heard, and each
line that was missed or taken for a danger. tests/danger/test_pairs.py holds a sample of them.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import NamedTuple

from simcounsel.danger.hearing.detector import heard_by_words
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
TWINS = (
    "He killed it on stage", "She killed it at the interview", "My phone died", "I'm dying to see it", "I'm dying of laughter", "This heat is killing me",
    "My feet are killing me", "I could kill for a coffee", "I'd kill for a nap", "Kill the lights", "We killed time at the station", "I'm going to shoot him an email",
    "I'm going to hang my coat", "I hung the pictures", "I cut back on sugar", "I cut myself some slack", "I cut my hair", "I burned the toast", "He beat me at chess",
    "She beats me at tennis every time", "He hit me up for a loan", "A drink in my hand and I was fine", "I want to jump at the chance", "I'm going to end the contract",
    "I'm going to kill the engine", "The job is murder", "He shot me a look", "I took the pills with breakfast", "I took my tablets as prescribed", "My mum will kill me if I'm late",
    "I'm going to take my driving test", "I want to live by the sea", "He stabbed the steak with a fork", "I locked myself out", "I swallowed my pride", "We threatened to cancel the contract",
)  # fmt: skip


class Pair(NamedTuple):
    """A line, and what must be heard in it."""

    kind: Danger | None
    """None: nothing."""
    level: RiskLevel
    text: str


def written(core: str, kind: Danger | None, level: RiskLevel) -> list[Pair]:
    """A core in all its forms. A twin takes no end: "I cut my hair again" is harmless, "tonight I kill the lights" odd."""
    after = AFTER if kind else AFTER[:1]
    return [
        Pair(kind, level, write(f"{before}{core}{end}"))
        for before, end, write in product(BEFORE, after, WRITTEN)
    ]


def cores() -> Iterator[list[Pair]]:
    """Each core in all its forms."""
    for kind, level, some in OPEN:
        for core in some:
            yield written(core, kind, level)
    for core in TWINS:
        yield written(core, None, "none")


def sample(of_each: int) -> Iterator[Pair]:
    """Some forms of each core, the same whenever it is asked."""
    for number, forms in enumerate(cores()):
        yield from Random(number).sample(forms, of_each)


def is_right(pair: Pair) -> bool:
    """What is open is heard as its danger, at its level or above; a twin as none."""
    heard = heard_by_words(pair.text, "en")
    if pair.kind is None:
        return heard.level == "none"
    return pair.kind in heard.kinds and heard.level in RISK_LEVELS[RISK_LEVELS.index(pair.level) :]


def main() -> None:
    """Print the figures and every line that was read wrongly."""
    lines, right = Counter[str](), Counter[str]()
    for pair in (one for forms in cores() for one in forms):
        group = f"{pair.kind or 'harmless twins'}, {pair.level}"
        lines[group] += 1
        right[group] += (sound := is_right(pair))
        if not sound:
            print(f"wrong: {group}: {pair.text}")
    for group, n in lines.items():
        print(f"{group:24} {right[group]:7,} of {n:7,}")


if __name__ == "__main__":
    main()
