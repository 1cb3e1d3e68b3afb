"""A Question as chat messages, and what comes back as text and weights; shared by all chat
providers.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from simcounsel.intake import whole_characters
from simcounsel.llm.question import Message, Question
from simcounsel.prompts import render
from simcounsel.prompts.twins import complained


class Complaint(str):
    """What was wrong with an answer, in words for the model that gave it, with the answer."""

    answer: str

    def __new__(cls, text: str, answer: str = "") -> "Complaint":
        """answer: as it came; '' where none came."""
        self = super().__new__(cls, text)
        self.answer = answer
        return self


MOST_SHOWN = 4_000
"""Characters of a refused answer that are sent with the complaint."""
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*)```\Z", re.DOTALL)
_NUMBER = re.compile(r"[\sĠ▁\"'*(\[:]*(-?\d+)[\s.,\"'*)\]]*")
_SPACES = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "\n"})
"""How some servers write white space in a token."""
_MARKED = re.compile(r"\bscore\W{0,3}[:=][^\w-]*(-?\d+(?:\.\d+)?)", re.IGNORECASE)
_FIRST = re.compile(r"[^\w-]*(-?\d+(?:\.\d+)?)")
_LAST = re.compile(r"(?!\W*because\b)\D*?(-?\d+(?:\.\d+)?)\W*\Z", re.IGNORECASE)


def messages(
    question: Question[Any], complaint: str | None, *, schema_beside: bool = False
) -> list[Message]:
    """The question's messages and, on the second try, the answer that was refused, as far as
    `MOST_SHOWN` characters, and what was wrong with it. schema_beside: whether the
    schema of the answer is sent beside the messages; else it is in the system message.
    """
    messages = list(question.messages if schema_beside else question.messages_with_schema)
    if complaint:
        if isinstance(complaint, Complaint) and complaint.answer.strip():
            messages.append({"role": "assistant", "content": _shortened(complaint.answer)})
        told = complained(complaint, question.language)
        asked = render("complaint", question.language, complaint=told)[1]
        messages.append({"role": "user", "content": asked})
    return messages


def _shortened(answer: str) -> str:
    """An answer that can be sent again: no halves of characters, and no more than is needed to see
    what it was.
    """
    answer = whole_characters(answer.strip())
    return answer if len(answer) <= MOST_SHOWN else f"{answer[:MOST_SHOWN]} [...]"


def clean(text: str, question: Question[Any]) -> str:
    """A model's text without surrogates that no file could hold and, for `fill`, without a code
    fence.
    """
    text = whole_characters(text)
    fenced = _FENCE.match(text.strip()) if question.verb == "fill" else None
    return fenced.group(1).strip() if fenced else text


def rated_number(text: str) -> re.Match[str] | None:
    """The number in which an answer to `rate` ends, after a reason or alone, as group 1: what
    is behind the last "score:", or what the last line begins with, or ends in without another.
    None when there is none: a number within a reason is no rating.
    """
    marked = list(_MARKED.finditer(text))
    if marked:
        return marked[-1]
    last = text.rstrip().rfind("\n") + 1
    return _FIRST.match(text, last) or _LAST.match(text, last)


def number_weights(logprobs: object, scale: tuple[int, int]) -> dict[str, float] | None:
    """Probabilities of the numbers of a scale at the token in which the answer's number stands;
    they sum to 1. They hold after the reason that was given before it.

    Liu et al. 2023 (G-Eval), section 2. `logprobs` as in an OpenAI chat completion. None when there
    are none, when the answer's number is off the scale, or when it spreads over several tokens
    ('1', '0'), so that its first token does not tell which number it is.
    """
    tokens = list(_entries(logprobs, "content"))
    texts = [str(token.get("token", "")).translate(_SPACES) for token in tokens]
    found = rated_number("".join(texts))
    if found is None:
        return None
    ends = list(accumulate(map(len, texts)))
    at = bisect_right(ends, found.start(1))
    said = _number(tokens[at])
    if said is None or str(said) != found.group(1) or not scale[0] <= said <= scale[1]:
        return None
    return _normalised(tokens[at], scale)


def _normalised(token: Mapping[str, Any], scale: tuple[int, int]) -> dict[str, float] | None:
    weights: dict[int, float] = {}
    for other in list(_entries(token, "top_logprobs")) or [token]:
        number, logprob = _number(other), other.get("logprob")
        if number is None or not scale[0] <= number <= scale[1]:
            continue
        if isinstance(logprob, int | float) and not math.isnan(logprob):
            weights[number] = weights.get(number, 0.0) + math.exp(min(logprob, 0))
    total = sum(weights.values())
    return (
        {str(number): weights[number] / total for number in sorted(weights)} if total > 0 else None
    )


def _entries(holder: object, key: str) -> Iterator[Mapping[str, Any]]:
    found = holder.get(key) if isinstance(holder, Mapping) else None
    return (
        (entry for entry in found if isinstance(entry, Mapping))
        if isinstance(found, list)
        else iter(())
    )


def _number(token: Mapping[str, Any]) -> int | None:
    text = token.get("token")
    match = _NUMBER.fullmatch(text) if isinstance(text, str) and len(text) < 20 else None
    return int(match.group(1)) if match else None
