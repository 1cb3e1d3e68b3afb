"""A situation cut into facts without a model: sentence by sentence, by where it stands and what it says.

What the extractor falls back on; a model does better.
"""

import re
from collections.abc import Iterator

from simcounsel.corpus.synthesis.answers import MOST_FACTS, Extraction, FactDraft
from simcounsel.specs.vocabulary import DISCLOSURES, Disclosure

PARTS = {
    "introduces": "character", "describes": "plight", "feels": "plight", "remembers": "plight",
    "asks_for_help": "demand", "asks_for_advice": "demand",
}
"""Of which part of the file a stage tells."""
LONGEST_FACT = 380
_SENTENCE = re.compile(r"[^.!?…。！？]+(?:[.!?…。！？]+[\"”’')]*|$)")
_SIGNS: tuple[tuple[Disclosure, str], ...] = (
    ("asks_for_advice", (
        r"\b(how (?:do|can|should|could) (?:i|you|one)|what (?:do|can|should|could) i|any (?:advice|tips?|ideas?)|tell me (?:how|what))\b"
        r"|怎么办|怎么做|该如何"
    )),
    ("asks_for_help", r"\b(i(?:'d| would)? (?:want|like|need|hope|wish)|i just want|help me|looking for)\b|想要|希望|求助"),
    ("remembers", (
        r"\b(as a (?:child|kid|boy|girl)|when i was|years ago|growing up|back then|used to|my (?:mother|father) always|at school)\b"
        r"|小时候|以前|当年"
    )),
    ("feels", (
        r"\b(feels?|felt|afraid|scared|ashamed|angry|sad|lonely|alone|guilty|empty|numb|tired|cry|hate|miss|worr\w+|panic\w*)\b"
        r"|感觉|觉得|害怕|难过|焦虑|痛苦"
    )),
    ("introduces", r"\b(i(?:'m| am) (?:a |an |\d+|in my)|i work as|i live|years old|my name)\b|我是|岁"),
)
COMPLETIONS: dict[Disclosure, str] = {
    "introduces": "I'm not sure what there is to say about me.",
    "describes": "It has been going on for a while now.",
    "feels": "Mostly it makes me tired, and a bit ashamed.",
    "remembers": "I think something like it happened once before, when I was younger.",
    "asks_for_help": "I would like it to weigh on me less.",
    "asks_for_advice": "I'd like to know what I could try.",
}
"""What stands in for a stage of which the situation says nothing; marked as invented."""


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, each at most as long as a fact may be."""
    return tuple(s.strip()[:LONGEST_FACT] for s in _SENTENCE.findall(" ".join(text.split())) if len(s.strip()) > 2)


def cut(text: str, theme: str | None) -> Extraction:
    """The whole file; stages of which nothing is said are completed."""
    told = [FactDraft(of=PARTS[stage], stage=stage, text=sentence, invented=False) for stage, sentence in _staged(sentences(text))]  # type: ignore[arg-type]
    return completed(told, theme)


def completed(told: list[FactDraft], theme: str | None) -> Extraction:
    """At most as many facts as a file may hold, with something for each stage."""
    told = told[: MOST_FACTS - len(DISCLOSURES)]
    lacking = [stage for stage in DISCLOSURES if all(fact.stage != stage for fact in told)]
    added = [FactDraft(of=PARTS[stage], stage=stage, text=COMPLETIONS[stage], invented=True) for stage in lacking]  # type: ignore[arg-type]
    return Extraction(theme=theme or "other", facts=[*told, *added])


def _staged(parts: tuple[str, ...]) -> Iterator[tuple[Disclosure, str]]:
    for number, sentence in enumerate(parts):
        found = next((stage for stage, sign in _SIGNS if re.search(sign, sentence, re.IGNORECASE)), None)
        yield found or ("introduces" if number == 0 else "describes"), sentence
