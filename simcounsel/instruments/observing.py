"""A judge rates the items of a scale: numbers within their range, or None with a reason.

The first item is asked alone: where the server tells token probabilities, every item is, and its
rating is their mean (Liu et al. 2023, G-Eval, section 2); where it does not, the items are asked in
blocks, and the rating is the mean of several samples.
"""

from typing import Any

from pydantic import BaseModel

from simcounsel.chance import seed_of
from simcounsel.events import ItemAnswer
from simcounsel.instruments.audit import audit
from simcounsel.instruments.collecting import Answers, Collected, temperature
from simcounsel.instruments.facts import BlockFacts, ItemFacts
from simcounsel.instruments.forms import ItemRead, answers_model, question_of, scale_text, unusable
from simcounsel.instruments.material import Material, later_first
from simcounsel.instruments.wording import worded, worded_items
from simcounsel.llm.question import Ask, Question, Reply, ask, ask_all
from simcounsel.prompts import render
from simcounsel.specs.items import Item
from simcounsel.specs.scale import Scale


def observe(
    scale: Scale, who: str, material: Material, *key: object, samples: int = 1
) -> Ask[Answers]:
    """A judge's ratings of what stands in the material. who: about whom, for the record only. key:
    for seeds and order.
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
    if _can_be_weighted(scale):
        weighted = yield from _weighted(scale, who, material, key, samples)
        if weighted is not None:
            return weighted
    collected = Collected(scale)
    for sample in range(samples):
        flipped = scale.sees == "personas" and later_first(sample, *key)

        def block(
            items: tuple[Item, ...], again: str, sample: int = sample, flipped: bool = flipped
        ) -> Ask[Reply[Any]]:
            shown = material.text(flipped), material.language
            return ask(_block_question(scale, who, shown, items, again, (*key, sample), samples))

        yield from collected.ask_in_blocks(block, flipped, material.language)
    return collected.answers()


# rating with probabilities


def _can_be_weighted(scale: Scale) -> bool:
    """Whether a number alone answers each item: there is none for what does not apply."""
    return all(
        allowed.whole and allowed.step == 1
        for allowed in (scale.range_of(item) for item in scale.items)
    ) and not any(item.not_applicable for item in scale.items)


def _weighted(
    scale: Scale, who: str, material: Material, key: tuple[object, ...], samples: int
) -> Ask[Answers | None]:
    """Each item alone, weighted by token probabilities; None when the server tells none. Of two
    texts both orders are asked for when samples allow it.
    """
    orders = (
        [later_first(sample, *key) for sample in range(min(samples, 2))]
        if scale.sees == "personas"
        else [False]
    )
    items = [(item, flipped) for flipped in orders for item in scale.items]
    questions = tuple(
        _item_question(scale, who, material, item, (*key, flipped), flipped)
        for item, flipped in items
    )
    first = yield from ask(questions[0])
    if not first.weights:
        return None
    more = yield from ask_all(questions[1:])
    collected = Collected(scale)
    for (item, flipped), reply in zip(items, (first, *more), strict=True):
        collected.replies.append(reply)
        collected.take(
            {item.id: unusable(reply.problem) if reply.problem else ItemRead(value=reply.value)},
            flipped,
        )
    return collected.answers()


def _item_question(
    scale: Scale, who: str, material: Material, item: Item, key: tuple[object, ...], flipped: bool
) -> Question[float | None]:
    allowed = scale.range_of(item)
    system, prompt = render(
        "judge_item",
        material.language,
        material=material.text(flipped),
        instruction=worded(scale, material.language).instruction,
        scale=scale_text(scale, (item,), material.language),
        item=worded_items(scale, (item,), material.language)[0].text,
    )
    return Question(
        verb="rate",
        purpose="judge_item",
        who=who,
        tier="judge",
        system=system,
        prompt=prompt,
        language=material.language,
        scale=(int(allowed.min), int(allowed.max)),
        fallback=None,
        temperature=0.0,
        max_tokens=120,
        seed=seed_of(*key, scale.id, item.id),
        facts=ItemFacts(instrument=scale.id, item=question_of(scale, item)),
    )


# asking in blocks


def _block_question(
    scale: Scale,
    who: str,
    shown: tuple[str, str],
    items: tuple[Item, ...],
    again: str,
    key: tuple[object, ...],
    samples: int,
) -> Question[BaseModel | None]:
    """shown: the material as it stands in the prompt, and the prompt's language."""
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
        temperature=temperature(samples),
        max_tokens=40 + 70 * len(items),
        seed=seed_of(*key, scale.id, items[0].id, bool(again)),
        facts=BlockFacts(instrument=scale.id, items=form, material=material),
    )
