"""Ratings weighted by token probabilities (Liu et al. 2023, G-Eval, section 2): each item is asked
alone, after a probe that shows whether the judge tells probabilities at all.
"""

from simcounsel.chance import seed_of
from simcounsel.instruments.collecting import Answers, Collected
from simcounsel.instruments.facts import ItemFacts, ProbeFacts
from simcounsel.instruments.forms import ItemRead, question_of, scale_text, unusable
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
