"""A block of items as a respondent gets it, the shape of the answers to it, and how they are
read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, WithJsonSchema, create_model

from simcounsel.agents.questionnaire import FormItem
from simcounsel.events import Absence
from simcounsel.instruments.wording import range_in, worded, worded_items
from simcounsel.prompts import phrase
from simcounsel.specs.items import Item, Range
from simcounsel.specs.scale import Scale

_ABSENT = "(absent)"
REFUSED = "preferred not to answer"
"""Why an item has no number that a person was shown and left out."""
NOBODY = "nobody sat in the seat to answer it"
"""The same, where a model was asked what a person should have been."""


@dataclass(frozen=True, kw_only=True)
class ItemRead:
    """What the answer to one item comes to."""

    value: float | None
    """A number that the item allows; None when there is none."""
    reason: str = ""
    """Why there is none."""
    absence: Absence = "missing"
    """Which kind of none."""
    mendable: bool = False
    """Whether asking again may help: the respondent answered, but not as asked."""


def read_block(
    scale: Scale, items: tuple[Item, ...], given: BaseModel | None, problem: str | None
) -> dict[str, ItemRead]:
    """The answers to a block by item id. given: None when there was no usable reply, and `problem`
    says why.
    """
    if given is None:
        return {item.id: unusable(problem) for item in items}
    answers: dict[str, object] = given.model_dump()
    return {item.id: _read(scale, item, answers.get(item.id, _ABSENT)) for item in items}


def of_person(read: Mapping[str, ItemRead], silent: str | None) -> dict[str, ItemRead]:
    """The same of a person: what they left out is missing, and not asked for again. silent: why
    none of it was answered; None where something was.
    """
    missing = ItemRead(value=None, reason=silent or REFUSED)
    return {name: missing if one.value is None else one for name, one in read.items()}


def absent(read: Mapping[str, ItemRead]) -> dict[str, ItemRead]:
    """What a model was asked of a questionnaire that is a person's to answer."""
    return {name: ItemRead(value=None, reason=NOBODY) for name in read}


def unusable(problem: str | None) -> ItemRead:
    """No reply of any use came."""
    return ItemRead(value=None, reason=f"no usable answer: {problem}")


def _read(scale: Scale, item: Item, given: object) -> ItemRead:
    """given: a number; or, from a judge, an object with why and the number."""
    allowed = scale.range_of(item)
    value = given.get("score", _ABSENT) if isinstance(given, Mapping) else given
    if value == _ABSENT:
        return ItemRead(value=None, reason="no answer", mendable=True)
    if value is None and item.not_applicable:
        because = given.get("because") if isinstance(given, Mapping) else None
        reason = f"{item.not_applicable}: {because}" if because else item.not_applicable
        return ItemRead(value=None, reason=reason, absence="not applicable")
    if value is None:
        return ItemRead(value=None, reason="null, and the item always applies", mendable=True)
    try:
        number = float(str(value)) if not isinstance(value, bool) else None
    except ValueError:
        number = None
    if number is None or not allowed.allows(number):
        reason = f"{str(value)[:40]!r} is not {range_text(allowed)}"
        return ItemRead(value=None, reason=reason, mendable=True)
    return ItemRead(value=number)


def question_of(scale: Scale, item: Item, language: str = "en") -> FormItem:
    """An item as a respondent gets it."""
    allowed, (said,) = scale.range_of(item), worded_items(scale, (item,), language)
    text = said.text
    if item.range is not None:
        text = phrase(
            "scale_words", "ranged", language, text=text, range=range_in(allowed, language)
        )
    if said.not_applicable:
        text = phrase("scale_words", "null", language, text=text, when=said.not_applicable)
    return FormItem(id=item.id, text=text, low=allowed.min, high=allowed.max, step=allowed.step)


def scale_text(scale: Scale, items: tuple[Item, ...], language: str = "en") -> str:
    """What the numbers mean, in words, and what some of them look like; not that any item is
    reversed.
    """
    if all(item.range for item in items):
        return range_in(scale.range_of(items[0]), language)
    chinese = language == "zh"
    equals, between = ("＝", "；") if chinese else (" = ", "; ")
    named = sorted(worded(scale, language).labels.items())
    labels = between.join(f"{number}{equals}{label}" for number, label in named)
    opens, closes = ("（", "）") if chinese else (" (", ")")
    numbers = range_in(scale.range, language) + (f"{opens}{labels}{closes}" if labels else "")
    return "\n".join((numbers, *_anchor_lines(scale, items, language)))


def _anchor_lines(scale: Scale, items: tuple[Item, ...], language: str) -> Iterator[str]:
    """A line for each answer that has an anchor; before those of some items alone, of which."""
    said, (colon, comma) = (
        worded(scale, language),
        ("：", "、") if language == "zh" else (": ", ", "),
    )
    told: dict[tuple[tuple[int, str], ...], list[str]] = {}
    for item in items:
        if item.range is None:
            told.setdefault(tuple(sorted(said.anchors_of(item).items())), []).append(item.id)
    for anchors, ids in told.items():
        if anchors and len(told) > 1:
            yield f"{comma.join(ids)}{colon.strip()}"
        yield from (f"{number}{colon}{line}" for number, line in anchors)


def range_text(allowed: Range) -> str:
    """The allowed answers in words, for a complaint."""
    return range_in(allowed, "en")


def answers_model(scale: Scale, items: tuple[Item, ...]) -> type[BaseModel]:
    """The shape of the answers to a block: a field for each id. A judge says why before each
    number; a person who fills in a questionnaire gives the numbers alone. What several items have
    in common is said once.
    """
    return _model_of(
        tuple((item.id, scale.range_of(item), item.not_applicable is not None) for item in items),
        scale.respondent == "observer",
    )


@lru_cache(maxsize=512)
def _model_of(fields: tuple[tuple[str, Range, bool], ...], judged: bool) -> type[BaseModel]:
    """A model with a field for each id. Its schema is strict, its parsing lenient: one wrong answer
    must not cost the others.
    """
    parts: dict[str, Any] = {}
    for name, allowed, may_be_null in fields:
        schema = _number(allowed)
        if may_be_null:
            schema = {"anyOf": [schema, {"type": "null"}]}
        shown = _reasoned(schema) if judged else schema
        parts[name] = (Annotated[Any, WithJsonSchema(shown)], _ABSENT)
    model: type[BaseModel] = create_model("Answers", __base__=_Answers, **parts)
    return model


class _Answers(BaseModel):
    """Answers by item id."""

    model_config = ConfigDict(extra="ignore", json_schema_extra=lambda schema: all_required(schema))

    @classmethod
    def model_json_schema(cls, *args: Any, **how: Any) -> dict[str, Any]:
        """The shape of an object that several items share is said once, under `$defs`."""
        schema = super().model_json_schema(*args, **how)
        shapes: list[dict[str, Any]] = []
        for name, shape in schema["properties"].items():
            if shape.get("type") != "object":
                continue
            if shape not in shapes:
                shapes.append(shape)
            schema["properties"][name] = {"$ref": f"#/$defs/answer{shapes.index(shape) + 1}"}
        if shapes:
            schema["$defs"] = {f"answer{at}": shape for at, shape in enumerate(shapes, 1)}
        return schema


def _number(allowed: Range) -> dict[str, Any]:
    whole = allowed.whole and allowed.step == 1
    schema: dict[str, Any] = {
        "type": "integer" if whole else "number",
        "minimum": _plain(allowed.min),
        "maximum": _plain(allowed.max),
    }
    if not whole:
        schema["multipleOf"] = allowed.step
    return schema


def _reasoned(score: dict[str, Any]) -> dict[str, Any]:
    """Why, and then the number: what is written first decides what is written next."""
    return {
        "type": "object",
        "properties": {"because": {"type": "string"}, "score": score},
        "required": ["because", "score"],
        "additionalProperties": False,
    }


def all_required(schema: dict[str, Any]) -> None:
    """Every id must be answered, says the schema; no default is shown."""
    schema["required"] = list(schema["properties"])
    schema["properties"] = {
        name: {k: v for k, v in part.items() if k not in ("default", "title")}
        for name, part in schema["properties"].items()
    }


def _plain(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number
