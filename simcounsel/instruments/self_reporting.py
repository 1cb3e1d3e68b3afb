"""A person answers a scale about itself, in blocks."""

from typing import Any

from simcounsel.agents.mind import Mind, Scene
from simcounsel.agents.questionnaire import Sheet
from simcounsel.instruments.collecting import Answers, Collected, temperature_of
from simcounsel.instruments.forms import answers_model, question_of, scale_text
from simcounsel.instruments.wording import worded
from simcounsel.llm.question import Ask, Reply
from simcounsel.specs.items import Item
from simcounsel.specs.scale import Scale


def self_report(
    mind: Mind, scene: Scene, scale: Scale, samples: int = 1, seated: bool = False
) -> Ask[Answers]:
    """The person's own answers, from its persona and memories of now; the mean of `samples`.
    seated: somebody spoke for that person, so that no model answers in their name.
    """
    collected = Collected(scale)
    for sample in range(samples):

        def block(items: tuple[Item, ...], again: str, sample: int = sample) -> Ask[Reply[Any]]:
            return mind.report(scene, _sheet(scale, items, again, sample, samples, scene.language))

        yield from collected.ask_in_blocks(block, language=scene.language, seated=seated)
    return collected.answers()


def _sheet(
    scale: Scale, items: tuple[Item, ...], again: str, sample: int, samples: int, language: str
) -> Sheet:
    return Sheet(
        instrument=scale.id,
        instruction=worded(scale, language).instruction,
        scale=scale_text(scale, items, language),
        questions=tuple(question_of(scale, item, language) for item in items),
        answers=answers_model(scale, items),
        sample=sample,
        again=again,
        temperature=temperature_of(samples),
    )
