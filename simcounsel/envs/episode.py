"""One client's sessions, without a Mesa model: a fold over events, as everywhere, that can be
dropped and begun again as often as one likes.

The mind inside is the simulated resident's own, with its memory: conversations become memories,
memories become reflections, and before each line it recalls. Between sessions nothing is run;
days pass, memories fade and stay.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from simcounsel.agents.mind import Effects, Mind, Scene, mind_for
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import TalkView
from simcounsel.danger.protection.listener import AtTheEnd
from simcounsel.engine.aftermath import Talked
from simcounsel.engine.conversation import converse
from simcounsel.engine.talk import Side
from simcounsel.envs.past_session import Session, session_of, sessions_in
from simcounsel.envs.seat import HeldByDanger, Line, Outside, Over, Seated, Watched, until_turn
from simcounsel.envs.setting import Setting
from simcounsel.events import (
    Assessed,
    ConversationEnded,
    ConversationStarted,
    Entry,
    Event,
    Joined,
    Measured,
    Memory,
    RelationChanged,
    Remembered,
    as_event,
)
from simcounsel.instruments.material import blind_lines, blinding_for, material_for
from simcounsel.instruments.measuring import measure_seen, measure_self
from simcounsel.instruments.record import ObserverRecord
from simcounsel.instruments.scale import Scale
from simcounsel.instruments.talk import talk_measured
from simcounsel.llm.driving import Trouble
from simcounsel.llm.question import Ask, ask, embedding
from simcounsel.llm.switchboard import Switchboard
from simcounsel.policies import policy_for
from simcounsel.policies.listening import Hearing, Listener, guarded, listeners_for
from simcounsel.prompts import replaced
from simcounsel.specs.vocabulary import Role
from simcounsel.therapies.course.following import Following

T = TypeVar("T")


class Episode:
    """Sessions one after the other. `begin`, then for each session `open` and `say` until it is
    over.

    following: the case's plan, where the counselor outside may know of one.

    view: the conversation as the side outside sees it while its line is awaited; None otherwise.
    entries: all that happened. past: sessions that are over. troubles: fallbacks so far; whoever
    reads them may clear them. shown: what whoever is simulated went through with its lines in the
    session under way or just over, as only it knows; the side outside is not told.
    """

    def __init__(self, setting: Setting, models: Switchboard) -> None:
        self.setting = setting
        self.view: TalkView | None = None
        self.past: list[Session] = []
        self.troubles: tuple[Trouble, ...] = ()
        self._models = models
        self._models.temperature = setting.world.temperature
        self._vectors: dict[str, np.ndarray] = {}
        self._drafts: list[Memory] = []
        self._record = ObserverRecord(setting.world)
        self._talk: Ask[Talked] | None = None
        self.entries: list[Entry] = []
        self.shown: list[Event] = []
        self._steps = 0
        self._people = {
            spec.name: Resident(spec, setting.world, self._vectors)
            for spec in (setting.client, setting.counselor)
        }
        self.mind = mind_for(self._people[setting.inside.name])
        other = setting.counselor if setting.outside == "counselor" else setting.client
        self._outside = Outside(
            self._people[other.name],
            notes=setting.notes,
            source="human" if setting.human else "generated",
        )
        plan = setting.case.from_session(1) if setting.case else None
        self.following = Following(setting.case.school, plan) if setting.case and plan else None

    @property
    def session(self) -> int:
        """Which session it is, from 1: the present one, or the one that comes next."""
        return len(self.past) + 1

    @property
    def scene(self) -> Scene:
        """The world as it is at that session."""
        return self.setting.scene(self.session)

    def begin(self) -> None:
        """They come, with their relationship, and whoever is simulated with what it remembers of
        its life.
        """
        for spec in (self.setting.client, self.setting.counselor):
            self._write(Joined(who=spec.name, role=spec.role, home=spec.home, place=spec.starts_in))
        pair = {self.setting.client.name, self.setting.counselor.name}
        for one in (one for one in self.setting.world.relationships if set(one.between) == pair):
            for who, other in (one.between, one.between[::-1]):
                self._write(
                    RelationChanged(
                        who=who,
                        other=other,
                        before=self._people[who].close_to(other),
                        after=one.score,
                        why="as the world begins",
                    )
                )
        self._live(self.mind.arrive)

    def restore(self, entries: Sequence[Entry], vectors: Mapping[str, np.ndarray]) -> None:
        """Take up what was lived before, in place of `begin`. vectors: of the texts that were
        remembered.
        """
        self._vectors.update(vectors)
        for entry in entries:
            self._happened(entry)
        self._vectors.clear()
        self.past += sessions_in(entries)

    def open(self) -> None:
        """Begin the next session, up to the first turn from outside."""
        if self.following:
            self.following.session = self.session
        outside = Side(
            mind=self._outside,
            scene=self.scene,
            policy=Seated(self.following),
            listeners=self._ears(self.setting.outside, self.setting.inside.role, inside=False),
        )
        spec = self.setting.inside
        world = self.setting.world
        policy = policy_for(spec.role, self.setting.policy or spec.policy, world.language)
        self.shown = []
        inside = Side(
            mind=cast(Mind, Watched(self.mind, self.shown)),
            scene=self.scene,
            policy=guarded(policy, spec.role, world),
            listeners=self._ears(spec.role, self.setting.outside, inside=True),
        )
        first, second = (
            (outside, inside) if self.setting.outside == "counselor" else (inside, outside)
        )
        self._talk = converse(
            first,
            second,
            self._started(first.name, second.name),
            self.setting.max_turns,
            self.setting.minutes,
        )
        self._go_on(None)

    def _ears(self, me: Role, other: Role, *, inside: bool) -> tuple[Listener, ...]:
        """A counselor inside needs to hear of danger for its safety protocol. Whoever sits outside
        hears for themselves, and the log says at the end what was left open.
        """
        world = self.setting.world
        hearing = Hearing(world=world, me=me, other=other, embed=world.models.embed)
        if inside and me == "counselor":
            return listeners_for(hearing)
        listens = world.safety.counselors != "nothing"
        if me == "counselor":
            return (HeldByDanger(listens=listens),)
        return (AtTheEnd(),) if listens and other == "client" else ()

    def say(self, line: Line) -> None:
        """The line that is awaited; then on to the next turn from outside, or to the end of the
        session.
        """
        if self.view is None:
            raise RuntimeError("no line is awaited; open a session first")
        self._go_on(line)

    def measure(self, scale: Scale | None, point: str, session: int, samples: int = 1) -> Measured:
        """An instrument as of the end of a session (0: before the first). scale: None for
        `talk_measures`.
        """
        client = self.setting.client.name
        at = self.setting.scene(max(session, 1))
        at = replace(at, minute=at.minute + at.tick_minutes) if session else at
        talk = self._record.last_talk(client)
        if scale is None:
            lines = (
                blind_lines(
                    blinding_for(self.setting.world, client, self.setting.counselor.name),
                    client,
                    talk.lines,
                )
                if talk
                else ()
            )
            return talk_measured(
                client,
                point,
                lines,
                (talk.chat,) if talk else (),
                None if talk else "no conversation yet",
            )
        if scale.respondent == "self":
            return self._ask(
                measure_self(mind_for(self._people[client]), at, scale, point, samples)
            )
        material = material_for(
            scale, self.setting.world, client, talk, tuple(self._record.versions.get(client, ()))
        )
        return self._ask(
            measure_seen(
                scale,
                client,
                material,
                point,
                self.setting.seed,
                at.tick,
                client,
                point,
                samples=samples,
            )
        )

    def note(self, measured: Measured, session: int) -> None:
        """Keep a measurement as of the end of a session (0: before the first)."""
        self._write(measured, self.setting.scene(max(session, 1)))

    def close(self) -> None:
        """Let go of a conversation that is under way."""
        if self._talk is not None:
            self._talk.close()
        self._talk = self.view = None

    # on the way

    def _started(self, first: str, second: str) -> ConversationStarted:
        one, two = self._people[first], self._people[second]
        return ConversationStarted(
            chat=self.setting.chat(self.session),
            who=(first, second),
            place=self.setting.place,
            cause="appointment",
            closeness=round((one.close_to(second) + two.close_to(first)) / 2, 4),
            probability=1.0,
        )

    def _go_on(self, line: Line | None) -> None:
        assert self._talk is not None
        self.view = None
        reached = self._ask(until_turn(self._talk, self._outside, line))
        if isinstance(reached, Over):
            self._talk = None
            self._part(reached.value)
        else:
            self.view = reached

    def _part(self, talked: Talked) -> None:
        """The session is over: it becomes memory, and memory may become reflection."""
        session = self.scene
        for event in talked.events:
            self._write(event, session)
        name = self.setting.inside.name
        self._drafts += talked.drafts[name]
        self._remember(session)
        due = self._people[name].memory.reflection_due()
        if due and "reflect" not in self.setting.world.without:
            self._live(lambda scene: self.mind.reflect(scene, due))
        self.past.append(session_of(self.session, talked, self._outside.resident.name))

    def _live(self, what: Callable[[Scene], Ask[Effects]]) -> None:
        scene = self.scene
        effects = self._ask(what(scene))
        for event in effects.events:
            self._write(as_event(event), scene)
        self._drafts += effects.drafts
        self._remember(scene)

    def _remember(self, scene: Scene) -> None:
        """Lay down what was drafted, all with one request for vectors."""
        texts = tuple(sorted({memory.text for memory in self._drafts}))
        if not texts:
            return
        reply = self._ask(ask(embedding("remember", "everyone", texts)))
        self._vectors.update(zip(texts, reply.value, strict=True))
        resident = self.mind.resident
        for draft in self._drafts:
            self._write(
                Remembered(
                    who=resident.name,
                    memory=draft.model_copy(update={"id": resident.memory.next_id()}),
                ),
                scene,
            )
        self._drafts.clear()
        self._vectors.clear()

    def _ask(self, asking: Ask[T]) -> T:
        """Carry an Ask to its end, or to the next turn from outside. ModelUnreachable when a
        model does not answer.
        """
        self._models.begin_tick(self._steps)
        self._steps += 1
        with replaced(self.setting.world.other_prompts):
            outcome = self._models.ask({"episode": asking})["episode"]
        self.troubles += outcome.troubles
        return outcome.value

    def _write(self, event: Event, scene: Scene | None = None) -> None:
        """It happened: whom it concerns observes it, as in a world."""
        at = scene or self.scene
        self._happened(Entry(len(self.entries), at.tick, at.minute, event))

    def _happened(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._record.observe(entry)
        for name in self._concerned(entry.event):
            self._people[name].observe(entry)

    def _concerned(self, event: Event) -> tuple[str, ...]:
        if isinstance(event, ConversationStarted | ConversationEnded | Assessed):
            return tuple(self._people)
        who = getattr(event, "who", None)
        return (who,) if isinstance(who, str) and who in self._people else ()
