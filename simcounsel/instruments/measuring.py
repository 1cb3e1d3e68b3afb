"""One person measured once: the items are asked, the scores made, and both put into an event."""

from typing import Any

from simcounsel.agents.mind import Mind, Scene
from simcounsel.agents.questionnaire import Sheet
from simcounsel.events import Measured
from simcounsel.instruments.collecting import Answers, Collected, temperature_of
from simcounsel.instruments.forms import answers_model, question_of, scale_text
from simcounsel.instruments.material import Material
from simcounsel.instruments.observing import observe
from simcounsel.instruments.scoring import answers_of, not_applicable_of, score
from simcounsel.instruments.wording import worded
from simcounsel.llm.question import Ask, Reply, traced
from simcounsel.specs.items import Item
from simcounsel.specs.scale import Scale


def measure_self(
    mind: Mind, scene: Scene, scale: Scale, point: str, samples: int = 1, seated: bool = False
) -> Ask[Measured]:
    """A self-report as of the scene: simulated, unless a person answers. seated: a person spoke for
    this one; what they do not answer is missing. ValueError when the scale is an observer's.
    """
    if scale.respondent != "self":
        raise ValueError(f"{scale.id}: its respondent is an observer")
    answers = yield from self_report(mind, scene, scale, samples, seated)
    return _measured(scale, mind.resident.name, point, answers, ())


def measure_seen(
    scale: Scale,
    who: str,
    material: Material,
    point: str,
    *key: object,
    samples: int = 1,
    temperature: float | None = None,
) -> Ask[Measured]:
    """An observer's rating of what is in the material. temperature: as for `observe`. ValueError
    when the scale is a self-report.
    """
    if scale.respondent != "observer":
        raise ValueError(f"{scale.id}: its respondent is the person itself")
    answers = yield from observe(
        scale, who, material, *key, samples=samples, temperature=temperature
    )
    return _measured(scale, who, point, answers, material.chats)


def _measured(
    scale: Scale, who: str, point: str, answers: Answers, chats: tuple[str, ...]
) -> Measured:
    return Measured(
        who=who,
        instrument=scale.id,
        version=scale.version,
        point=point,
        respondent=scale.respondent,
        items=answers.items,
        scores=score(scale, answers_of(answers.items), not_applicable_of(answers.items)),
        chats=chats,
        source="human" if answers.by_person else None,
        **traced(*answers.replies),
    )


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
