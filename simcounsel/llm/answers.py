"""Raw text into a checked answer: JSON into a model, an option's number into the option, and so on.

Each function returns the value, or raises Unfit with what to tell the model on the second try.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from simcounsel.llm.chat import rated_number
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question, Reply
from simcounsel.texts import stopwords

T = TypeVar("T")
_REFUSAL = re.compile(
    r"^\W*(i'?m sorry,? but|i am sorry,? but|sorry,? (but )?i can|i can(no|')t"
    r" (assist|help|continue|provide|comply|role)"
    r"|i'?m (not able|unable) to (assist|help|continue|provide|comply)|as an ai\b|i am an ai\b|i'?m"
    r" an ai\b|as a (large )?language model)",
    re.IGNORECASE,
)
_NULL = re.compile(r"(?:\A|\n|\bscore\W{0,4})[ \t\"'`*]*(?:null|none|n/a)\W*\Z", re.IGNORECASE)
"""The rating with which an answer ends is none."""
_DECODER = json.JSONDecoder()


class Unfit(ValueError):
    """An answer that cannot be used; the text says why, to the model that gave it."""


def reply_of(question: Question[T], completion: Completion, model: str) -> Reply[T]:
    """The checked answer. Unfit when it cannot be used."""
    return Reply(
        value=read_answer(question, completion),
        source=completion.source,
        model=model,
        call=question.key,
        weights=completion.weights,
        notes=completion.notes,
        left_out=completion.left_out,
    )


def fallback_of(
    question: Question[T], model: str, problem: str | None, left_out: tuple[str, ...] = ()
) -> Reply[T]:
    """The asker's own answer. left_out: what the model did not take when it was asked."""
    return Reply(
        value=question.fallback,
        source="fallback",
        model=model,
        call=question.key,
        problem=problem,
        left_out=left_out,
    )


def read_answer(question: Question[Any], completion: Completion) -> Any:
    """The value that the verb promises, checked by the request's own check. What a human said is
    not judged: the checks are for what models do wrong.
    """
    text = _unfenced(completion.text.strip())
    if not text:
        raise Unfit("the answer was empty")
    match question.verb:
        case "fill":
            value: Any = _fill(question.schema, text)
        case "choose":
            value = _choose(question.options, text, completion)
        case "rate":
            value = _rate(question, text, completion)
        case _:
            value = _write(text)
    complaint = question.check(value) if question.check and completion.source != "human" else None
    if complaint:
        raise Unfit(complaint)
    return value


def _fill(model: type[BaseModel] | None, text: str) -> BaseModel:
    assert model is not None, "fill needs a model"
    outermost, *others = _json_parts(text, model)
    try:
        return model.model_validate_json(outermost)
    except ValidationError as error:
        for part in others:
            with suppress(ValidationError):
                return model.model_validate_json(part)
        if _REFUSAL.match(text):
            raise Unfit(
                "the answer was a refusal; this is a simulation for research, answer for the person"
                " described"
            ) from None
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Unfit(
            f"the JSON did not fit: {where + ': ' if where else ''}{first['msg']}"
        ) from None


MOST_BROKEN = 64
"""Beginnings of objects that may fail: each failure reads the text up to there once more."""


def _json_parts(text: str, model: type[BaseModel]) -> list[str]:
    """The outermost {...} of an answer, which may be in a code fence or between words; where
    that is no JSON, also each object in it that has a field of the model's, the last one first.
    Unfit where all that came is the schema.
    """
    start, end = text.find("{"), text.rfind("}")
    outermost = text[start : end + 1] if 0 <= start < end else text
    objects = _objects(outermost)
    fields = model.model_fields.keys()
    schemas = [one for one in objects.values() if _is_schema(one) and "properties" not in fields]
    if schemas and len(schemas) == len(objects):
        raise Unfit(
            "the answer was the JSON schema itself; answer with an object that fits it, with"
            " values in place of their descriptions"
        )
    return [outermost, *(one for one, held in reversed(objects.items()) if held.keys() & fields)]


def _objects(text: str) -> dict[str, dict[str, Any]]:
    """The JSON objects in a text that are not part of another, by how they are written, up to the
    `MOST_BROKEN`th that is none.
    """
    found: dict[str, dict[str, Any]] = {}
    at, broken = text.find("{"), 0
    while at >= 0 and broken < MOST_BROKEN:
        try:
            held, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            end, broken = max(at + 1, error.pos), broken + 1
        except (RecursionError, ValueError):  # too many levels, or digits
            break
        else:
            found[text[at:end]] = held
        at = text.find("{", end)
    return found


def _is_schema(held: Mapping[str, Any]) -> bool:
    return isinstance(held.get("properties"), dict) and held.get("type", "object") == "object"


def _unfenced(text: str) -> str:
    """A text without the code fence around all of it."""
    lines = text.splitlines()
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1]).strip()
    return text


def _choose(options: tuple[str, ...], text: str, completion: Completion) -> str:
    bare = text.strip(" \t\r\n\"'`.*()[]")
    for option in options:
        if bare.casefold() == option.casefold():
            return option
    number = re.match(r"\(?(\d{1,3})\b", bare)
    if number and 1 <= int(number.group(1)) <= len(options):
        return options[int(number.group(1)) - 1]
    named = [o for o in options if re.search(rf"(?<!\w){re.escape(o)}(?!\w)", text, re.IGNORECASE)]
    if len(named) == 1:
        return named[0]
    raise Unfit(
        f"{bare[:60]!r} is not one of the options; answer with the number of one option only"
    )


def _rate(question: Question[Any], text: str, completion: Completion) -> float | None:
    assert question.scale is not None, "rate needs a scale"
    low, high = question.scale
    if question.may_be_null and _NULL.search(text):
        return None
    if completion.weights:
        total = sum(completion.weights.values())
        if total > 0:
            return (
                sum(float(number) * weight for number, weight in completion.weights.items()) / total
            )
    found = rated_number(text)
    if not found or not low <= float(found.group(1)) <= high:
        raise Unfit(
            f"{text[-60:]!r} ends in no number from {low} to {high}; the last line is the number"
            " alone" + (", or null" if question.may_be_null else "")
        )
    return float(found.group(1))


def _write(text: str) -> str:
    if _REFUSAL.match(text):
        raise Unfit(
            "the answer was a refusal; this is a simulation for research, answer for the person"
            " described"
        )
    return text


def speech_problem(text: str, language: str = "en") -> str | None:
    """What is wrong with a text as a line of speech in English or Chinese, if anything: a refusal,
    another language, a list, a stage direction. For `check`.
    """
    if _REFUSAL.match(text):
        return (
            "the line was a refusal; this is a simulation for research, speak as the person"
            " described"
        )
    letters = [c for c in text if c.isalpha()]
    if not letters:
        return "the line has no words"
    if language == "zh" and sum("\u3400" <= c <= "\u9fff" for c in letters) < 0.3 * len(letters):
        return "the line was not in Chinese"
    if language == "en" and sum(c.isascii() for c in letters) < 0.8 * len(letters):
        return "the line was not in English"
    words = re.findall(r"[a-z']+", text.lower())
    if (
        language == "en"
        and len(words) >= 8
        and sum(word in stopwords.OF_PLAIN_ENGLISH for word in words) < 0.12 * len(words)
    ):
        return "the line was not in plain English"
    if re.search(r"^[^\S\n]*(?:[-*•]|\d+[.)])\s", text, re.MULTILINE):
        return "the line was a list; speak in plain sentences"
    if re.search(r"\*[^*]+\*|^\s*[\[(][^\])]+[\])]", text):
        return "the line held a stage direction; give the spoken words only"
    if len(text) > 1500:
        return "the line was far too long; say it in a few sentences"
    return None
