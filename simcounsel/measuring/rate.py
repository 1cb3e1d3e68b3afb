"""Measuring a run afterwards, with any model, beside the run, which never changes.

RUN/measurements/INSTRUMENT-TIMESTAMP.jsonl    a head, then calls and `measured` lines as they come
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from simcounsel import __version__
from simcounsel.agents.mind import Scene
from simcounsel.agents.minds import mind_for
from simcounsel.chance import seed_of
from simcounsel.engine.revisit import revisit
from simcounsel.errors import GivenUp, RunError
from simcounsel.events import Measured
from simcounsel.instruments.kind import Counted
from simcounsel.instruments.material import blind_lines, blinding_for, material_for
from simcounsel.instruments.measuring import measure_seen, measure_self
from simcounsel.instruments.record import ObserverRecord
from simcounsel.instruments.scale import Scale, find_instrument
from simcounsel.llm.catalog import open_chats, open_embed
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import Ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.models import default_judge, own_models, source_of
from simcounsel.measuring.targets import Target, record_until, talk_named, targets_of
from simcounsel.runs.jsonl import keep_line
from simcounsel.runs.measurements import FOLDER
from simcounsel.runs.run import Run

Fields = dict[str, Any]


class Rating:
    """One run measured once more with one instrument. `Rating.plan` says what will be measured;
    `measure` does it.

    judge: the model; '' where none is asked. own: by name the models of residents who answer about
    themselves with one of their own. round: how many files of this instrument there were before; it
    goes into every seed, so that a second rating is a retest and no repetition. file: made with the
    first line.
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
    ) -> None:
        self.run = run
        self.scale = scale
        self.targets = targets
        self.judge = judge
        self.own = dict(own)
        self.samples = 1 if isinstance(scale, Counted) else samples
        self.round = len(list((run.folder / FOLDER).glob(f"{self.instrument}-*.jsonl")))
        self.file: Path | None = None
        self._record = record

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
    ) -> "Rating":
        """What an instrument measures in a run: each conversation of each client (or the one
        named), or each client as of the end of tick `at` (the last complete one if None).
        SpecError, RunError name what is not there.
        """
        scale = find_instrument(instrument)
        record, minutes = record_until(run, at)
        if chat is not None and at is None:
            record, minutes = record_until(run, talk_named(run, record, chat).tick)
        targets = tuple(targets_of(run, scale, record, minutes, who, chat))
        if not targets:
            raise RunError(
                f"{run.folder}: nothing to measure with {instrument}: no conversation of"
                f" {who or 'a client'}"
            )
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
        )

    @property
    def instrument(self) -> str:
        """The instrument's name."""
        return self.scale.id

    def measure(
        self, models: Switchboard | None, on_measured: Callable[[Measured], None] | None = None
    ) -> tuple[Measured, ...]:
        """Ask, write and return everything, in the order of the targets. models: None for
        what is counted.

        Each measurement is written as soon as it is complete, so what was measured before Ctrl-C
        stays.
        """
        self.file = _fresh(self.run.folder, self.instrument)
        self.append(self._head())
        asks = {
            f"{number:05d}": self._noted(target, on_measured)
            for number, target in enumerate(self.targets)
        }
        if models is None:
            return tuple(_played(ask) for ask in asks.values())
        models.recorder = self
        try:
            return tuple(outcome.value for outcome in models.ask(asks).values())
        except GivenUp as error:
            raise error.telling(
                f"what was measured before is kept in {self.file}; the same command measures all"
                " of it once more"
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
        self.append({"kind": "call"} | call)

    def append(self, line: Fields) -> None:
        """Write a line at once. RunError when the disk is full."""
        assert self.file is not None
        keep_line(self.file, line)

    def _head(self) -> Fields:
        scale = self.scale
        return {
            "kind": "measurement",
            "run": self.run.name,
            "instrument": self.instrument,
            "version": scale.version,
            "hash": scale.hash,
            "respondent": scale.respondent,
            "judge": self.judge,
            "own": self.own,
            "samples": self.samples,
            "round": self.round,
            "simcounsel": __version__,
            "created": f"{datetime.now():%Y-%m-%d %H:%M:%S}",
        } | self.run.damage_mark()

    def _noted(
        self, target: Target, on_measured: Callable[[Measured], None] | None
    ) -> Ask[Measured]:
        measured = yield from self.asked(target)
        self.append(
            {"tick": target.tick, "minute": target.minute} | measured.model_dump(mode="json")
        )
        if on_measured:
            on_measured(measured)
        return measured

    def asked(self, target: Target) -> Ask[Measured]:
        """What is asked to measure one target."""
        world, scale, talk = self.run.world, self.scale, target.talk
        if isinstance(scale, Counted):
            yield from ()
            assert talk is not None
            other = next(name for name in talk.who if name != target.who)
            lines = blind_lines(blinding_for(world, target.who, other), target.who, talk.lines)
            return scale.measured(target.who, target.point, lines, (talk.chat,))
        if scale.respondent == "self":
            past = revisit(self.run, target.who, target.tick)
            return (
                yield from measure_self(
                    mind_for(past.resident),
                    self._seeded(past.scene),
                    scale,
                    target.point,
                    self.samples,
                )
            )
        versions = tuple(self._record.versions.get(target.who, ()))
        material = material_for(scale, world, target.who, talk, versions)
        key = (
            world.seed,
            target.tick,
            target.who,
            target.point,
            *material.chats,
            *((self.round,) if self.round else ()),
        )
        return (
            yield from measure_seen(
                scale, target.who, material, target.point, *key, samples=self.samples
            )
        )

    def _seeded(self, scene: Scene) -> Scene:
        return (
            replace(scene, seed=seed_of(scene.seed, "rated again", self.round))
            if self.round
            else scene
        )


def rate(
    run: Run | str | Path,
    instrument: str,
    *,
    model: str | None = None,
    samples: int = 1,
    who: str | None = None,
    chat: str | None = None,
    at: int | None = None,
) -> tuple[Measured, ...]:
    """Measure a run with an instrument, beside the run, as `simcounsel rate` does: the arguments
    are those of `Rating.plan`. model: the judge, in place of the run's own. SpecError, RunError and
    ModelError say what is not there.
    """
    opened = run if isinstance(run, Run) else Run.open(run)
    rating = Rating.plan(
        opened, instrument, model=model, samples=samples, who=who, chat=chat, at=at
    )
    models = rating.open_models()
    try:
        return rating.measure(models)
    finally:
        if models is not None:
            models.close()


def _played(ask: Ask[Measured]) -> Measured:
    """An Ask that asks nothing."""
    try:
        next(ask)
    except StopIteration as end:
        measured: Measured = end.value
        return measured
    raise AssertionError("it asked something")


def _fresh(folder: Path, instrument: str) -> Path:
    """A new file, named after the instrument and now."""
    file = folder / FOLDER / f"{instrument}-{datetime.now():%Y%m%d-%H%M%S-%f}.jsonl"
    try:
        file.parent.mkdir(exist_ok=True)
        file.open("xb").close()
        return file
    except OSError as error:
        raise RunError(
            f"{folder / FOLDER}: cannot be written ({error.strerror}); copy the run to where you"
            " may write"
        ) from None
