"""What a tuned model says as the counselor: asked in the form in which it was trained, checked, and
the best taken.

It was trained on chats (`simcounsel.corpus.teaching`): our counselor's system prompt, the client as
user, the counselor as assistant. It knows neither the policy's move nor how often the two have met,
so greetings and farewells stay hand-written.
"""

import re
from collections.abc import Callable
from typing import Literal

import numpy as np

from simcounsel.agents.facts import LineFacts
from simcounsel.embedded.similarity import Similarity
from simcounsel.embedded.texts import strangers_in
from simcounsel.llm.answers import speech_problem
from simcounsel.prompts import render
from simcounsel.texts.sentences import before_capitals

TRIES, ENOUGH = 4, 2
"""How many candidates are written at most, and how many fit ones are enough."""
WINDOW, STEP = 24, 12
"""Of a long conversation the last `WINDOW` lines are shown at most; they move on by `STEP` at once,
so that the prompt cache holds between.
"""
MOST_SENTENCES, MOST_WORDS = 2, 45
ALIKE = 0.93
"""From this cosine on, two lines say the same."""

Message = tuple[Literal["user", "assistant"], str]
Chat = Callable[[str, list[Message], str, int], str]
"""System prompt, what was said, what was heard last and a seed to the model's answer; '' where it
gave none.
"""

_DANGER = re.compile(
    r"\b(suicid\w*|(kill|killing|hurt|hurting|harm|harming|cut|cutting) (myself|him|her|them)|end"
    r" (it all|my life)|overdos\w+"
    r"|(want|wanted|wish|rather) (to )?(die|be dead)|wish I (was|were) dead|better off"
    r" (dead|without me)|no reason to live"
    r"|(don['’]t|do not|didn['’]t|no longer) want to (live|be alive|be here|wake up|exist))\b",
    re.IGNORECASE,
)
_TAKES_UP = re.compile(
    r"\b(suicid\w*|kill\w*|die|dying|dead|hurt\w*|harm\w*|alive|live|living|safe|crisis|emergency|doctor)\b",
    re.IGNORECASE,
)
_MEDICAL = re.compile(
    r"\b(diagnos\w+|medicat\w+|pills?|tablets?|dos(e|es|age)|prescri\w+|antidepress\w+|melatonin)\b",
    re.IGNORECASE,
)
_MACHINE = re.compile(r"\b(AI|language model|chatbot|assistant)\b")
_OWN = re.compile(r"\b(my|mine|myself)\b", re.IGNORECASE)
_I = re.compile(
    r"\bI\b(?!['’]m (listening|here|sorry|glad|asking|with))(?!"
    r" (see|hear|wonder|think|ask|asked|meant)\b)"
)
_YOU = re.compile(r"\b(you|your|yours|yourself)\b", re.IGNORECASE)
_DECIDES = re.compile(
    r"\byou (should|must|need to|have to|ought to)\b|\bkill yourself\b", re.IGNORECASE
)


class Tuned:
    """The counselor's lines of a tuned model. `chat` asks it."""

    def __init__(self, similarity: Similarity, chat: Chat) -> None:
        self._similarity = similarity
        self._chat = chat

    def line(self, facts: LineFacts, seed: int) -> str | None:
        """The fit candidate nearest to what was heard and furthest from what was said; None when
        none is fit, or it is not its turn.
        """
        talk = talk_of(facts)
        if facts.heard is None or talk[-1][0] != "user":
            return None
        fit = self._fit(facts, seed, talk)
        if not fit:
            return None
        scores = self._similarity.nearness(facts.heard.text, fit) - 0.5 * np.array(
            [self._similarity.nearest(text, facts.own) for text in fit]
        )
        return fit[int(np.argmax(scores))]

    def _fit(self, facts: LineFacts, seed: int, talk: list[Message]) -> list[str]:
        _, system = render("export_counselor")
        fit: list[str] = []
        for number in range(TRIES):
            text = spoken_part(self._chat(system, talk[:-1], talk[-1][1], seed + number))
            if text not in fit and fault(text, facts) is None and not self._again(text, facts):
                fit.append(text)
            if len(fit) == ENOUGH:
                break
        return fit

    def _again(self, text: str, facts: LineFacts) -> bool:
        """Whether it was said before, by anybody in this conversation or by this counselor lately,
        in these words or others.
        """
        before = [*dict.fromkeys([*(line.text for line in facts.lines), *facts.said])]
        return bool(before) and self._similarity.nearest(text, before) >= ALIKE


def talk_of(facts: LineFacts) -> list[Message]:
    """The conversation as a chat that ends before the counselor's line: turns of one speaker
    joined, a stage direction where the counselor spoke first; the end of a long one begins with a
    line of the client.
    """
    begin = _begin(len(facts.lines))
    while begin and begin < len(facts.lines) and facts.lines[begin].who == facts.me:
        begin += 1
    talk: list[Message] = []
    for line in facts.lines[begin:]:
        role: Literal["user", "assistant"] = "assistant" if line.who == facts.me else "user"
        if talk and talk[-1][0] == role:
            talk[-1] = (role, f"{talk[-1][1]}\n{line.text}")
        else:
            talk.append((role, line.text))
    if not talk or talk[0][0] == "assistant":
        talk.insert(0, ("user", render("export_opening", other="client")[1]))
    return talk


def _begin(count: int) -> int:
    """The first line that is shown, of so many."""
    return max(0, -(-(count - WINDOW) // STEP) * STEP)


def spoken_part(text: str) -> str:
    """The first sentences that are whole."""
    whole = [part for part in before_capitals(" ".join(text.split())) if part[-1] in '.!?”"']
    return " ".join(whole[:MOST_SENTENCES])


def fault(text: str, facts: LineFacts) -> str | None:
    """What is wrong with a text as the counselor's next line; None when nothing is. Its words in “
    ” are somebody else's.
    """
    heard, plain = facts.heard.text if facts.heard else "", re.sub(r"“[^”]*”", "", text)
    problem = (
        "it is empty"
        if not text
        else speech_problem(text) or _out_of_role(text, plain, heard, facts)
    )
    if problem:
        return problem
    if _DECIDES.search(plain):
        return "it decides for the client"
    if _MEDICAL.search(plain) and not _MEDICAL.search(heard):
        return "it speaks of diagnosis or medication unasked"
    if _DANGER.search(heard) and not _TAKES_UP.search(text):
        return "it passes over danger"
    return None


def _out_of_role(text: str, plain: str, heard: str, facts: LineFacts) -> str | None:
    words = re.findall(r"[\w'’]+", plain.lower())
    if not 3 <= len(words) <= MOST_WORDS or text.count("?") > 1:
        return "too short, too long, or more than one question"
    if len(set(words)) < 0.6 * len(words):
        return "it repeats itself"
    if _OWN.search(plain) or any(
        _I.search(part) and not _YOU.search(part) for part in before_capitals(plain)
    ):
        return "it speaks of oneself"
    known = " ".join([facts.other, *(line.text for line in facts.lines)])
    if ":" in plain or facts.me in plain or strangers_in(re.sub(r"\bI['’]\w+", "I", plain), known):
        return "it names a speaker, itself or somebody unknown"
    return (
        "it speaks as a machine, unasked"
        if _MACHINE.search(plain) and not _MACHINE.search(heard)
        else None
    )
