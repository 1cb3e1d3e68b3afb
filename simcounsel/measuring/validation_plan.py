"""What is asked to validate a judge: which transcripts, how often, with which faults and pairs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from simcounsel.chance import chance
from simcounsel.errors import SpecError
from simcounsel.instruments.collecting import of_a_retest
from simcounsel.instruments.faults import NAMES, plant
from simcounsel.instruments.labelled import Labelled
from simcounsel.instruments.scale import Scale, find_scale

Fields = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is asked."""

    transcripts: tuple[Labelled, ...]
    scales: tuple[Scale, ...]
    samples: int = 1
    rounds: int = 2
    """How often each transcript is rated; from two on there is a retest."""
    faulty: int = 10
    """In how many transcripts faults are planted: of the good ones where some are labelled so."""
    pairs: int = 20
    """How many pairs are compared, each in both orders."""
    seed: int = 1

    @property
    def temperature(self) -> float | None:
        """At which is asked: with one round as `rate` asks, with more that of a retest."""
        return of_a_retest(self.rounds - 1)

    @property
    def sound(self) -> tuple[Labelled, ...]:
        """The transcripts into which a fault can be planted: in a bad one it would not be the only
        one.
        """
        good = tuple(one for one in self.transcripts if one.good)
        return good or tuple(one for one in self.transcripts if one.good is None)


def plan_validation(
    transcripts: tuple[Labelled, ...],
    instruments: tuple[str, ...],
    *,
    limit: int | None = None,
    **how: int,
) -> Plan:
    """A plan over at most `limit` transcripts, drawn by chance. SpecError for an instrument that
    judges no conversation.
    """
    scales = tuple(find_scale(name) for name in instruments)
    for scale in scales:
        if scale.sees != "transcript":
            raise SpecError(
                [
                    f"{scale.id}: it judges no transcript; choose one whose `sees:` is transcript,"
                    " such as helping_skills"
                ]
            )
    chosen = transcripts
    if limit is not None and limit < len(transcripts):
        chosen = tuple(
            sorted(
                chance(how.get("seed", 1), "transcripts").sample(transcripts, limit),
                key=transcripts.index,
            )
        )
    return Plan(transcripts=chosen, scales=scales, **how)


def told(scale: Scale) -> Fields:
    """What the figures need to know of a scale."""
    items = {
        item.id: {
            "low": scale.range_of(item).min,
            "high": scale.range_of(item).max,
            "turned": item.reverse != (scale.direction == "lower_is_better"),
            "falls_with": [NAMES[fault] for fault in item.falls_with],
        }
        for item in scale.items
        if not item.coded
    }
    return {"version": scale.version, "hash": scale.hash, "items": items}


def pairs(plan: Plan) -> Iterator[tuple[Labelled, Labelled, tuple[str, str]]]:
    """Good and bad transcripts drawn together; where none are labelled, an original and the same
    with a planted fault.
    """
    good = [one for one in plan.transcripts if one.good]
    bad = [one for one in plan.transcripts if one.good is False]
    rng = chance(plan.seed, "pairs")
    if good and bad:
        every = [(one, other, (one.id, other.id)) for one in good for other in bad]
        yield from rng.sample(every, min(plan.pairs, len(every)))
        return
    for one in spread(plan.transcripts, plan.pairs):
        faulty = next(iter(plant(one.lines)), None)
        if faulty is None:
            continue
        yield (one, replace(one, lines=faulty.faulty), (one.id, f"{one.id} with {faulty.fault}"))


def spread(transcripts: tuple[Labelled, ...], count: int) -> tuple[Labelled, ...]:
    """`count` of them, evenly over the file."""
    count = min(count, len(transcripts))
    return (
        tuple(transcripts[number * len(transcripts) // count] for number in range(count))
        if count
        else ()
    )
