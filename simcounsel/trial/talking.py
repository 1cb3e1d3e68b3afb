"""Participants' talks: a line goes in, and the other side's answer comes back, whatever happens
between.

The other side (`seats.py`) is in memory only: what was said and asked is in the
store, and from there it is rebuilt after a restart or an outage, with no call asked again. Talks
go on in threads, one for each participant at a time; models are asked over one Switchboard for
all arms that have the same.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.danger.hearing.judging import RiskAnswer
from simcounsel.envs.episode import Episode
from simcounsel.errors import ModelError
from simcounsel.events import parse_entry
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.calls import decode_vectors
from simcounsel.specs.world import World
from simcounsel.trial.casting import arm_world, practice_of, setting_of
from simcounsel.trial.person import Participant, TrialTalk
from simcounsel.trial.plan import Trial
from simcounsel.trial.seats import Counseled, Counseling, Opposite
from simcounsel.trial.store import Store

log = logging.getLogger(__name__)
AT_ONCE = 256
"""Talks that may wait for models at the same time."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 2.0, 60.0
"""Before somebody who did not answer is asked again."""
ENDS_S = 5.0
"""How long answers that are under way may take at the end; others are asked for again later."""
Boards = Mapping[str, Switchboard]
"""By arm; under '' that of whoever is in none."""
_WHO: ContextVar[str] = ContextVar("whose talk", default="")


class Recorded:
    """Takes calls into the store under the participant whose talk asks, and hears of danger."""

    def __init__(self, store: Store, took: Callable[[str, dict[str, Any]], None]) -> None:
        self._store, self._took = store, took
        self._gone: set[str] = set()
        self._lock = threading.Lock()

    def append_call(self, call: dict[str, Any]) -> None:
        """Keep one, unless they are gone."""
        who = _WHO.get()
        with self._lock:
            if who in self._gone:
                return
            self._store.call(who, call)
        self._took(who, call)

    def forget(self, who: str) -> None:
        """Keep nothing more of somebody."""
        with self._lock:
            self._gone.add(who)


class Talking:
    """All talks of a trial. happen: writes an event of a participant; alarm: tells that a model
    heard danger in a line, by level and kinds. spent: counts a call, and what it cost in USD.
    """

    def __init__(
        self,
        trial: Trial,
        folder: Path,
        store: Store,
        models: Boards,
        happen: Callable[..., object],
        alarm: Callable[[str, str, tuple[str, ...]], None],
        spent: Callable[[str, float], None],
    ) -> None:
        """SpecError where an arm's world cannot be had."""
        self._trial, self._store, self._models = trial, store, models
        self._happen, self._alarm, self._spent = happen, alarm, spent
        self.worlds: Mapping[str, World] = {
            arm.name: arm_world(trial, arm, folder) for arm in trial.arms if not arm.waits
        }
        self._sittings: dict[str, tuple[int, Opposite]] = {}
        """By participant the talk that they are in, and its other side."""
        self._busy: set[str] = set()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="talk")
        self.human = True
        """Whether participants are people; the log marks their lines so."""
        self.troubled: dict[str, str] = {}
        """Who cannot be answered now, and why."""
        self._recorded = Recorded(store, self._took)
        for board in models.values():
            board.recorder = self._recorded

    def go_on(self, who: Participant) -> None:
        """See to it that the other side answers; at once, in a thread of its own."""
        self._submit(self._going_on, who)

    def _submit(self, work: Callable[..., None], *given: Any) -> None:
        with suppress(RuntimeError):  # the pool was shut down meanwhile
            if not self._closing.is_set():
                self._pool.submit(work, *given)

    def forget(self, code: str) -> None:
        """Let go of what is in memory of somebody."""
        self._recorded.forget(code)
        self._sittings.pop(code, None)
        self.troubled.pop(code, None)

    def close(self) -> None:
        """Let go of all; what is under way is taken up again after the next start."""
        self._closing.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + ENDS_S
        while self._busy and time.monotonic() < until:
            time.sleep(0.02)
        for board in set(self._models.values()):
            board.close()

    def _going_on(self, who: Participant) -> None:
        with self._lock:
            if who.code in self._busy:
                return
            self._busy.add(who.code)
        _WHO.set(who.code)
        pause = FIRST_PAUSE_S
        try:
            while self._owes(who) and not self._closing.is_set():
                try:
                    self._answer(who)
                    self.troubled.pop(who.code, None)
                except Exception as error:
                    if self._closing.is_set():
                        return
                    self._failed(who, error)
                    self._closing.wait(pause)
                    pause = min(2 * pause, LONGEST_PAUSE_S)
        finally:
            with self._lock:
                self._busy.discard(who.code)
            if self._owes(who):  # said while this one was ending, when nobody else could begin
                self.go_on(who)

    def _failed(self, who: Participant, error: Exception) -> None:
        """The episode is not to be trusted any more: it is built again from the store."""
        self._sittings.pop(who.code, None)
        self.troubled[who.code] = str(error) or type(error).__name__
        level = logging.WARNING if isinstance(error, ModelError) else logging.ERROR
        log.log(level, "%s: no answer yet: %s", who.code, error, exc_info=level > logging.WARNING)

    @staticmethod
    def _owes(who: Participant) -> bool:
        """Whether the other side is to speak, or the talk is to end."""
        talk = who.talk
        waits = talk and not talk.over and (not talk.awaiting or talk.ending)
        return bool(waits and not who.withdrawn)

    def _answer(self, who: Participant) -> None:
        talk = who.talk
        assert talk is not None
        number, opposite = self._sittings.get(who.code, (0, None))
        if opposite is None or number != talk.number:
            opposite = self._seated(who, talk, opposite if number == talk.number - 1 else None)
            self._sittings[who.code] = talk.number, opposite
        told = opposite.go_on([line.text for line in talk.own()], ending=talk.ending)
        heard = tuple(line.text for line in talk.lines if line.who == "other")
        noted = sum(line.who == "note" for line in talk.lines)
        if told.said[: len(heard)] != heard:
            self._break_off(who, talk)
            return
        self._happen(
            who.code,
            "replied",
            lines=told.said[len(heard) :],
            notes=told.notes[noted:],
            over=told.over,
            entries=[entry.line() for entry in told.entries],
        )

    def _break_off(self, who: Participant, talk: TrialTalk) -> None:
        """What the store holds cannot be said again, as after a change of software or model in the
        middle of a talk: it ends as it stands, and has no log.
        """
        log.error("%s: talk %d cannot be gone on with; it is ended", who.code, talk.number)
        self._sittings.pop(who.code, None)
        self._happen(who.code, "replied", lines=[], over=True, entries=[], broken_off=True)

    def _seated(self, who: Participant, talk: TrialTalk, before: Opposite | None) -> Opposite:
        """The other side at the beginning of a talk: the one before goes on, or it is built from
        the store.
        """
        assert who.arm is not None
        arm, world = self._trial.arm(who.arm), self.worlds[who.arm]
        calls = [] if before else [call for _, call in self._store.calls(who.code)]
        models = self._models[who.arm]
        models.recall({one["key"]: one for one in calls if not one.get("given_up")})
        if arm.practice:
            setting = practice_of(self._trial, world, who, talk.number)
            setting = replace(setting, human=self.human)
            language = who.language or self._trial.languages[0]
            return Counseling(setting, models, arm.practice.feedback_in(talk.number), language)
        setting = setting_of(self._trial, world, who, talk.number)
        setting = replace(setting, human=self.human)
        if isinstance(before, Counseled):
            return before.next_talk(setting)
        episode = Episode(setting, models)
        old = (line for talk in who.talks[:-1] for line in talk.entries)
        past = [parse_entry(json.loads(line)) for line in old]
        if past:
            episode.restore(past, _vectors(calls))
        else:
            episode.begin()
        return Counseled(episode, len(past)).next_talk(setting)

    def _took(self, who: str, call: dict[str, Any]) -> None:
        """A call was made: what it costs is counted, and danger that a model heard is told."""
        self._spent(who, float(call.get("cost_usd") or 0.0))
        if call.get("purpose") == "risk" and call.get("reply"):
            try:
                risk = RiskAnswer.model_validate_json(call["reply"])
            except ValidationError:
                return
            if risk.level != "none":
                self._submit(self._alarm, who, risk.level, tuple(risk.kinds))


def _vectors(calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Of the texts that were remembered."""
    found: dict[str, Any] = {}
    for call in calls:
        if call.get("purpose") == "remember":
            vectors = decode_vectors(call["vectors"], len(call["texts"]))
            found |= dict(zip(call["texts"], vectors, strict=True))
    return found
