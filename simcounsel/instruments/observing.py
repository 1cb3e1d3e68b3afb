"""A judge rates the items of a scale: numbers within their range, or None with a reason.

Where the server tells token probabilities, every item is asked alone, and its rating is their mean
(`weighting`); where it does not, the items are asked in blocks, and the rating is the mean of
several samples. What a scale counts is coded turn by turn (`coding`).
"""

from typing import Any

from pydantic import BaseModel

from simcounsel.chance import seed_of
from simcounsel.events import ItemAnswer
from simcounsel.instruments.audit import audit
from simcounsel.instruments.coding import coded
from simcounsel.instruments.collecting import Answers, Collected, temperature_of
from simcounsel.instruments.facts import BlockFacts
from simcounsel.instruments.forms import answers_model, question_of, scale_text
from simcounsel.instruments.material import Material, later_first
from simcounsel.instruments.weighting import can_be_weighted, tells_probabilities, weighted
from simcounsel.instruments.wording import worded
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import render
from simcounsel.specs.items import Item
from simcounsel.specs.scale import Scale


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
