"""A complete episode as a run: `view`, `show`, `rate`, `report`, `corpus` and `export` read it."""

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from simcounsel.clock import MINUTES_PER_DAY
from simcounsel.engine.opening import begin_run
from simcounsel.envs.setting import Setting
from simcounsel.events import Entry, Remembered, TickEnded
from simcounsel.llm.switchboard import Switchboard
from simcounsel.specs.residents import Appointment
from simcounsel.specs.world import World
from simcounsel.specs.world_settings import OwnModels

AGENT = "agent"
"""Stands for the model of whoever played the counselor, of whom the environment knows nothing."""
MOST_CALLS = 20_000
"""Calls that are kept for episodes under way, some hundred MB; the oldest go first."""
_KEYS = re.compile(r'"calls":\[([^\]]*)\]')


class Calls:
    """What models were asked in all episodes over one Switchboard, whose `recorder` this is."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._by_text: OrderedDict[str, dict[str, Any]] = OrderedDict()
        """Vectors of what was remembered."""

    @classmethod
    def of(cls, models: Switchboard) -> "Calls | None":
        """Those of a Switchboard, from now on; None where it records elsewhere."""
        if models.recorder is None:
            models.recorder = cls()
        return models.recorder if isinstance(models.recorder, Calls) else None

    def append_call(self, call: dict[str, Any]) -> None:
        """Keep one."""
        vectors = call["purpose"] == "remember"
        kept = self._by_text if vectors else self._by_key
        for name in call["texts"] if vectors else [call["key"]]:
            kept[name] = call
            kept.move_to_end(name)
        while len(kept) > MOST_CALLS:
            kept.popitem(last=False)

    def behind(self, tick: Sequence[Entry]) -> Iterator[dict[str, Any]]:
        """Those that a tick's events rest on, each once."""
        found: dict[str, dict[str, Any] | None] = {}
        for entry in tick:
            for keys in _KEYS.findall(entry.line()):
                found |= {key: self._by_key.get(key) for key in re.findall(r"[\w:.-]+", keys)}
            if isinstance(entry.event, Remembered):
                vectors = self._by_text.get(entry.event.memory.text)
                found[vectors["key"] if vectors else ""] = vectors
        yield from (call | {"tick": tick[0].tick} for call in found.values() if call)


def write_run(out: Path, setting: Setting, entries: Sequence[Entry], calls: Calls | None) -> Path:
    """Write an episode as a new run under `out`, one tick a session; processes may share the
    folder. calls: None: what models were asked is not in it. RunError when it cannot be written.
    """
    return write_log(_world(setting), out, entries, calls)


def write_log(
    world: World, out: Path, entries: Sequence[Entry], calls: Calls | None, name: str | None = None
) -> Path:
    """Write what happened in a world as a new run, of that name if given; numbers of entries, and
    the ends of ticks, are made here. RunError when it cannot be written.
    """
    run = begin_run(world, out, name=name)
    run.begin_writing()
    try:
        for _, group in groupby(_numbered(entries), key=lambda entry: entry.tick):
            tick = list(group)
            for call in calls.behind(tick) if calls else ():
                run.append_call(call)
            run.append(tick)
    finally:
        run.end_writing()
    return run.folder


def _world(setting: Setting) -> World:
    """The world of these two alone, with their sessions."""
    first = setting.minute(1)
    days = tuple(setting.minute(n) // MINUTES_PER_DAY for n in range(1, setting.sessions + 1))
    pair = {setting.client.name, setting.counselor.name}
    agent = setting.counselor.model_copy(update={"models": OwnModels(reason=AGENT)})
    return setting.world.model_copy(
        update={
            "name": f"{setting.world.name[:40]} {setting.client.name}",
            "seed": setting.seed,
            "condition": "client_counselor",
            "days": "skipped",
            "ticks": setting.tick(setting.sessions) + 1,
            "residents": (setting.client, agent),
            "relationships": tuple(
                one for one in setting.world.relationships if set(one.between) == pair
            ),
            "measurements": (),
            "appointments": (
                Appointment(
                    who=(setting.client.name, setting.counselor.name),
                    days=days,
                    at=f"{first % MINUTES_PER_DAY // 60:02}:{first % 60:02}",
                    place=setting.place,
                    max_turns=setting.max_turns,
                ),
            ),
        }
    )


def _numbered(entries: Sequence[Entry]) -> Iterator[Entry]:
    """With the end of each tick."""
    number = 0
    for _, tick in groupby(entries, key=lambda entry: entry.tick):
        for entry in tick:
            yield replace(entry, seq=number)
            number += 1
        yield Entry(number, entry.tick, entry.minute, TickEnded())
        number += 1
