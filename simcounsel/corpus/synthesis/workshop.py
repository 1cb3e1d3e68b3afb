"""A synthesis from its settings to its record: sessions in waves, strategies from one wave to the
next.
"""

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel

from simcounsel.corpus.synthesis.context import SessionContext
from simcounsel.corpus.synthesis.events import (
    StrategyDropped,
    StrategyLearned,
    StrategyRestored,
    SynthesisEvent,
    line_of,
    own,
)
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.session import Session, SessionOutcome
from simcounsel.corpus.synthesis.settings import Synthesis
from simcounsel.corpus.synthesis.settings_file import changed
from simcounsel.corpus.synthesis.strategies import Proposal, Strategies, sorted_in
from simcounsel.engine.fallbacks import FallbackCount
from simcounsel.engine.forking import begun, check_fork, check_left
from simcounsel.engine.journal import Warnings
from simcounsel.engine.opening import begin_record, check_roles, models_for
from simcounsel.errors import RunError
from simcounsel.events import Entry, TickEnded, as_event
from simcounsel.llm.budget import budget_in
from simcounsel.llm.byhand import check_inherited
from simcounsel.llm.question import ask, embedding
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.aside import calls_aside
from simcounsel.runs.manifest import Parent

CHANGED_ONLY_AT_START = ("situations", "wave", "strategies", "language")


def fork(
    record: SynthesisRecord, at_wave: int, changes: dict[str, Any], out: Path
) -> SynthesisRecord:
    """A new synthesis that shares the waves before `at_wave`, with settings changed from then on.
    RunError when that wave was not written, SpecError when a change does not fit.
    """
    check_fork(record, at_wave, changes, CHANGED_ONLY_AT_START)
    settings = changed(record.settings, changes)
    check_left(record, at_wave, settings.waves - 1, settings.waves)
    names = settings.model_names()
    check_inherited({*names.values()} & {*record.manifest.models.values()})
    check_roles(names)
    past = list(record.entries(until_tick=at_wave))

    def begin(parent: Parent) -> SynthesisRecord:
        return begin_record(SynthesisRecord, settings, out, parent)

    return begun(record, past, at_wave, changes, begin)


class Workshop:
    """Writes the sessions of a synthesis.

        with Workshop(load_synthesis(Path("synthesis.yaml"))) as workshop:
            record = workshop.run()

    about: the settings, or a synthesis to go on with. out: where its folder goes. models: a ready
    Switchboard. budget_usd, budget_calls: no request is sent that may take more than what is left
    of them; what it took before counts. None: as it was given last; NO_LIMIT lifts it.
    on_line: called with every event of a session as it comes, in the order of time; on_wave: with
    the number of waves that are done. A wave is written whole or, if anything breaks it off, not at
    all; the replies that came are used again.
    """

    def __init__(
        self,
        about: Synthesis | SynthesisRecord,
        *,
        out: str | Path = "runs",
        models: Switchboard | None = None,
        in_flight: int = 64,
        budget_usd: float | None = None,
        budget_calls: float | None = None,
        on_line: Callable[[SynthesisEvent], None] | None = None,
        on_wave: Callable[[int], None] | None = None,
    ) -> None:
        self.record = (
            begin_record(SynthesisRecord, about, Path(out))
            if isinstance(about, Synthesis)
            else about
        )
        self.settings = self.record.settings
        self.strategies = Strategies()
        self.stopped_because: str | None = None
        self._on_line, self._on_wave = on_line, on_wave
        self._entries: list[Entry] = []
        self._warnings = Warnings()
        self._seq = 0
        self._dealt = self.settings.dealt()
        self._digits = max(4, len(str(self.settings.count)))
        self._open = True
        self.wave = self.record.begin_writing()
        try:
            self.models = models or models_for(self.record, in_flight=in_flight)
            budget = budget_in(self.record.folder, usd=budget_usd, calls=budget_calls)
            if budget.limited and not (models and models.budget.limited):
                self.models.limit(budget, chain(self.record.calls(), calls_aside(self.record)))
            self.models.recorder = self.record
            limits = self.settings.fallbacks
            self._fallbacks = FallbackCount(self.record, limits, self.wave, line_of)
            for entry in self.record.entries(until_tick=self.wave):
                self.strategies.observe(entry.tick, own(entry.event))
                self._warnings.observe(entry)
                self._fallbacks.observe(entry)
                self._seq = entry.seq + 1
        except BaseException:
            self.record.end_writing()
            raise

    @property
    def finished(self) -> bool:
        """Whether all sessions are written."""
        return self.wave >= self.settings.waves

    def run(self, waves: int | None = None) -> SynthesisRecord:
        """Write all that is left, or that many waves more; return the synthesis. GivenUp when a
        model does not answer, or the budget does not reach.
        """
        last = self.settings.waves if waves is None else min(self.settings.waves, self.wave + waves)
        try:
            while self.wave < last and self.stopped_because is None:
                self.step()
        finally:
            self.close()
        return self.record

    def step(self) -> None:
        """Write one wave. GivenUp when a model does not answer, the budget does not reach, or too
        many answers are unusable. After anything has broken a wave off only a new Workshop over
        the same folder can go on.
        """
        if self._entries:
            raise RunError(
                f"{self.record.folder}: a wave was broken off; open it again, as `simcounsel"
                " resume` does"
            )
        self.models.begin_tick(self.wave)
        self._settle()
        first = self.wave * self.settings.wave
        sessions = {
            self._name(number): self._session(number)
            for number in range(first, min(first + self.settings.wave, self.settings.count))
        }
        outcomes = self.models.ask({name: session.write() for name, session in sessions.items()})
        proposals: list[Proposal] = []
        for outcome in outcomes.values():
            written: SessionOutcome = outcome.value
            for event in chain[BaseModel](written.events, self._warnings.of(outcome)):
                self._write(event)
            proposals += written.proposals
        asked = sum(outcome.asked for outcome in outcomes.values())
        if not self.models.only_recorded:  # what is replayed was judged before
            self._fallbacks.check(self.wave, self._entries, asked)
        self._learn(proposals)
        self._write(TickEnded())
        self._fallbacks.written(self.record.append(self._entries), asked)
        self._entries = []
        self.wave += 1
        if self._on_wave:
            self._on_wave(self.wave)

    def _settle(self) -> None:
        """What is given from the beginning is there; what the settings drop is gone."""
        if self.wave == 0:
            for text in self.settings.strategies:
                self._write(
                    StrategyLearned(id=self.strategies.next_id(), text=text, session="", advice=())
                )
        known = {strategy.id: strategy for strategy in self.strategies.all()}
        unknown = [id for id in self.settings.dropped if id not in known]
        if unknown:
            raise RunError(
                f"dropped: {unknown[0]}: no strategy of that id before wave {self.wave}; there are"
                f" {', '.join(known) or 'none'} (`simcounsel show {self.record.folder}"
                " --strategies` lists them)"
            )
        for strategy in known.values():
            dropped = strategy.dropped is not None
            if dropped != (strategy.id in self.settings.dropped):
                kind = StrategyRestored if dropped else StrategyDropped
                self._write(kind(id=strategy.id))

    def _name(self, number: int) -> str:
        """Of a session, counted from 0: `S0001` is the first; as many digits for all, so that names
        sort as numbers do.
        """
        return f"S{number + 1:0{self._digits}d}"

    def _session(self, number: int) -> Session:
        situation = self._dealt[number]
        key = (self.settings.seed, "session", number, situation.id)
        context = SessionContext(settings=self.settings, session=self._name(number), key=key)
        return Session(context, situation, self.strategies.carried(), self._on_line)

    def _learn(self, proposals: list[Proposal]) -> None:
        """Proposals into the list; one question for the meaning of all."""
        if not proposals:
            return
        texts = tuple(sorted({p.text for p in proposals} | {s.text for s in self.strategies.all()}))
        question = embedding("strategies", "manager", texts)
        reply = self.models.ask({"strategies": ask(question)})["strategies"].value
        vectors = dict(zip(texts, reply.value, strict=True))
        for event in tuple(sorted_in(self.strategies, proposals, vectors, reply.call)):
            self._write(event)

    def _write(self, event: BaseModel) -> None:
        self._entries.append(Entry(self._seq, self.wave, 0, as_event(event)))
        self._seq += 1
        self.strategies.observe(self.wave, event)

    def close(self) -> None:
        """End the models and let go of the folder. It can be resumed."""
        if self._open:
            self._open = False
            try:
                self.models.close()
            finally:
                self.record.end_writing()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
