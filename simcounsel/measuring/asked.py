"""What is asked to measure one person once, in a run as it was then."""

from dataclasses import replace

from simcounsel.agents.mind import Scene
from simcounsel.agents.minds import mind_for
from simcounsel.chance import seed_of
from simcounsel.engine.revisit import revisit
from simcounsel.events import Measured
from simcounsel.instruments.collecting import of_a_retest
from simcounsel.instruments.kind import Counted
from simcounsel.instruments.material import blind_lines, blinding_for, material_for
from simcounsel.instruments.measuring import measure_seen, measure_self
from simcounsel.instruments.record import ObserverRecord
from simcounsel.instruments.scale import Scale
from simcounsel.llm.question import Ask
from simcounsel.measuring.targets import Target
from simcounsel.runs.run import Run


def asked_of(
    run: Run,
    scale: Scale | Counted,
    record: ObserverRecord,
    target: Target,
    samples: int,
    round: int,
) -> Ask[Measured]:
    """All questions of one measurement. record: what an observer knows. round: 0 the first rating,
    1 a retest with other seeds, and so on.
    """
    world, talk = run.world, target.talk
    if isinstance(scale, Counted):
        yield from ()
        assert talk is not None
        other = next(name for name in talk.who if name != target.who)
        lines = blind_lines(blinding_for(world, target.who, other), target.who, talk.lines)
        return scale.measured(target.who, target.point, lines, (talk.chat,))
    if scale.respondent == "self":
        past = revisit(run, target.who, target.tick)
        mind, scene = mind_for(past.resident), _seeded(past.scene, round)
        return (yield from measure_self(mind, scene, scale, target.point, samples))
    versions = tuple(record.versions.get(target.who, ()))
    material = material_for(scale, world, target.who, talk, versions)
    again = (round,) if round else ()
    key = (world.seed, target.tick, target.who, target.point, *material.chats, *again)
    return (
        yield from measure_seen(
            scale,
            target.who,
            material,
            target.point,
            *key,
            samples=samples,
            temperature=of_a_retest(round),
        )
    )


def _seeded(scene: Scene, round: int) -> Scene:
    return replace(scene, seed=seed_of(scene.seed, "rated again", round)) if round else scene


def played(ask: Ask[Measured]) -> Measured:
    """What comes of an Ask that asks nothing."""
    try:
        next(ask)
    except StopIteration as end:
        measured: Measured = end.value
        return measured
    raise AssertionError("it asked something")
