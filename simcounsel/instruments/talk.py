"""What can be counted in the lines of a conversation without any model. The same lines give the
same numbers.

The rules, on the counselor's lines (English, and Chinese where it is said):

- A line is cut into sentences at . ! ? and their full-width forms.
- A *question* is a sentence that ends in a question mark. It is *open* when it asks with what, how,
  why, where, who, when, which or whom near its beginning, or invites ('tell me', 'could you say
  more', 'can you describe').
- *Advice* is a sentence that tells the client what to do: 'you should', 'try to', 'why don't you',
  'I suggest', ...
- A *reflection* is a turn that above all gives back what the client said: in English as a small
  classifier tells it (`reflecting`); in Chinese a turn with a sentence that neither asks nor
  advises and either begins as one (听起来, ...) or speaks of 你 and takes up at least three tenths
  of its content characters from the client's last line, two at least.
- *Talk share* is the counselor's words in all words; a Chinese character counts as a word.
- A *message* is a line; its length is counted in characters, spaces included.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from simcounsel.events import ItemAnswer
from simcounsel.instruments.kind import Counted
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.instruments.reflecting.features import features
from simcounsel.texts import sentences, stopwords
from simcounsel.texts.chinese import is_chinese

TALK_MEASURES = "talk_measures"
VERSION = "3"
TAKEN_UP, FEWEST_TAKEN_UP = 0.3, 2
_WORD = re.compile(r"[㐀-鿿]|[^\W\d_]+(?:['’][^\W\d_]+)*")
_LEAD = (
    r"^(?:\W*(?:and|but|so|well|okay|ok|yes|oh|mm|hm+|now|then|then,|right|i see|thank you)\b\W*)*"
)
_OPEN = re.compile(
    _LEAD
    + r"(?:(?:in|at|on|to|for|from|with|about) )?(?:what|how|why|where|who|whom|whose|when|which)\b"
    r"|\b(?:tell me|say more|tell .{0,12}more|describe|walk me through|help me understand)\b"
    r"|什么|怎么|怎样|如何|为什么|为何|哪|谁|多少|能.{0,6}(?:说说|谈谈|讲讲|描述)",
    re.IGNORECASE,
)
_LATE_OPEN = re.compile(r",\s*(?:and )?(?:what|how|why|where|who|when|which)\b", re.IGNORECASE)
_ADVICE = re.compile(
    r"\byou (?:should|must|ought|need to|have to|could try|might try|might want to|can try|had"
    r" better)\b|\byou'd better\b"
    r"|" + _LEAD + r"(?:please )?(?:just )?(?:try|make sure|remember to|don't"
    r" forget|stop|start|consider|take|keep|avoid|go|get|write|do)\b(?! you)"
    r"|\b(?:why don't you|why not|have you tried|i (?:would )?(?:suggest|recommend|advise)|i'd"
    r" (?:suggest|recommend|advise)|my advice|if i were you"
    r"|the best thing (?:is|to do|would)|it (?:would|might) help (?:to|if you)|what you need is|how"
    r" about (?:you )?\w+ing)\b"
    r"|建议|应该|应当|不妨|可以(?:先)?(?:尝试|试试|试着|考虑)|需要你|你要|最好|试着|尝试",
    re.IGNORECASE,
)
_ASKED_ADVICE = re.compile(
    r"why don't you|have you tried|how about (?:you )?\w+ing|why not\b|要不要试", re.IGNORECASE
)
_REFLECTION = re.compile("听起来|看起来|似乎|感觉到你|你感到|你觉得|我能感受|我可以感受|我理解")
_YOU = re.compile("[你您]")


@dataclass(frozen=True, kw_only=True)
class TalkCounts:
    """Plain counts over one conversation."""

    turns: int
    """Lines of the counselor."""
    reflections: int
    """Those that give back what the client said."""
    sentences: int
    questions: int
    open_questions: int
    question_marks: int
    advice: int
    counselor_words: int
    client_words: int
    client_turns: int
    counselor_characters: int
    client_characters: int
    talks: int
    """1, or 0 when nothing was said."""


def count(lines: Iterable[tuple[str, str]]) -> TalkCounts:
    """Counts over lines as (`Client` or `Counselor`, text)."""
    lines = tuple(lines)
    total = dict.fromkeys(TalkCounts.__dataclass_fields__, 0)
    total["reflections"] = sum(_reflects(heard, said) for heard, said in in_context(lines))
    for speaker, text in lines:
        words = len(_WORD.findall(text))
        total["talks"] = 1
        if speaker == CLIENT:
            total["client_words"] += words
            total["client_turns"] += 1
            total["client_characters"] += len(text)
            continue
        total["turns"] += 1
        total["counselor_words"] += words
        total["counselor_characters"] += len(text)
        total["question_marks"] += len(re.findall(r"[?？]", text))
        for sentence in (part.strip() for part in sentences.marked(text, across_lines=True)):
            for kind in _kinds(sentence):
                total[kind] += 1
    return TalkCounts(**total)


def _kinds(sentence: str) -> Sequence[str]:
    """What a sentence of the counselor counts as."""
    if not _WORD.search(sentence):
        return ()
    if sentences.ends_asking(sentence):
        advice = ("advice",) if _ASKED_ADVICE.search(sentence) else ()
        opened = (
            ("open_questions",)
            if not advice and (_OPEN.search(sentence) or _LATE_OPEN.search(sentence))
            else ()
        )
        return ("sentences", "questions", *opened, *advice)
    return ("sentences", "advice") if _ADVICE.search(sentence) else ("sentences",)


def _reflects(heard: str, said: str) -> bool:
    if not is_chinese(said):
        return reflects(heard, said)
    return any(
        _kinds(sentence) == ("sentences",)
        and (_REFLECTION.search(sentence) or (_YOU.search(sentence) and _takes_up(sentence, heard)))
        for sentence in sentences.marked(said, across_lines=True)
    )


def _takes_up(sentence: str, heard: str) -> bool:
    """Whether enough of its content words were the client's."""
    said = set(_content(heard))
    words = _content(sentence)
    taken = [word for word in words if word in said]
    return len(taken) >= FEWEST_TAKEN_UP and len(taken) >= TAKEN_UP * len(words)


def _content(text: str) -> list[str]:
    return [
        word
        for word in dict.fromkeys(found.lower().replace("’", "'") for found in _WORD.findall(text))
        if word not in stopwords.OF_REFLECTIONS
    ]


MEASURES = {
    "reflections_per_turn": ("reflections", ("turns",), "the counselor said nothing"),
    "reflections_to_questions": ("reflections", ("questions",), "no question was asked"),
    "open_question_share": ("open_questions", ("questions",), "no question was asked"),
    "advice_per_turn": ("advice", ("turns",), "the counselor said nothing"),
    "talk_share": ("counselor_words", ("counselor_words", "client_words"), "nothing was said"),
    "question_marks_per_turn": ("question_marks", ("turns",), "the counselor said nothing"),
    "counselor_messages": ("turns", ("talks",), "nothing was said"),
    "client_messages": ("client_turns", ("talks",), "nothing was said"),
    "counselor_characters": ("counselor_characters", ("turns",), "the counselor said nothing"),
    "client_characters": ("client_characters", ("client_turns",), "the client said nothing"),
    "characters_to_characters": (
        "counselor_characters",
        ("client_characters",),
        "the client said nothing",
    ),
}
"""Each measure: what is counted, by what it is divided (a sum), and why it may be missing.
`counselor_characters` and `client_characters` are the mean lengths of a message.
"""


def measure(lines: Sequence[tuple[str, str]]) -> tuple[ItemAnswer, ...]:
    """Every measure of one conversation; None with a reason where there is nothing to divide by."""
    counts = count(lines)
    found = []
    for name, (over, under, why) in MEASURES.items():
        below = sum(getattr(counts, part) for part in under)
        found.append(
            ItemAnswer(id=name, value=round(getattr(counts, over) / below, 4))
            if below
            else ItemAnswer(id=name, value=None, reason=why)
        )
    return tuple(found)


TALK = Counted(id=TALK_MEASURES, version=VERSION, scores=tuple(MEASURES), measure=measure)
"""As it is registered."""
talk_measured = TALK.measured

__all__ = [
    "CLIENT",
    "COUNSELOR",
    "MEASURES",
    "TALK",
    "TalkCounts",
    "count",
    "measure",
    "talk_measured",
]


def chance_of_reflection(heard: str, said: str) -> float:
    """From 0 to 1, how likely an English turn gives back what the client said. heard: what the
    client said before it, '' at the beginning.
    """
    bias, weights = _learned()
    found = features(heard, said)
    odds = bias + sum(weights.get(name, 0.0) * value for name, value in found.items())
    return 1 / (1 + math.exp(-odds))


def reflects(heard: str, said: str) -> bool:
    """Whether it is likelier than not."""
    return chance_of_reflection(heard, said) > 0.5


@cache
def _learned() -> tuple[float, dict[str, float]]:
    text = files("simcounsel.instruments.reflecting").joinpath("en.json").read_text("utf-8")
    learned = json.loads(text)
    return learned["bias"], learned["weights"]


FEW = 3
"""So few words of a client's line say nothing that could be given back by themselves: what was said
before still counts as heard."""
_DASHES = ("-", "–", "—")


def in_context(lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Of each turn of the counselor (what the client had said, the turn): the turn with the part
    before where it only goes on. lines: (`Client` or `Counselor`, text).
    """
    heard = before = ""
    for speaker, text in lines:
        if speaker == CLIENT:
            heard = f"{heard} {text}".strip() if _little(text) else text
            continue
        goes_on = before.endswith(_DASHES) and text.startswith(_DASHES)
        before = f"{before.rstrip('-–— ')} {text.lstrip('-–— ')}" if goes_on else text
        yield heard, before


def _little(text: str) -> bool:
    return len(text) < 2 * FEW if is_chinese(text) else len(text.split()) < FEW
