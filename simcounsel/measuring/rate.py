"""Measuring a run afterwards, with any model, beside the run, which never changes.

RUN/measurements/INSTRUMENT-TIMESTAMP.jsonl    a head, then calls and `measured` lines as they come
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from simcounsel import __version__
from simcounsel.agents.mind import Scene
from simcounsel.agents.minds import mind_for
from simcounsel.chance import seed_of
from simcounsel.engine.revisit import revisit
from simcounsel.errors import ModelUnreachable, RunError
from simcounsel.events import Measured, TickEnded
from simcounsel.instruments.kind import Counted
from simcounsel.instruments.material import Talk, blind_lines, blinding_for, material_for
from simcounsel.instruments.measuring import measure_seen, measure_self
from simcounsel.instruments.read import FOLDER
from simcounsel.instruments.scale import Scale, find_instrument
from simcounsel.instruments.witness import Witness
from simcounsel.llm.catalog import open_chat, open_embed
from simcounsel.llm.question import Ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.interview import source_of
from simcounsel.runs.run import Run
from simcounsel.specs.world import suggest

Fields = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Target:
    """One measurement to be made: of whom, as of the end of which tick, what it is called; the
    conversation it is about (None: none), and the world's minute that it is filed under.
    """

    who: str
    tick: int
    minute: int
    point: str
    talk: Talk | None = None


class Rating:
    """One run measured once more with one instrument. `Rating.plan` says what will be measured;
    `measure` does it.

    judge: the model; '' where none is asked. round: how many files
    of this instrument there were before; it goes into every seed, so that a second rating is a
    retest and no repetition. file: made with the first line.
    """

    def __init__(
        self,
        run: Run,
        scale: Scale | Counted,
        targets: tuple[Target, ...],
        witness: Witness,
        judge: str,
        samples: int,
    ) -> None:
        self.run = run
        self.scale = scale
        self.targets = targets
        self.judge = judge
        self.samples = 1 if isinstance(scale, Counted) else samples
        self.round = len(list((run.folder / FOLDER).glob(f"{self.instrument}-*.jsonl")))
        self.file: Path | None = None
        self._witness = witness

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
        witness, minutes = _witnessed(run, at)
        if chat is not None and at is None:
            witness, minutes = _witnessed(run, _named(run, witness, chat).tick)
        targets = tuple(_targets(run, scale, witness, minutes, who, chat))
        if not targets:
            raise RunError(
                f"{run.folder}: nothing to measure with {instrument}: no conversation of"
                f" {who or 'a client'}"
            )
        return cls(
            run,
            scale,
            targets,
            witness,
            "" if isinstance(scale, Counted) else model or default_judge(run, scale),
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
        found = tuple(outcome.value for outcome in models.ask(asks).values())
        try:
            models.check_reached()
        except ModelUnreachable as error:
            raise ModelUnreachable(
                f"{self.judge}: {str(error).replace(' during this tick', '')}; nothing was measured"
            ) from None
        return found

    def open_models(self, in_flight: int = 64) -> Switchboard | None:
        """The judge; for a self-report also the run's own model of vectors, since its memories lie
        among them. None where none is asked.
        """
        if isinstance(self.scale, Counted):
            return None
        chat = open_chat(self.judge)
        embed = open_embed(self.roles()["embed"])
        return Switchboard(
            {"reason": chat, "quick": chat, "judge": chat}, embed, in_flight=in_flight
        )

    def roles(self) -> dict[str, str]:
        """Which model does what; no vectors are needed of an observer."""
        own = self.scale.respondent == "self"
        return {
            "judge": self.judge,
            "embed": source_of(self.run).manifest.models["embed"] if own else "scripted",
        }

    def append_call(self, call: Fields) -> None:
        """Keep a call with its prompt and reply."""
        self.append({"kind": "call"} | call)

    def append(self, line: Fields) -> None:
        """Write a line at once. RunError when the disk is full."""
        assert self.file is not None
        try:
            with self.file.open("ab") as file:
                file.write(
                    json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
                )
                _flush(file)
        except OSError as error:
            raise RunError(
                f"{self.file}: cannot be written ({error.strerror}); free some space"
            ) from None

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
            "samples": self.samples,
            "round": self.round,
            "simcounsel": __version__,
            "created": f"{datetime.now():%Y-%m-%d %H:%M:%S}",
        }

    def _noted(
        self, target: Target, on_measured: Callable[[Measured], None] | None
    ) -> Ask[Measured]:
        measured = yield from self._ask(target)
        self.append(
            {"tick": target.tick, "minute": target.minute} | measured.model_dump(mode="json")
        )
        if on_measured:
            on_measured(measured)
        return measured

    def _ask(self, target: Target) -> Ask[Measured]:
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
        versions = tuple(self._witness.versions.get(target.who, ()))
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


def default_judge(run: Run, scale: Scale | Counted) -> str:
    """Who answers if nobody else is named: for a self-report the mind's own model, for an observer
    the run's `judge`.
    """
    models = source_of(run).manifest.models
    return models["reason"] if scale.respondent == "self" else models["judge"]


def _witnessed(run: Run, at: int | None) -> tuple[Witness, dict[int, int]]:
    """What happened up to the end of tick `at`, and the minute of each complete tick."""
    done = run.ticks_done()
    if not done:
        raise RunError(
            f"{run.folder}: no tick is complete yet; wait for the first, or `simcounsel resume"
            f" {run.folder}`"
        )
    if at is not None and not 0 <= at < done:
        raise RunError(f"{run.folder}: tick {at} was not lived; choose one from 0 to {done - 1}")
    witness, minutes = Witness(run.world), {}
    for entry in run.entries(until_tick=done if at is None else at + 1):
        witness.observe(entry)
        if isinstance(entry.event, TickEnded):
            minutes[entry.tick] = entry.minute
    return witness, minutes


def _targets(
    run: Run,
    scale: Scale | Counted,
    witness: Witness,
    minutes: dict[int, int],
    who: str | None,
    chat: str | None,
) -> Iterator[Target]:
    names = [resident.name for resident in run.world.residents]
    if who is not None and who not in names:
        raise RunError(f"{run.folder}: no resident {who!r}; {suggest(who, names)}")
    clients = (
        [who]
        if who
        else [resident.name for resident in run.world.present() if resident.role == "client"]
    )
    talk = _named(run, witness, chat) if chat is not None else None
    if scale.sees in ("transcript", "persona and transcript"):
        for one in [talk] if talk else [one for one in witness.talks.values() if one.lines]:
            for name in (name for name in clients if name in one.who):
                yield Target(
                    who=name,
                    tick=one.tick,
                    minute=one.minute,
                    point=_point(witness, name, one),
                    talk=one,
                )
        return
    tick = talk.tick if talk else max(minutes)
    at_end = "end" if tick == run.world.ticks - 1 else f"tick {tick}"
    for name in clients:
        if talk is None or name in talk.who:
            yield Target(
                who=name,
                tick=tick,
                minute=minutes[tick],
                point=_point(witness, name, talk) if talk else at_end,
            )


def _named(run: Run, witness: Witness, chat: str) -> Talk:
    """A conversation by number (from 1) or id, as `show` counts them."""
    talks = list(witness.talks.values())
    if chat in witness.talks:
        return witness.talks[chat]
    if chat.isdigit() and 1 <= int(chat) <= len(talks):
        return talks[int(chat) - 1]
    raise RunError(
        f"{run.folder}: no conversation {chat!r}; "
        + (f"there are 1 to {len(talks)}" if talks else "there is none")
    )


def _point(witness: Witness, who: str, talk: Talk) -> str:
    sessions = witness.sessions.get(who, [])
    if talk.chat in sessions:
        return f"after session {sessions.index(talk.chat) + 1}"
    return f"after conversation {list(witness.talks).index(talk.chat) + 1}"


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
    stem = f"{instrument}-{datetime.now():%Y%m%d-%H%M%S-%f}"
    try:
        (folder / FOLDER).mkdir(exist_ok=True)
        file = folder / FOLDER / f"{stem}.jsonl"
        file.open("xb").close()
        return file
    except OSError as error:
        raise RunError(
            f"{folder / FOLDER}: cannot be written ({error.strerror}); copy the run to where you"
            " may write"
        ) from None


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
