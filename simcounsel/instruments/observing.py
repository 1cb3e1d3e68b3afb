"""A judge rates the items of a scale: numbers within their range, or None with a reason.

Where the server tells token probabilities, every item is asked alone, and its rating is their mean
(`weighting`); where it does not, the items are asked in blocks, and the rating is the mean of
several samples. What a scale counts is coded turn by turn (`coding`).

Ratings weighted by token probabilities (Liu et al. 2023, G-Eval, section 2): each item is asked
alone, after a probe that shows whether the judge tells probabilities at all.
"""

from typing import Any

from pydantic import BaseModel

from simcounsel.chance import seed_of
from simcounsel.events import ItemAnswer
from simcounsel.instruments.audit import audit
from simcounsel.instruments.coding import coded
from simcounsel.instruments.collecting import Answers, Collected, temperature_of
from simcounsel.instruments.facts import BlockFacts, ItemFacts, ProbeFacts
from simcounsel.instruments.forms import ItemRead, answers_model, question_of, scale_text, unusable
from simcounsel.instruments.material import Material, later_first
from simcounsel.instruments.wording import worded
from simcounsel.llm.question import Ask, Question, Reply, ask, ask_all
from simcounsel.prompts import render
from simcounsel.specs.items import Item
from simcounsel.specs.scale import Scale

PROBED = (1, 5)
"""The scale of the probe."""


def can_be_weighted(scale: Scale) -> bool:
    """Whether each item that is rated is answered by a whole number."""
    ranges = [scale.range_of(item) for items in scale.blocks() for item in items]
    return all(allowed.whole and allowed.step == 1 for allowed in ranges)


def tells_probabilities(language: str) -> Ask[bool]:
    """Whether the judge does. It is asked once, with a question that costs next to nothing, however
    many transcripts it judges.
    """
    low, high = PROBED
    system, prompt = render("judge_probe", language, low=low, high=high)
    reply = yield from ask(
        Question[float | None](
            verb="rate",
            purpose="judge_probe",
            who="judge",
            tier="judge",
            system=system,
            prompt=prompt,
            language=language,
            scale=PROBED,
            once=True,
            fallback=None,
            temperature=0.0,
            max_tokens=60,
            facts=ProbeFacts(),
        )
    )
    return bool(reply.weights)


def weighted(
    scale: Scale,
    who: str,
    material: Material,
    *key: object,
    samples: int = 1,
    temperature: float = 0.0,
) -> Ask[Answers]:
    """Each item alone. Of two texts both orders are asked for when samples allow it."""
    orders = (
        [later_first(sample, *key) for sample in range(min(samples, 2))]
        if scale.sees == "personas"
        else [False]
    )
    rated = [item for items in scale.blocks() for item in items]
    asked = [(item, flipped) for flipped in orders for item in rated]
    replies = yield from ask_all(
        tuple(
            _item_question(scale, who, material, item, (*key, flipped), flipped, temperature)
            for item, flipped in asked
        )
    )
    collected = Collected(scale)
    for (item, flipped), reply in zip(asked, replies, strict=True):
        collected.replies.append(reply)
        collected.take({item.id: _read(item, reply)}, flipped)
    return collected.answers()


def _read(item: Item, reply: Reply[float | None]) -> ItemRead:
    if reply.problem:
        return unusable(reply.problem)
    if reply.value is None:
        return ItemRead(value=None, reason=item.not_applicable or "", absence="not applicable")
    return ItemRead(value=reply.value)


def _item_question(
    scale: Scale,
    who: str,
    material: Material,
    item: Item,
    key: tuple[object, ...],
    flipped: bool,
    temperature: float,
) -> Question[float | None]:
    allowed, language = scale.range_of(item), material.language
    said = question_of(scale, item, language)
    system, prompt = render(
        "judge_item",
        language,
        material=material.text(flipped),
        instruction=worded(scale, language).instruction,
        scale=scale_text(scale, (item,), language),
        item=said.text,
    )
    return Question(
        verb="rate",
        purpose="judge_item",
        who=who,
        tier="judge",
        system=system,
        prompt=prompt,
        language=language,
        scale=(int(allowed.min), int(allowed.max)),
        may_be_null=item.not_applicable is not None,
        fallback=None,
        temperature=temperature,
        max_tokens=120,
        seed=seed_of(*key, scale.id, item.id),
        facts=ItemFacts(instrument=scale.id, item=question_of(scale, item)),
    )


def observe(
    scale: Scale,
    who: str,
    material: Material,
    *key: object,
    samples: int = 1,
    temperature: float | None = None,
) -> Ask[Answers]:
    """A judge's ratings of what is in the material. who: about whom, for the record only. key:
    for seeds and order. temperature: None for 0, or that of samples where several are averaged.
    """
    if material.absent is not None:
        return Answers(
            items=tuple(
                ItemAnswer(id=item.id, value=None, reason=material.absent, absence="missing")
                for item in scale.items
            )
        )
    if scale.audits:
        return (yield from audit(scale, who, material, *key))
    rated = yield from _rated(scale, who, material, key, samples, temperature)
    if not scale.codes:
        return rated
    counted = yield from coded(scale, who, material, *key, temperature=temperature or 0.0)
    known = {item.id: item for item in (*rated.items, *counted.items)}
    return Answers(
        items=tuple(known[item.id] for item in scale.items),
        replies=(*rated.replies, *counted.replies),
    )


def _rated(
    scale: Scale,
    who: str,
    material: Material,
    key: tuple[object, ...],
    samples: int,
    temperature: float | None,
) -> Ask[Answers]:
    """All that is not coded."""
    if can_be_weighted(scale) and (yield from tells_probabilities(material.language)):
        return (
            yield from weighted(
                scale, who, material, *key, samples=samples, temperature=temperature or 0.0
            )
        )
    heat = temperature_of(samples) if temperature is None else temperature
    collected = Collected(scale)
    for sample in range(samples):
        flipped = scale.sees == "personas" and later_first(sample, *key)

        def block(
            items: tuple[Item, ...], again: str, sample: int = sample, flipped: bool = flipped
        ) -> Ask[Reply[Any]]:
            shown = material.text(flipped), material.language
            return ask(_block_question(scale, who, shown, items, again, (*key, sample), heat))

        yield from collected.ask_in_blocks(block, flipped, material.language)
    return collected.answers()


def _block_question(
    scale: Scale,
    who: str,
    shown: tuple[str, str],
    items: tuple[Item, ...],
    again: str,
    key: tuple[object, ...],
    temperature: float,
) -> Question[BaseModel | None]:
    """shown: the material as it is in the prompt, and the prompt's language."""
    material, language = shown
    form = tuple(question_of(scale, item, language) for item in items)
    system, prompt = render(
        "judge_block",
        language,
        material=material,
        instruction=worded(scale, language).instruction,
        scale=scale_text(scale, items, language),
        items="\n".join(f"{item.id}. {item.text}" for item in form),
        again=again,
    )
    return Question(
        verb="fill",
        purpose="judge_block",
        who=who,
        tier="judge",
        system=system,
        prompt=prompt,
        language=language,
        schema=answers_model(scale, items),
        fallback=None,
        temperature=temperature,
        max_tokens=40 + 70 * len(items),
        seed=seed_of(*key, scale.id, items[0].id, bool(again)),
        facts=BlockFacts(instrument=scale.id, items=form, material=material),
    )
