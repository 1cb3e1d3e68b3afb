"""What the models are told in each condition of an experiment, before anything is paid for: the
first prompt of each kind, and in what it differs from that of the first condition.

The scripted model lives through the beginning of each condition, in a folder that is thrown away;
nobody else is asked. So the texts are what a real model would be sent up to the first answers.
"""

import difflib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcounsel.engine.simulation import Simulation
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.scripted import Scripted
from simcounsel.specs.cells import Cell
from simcounsel.specs.world import World

MOST_TICKS = 96 * 3
"""So far the beginning goes: a meeting is seldom later."""
CONTEXT = 1
"""Lines around a difference."""


@dataclass(frozen=True, kw_only=True)
class First:
    """The first prompt of a kind that somebody is sent in a condition."""

    arm: str
    who: str
    role: str
    purpose: str
    text: str
    """The system text, an empty line, the prompt."""


class _Listening(Scripted):
    """The scripted model, keeping what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Question[Any]] = []

    async def complete(self, request: Question[Any], complaint: str | None) -> Completion:
        self.asked.append(request)
        return await super().complete(request, complaint)


def first_prompts(cells: tuple[Cell, ...]) -> dict[str, list[First]]:
    """By condition, the first prompt of each person and purpose, in the order in which they are
    asked. Clients and seeds: of the first client, whom all conditions have, and its first seed.
    """
    found: dict[str, list[First]] = {}
    client = cells[0].client
    for cell in cells:
        arm = cell.arm
        if arm is None or arm in found:
            continue
        shared = any(other.client == client and other.arm == arm for other in cells)
        if shared and cell.client != client:
            continue
        found[arm] = _lived(arm, cell.about) if isinstance(cell.about, World) else []
    return found


def _lived(arm: str, world: World) -> list[First]:
    model = _Listening()
    roles = {resident.name: resident.role for resident in world.residents}
    models = Switchboard({"reason": model, "quick": model, "judge": model}, HashEmbeddings())
    with tempfile.TemporaryDirectory() as folder:
        simulation = Simulation(world, out=Path(folder), models=models)
        simulation.run(ticks=min(world.ticks, _until_the_first_meeting(world)))
    first: dict[tuple[str, str], First] = {}
    for one in model.asked:
        first.setdefault(
            (one.who, one.purpose),
            First(
                arm=arm,
                who=one.who,
                role=roles.get(one.who, ""),
                purpose=one.purpose,
                text=f"{one.system}\n\n{one.prompt}".strip(),
            ),
        )
    return list(first.values())


def _until_the_first_meeting(world: World) -> int:
    """Ticks up to the end of the first appointment of those who are there; a day where there is
    none.
    """
    from simcounsel.clock import MINUTES_PER_DAY, minutes_of_day

    present = {resident.name for resident in world.present()}
    begin = world.start.hour * 60 + world.start.minute
    minutes = [
        day * MINUTES_PER_DAY + minutes_of_day(one.at) - begin
        for one in world.appointments
        for day in one.days
        if set(one.who) <= present
    ]
    ahead = [minute for minute in minutes if minute >= 0]
    if not ahead:
        return MINUTES_PER_DAY // world.tick_minutes
    return min(MOST_TICKS, min(ahead) // world.tick_minutes + 1)


def prompt_lines(
    cells: tuple[Cell, ...], roles: tuple[str, ...] = ("counselor",), *, whole: bool = True
) -> Iterator[str]:
    """Of the prompts that are not the same in all conditions: the first condition's in full, then
    what is other in each other condition's (+ only there, - only in the first one). Those that are
    the same are named. roles: whose prompts. whole: False for the differences alone.
    """
    found = {
        arm: {(one.role, one.purpose): one for one in several if one.role in roles}
        for arm, several in first_prompts(cells).items()
    }
    if not found:
        return
    base, *others = found
    kinds = dict.fromkeys(kind for several in found.values() for kind in several)
    same = [
        kind
        for kind in kinds
        if len({several[kind].text if kind in several else None for several in found.values()}) == 1
    ]
    if same:
        yield f"--- the same in all conditions: {', '.join(purpose for _, purpose in same)}"
        yield ""
    for kind in (one for one in kinds if one not in same):
        first = found[base].get(kind)
        if first is not None:
            yield f"--- {base}: {first.who} ({first.role}), {first.purpose}"
            yield from first.text.splitlines() if whole else ()
            yield ""
        for arm in others:
            yield from _beside(found[arm].get(kind), first, arm, base, whole)


def _beside(
    one: First | None, first: First | None, arm: str, base: str, whole: bool
) -> Iterator[str]:
    """What a condition has in place of the first one's prompt of that kind."""
    if one is None:
        if first is not None:
            yield f"--- {arm}: no {first.purpose}"
            yield ""
        return
    if first is None:
        yield f"--- {arm}: {one.who} ({one.role}), {one.purpose}, which {base} has not"
        yield from one.text.splitlines() if whole else ()
    else:
        changed = list(_difference(first.text, one.text))
        yield f"--- {arm} against {base}: {one.who} ({one.role}), {one.purpose}"
        yield from changed or ["the same"]
    yield ""


def _difference(before: str, after: str) -> Iterator[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=CONTEXT)
    for line in lines:
        if not line.startswith(("---", "+++")):
            yield "..." if line.startswith("@@") else line
