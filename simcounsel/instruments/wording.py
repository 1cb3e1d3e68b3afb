"""A scale's texts in the language in which it is asked: `scales/LANGUAGE/ID.yaml` mirrors the ids
of a shipped scale with its texts only. What is asked, counted and logged is the same scale.
"""

from functools import cache
from importlib.resources import as_file, files

from pydantic import Field

from simcounsel.instruments.from_transcript import FROM_TRANSCRIPT, asked_of_an_observer
from simcounsel.prompts import phrase
from simcounsel.specs.items import Item, Range
from simcounsel.specs.load import Spec, load_spec
from simcounsel.specs.scale import Scale


class ItemWords(Spec):
    """Of an item."""

    id: str
    text: str
    not_applicable: str | None = None


class PartWords(Spec):
    """Of a subscale."""

    id: str
    anchors: dict[int, str]


class ScaleWords(Spec):
    """All that of a scale reaches a prompt."""

    id: str
    name: str
    instruction: str = ""
    labels: dict[int, str] = Field(default_factory=dict)
    anchors: dict[int, str] = Field(default_factory=dict)
    subscales: tuple[PartWords, ...] = ()
    items: tuple[ItemWords, ...]


@cache
def _words(name: str, language: str) -> ScaleWords | None:
    file = files("simcounsel.instruments").joinpath("scales", language, f"{name}.yaml")
    if not file.is_file():
        return None
    with as_file(file) as path:
        return load_spec(path, ScaleWords)[0]


def worded(scale: Scale, language: str) -> Scale:
    """The scale with its texts in a language; as it is where there are none in it."""
    own = scale.id.removesuffix(FROM_TRANSCRIPT)
    words = _words(own, language)
    if words is None:
        return scale
    said = _with(scale, words)
    return said if own == scale.id else asked_of_an_observer(said, language)


def _with(scale: Scale, words: ScaleWords) -> Scale:
    texts = {item.id: item for item in words.items}
    items = tuple(
        item.model_copy(
            update={"text": texts[item.id].text, "not_applicable": texts[item.id].not_applicable}
        )
        for item in scale.items
    )
    anchors = {part.id: part.anchors for part in words.subscales}
    parts = tuple(
        part.model_copy(update={"anchors": anchors.get(part.id, {})}) for part in scale.subscales
    )
    return scale.model_copy(
        update={
            "instruction": words.instruction,
            "labels": words.labels,
            "anchors": words.anchors,
            "subscales": parts,
            "items": items,
        }
    )


def worded_items(scale: Scale, items: tuple[Item, ...], language: str) -> tuple[Item, ...]:
    """Some items of the scale, in a language."""
    by_id = {item.id: item for item in worded(scale, language).items}
    return tuple(by_id[item.id] for item in items)


def range_in(allowed: Range, language: str) -> str:
    """The allowed answers in words."""
    whole = allowed.whole and allowed.step == 1
    return phrase(
        "scale_words",
        "whole" if whole else "steps",
        language,
        step=f"{allowed.step:g}",
        low=f"{allowed.min:g}",
        high=f"{allowed.max:g}",
    )
