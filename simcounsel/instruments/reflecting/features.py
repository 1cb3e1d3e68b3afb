"""What is looked at in a turn to tell whether it reflects: how its sentences begin, whom they speak
of, what they take up, and what else it does. Words of topics count only where the client said them,
so that what is learned on some topics holds for others.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from simcounsel.texts import sentences, stopwords

FILLERS = frozenset(
    "okay ok oh so and but well um uh hm hmm mm mhm yeah yes right now then all alright ah i see"
    " sure mm-hmm uh-huh absolutely exactly gotcha wow no like you know".split()
)
"""Words before what a sentence says."""
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)*")
_TAG = re.compile(
    r"\b(?:is|are|do|does|did|was|were|would|will|can|could|have|has)(?:n't|n’t)? (?:you|it|they|he"
    r"|she)\W*$|\bright\W*$"
)
_ASKING = frozenset(
    "what how why where who whom whose when which do does did don't doesn't didn't is are am was"
    " were isn't aren't wasn't weren't can could can't couldn't will would won't wouldn't shall"
    " should have has had haven't hasn't may might must tell any anything anybody how's what's"
    " where's who's when's out".split()
)
"""Words with which a question in so many words begins."""
_TURNED = {
    "i": "you",
    "my": "your",
    "me": "you",
    "i'm": "you're",
    "i've": "you've",
    "mine": "yours",
}
"""The client's words as the counselor says them."""
GROUPS = {
    "obliges": r"(?:should|shouldn't|must|ought|gotta|got to|have to|has to|need to|needs to"
    r"|'d better|had better|supposed to|you'll|i want you to|i'd like you to)",
    "limits": r"(?:can't|cannot|couldn't|never|always|only|just)",
    "advises": r"(?:try|if i were|why don't|why not|how about|suggest|recommend|advice|advise|could"
    r" (?:also )?(?:try|take|go|ask|see|cut|cook|look|call)|make sure|don't|there(?:'s| are| is)"
    r" (?:also )?(?:a|some|gums|apps)|next time|let's|from now on|the key)",
    "praises": r"(?:good|great|excellent|well done|lovely|nice|wonderful|fantastic|awesome"
    r"|impressed|congratulations|proud of you|perfect)",
    "informs": r"(?:\d+|percent|guidelines?|recommended|limit|risk|side effects?|common|called"
    r"|studies|research|usually|normal|average|millions|most|people|children|because|causes?|raises"
    r"|lead|leads|result|results|report|it says|doctor|doctors|nurse)",
    "speaks_of_itself": r"(?:i|i'm|i'd|i'll|i've|me|my|we|we'll|we've|we're|us)",
    "greets": r"(?:hi|hello|welcome|thanks|thank you|good morning|good afternoon|bye|take care|see"
    r" you|sorry|my name)",
    "hears": r"(?:sounds?|seems?|looks? (?:to you|like|as)|i hear|it's as if|it's as though|as if"
    r"|must (?:be|have been)|in other words|what you've said|what you're saying|you're saying"
    r"|you said|the way you see|on the one hand|on the other hand|part of you|let me see if"
    r"|make sure i(?:'ve)? (?:understand|understood|got)|if i've understood)",
    "feels": r"(?:feel|feels|feeling|felt|afraid|scared|scares|worried|worries|worry|angry|sad"
    r"|tired|alone|lonely|ashamed|upset|frustrat\w+|overwhelm\w+|hopeless|hurts?|torn|stuck|anxious"
    r"|nervous|guilty|embarrass\w+|discourag\w+|disappoint\w+|confus\w+|uncomfortable|exhaust\w+|hard"
    r"|bothers|lost|burden|numb|relie\w+|happy|enjoy\w*|loved?|comforts?|fear|doubt)",
    "wants": r"(?:want|wants|wanted|wish|wishes|hope|hoping|rather|would like|you'd like|miss"
    r"|ready|willing|thinking of|matters?|important to you|reason|care about|unsure|aren't sure"
    r"|not sure)",
    "you_are": r"(?:you're|you are|you've|you have|you were|you'd|you don't|you aren't|you can't"
    r"|you couldn't|you didn't)",
    "you": r"(?:you|your|yours|yourself|you're|you've|you'd)",
    "you_know": r"(?:you know|believe me|in my experience|i think|come on|actually|you realize"
    r"|trust me|simple as that|the truth is|everybody|nobody)",
    "asks_leave": r"(?:would it be (?:all right|okay|ok)|is it okay|if that's okay|if you don't"
    r" mind|do you mind|can i|could i|may i|like to ask|want to ask|tell me|explain|let me tell)",
    "others": r"(?:he|she|they|he's|she's|they're|him|her|them|his|their)",
    "it": r"(?:it|it's|that|that's|there|there's|those|this)",
    "not": r"(?:not|\w+n't|never|nothing|nobody|no)",
    "when": r"(?:when|and then|but|even though|though|in spite|at the same time|yet|so)",
}
"""What a sentence may do, and the words by which it is told."""
_GROUPS = {
    name: re.compile(rf"(?<![\w']){words}(?![\w'])", re.IGNORECASE)
    for name, words in GROUPS.items()
}
STARTS = (
    "you you're you've you'd your you'll it it's that that's there there's he he's she she's they"
    " i i'm i'd i'll i've we we've let let's what if when part because a the on don't how these"
    " this everything everybody maybe one two to next try get only good great".split()
)
"""Words with which a sentence may begin that are worth telling apart."""


def features(heard: str, said: str) -> dict[str, float]:
    """What a turn is like: by name, 0 left out. heard: what the client said before it, '' at the
    beginning.
    """
    parts = [part for one in sentences.marked(said, across_lines=True) if (part := one.strip())]
    raised = [part for part in parts if sentences.ends_asking(part)]
    asked = [part for part in raised if not _as_a_statement(part)]
    told = [words for part in parts if part not in asked if (words := _bare(part))]
    found: dict[str, float] = dict(_of_turn(parts, asked, told, heard))
    found["raised"] = float(len(raised) > len(asked))
    known = _content(heard.lower())
    for words in told:
        for name in _of_sentence(words, known):
            found[name] = found.get(name, 0.0) + 1 / len(told)
    if any(_TAG.search(part.lower().rstrip("?？ ")) for part in asked):
        found["tag question"] = 1.0
    return {name: value for name, value in found.items() if value}


def _as_a_statement(question: str) -> bool:
    """Whether a sentence asks by the voice alone, in the order of words of a statement."""
    words = _bare(question)
    return len(words) > 2 and words[0] not in _ASKING and not _TAG.search(" ".join(words))


def _of_turn(
    parts: list[str], asked: list[str], told: list[list[str]], heard: str
) -> Iterator[tuple[str, float]]:
    words = sum(map(len, told))
    yield "nothing told", float(not told)
    yield "asks", float(bool(asked))
    yield "only asks", float(bool(asked) and not told)
    yield "share asked", len(asked) / max(len(parts), 1)
    yield "short", float(0 < words <= 2)
    yield "long", float(words > 25)
    yield "sentences", min(len(told), 4) / 4
    yield "nothing heard", float(not heard)
    taken = _content(" ".join(word for one in told for word in one)) & _content(heard.lower())
    yield "takes up", min(len(taken), 3) / 3
    yield "takes up nothing", float(not taken)
    yield "echoes", float(_echoes([word for one in told for word in one], heard))
    yield "goes on", float(bool(parts) and parts[0].startswith(("-", "–", "—")))
    yield "breaks off", float(bool(parts) and parts[-1].endswith(("-", "–", "—")))


def _echoes(told: list[str], heard: str) -> bool:
    """Whether nearly all that is told are the client's words, turned to the client."""
    theirs = {_TURNED.get(word, word) for word in _words(heard)}
    known = sum(word in theirs or word in ("you", "your", "you're") for word in told)
    return 0 < len(told) <= 12 and bool(theirs) and known >= 0.75 * len(told)


def _of_sentence(words: list[str], heard: frozenset[str]) -> Iterator[str]:
    text = " ".join(words)
    groups = [name for name, pattern in _GROUPS.items() if pattern.search(text)]
    yield from groups
    if words[0] in STARTS:
        yield f"begins: {words[0]}"
    yours = bool({"you", "you_are"} & {*groups})
    if yours and not {"obliges", "advises", "praises", "informs", "you_know"} & {*groups}:
        yield "of the client, and nothing else"
    if yours and _content(text) & heard:
        yield "of the client, in the client's words"
    if {"speaks_of_itself", "informs", "advises"} & {*groups} and not yours:
        yield "not of the client"


@lru_cache(maxsize=20_000)
def _content(text: str) -> frozenset[str]:
    """Stems of the words that say something."""
    return frozenset(
        _stem(word)
        for word in _words(text)
        if word not in stopwords.OF_REFLECTIONS and len(word) > 2
    )


def _stem(word: str) -> str:
    """Without common endings, so that `drinks` and `drinking` are `drink`."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("’", "'"))


def _bare(sentence: str) -> list[str]:
    """A sentence's words, without what is before what it says."""
    words = _WORD.findall(sentence.lower().replace("’", "'"))
    numbers = re.findall(r"\d+", sentence)
    begins = (
        at for at, word in enumerate(words) if word not in FILLERS or word in ("you", "i", "no")
    )
    words = words[next(begins, len(words)) :]
    return [*words, *numbers] if words else []
