"""One person measured once: the items are asked, the scores made, and both put into an event."""

from simcounsel.agents.mind import Mind, Scene
from simcounsel.events import Measured
from simcounsel.instruments.collecting import Answers
from simcounsel.instruments.material import Material
from simcounsel.instruments.observing import observe
from simcounsel.instruments.scoring import answers_of, not_applicable_of, score
from simcounsel.instruments.self_reporting import self_report
from simcounsel.llm.question import Ask, traced
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
