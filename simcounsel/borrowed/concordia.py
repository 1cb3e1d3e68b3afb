"""Entities of Concordia as minds: `mind: concordia:basic`.

Concordia (`gdm-concordia`) is installed by the user. The entity decides where it is, what it does
and what it says; it is told what happens around it. Every call of its model and every vector is a
question of the run. Its memories are in the log, so that resume and fork go on where it was. It
has no feelings of ours, fills in no questionnaire, and reflects in its own way or not at all.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from pydantic import BaseModel, JsonValue

from simcounsel.agents.appointments import appointed_slot, appointments_text
from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.person import Person
from simcounsel.agents.questionnaire import Sheet
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import plain_line
from simcounsel.agents.views import known
from simcounsel.borrowed.bridge import Seeds, Send, Unanswered, bridged
from simcounsel.chance import seed_of
from simcounsel.clock import MINUTES_PER_DAY, date_text, day_of, time_text
from simcounsel.errors import PluginError, SpecError
from simcounsel.events import Data, Planned, Scheduled, Slot, Stroke, written
from simcounsel.llm.question import Ask, PromptOnly, Question, Reply, embedding
from simcounsel.specs.residents import ResidentSpec
from simcounsel.specs.vocabulary import ActivityKind, Language

PACKAGE = "concordia"
MEMORY = "__memory__"
"""The component in which Concordia keeps memories."""
MOST_TOKENS = 400
_NAMED = re.compile(r"concordia:(?P<prefab>\w+)")
_NAME_FIRST = re.compile(r"\s*(?:--|—|:|：)?\s*")
OVER: Mapping[Language, str] = {
    "en": "The conversation with {} is over.",
    "zh": "和{}的谈话结束了。",
}
NOW: Mapping[Language, str] = {"en": "It is {}.", "zh": "现在是{}。"}
T = TypeVar("T")


class EntityDid(Data):
    """What an entity has in mind since it was last asked or told something."""

    kind: Literal["borrowed.did"] = "borrowed.did"
    who: str
    chat: str | None = None
    memories: tuple[str, ...]
    """New ones, oldest first."""
    state: JsonValue = None
    """Of its other components."""
    calls: tuple[str, ...] = ()


class ConcordiaMind(Person):
    """See `Mind`."""

    beyond_cuts = frozenset({"block", "scramble", "say", "freeze"})
    """What it remembers is its own, and how it plans."""

    def __init__(self, resident: Resident) -> None:
        """Errors as `check`."""
        super().__init__(resident)
        self._entity = Entity(resident.name, _prefab(resident.spec))

    @staticmethod
    def check(spec: ResidentSpec) -> None:
        """SpecError where `mind` names no prefab; PluginError where Concordia is not installed."""
        _prefab(spec)

    def arrive(self, scene: Scene) -> Ask[Effects]:
        """It remembers its file, line by line."""
        own = yield from super().arrive(scene)
        lines = tuple(line for line in known(self.resident, scene.language).splitlines() if line)
        return Effects(
            events=(*own.events, EntityDid(who=self.resident.name, memories=lines)),
            drafts=own.drafts,
        )

    def plan(self, scene: Scene) -> Ask[Effects]:
        """Where it is for the next hours, what it does, and of what kind that is."""
        return (yield from self._planned(scene))

    def replan(self, scene: Scene, why: str) -> Ask[Effects]:
        """The next hours anew."""
        found = yield from self._planned(scene, why)
        block = next(one for one in found.events if isinstance(one, Scheduled))
        stroke = Stroke(at=time_text(scene.minute), do=block.slots[0].activity)
        day = day_of(scene.minute)
        new = Planned(who=self.resident.name, day=day, strokes=(stroke,), why=why)
        return Effects(events=(new, *found.events))

    def appraise(self, scene: Scene) -> Ask[Effects]:
        """It is told what is new; what it feels nobody knows."""
        news = tuple(self.resident.news)
        if not news:
            return Effects()
        _, did = yield from self._with(scene, partial(_told, news), None, "news")
        return Effects(events=(did,))

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """What it would say next. Where its model gives nothing, the conversation ends."""
        told = tuple(f"{one.who} -- “{one.text}”" for one in view.lines[-2:])

        def work(entity: Any) -> str:
            _told(told, entity)
            return spoken_in(str(entity.act(_spec("speech"))), self.resident.name)

        text, did = yield from self._with(scene, work, view, "speak", *view.key, len(view.lines))
        return Spoken(
            line=plain_line(text or "", leaves=view.parting),
            emphasis=None,
            source="generated",
            events=(did.model_copy(update={"chat": view.chat}),),
            calls=did.calls,
            fallback=text is None,
            silent=not text,
        )

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """It remembers how the conversation ended."""
        lines = tuple(f"{one.who} -- “{one.text}”" for one in view.lines[-1:])
        over = (*lines, OVER[scene.language].format(view.other))
        _, did = yield from self._with(scene, partial(_told, over), view, "over")
        return Effects(events=(did,))

    def reflect(self, scene: Scene, trigger: str) -> Ask[Effects]:
        """Nothing of ours."""
        return Effects()
        yield  # an Ask that needs no model

    def report(self, scene: Scene, sheet: Sheet) -> Ask[Reply[BaseModel | None]]:
        """No answer."""
        return Reply(value=None, problem=f"{self.resident.name} is an entity of Concordia")
        yield  # an Ask that needs no model

    def _planned(self, scene: Scene, why: str | None = None) -> Ask[Effects]:
        last = (day_of(scene.minute) + 1) * MINUTES_PER_DAY
        until = min(last, scene.minute + scene.plan_slots * scene.tick_minutes)
        told = (why, appointments_text(self.resident, scene))

        def work(entity: Any) -> tuple[str, str, ActivityKind]:
            now = date_text(scene.minute, scene.start, scene.language)
            _told((NOW[scene.language].format(now), *(one for one in told if one)), entity)
            hours = f"from now until {time_text(until)}"
            place = entity.act(_spec("choice", f"Where is {{name}} {hours}?", _places(scene)))
            doing = entity.act(
                _spec("free", f"What does {{name}} do {hours}? Answer with one short verb phrase.")
            )
            kinds: tuple[ActivityKind, ...] = get_args(ActivityKind)
            kind = entity.act(_spec("choice", f"Which kind of activity is this: {doing}?", kinds))
            return str(place), _phrase(str(doing), self.resident.name), kind

        chosen, did = yield from self._with(scene, work, None, "plan")
        place, doing, kind = chosen or (self.resident.place, "is there", "rest")
        slots = tuple(
            Slot(minute=at, activity=doing, activity_kind=kind, place=place)
            for at in range(scene.minute, until, scene.tick_minutes)
        )
        slots = tuple(appointed_slot(scene, slot.minute) or slot for slot in slots)
        block = Scheduled(who=self.resident.name, slots=slots, calls=did.calls)
        return Effects(events=(block, did))

    def _with(
        self, scene: Scene, work: Callable[[Any], T], view: TalkView | None, *key: object
    ) -> Ask[tuple[T | None, EntityDid]]:
        """What the entity does, and what it remembers of it; None where its model gave nothing.
        view: of the talk that it is in.
        """
        seed = seed_of(scene.seed, scene.tick, self.resident.name, PACKAGE, *key)
        kept = self.resident.written(EntityDid)
        if view is not None and view.chat not in {one.chat for one in kept}:  # not over yet
            here = written(view.own, EntityDid)
            kept = (*kept, *(one for one in here if one.who == self.resident.name))
        found = yield from bridged(partial(self._entity.work, work, kept, scene, seed), seed)
        return found


class Entity:
    """An entity, built when it is first needed, or when the log knows more than it does."""

    def __init__(self, name: str, prefab: Any) -> None:
        self.name, self._prefab = name, prefab
        self._model = _model()
        self._built: Any = None
        self._bank: Any = None

    def work(
        self, do: Callable[[Any], T], kept: Sequence[EntityDid], scene: Scene, seed: int, send: Send
    ) -> tuple[T | None, EntityDid]:
        """See `ConcordiaMind._with`. kept: what was written so far."""
        self._model.begin(send, self.name, scene.language, seed)
        memories = list(dict.fromkeys(one for did in kept for one in did.memories))
        if self._built is None or self._texts() != memories:
            self._build(memories, kept)
        try:
            found: T | None = do(self._built)
        except Unanswered:
            self._built = None  # it may be in the middle of an act
            last = kept[-1].state if kept else None
            calls = self._model.done()
            return None, EntityDid(who=self.name, memories=(), state=last, calls=calls)
        except Exception as error:
            raise PluginError(
                f"{self.name}'s entity of Concordia failed: {type(error).__name__}: {error}"
            ) from error
        new = tuple(self._texts()[len(memories) :])
        state = self._built.get_state()
        state["context_components"] = {
            name: one for name, one in state["context_components"].items() if name != MEMORY
        }
        did = EntityDid(who=self.name, memories=new, state=state, calls=self._model.done())
        return found, did

    def _texts(self) -> list[str]:
        return list(self._bank.get_all_memories_as_text())

    def _build(self, memories: Sequence[str], kept: Sequence[EntityDid]) -> None:
        bank = import_module(f"{PACKAGE}.associative_memory.basic_associative_memory")
        self._bank = bank.AssociativeMemoryBank(sentence_embedder=self._model.vector)
        self._model.vectors_of(memories)
        self._bank.extend(memories)
        params = {**self._prefab().params, "name": self.name, "randomize_choices": False}
        self._built = self._prefab(params=params).build(model=self._model, memory_bank=self._bank)
        if kept and isinstance(kept[-1].state, dict):
            self._built.set_state(kept[-1].state)


def spoken_in(text: str, name: str) -> str:
    """The words of a line that was given as `Ines -- "Hello."`, or in another way."""
    text = text.strip()
    while (rest := _without_name(text, name)) != text:
        text = rest
    for opens, closes in ('""', "“”", "「」"):
        if len(text) > 1 and text[0] == opens and text[-1] == closes:
            return text[1:-1].strip()
    return text


def _without_name(text: str, name: str) -> str:
    rest = text.removeprefix(name)
    if rest == text or (rest and (rest[0].isalnum() or rest[0] in "'’")):
        return text
    return _NAME_FIRST.sub("", rest, count=1)


def _phrase(text: str, name: str) -> str:
    """What somebody does, without the subject, in one line."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first.strip().removeprefix(name).strip().rstrip(".")[:160] or "is there"


def _places(scene: Scene) -> tuple[str, ...]:
    return tuple(one.name for one in scene.places)


def _told(observations: Sequence[str], entity: Any) -> None:
    for one in observations:
        entity.observe(one)


def _spec(output: str, question: str = "", options: Sequence[str] = ()) -> Any:
    entity = import_module(f"{PACKAGE}.typing.entity")
    if output == "speech":
        return entity.DEFAULT_SPEECH_ACTION_SPEC
    of: Mapping[str, Any] = {"choice": entity.OutputType.CHOICE, "free": entity.OutputType.FREE}
    return entity.ActionSpec(
        call_to_action=question, output_type=of[output], options=tuple(options), tag="action"
    )


def _prefab(spec: ResidentSpec) -> Any:
    where = f"residents.{spec.name}.mind"
    named = _NAMED.fullmatch(spec.mind or "")
    if named is None:
        raise SpecError([f"{where}: write concordia:PREFAB, such as concordia:basic"])
    name = named["prefab"]
    try:
        import_module(PACKAGE)
    except ModuleNotFoundError:
        raise PluginError(
            "Concordia is not installed here; `pip install gdm-concordia` beside simcounsel"
        ) from None
    try:
        return import_module(f"{PACKAGE}.prefabs.entity.{name}").Entity
    except (ModuleNotFoundError, AttributeError):
        raise SpecError(
            [f"{where}: Concordia has no prefab {name!r} of an entity; basic and minimal are some"]
        ) from None


class _Asks:
    """Concordia's language model and its embedder: each call is a question."""

    def __init__(self) -> None:
        self._vectors: dict[str, Any] = {}

    def begin(self, send: Send, who: str, language: str, seed: int) -> None:
        """Before each piece of work."""
        self._send, self._who, self._language, self._seed = send, who, language, seed
        self._seeds, self._calls = Seeds(), list[str]()

    def done(self) -> tuple[str, ...]:
        """The calls of this piece of work, sorted, since some come at once."""
        return tuple(sorted(dict.fromkeys(self._calls)))

    def sample_text(
        self,
        prompt: str,
        *,
        max_tokens: int = MOST_TOKENS,
        terminators: Sequence[str] = (),
        temperature: float = 0.7,
        **_: object,
    ) -> str:
        """The model's words, up to a terminator."""
        tokens = min(max_tokens, MOST_TOKENS)
        text = self._asked(
            prompt, verb="write", fallback="", temperature=temperature, max_tokens=tokens
        )
        ends = [at for one in terminators if one and (at := text.find(one)) >= 0]
        return str(text[: min(ends)] if ends else text)

    def sample_choice(
        self, prompt: str, responses: Sequence[str], **_: object
    ) -> tuple[int, str, Mapping[str, Any]]:
        """One of the responses."""
        options = tuple(responses)
        chosen = self._asked(prompt, verb="choose", options=options, fallback=options[0])
        return options.index(chosen), chosen, {}

    def vector(self, text: str) -> Any:
        """The unit vector of a text, float32."""
        self.vectors_of([text])
        return self._vectors[text]

    def vectors_of(self, texts: Sequence[str]) -> None:
        """Ask for those that are not known, all at once."""
        new = tuple(one for one in dict.fromkeys(texts) if one not in self._vectors)
        if new:
            found = self._send(embedding(PACKAGE, self._who, new)).value
            self._vectors |= dict(zip(new, np.asarray(found), strict=True))

    def _asked(self, prompt: str, **kind: Any) -> Any:
        reply = self._send(
            Question(
                purpose=PACKAGE,
                who=self._who,
                language=self._language,
                seed=seed_of(self._seed, *self._seeds.key(prompt)),
                prompt=prompt,
                facts=PromptOnly(),
                **kind,
            )
        )
        self._calls += [reply.call] if reply.call else []
        if reply.problem:
            raise Unanswered(reply.problem)
        return reply.value


def _model() -> Any:
    """A model of Concordia's own kind, whose base comes with Concordia."""
    base: Any = import_module(f"{PACKAGE}.language_model.language_model").LanguageModel
    return type("Model", (_Asks, base), {})()


MIND = ConcordiaMind
