"""A mind in which something is cut: `mind: cut:...|NAME`, around the mind of that name."""

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel

from simcounsel.agents.mind import Effects, Mind, Scene, Spoken, check_mind, maker_of
from simcounsel.agents.questionnaire import Sheet
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import plain_line
from simcounsel.clock import minute_of_tick
from simcounsel.cuts.cut import Cut, read_mind
from simcounsel.cuts.memory import CutMemory
from simcounsel.errors import SpecError
from simcounsel.events import (
    BeliefMoved,
    ClientShifted,
    Data,
    Foreign,
    HomeworkAgreed,
    PersonaChanged,
    Planned,
    RelationChanged,
)
from simcounsel.llm.question import Ask, Reply
from simcounsel.specs.residents import ResidentSpec

DROPPED = {
    "freeze:beliefs": BeliefMoved,
    "freeze:persona": PersonaChanged,
    "freeze:relationships": RelationChanged,
}
"""The events that a cut leaves out."""
LISTENS: dict[str, str] = {"en": "Mm. Go on.", "zh": "嗯，你接着说。"}
SILENCE: dict[str, str] = {"en": "…", "zh": "……"}
STAYS: dict[str, str] = {"en": "the plan stays as it was", "zh": "计划不变"}


class CutMade(Data):
    """Where a cut withheld something."""

    kind: Literal["cuts.made"] = "cuts.made"
    who: str
    cut: str
    """Such as `freeze:beliefs`."""
    count: int
    """How many things: events, memories that did not come to mind, lines."""
    chat: str | None = None
    """The conversation in which it was."""


class CutMind:
    """See `Mind`. What is not cut is as the mind inside has it."""

    def __init__(self, resident: Resident) -> None:
        """SpecError where the resident's `mind` is none of these."""
        self.resident = resident
        self._cuts, inner = read_mind(resident.spec.mind or "")
        self._inner = _inside(resident, inner)
        self._memory: CutMemory | None = None
        muted = [one.since for one in self._cuts if one.verb == "mute"]
        resident.silent_from = min(muted, default=None)
        if any(one.verb in ("block", "scramble") for one in self._cuts):
            self._memory = CutMemory(resident.memory)
            resident.memory = self._memory

    def arrive(self, scene: Scene) -> Ask[Effects]:
        """As the mind inside."""
        return self._inner.arrive(scene)

    def plan(self, scene: Scene) -> Ask[Effects]:
        """The day; where plans are frozen, nothing comes to mind for it."""
        frozen = self._has("freeze:plans", scene)
        return (yield from self._lived(scene, self._inner.plan(scene), blank=frozen))

    def appraise(self, scene: Scene) -> Ask[Effects]:
        """As the mind inside."""
        return (yield from self._lived(scene, self._inner.appraise(scene)))

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """The next line, or none, or another one."""
        if rule := self._latest(scene, "rule"):
            made = CutMade(who=view.me, cut=rule.name, count=1, chat=view.chat)
            line = plain_line(_by_rule(rule.what, view), leaves=view.parting)
            return Spoken(line=line, emphasis=None, source="chosen", events=(made,))
        known = self._known(scene, view)
        spoken: Spoken = yield from self._remembering(
            scene, self._inner.speak(scene, known, decision)
        )
        events, count = self._less(scene, spoken.events, view.chat)
        spoken = replace(spoken, events=(*events, *count))
        if (text := self._to_say(scene, view)) is None or spoken.silent or spoken.waits:
            return spoken
        made = CutMade(who=view.me, cut="say", count=1, chat=view.chat)
        line = spoken.line.model_copy(update={"say": text, "wish": "go on"})
        return replace(
            spoken, line=line, emphasis=None, source="chosen", events=(*spoken.events, made)
        )

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """As the mind inside, less what is cut."""
        return (yield from self._lived(scene, self._inner.take_away(scene, view), view.chat))

    def reflect(self, scene: Scene, trigger: str) -> Ask[Effects]:
        """As the mind inside, less what is cut."""
        return (yield from self._lived(scene, self._inner.reflect(scene, trigger)))

    def replan(self, scene: Scene, why: str) -> Ask[Effects]:
        """The plan stays where plans are frozen, or what happened is not remembered."""
        resident = self.resident
        held = self._held(scene)
        blocked = held.name if held and held.verb == "block" else None
        cut = "freeze:plans" if self._has("freeze:plans", scene) else blocked
        if cut is None or resident.planned_day is None:
            return (yield from self._lived(scene, self._inner.replan(scene, why)))
        stays = Planned(
            who=resident.name,
            day=resident.planned_day,
            strokes=resident.strokes,
            why=STAYS[scene.language],
        )
        made = CutMade(who=resident.name, cut=cut, count=1)
        return Effects(events=(stays, made))

    def account(self, scene: Scene, days: tuple[int, ...]) -> Ask[Effects]:
        """As the mind inside."""
        return (yield from self._lived(scene, self._inner.account(scene, days)))

    def report(self, scene: Scene, sheet: Sheet) -> Ask[Reply[BaseModel | None]]:
        """As the mind inside, with what comes to its mind."""
        reply: Reply[BaseModel | None] = yield from self._remembering(
            scene, self._inner.report(scene, sheet)
        )
        return reply

    @staticmethod
    def check(spec: ResidentSpec) -> None:
        """SpecError for what cannot be cut in a mind that remembers in its own way; errors of the
        mind inside.
        """
        cuts, inner = read_mind(spec.mind or "")
        own = spec.model_copy(update={"mind": inner})
        check_mind(own)
        beyond: frozenset[str] = getattr(maker_of(inner), "beyond_cuts", frozenset())
        for one in cuts:
            if beyond & {one.verb, one.name}:
                raise SpecError(
                    [
                        f"--do {one.name}: {spec.name}'s mind remembers in a way of its own, which"
                        " nothing reaches; mute, swap and rule can be done to it"
                    ]
                )

    def _now(self, scene: Scene) -> Iterable[Cut]:
        return (one for one in self._cuts if one.since <= scene.tick)

    def _has(self, name: str, scene: Scene) -> bool:
        return any(one.name == name for one in self._now(scene))

    def _known(self, scene: Scene, view: TalkView) -> TalkView:
        """A talk as far as one remembers earlier ones: where memory is blocked, neither what was
        agreed since nor what was kept back.
        """
        held = self._held(scene)
        if held is None or held.verb != "block":
            return view
        since = 0 if held.what == "recall" else held.since
        kept = (
            entry
            if entry.tick < since
            else replace(entry, event=entry.event.model_copy(update={"held_back": None}))
            if isinstance(entry.event, ClientShifted)
            else entry
            for entry in view.kept
            if entry.tick < since or not isinstance(entry.event, HomeworkAgreed)
        )
        return replace(view, kept=tuple(kept))

    def _held(self, scene: Scene) -> Cut | None:
        """What is cut of memory; None: nothing."""
        return self._latest(scene, "block", "scramble")

    def _latest(self, scene: Scene, *verbs: str) -> Cut | None:
        """Of these cuts the one that was made last, which stands in place of those before."""
        some = [one for one in self._now(scene) if one.verb in verbs]
        return max(reversed(some), key=lambda one: one.since, default=None)

    def _to_say(self, scene: Scene, view: TalkView) -> str | None:
        """What is put in one's mouth: the first line of the first talk since then."""
        cut = self._latest(scene, "say")
        talked = self.resident.last_talk.values()
        if cut is None or any(tick >= cut.since for tick in talked):
            return None
        return None if any(line.who == view.me for line in view.lines) else cut.what

    def _lived(
        self, scene: Scene, asked: Ask[Effects], chat: str | None = None, blank: bool = False
    ) -> Ask[Effects]:
        """What came of it, less what is cut. blank: nothing comes to mind meanwhile."""
        found: Effects = yield from self._remembering(scene, asked, blank=blank)
        events, made = self._less(scene, found.events, chat)
        return replace(found, events=(*events, *made))

    def _remembering(
        self, scene: Scene, asked: Generator[Any, Any, Any], blank: bool = False
    ) -> Generator[Any, Any, Any]:
        """Ask, with what is cut of memory kept from coming to mind. blank: all of it."""
        if blank and self._memory is None:
            self._memory = CutMemory(self.resident.memory)
            self.resident.memory = self._memory
        if self._memory is None:
            return (yield from asked)
        held = self._held(scene)
        mode = None if held is None else "scramble" if held.verb == "scramble" else held.what
        since = 0 if held is None else held.since
        self._memory.mode = "recall" if blank else mode
        self._memory.since = minute_of_tick(since, scene.start, scene.tick_minutes)
        self._memory.withheld = 0
        return (yield from asked)

    def _less(
        self, scene: Scene, events: tuple[Data | Foreign, ...], chat: str | None
    ) -> tuple[tuple[Data | Foreign, ...], tuple[CutMade, ...]]:
        """The events less those that are cut; and marks of what was."""
        kept: list[Data | Foreign] = []
        counts = Counter[str]()
        for event in events:
            cut = next((name for name, kind in DROPPED.items() if isinstance(event, kind)), "")
            if self._has(cut, scene):
                counts[cut] += 1
                continue
            if isinstance(event, ClientShifted) and self._has("freeze:openness", scene):
                counts["freeze:openness"] += event.openness != event.before
                event = event.model_copy(update={"openness": event.before})
            kept.append(event)
        if self._memory is not None and self._memory.withheld:
            held = self._held(scene)
            counts[held.name if held else "freeze:plans"] = self._memory.withheld
            self._memory.withheld = 0
        who = self.resident.name
        made = (CutMade(who=who, cut=n, count=c, chat=chat) for n, c in counts.items() if c)
        return tuple(kept), tuple(made)


def _inside(resident: Resident, name: str | None) -> Mind:
    """The mind of that name, which is to read no other name."""
    own = resident.spec
    resident.spec = own.model_copy(update={"mind": name})
    try:
        return maker_of(name)(resident)
    finally:
        resident.spec = own


def _by_rule(rule: str, view: TalkView) -> str:
    if rule == "echoes" and view.heard is not None:
        return view.heard.text
    return (SILENCE if rule == "silent" else LISTENS)[view.language]


MIND = CutMind
