"""One person measured once: the items are asked, the scores made, and both put into an event."""

from simcounsel.agents.mind import Mind, Scene
from simcounsel.events import ItemAnswer, Measured
from simcounsel.instruments.asking import observe, self_report
from simcounsel.instruments.material import Material
from simcounsel.instruments.scoring import answers_of, score
from simcounsel.llm.question import Ask
from simcounsel.specs.scale import Scale


def measure_self(
    mind: Mind, scene: Scene, scale: Scale, point: str, samples: int = 1
) -> Ask[Measured]:
    """A simulated self-report as of the scene. ValueError when the scale is an observer's."""
    if scale.respondent != "self":
        raise ValueError(f"{scale.id}: its respondent is an observer")
    items = yield from self_report(mind, scene, scale, samples)
    return _measured(scale, mind.resident.name, point, items, ())


def measure_seen(
    scale: Scale, who: str, material: Material, point: str, *key: object, samples: int = 1
) -> Ask[Measured]:
    """An observer's rating of what is in the material. ValueError when the scale is a
    self-report.
    """
    if scale.respondent != "observer":
        raise ValueError(f"{scale.id}: its respondent is the person itself")
    items = yield from observe(scale, who, material, *key, samples=samples)
    return _measured(scale, who, point, items, material.chats)


def _measured(
    scale: Scale, who: str, point: str, items: tuple[ItemAnswer, ...], chats: tuple[str, ...]
) -> Measured:
    return Measured(
        who=who,
        instrument=scale.id,
        version=scale.version,
        point=point,
        respondent=scale.respondent,
        items=items,
        scores=score(scale, answers_of(items)),
        chats=chats,
    )
