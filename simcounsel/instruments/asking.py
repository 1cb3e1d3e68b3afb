"""The items of a scale as questions to a model, and its answers as numbers within their range, or
None with a reason.

A person answers about itself in blocks. An observer's first item is asked alone: where the server
tells token probabilities, every item is, and its rating is their mean (Liu et al. 2023, G-Eval,
section 2); where it does not, the items are asked in blocks, and the rating is the mean of so many
samples.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simcounsel.agents.mind import Mind, Scene
from simcounsel.agents.questionnaire import Sheet
from simcounsel.chance import seed_of
from simcounsel.events import ItemAnswer
from simcounsel.instruments.audit import audit
from simcounsel.instruments.forms import (
    UNANSWERABLE,
    answers_model,
    question_of,
    read_block,
    scale_text,
)
from simcounsel.instruments.material import Material, later_first
from simcounsel.llm.question import Ask, Question, Reply, ask, ask_all
from simcounsel.prompts import render
from simcounsel.specs.scale import Item, Scale

SAMPLING = 0.7
"""Temperature when several samples are averaged; a single one is the likeliest answer."""
DECIMALS = 4
Answers = tuple[ItemAnswer, ...]
AskBlock = Callable[[tuple[Item, ...], str], Ask[Reply[Any]]]


def self_report(mind: Mind, scene: Scene, scale: Scale, samples: int = 1) -> Ask[Answers]:
    """The person's own answers, from its persona and memories of now; the mean of `samples`."""
    collected = _Collected(scale)
    for sample in range(samples):

        def block(items: tuple[Item, ...], again: str, sample: int = sample) -> Ask[Reply[Any]]:
            return mind.report(scene, _sheet(scale, items, again, sample, samples))

        yield from _in_blocks(collected, block)
    return collected.answers()


def observe(
    scale: Scale, who: str, material: Material, *key: object, samples: int = 1
) -> Ask[Answers]:
    """A judge's ratings of what stands in the material. who: about whom, for the record only. key:
    for seeds and order.
    """
    if material.absent is not None:
        return tuple(
            ItemAnswer(id=item.id, value=None, reason=material.absent) for item in scale.items
        )
    if scale.audits:
        return (yield from audit(scale, who, material, *key))
    collected = _Collected(scale)
    rated = (
        (yield from _weighted(scale, who, material, key, samples))
        if _can_be_weighted(scale)
        else None
    )
    if rated is not None:
        collected.take(rated)
        return collected.answers()
    for sample in range(samples):
        flipped = scale.sees == "personas" and later_first(sample, *key)

        def block(
            items: tuple[Item, ...], again: str, sample: int = sample, flipped: bool = flipped
        ) -> Ask[Reply[Any]]:
            return ask(
                _block_request(
                    scale, who, material.text(flipped), items, again, (*key, sample), samples
                )
            )

        yield from _in_blocks(collected, block, flipped)
    return collected.answers()


@dataclass(kw_only=True)
class _Found:
    """The usable answers to an item so far, and why the last unusable one was none."""

    values: list[float] = field(default_factory=list)
    reason: str = "not asked"


class _Collected:
    """Answers by item over all samples."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.found = {item.id: _Found() for item in scale.items}

    def take(self, read: Mapping[str, float | str], flipped: bool = False) -> None:
        """Add a number to each item, or note why there is none."""
        by_id = {item.id: item for item in self.scale.items}
        for name, value in read.items():
            allowed = self.scale.range_of(by_id[name])
            if isinstance(value, str):
                self.found[name].reason = value
            else:
                self.found[name].values.append(
                    allowed.min + allowed.max - value if flipped else value
                )

    def answers(self) -> Answers:
        """The mean of each item's usable answers; None with a reason where there is none."""
        return tuple(
            (
                ItemAnswer(id=name, value=round(sum(one.values) / len(one.values), DECIMALS))
                if one.values
                else ItemAnswer(id=name, value=None, reason=one.reason)
            )
            for name, one in self.found.items()
        )


def _in_blocks(collected: _Collected, ask_block: AskBlock, flipped: bool = False) -> Ask[None]:
    """Each block once, and what could not be used of it a second time."""
    for items in collected.scale.blocks():
        reply = yield from ask_block(items, "")
        read = read_block(collected.scale, items, reply)
        wrong = tuple(
            item
            for item in items
            if isinstance(read[item.id], str) and read[item.id] != UNANSWERABLE
        )
        if wrong and reply.problem is None:
            told = "; ".join(f"{item.id} ({read[item.id]})" for item in wrong)
            reply = yield from ask_block(wrong, render("judge_again", wrong=told)[1])
            read |= read_block(collected.scale, wrong, reply)
        collected.take(read, flipped)


# rating with probabilities


def _can_be_weighted(scale: Scale) -> bool:
    return all(
        allowed.whole and allowed.step == 1
        for allowed in (scale.range_of(item) for item in scale.items)
    )


def _weighted(
    scale: Scale, who: str, material: Material, key: tuple[object, ...], samples: int
) -> Ask[dict[str, float | str] | None]:
    """Each item alone, weighted by token probabilities; None when the server tells none. Of two
    texts both orders are asked for when samples allow it.
    """
    orders = (
        [later_first(sample, *key) for sample in range(min(samples, 2))]
        if scale.sees == "personas"
        else [False]
    )
    flipped = orders[0]
    first = yield from ask(
        _item_request(scale, who, material.text(flipped), scale.items[0], (*key, flipped))
    )
    if not first.weights:
        return None
    todo = [(item, flipped) for flipped in orders for item in scale.items][1:]
    more = yield from ask_all(
        tuple(
            _item_request(scale, who, material.text(flipped), item, (*key, flipped))
            for item, flipped in todo
        )
    )
    collected = _Collected(scale)
    for (item, flipped), reply in zip(
        [(scale.items[0], orders[0]), *todo], (first, *more), strict=True
    ):
        collected.take(
            {item.id: f"no usable answer: {reply.problem}" if reply.problem else reply.value},
            flipped,
        )
    return {
        answer.id: answer.reason or "" if answer.value is None else answer.value
        for answer in collected.answers()
    }


def _item_request(
    scale: Scale, who: str, material: str, item: Item, key: tuple[object, ...]
) -> Question[Any]:
    allowed = scale.range_of(item)
    system, prompt = render(
        "judge_item",
        material=material,
        instruction=scale.instruction,
        scale=scale_text(scale, (item,)),
        item=item.text,
    )
    return Question(
        verb="rate",
        purpose="judge_item",
        who=who,
        tier="judge",
        system=system,
        prompt=prompt,
        scale=(int(allowed.min), int(allowed.max)),
        temperature=0.0,
        max_tokens=8,
        seed=seed_of(*key, scale.id, item.id),
        hints={
            "instrument": scale.id,
            "questions": (question_of(scale, item),),
            "material": material,
        },
    )


# asking in blocks


def _block_request(
    scale: Scale,
    who: str,
    material: str,
    items: tuple[Item, ...],
    again: str,
    key: tuple[object, ...],
    samples: int,
) -> Question[Any]:
    questions = tuple(question_of(scale, item) for item in items)
    listed = "\n".join(f"{question.id}. {question.text}" for question in questions)
    system, prompt = render(
        "judge_block",
        material=material,
        instruction=scale.instruction,
        scale=scale_text(scale, items),
        items=listed,
        again=again,
    )
    return Question(
        verb="fill",
        purpose="judge_block",
        who=who,
        tier="judge",
        system=system,
        prompt=prompt,
        schema=answers_model(scale, items),
        fallback=None,
        temperature=SAMPLING if samples > 1 else 0.0,
        max_tokens=40 + 16 * len(items),
        seed=seed_of(*key, scale.id, items[0].id, bool(again)),
        hints={"instrument": scale.id, "questions": questions, "material": material},
    )


def _sheet(scale: Scale, items: tuple[Item, ...], again: str, sample: int, samples: int) -> Sheet:
    return Sheet(
        instrument=scale.id,
        instruction=scale.instruction,
        scale=scale_text(scale, items),
        questions=tuple(question_of(scale, item) for item in items),
        answers=answers_model(scale, items),
        sample=sample,
        again=again,
        temperature=SAMPLING if samples > 1 else 0.0,
    )
