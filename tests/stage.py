"""What tests set up over and over: the tiny world, scripted models, one resident, a scene, a view of a talk."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from simcounsel.agents.facts import LineFacts
from simcounsel.agents.mind import Reachable, Scene
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import TalkLine, TalkView
from simcounsel.engine.opening import begin_run
from simcounsel.engine.simulation import Simulation
from simcounsel.events import (
    Entry,
    Event,
    Forked,
    Hit,
    Memory,
    PersonaChanged,
    Remembered,
    TickEnded,
)
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.models import ChatModel, Completion
from simcounsel.llm.outage import Patience
from simcounsel.llm.question import Ask, Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.record_kinds import kind_of
from simcounsel.runs.chain import chain_start, fields_digest, tick_hash
from simcounsel.runs.record import Record
from simcounsel.runs.run import Run
from simcounsel.scripted import Script, Scripted
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world
from simcounsel.specs.world_settings import FallbackLimits, MemorySettings
from simcounsel.testing.views import changed_view, talk_view

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = ("simcounsel.envs.openenv", "simcounsel.envs.verl")
"""Adapters to packages that are not installed with the tests; `tests/benchmarks/recipe_*` try them."""
TINY = ROOT / "worlds" / "tiny.yaml"
SCRIPTED = {"reason": "scripted", "embed": "scripted"}
E = TypeVar("E", bound=Event)
T = TypeVar("T")


@cache
def tiny(**changes: Any) -> World:
    """worlds/tiny.yaml with the scripted model; keys of `changes` may hold `__` for a dot; `client`: who takes the place of Ines."""
    who = changes.pop("client", None)
    cast = {"Ines": ROOT / "personas" / f"{who.lower()}.yaml"} if who else {}
    patches = {key.replace("__", "."): value for key, value in changes.items()}
    world = load_world(TINY, cast=cast, **patches)
    return world.model_copy(update={"models": world.models.model_copy(update=SCRIPTED)})


NEVER = FallbackLimits(most=1)
"""A run goes on however many answers are unusable."""


@cache
def three() -> World:
    """The tiny world with Omar, a layperson, in Ines's kitchen: everybody meets somebody."""
    text = (
        TINY.read_text(encoding="utf-8")
        .replace(
            "appointments:\n",
            "  - {persona: ../personas/omar.yaml, home: Omar's Flat, starts_in: Omar's Flat}\nappointments:\n"
            '  - {who: [Ines, Omar], days: [0], at: "10:00", place: Counseling Center, max_turns: 6}\n',
        )
        .replace("places:\n", "places:\n  - {name: Omar's Flat, kind: kitchen}\n", 1)
    )
    return _loaded(text)


def _loaded(text: str) -> World:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "world.yaml"
        file.write_text(text.replace("../personas", str(ROOT / "personas")), encoding="utf-8")
        world = load_world(file)
    return world.model_copy(update={"models": world.models.model_copy(update=SCRIPTED)})


def changed(world: World, **changes: Any) -> World:
    """A world with other values at its top level."""
    return world.model_copy(update=changes)


class Listening(Scripted):
    """The scripted model, keeping every request."""

    def __init__(self, scripts: Mapping[str, Script] | None = None) -> None:
        super().__init__(scripts)
        self.requests: list[Question] = []

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        self.requests.append(request)
        return await super().complete(request, complaint)


def switchboard(chat: ChatModel, **kind: Any) -> Switchboard:
    """One model for all tiers, hashed vectors; nobody waits for it."""
    kind = {"patience": Patience(wait_s=0)} | kind
    return Switchboard({"reason": chat, "quick": chat, "judge": chat}, HashEmbeddings(), **kind)


def live(out: Path, world: World | None = None, ticks: int | None = None, **kind: Any) -> Run:
    """Begin a run and live through it."""
    return Simulation(world or tiny(), out=out, **kind).run(ticks)


def go_on(run: Run, ticks: int | None = None, **kind: Any) -> Run:
    """Open a run again and go on."""
    opened = Run.open(run.folder)
    return Simulation(opened.world, run=opened, **kind).run(ticks)


def begun(out: Path, world: World | None = None) -> Run:
    """A run of which nothing is run yet."""
    return begin_run(world or tiny(), out)


def log(run: Record[Any]) -> bytes:
    """The bytes of events.jsonl."""
    return (run.folder / "events.jsonl").read_bytes()


def without_hashes(run: Record[Any]) -> list[Event]:
    """What happened, without the marks of forks and the hashes of ticks, which differ in a fork."""
    return [
        TickEnded() if isinstance(entry.event, TickEnded) else entry.event
        for entry in run.entries()
        if not isinstance(entry.event, Forked)
    ]


def seal(folder: Path) -> None:
    """Give a run that was made or changed by hand the numbers, hashes and digest that belong to it."""
    kind, log = kind_of(folder), folder / "events.jsonl"
    file = kind.manifest_in(folder)
    written = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if written:
        written["digest"] = fields_digest(written)
        file.write_text(json.dumps(written), encoding="utf-8")
    last, tick, sealed = chain_start(written, kind.about), [], b""
    for seq, line in enumerate(log.read_bytes().decode("utf-8", "surrogatepass").split("\n")[:-1]):
        fields = json.loads(line) | {"seq": seq}
        if fields["kind"] == "tick_ended":
            begun = json_line(fields | {"hash": ""}).removesuffix(b'"}\n')
            last = tick_hash(last, tick, begun)
            tick.append(begun + last.encode() + b'"}\n')
            sealed, tick = sealed + b"".join(tick), []
        else:
            tick.append(json_line(fields))
    log.write_bytes(sealed + b"".join(tick))


def json_line(fields: Mapping[str, Any]) -> bytes:
    """As the log holds it."""
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def happened(run: Run, *kinds: type[E]) -> list[E]:
    """The events of these kinds, in order."""
    return [entry.event for entry in run.entries() if isinstance(entry.event, kinds)]


# one resident, alone

HERE = (
    Reachable(name="Ines's Bedroom", kind="bedroom", own_home=True),
    Reachable(name="Ines's Kitchen", kind="kitchen", own_home=True),
    Reachable(name="Counseling Center", kind="counseling center", own_home=False),
)
EIGHT = 8 * 60


def scene(minute: int = EIGHT, **more: Any) -> Scene:
    """Ines's world at a minute."""
    world = tiny()
    fields: dict[str, Any] = {
        "seed": 1,
        "tick": (minute - EIGHT) // 30,
        "minute": minute,
        "start": world.start,
        "tick_minutes": 30,
        "plan_slots": 4,
        "places": HERE,
    }
    return Scene(**(fields | more))


class Alone:
    """A resident outside any simulation, whose events are given to it by hand."""

    def __init__(self, name: str = "Ines", world: World | None = None) -> None:
        self.vectors: dict[str, np.ndarray] = {}
        world = world or tiny()
        self.resident = Resident(
            next(r for r in world.residents if r.name == name), world, self.vectors
        )
        self._seq = 0

    def observe(self, event: Event, minute: int = EIGHT) -> None:
        self.resident.observe(Entry(self._seq, 0, minute, event))
        self._seq += 1

    def remember(
        self, *memories: Memory, minute: int = EIGHT, vector: Sequence[float] = (1, 0)
    ) -> None:
        for memory in memories:
            self.vectors[memory.text] = np.array(vector, dtype=np.float32)
            self.observe(Remembered(who=self.resident.name, memory=memory), minute)

    def have_version(self, **texts: str) -> None:
        fields = {
            "background": "b",
            "characteristic": "steady and careful",
            "recent_feeling": "tired but calm",
        } | texts
        self.observe(PersonaChanged(who=self.resident.name, version=0, evidence=(), **fields))


def noting(asking: Ask[T], requests: list[Question]) -> Ask[T]:
    """The same Ask, its requests noted on the way; for `play(noting(ask, seen), ...)`."""
    reply: Any = None
    while True:
        try:
            wanted = asking.send(reply)
        except StopIteration as end:
            return cast(T, end.value)
        requests += (wanted,) if isinstance(wanted, Question) else wanted
        reply = yield wanted


def memory(number: int, text: str = "", **more: Any) -> Memory:
    """A thought of Ines's with id Ines:NUMBER, of middling weight."""
    fields: dict[str, Any] = {
        "type": "thought",
        "emotion": "neutral",
        "intensity": 5,
        "poignancy": 5,
        "origin": "summary",
    }
    return Memory(**(fields | {"id": f"Ines:{number}", "text": text or f"memory {number}"} | more))


def vectors(*rows: Sequence[float]) -> np.ndarray:
    """As an embedding reply brings them."""
    return np.array(rows, dtype=np.float32)


def said(who: str, text: str, emotion: Any = "neutral", emphasis: str | None = None) -> TalkLine:
    """A line as it was heard."""
    return TalkLine(who=who, text=text, emphasis=emphasis, emotion=emotion)


def view(*lines: TalkLine, me: str = "Ines", other: str = "Miriam", **more: Any) -> TalkView:
    """A conversation of Ines with Miriam as one of them sees it. more: as `changed_view` takes it."""
    fields: dict[str, Any] = {
        "chat": "2:Ines+Miriam",
        "role": "counselor",
        "closeness": 2.0,
        "turns_left": 10,
        "key": (1, 2, "2:Ines+Miriam"),
        "lines": lines,
    }
    return changed_view(talk_view(me=me, other=other), **(fields | more))


def line_facts(seen: TalkView, **more: Any) -> LineFacts:
    """What the question for a line says of a conversation, as a counselor's who clarifies."""
    fields: dict[str, Any] = {
        **{name: getattr(seen, name) for name in ("chat", "me", "other", "lines", "turns_left")},
        "other_role": seen.meeting.role,
        "place": seen.meeting.place,
        "meeting": seen.meeting.number,
        "closeness": seen.meeting.closeness,
        "role": "counselor",
        "move": "clarify",
        "aim": "Ask what it means.",
        "leaves": False,
        "emotion": "neutral",
        "said": (),
        "memories": (),
        "words": None,
        "feeling": None,
        "theme": "",
    }
    return LineFacts(**(fields | more))


def by_the_papers_weights(hit: Hit) -> bool:
    """Whether a memory came by the score that counts emotion (SimCounsel, appendix A.1.3)."""
    w = MemorySettings().weights
    score = (
        w.recency * hit.recency
        + w.poignancy * hit.poignancy
        + w.emotion_score * hit.emotion_score
        + w.emotion_relevance * hit.emotion_relevance
        + w.relevance * hit.relevance
    )
    return abs(score - hit.score) < 2e-4
