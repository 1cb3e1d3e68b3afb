"""Measuring a run afterwards, with any model, beside the run, which never changes (see
`rating_file`).
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from simcounsel import __version__
from simcounsel.agents.mind import Scene, mind_for
from simcounsel.chance import seed_of
from simcounsel.engine.revisit import revisit
from simcounsel.errors import GivenUp, NothingToMeasure, TooManyFallbacks
from simcounsel.events import Measured
from simcounsel.instruments.collecting import of_a_retest
from simcounsel.instruments.kind import Counted
from simcounsel.instruments.material import blind_lines, blinding_for, material_for
from simcounsel.instruments.measuring import measure_seen, measure_self
from simcounsel.instruments.record import ObserverRecord
from simcounsel.instruments.scale import Scale, find_instrument
from simcounsel.llm.catalog import open_chats, open_embed
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import Ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.models import default_judge, own_models, source_of
from simcounsel.measuring.rating_file import RatingFile, measured_in
from simcounsel.measuring.targets import (
    Target,
    record_until,
    talk_named,
    targets_of,
    without_seated,
)
from simcounsel.runs.run import Run
from simcounsel.specs.world_settings import FallbackLimits

Fields = dict[str, Any]


class Rating:
    """One run measured once more with one instrument. `Rating.plan` says what will be measured;
    `measure` does it.

    judge: the model; '' where none is asked. own: by name the models of residents who answer about
    themselves with one of their own. fallbacks: how many answers may be unusable; the world's
    limits if None. seated: who is left out of a self-report, since a person spoke for them.

    A rating that was broken off is gone on with by the same plan; a finished one is made once more,
    with other seeds: a retest.
    """

    def __init__(
        self,
        run: Run,
        scale: Scale | Counted,
        targets: tuple[Target, ...],
        record: ObserverRecord,
        judge: str,
        own: Mapping[str, str],
        samples: int,
        fallbacks: FallbackLimits | None = None,
        seated: tuple[str, ...] = (),
    ) -> None:
        self.run = run
        self.scale = scale
        self.targets = targets
        self.seated = seated
        self.judge = judge
        self.own = dict(own)
        self.samples = 1 if isinstance(scale, Counted) else samples
        self._record = record
        self._limits = fallbacks or run.world.fallbacks
        self._kept = RatingFile(run.folder, self._about())

    @classmethod
    def plan(
        cls,
        run: Run,
        instrument: str,
        *,
        model: str | None = None,
        samples: int = 1,
        who: str | None = None,
        chat: str | None = None,
        at: int | None = None,
        every_talk: bool = False,
        fallbacks: FallbackLimits | None = None,
    ) -> "Rating":
        """What an instrument measures in a run: each conversation of each client (or the one
        named), or each client as of the end of tick `at` (the last complete one if None).
        every_talk: a self-report as of the end of each conversation, with whomever.
        SpecError, RunError name what is not there.
        """
        scale = find_instrument(instrument)
        record, minutes = record_until(run, at)
        if chat is not None and at is None:
            record, minutes = record_until(run, talk_named(run, record, chat).tick)
        targets = tuple(targets_of(run, scale, record, minutes, who, chat, every_talk))
        if not targets:
            raise NothingToMeasure(
                f"{run.folder}: nothing to measure with {instrument}: no conversation of"
                f" {who or 'a client'}"
            )
        seated: tuple[str, ...] = ()
        if scale.respondent == "self":
            targets, seated = without_seated(run, record, targets)
        return cls(
            run,
            scale,
            targets,
            record,
            "" if isinstance(scale, Counted) else model or default_judge(run, scale),
            {}
            if model or scale.respondent != "self"
            else own_models(run, (target.who for target in targets)),
            samples,
            fallbacks,
            seated,
        )

    @property
    def instrument(self) -> str:
        """The instrument's name."""
        return self.scale.id

    @property
    def round(self) -> int:
        """Its number, from 0, among the ratings with this instrument."""
        return self._kept.round

    @property
    def finished(self) -> tuple[Path, ...]:
        """Where the ratings are kept that were made in the same way and are finished."""
        return self._kept.finished

    @property
    def file(self) -> Path | None:
        """Where it is kept; None before it is begun."""
        return self._kept.path

    def left(self) -> tuple[Target, ...]:
        """What is not measured yet: all, but where a rating that was broken off is gone on with."""
        measured = self._kept.measured()
        return tuple(one for one in self.targets if one.key not in measured)

    def kept(self) -> tuple[Measured, ...]:
        """What the last finished one says."""
        found = measured_in(self.finished[-1])
        return tuple(found[one.key] for one in self.targets)

    def held(self) -> AbstractContextManager[None]:
        """Meanwhile nobody else measures this run, or counts on its budget."""
        return self._kept.held()

    def measure(
        self, models: Switchboard | None, on_measured: Callable[[Measured], None] | None = None
    ) -> tuple[Measured, ...]:
        """Ask, write and return everything, in the order of the targets. models: None for
        what is counted. GivenUp when a model does not answer, the budget does not reach, or too
        many answers are unusable.

        Each measurement is written as soon as it is complete, so what was measured before Ctrl-C
        stays.
        """
        with self.held():
            found = self._kept.measured()
            self._kept.begin()
            left = [one for one in self.targets if one.key not in found]
            asks = {
                f"{number:05d}": self._noted(target, on_measured)
                for number, target in enumerate(left)
            }
            made = map(played, asks.values()) if models is None else self._asked(models, asks)
            found |= {target.key: one for target, one in zip(left, made, strict=True)}
            self._kept.finish()
        return tuple(found[target.key] for target in self.targets)

    def _asked(self, models: Switchboard, asks: Mapping[str, Ask[Measured]]) -> list[Measured]:
        models.recorder = self
        models.recall(self._kept.answered())
        models.fallbacks = FallbackShare(self._limits)
        try:
            return [outcome.value for outcome in models.ask(asks).values()]
        except GivenUp as error:
            if isinstance(error, TooManyFallbacks):
                self._kept.stop(str(error))
            raise error.telling(
                f"what was measured and answered is kept in {self.file}; the same command goes on"
            ) from None

    def open_models(self, in_flight: int = 64, prices: Prices | None = None) -> Switchboard | None:
        """The judge; for a self-report also the run's own model of vectors, since its memories lie
        among them. None where none is asked.
        """
        if isinstance(self.scale, Counted):
            return None
        roles = self.roles()
        chats = open_chats(roles)
        chats |= {"reason": chats["judge"], "quick": chats["judge"]}
        embed = open_embed(roles["embed"])
        return Switchboard(chats, embed, in_flight=in_flight, prices=prices)

    def roles(self) -> dict[str, str]:
        """Which model does what, a resident's as `reason:Ines`; no vectors are needed of an
        observer.
        """
        about_oneself = self.scale.respondent == "self"
        embed = source_of(self.run).manifest.models["embed"] if about_oneself else "scripted"
        own = {
            f"{role}:{who}": model
            for who, model in self.own.items()
            for role in ("reason", "quick")
        }
        return {"judge": self.judge, "embed": embed, **own}

    def models(self) -> tuple[str, ...]:
        """Who answers, each once; () where nobody is asked."""
        asked = (self.own.get(target.who, self.judge) for target in self.targets)
        return tuple(dict.fromkeys(filter(None, asked)))

    def append_call(self, call: Fields) -> None:
        """Keep a call with its prompt and reply."""
        self._kept.append({"kind": "call"} | call)

    def _about(self) -> Fields:
        scale = self.scale
        points = [(*one.key, one.talk.chat if one.talk else "") for one in self.targets]
        return {
            "run": self.run.name,
            "instrument": self.instrument,
            "version": scale.version,
            "hash": scale.hash,
            "respondent": scale.respondent,
            "judge": self.judge,
            "own": self.own,
            "samples": self.samples,
            "targets": [list(point) for point in points],
            "simcounsel": __version__,
            **({"left_out": list(self.seated)} if self.seated else {}),
        } | self.run.damage_mark()

    def _noted(
        self, target: Target, on_measured: Callable[[Measured], None] | None
    ) -> Ask[Measured]:
        measured = yield from self.asked(target)
        self._kept.append(
            {"tick": target.tick, "minute": target.minute} | measured.model_dump(mode="json")
        )
        if on_measured:
            on_measured(measured)
        return measured

    def asked(self, target: Target) -> Ask[Measured]:
        """What is asked to measure one target."""
        return asked_of(self.run, self.scale, self._record, target, self.samples, self.round)


def rate(
    run: Run | str | Path,
    instrument: str,
    *,
    model: str | None = None,
    samples: int = 1,
    who: str | None = None,
    chat: str | None = None,
    at: int | None = None,
    every_talk: bool = False,
    fallbacks: FallbackLimits | None = None,
    rounds: int = 1,
) -> tuple[Measured, ...]:
    """Measure a run with an instrument, beside the run, as `simcounsel rate` does: the arguments
    are those of `Rating.plan`. model: the judge, in place of the run's own. rounds: how many
    finished ratings there shall be, each after the first a retest. One that was broken off is gone
    on with; where as many are finished, nothing is asked. What the last says is returned.
    SpecError, RunError and ModelError say what is not there.
    """
    opened = run if isinstance(run, Run) else Run.open(run)
    while True:
        rating = Rating.plan(
            opened,
            instrument,
            model=model,
            samples=samples,
            who=who,
            chat=chat,
            at=at,
            every_talk=every_talk,
            fallbacks=fallbacks,
        )
        if len(rating.finished) >= rounds:
            return rating.kept()
        models = rating.open_models()
        try:
            rating.measure(models)
        finally:
            if models is not None:
                models.close()


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
