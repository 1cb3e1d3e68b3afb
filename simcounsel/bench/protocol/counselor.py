"""The counselor of a talk: one that follows a policy, or a model alone; and the world that both
sides are in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.person import Person
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.bench.counselor import MOST_TOKENS, PROMPT, named, spoken
from simcounsel.bench.protocol.client import Client
from simcounsel.bench.protocol.crises import Crisis
from simcounsel.chance import seed_of
from simcounsel.clock import minutes_of_day
from simcounsel.danger.guest import danger_listener, guard
from simcounsel.engine.talk import Side
from simcounsel.events import ConversationStarted
from simcounsel.llm.question import Ask, PromptOnly, Question, ask, traced
from simcounsel.packaged import packaged
from simcounsel.policies import policy_for
from simcounsel.prompts import phrase, render
from simcounsel.specs.practice import PolicySpec, SafetySettings
from simcounsel.specs.residents import Place, ResidentSpec
from simcounsel.specs.vocabulary import Language
from simcounsel.specs.world import World

PLACE = {"en": "Counseling Center", "zh": "心理咨询中心"}
START = datetime(2026, 3, 2)
HOUR = "15:00"
LANGUAGES: Mapping[Language, str] = {"en": "English", "zh": "Chinese"}


@dataclass(frozen=True, kw_only=True)
class Seat:
    """Who counsels, and under which protection."""

    policy: PolicySpec | None
    """None: a model alone."""
    protected: bool
    """Whether the safety protocol is before the policy."""
    client_model: bool
    """Whether a model plays the client."""
    seed: int


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A talk before it begins."""

    counselor: Side
    client: Side
    started: ConversationStarted


class Counseling(Person):
    """A counselor who takes nothing away, since there is no later day."""

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """Nothing."""
        return Effects()
        yield  # an Ask that needs no model


class Alone(Counseling):
    """A model that is shown the talk and one instruction; it begins with a greeting that is the
    same for all.
    """

    def __init__(self, resident: Resident, seed: int) -> None:
        super().__init__(resident)
        self._seed = seed

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """The greeting, then the model's line; where it says nothing, that it listens."""
        code = scene.language
        if not view.lines:
            return Spoken(
                line=_plain(phrase("bench_words", "greets", code)), emphasis=None, source="chosen"
            )
        *before, last = view.lines
        system, prompt = render(PROMPT, code, language=named(LANGUAGES[code]), line=last.text)
        reply = yield from ask(
            Question[str | None](
                verb="write",
                purpose=PROMPT,
                who=view.me,
                tier="reason",
                language=code,
                system=system,
                prompt=prompt,
                talk=tuple(
                    ("assistant" if one.who == view.me else "user", one.text) for one in before
                ),
                fallback=None,
                temperature=0.0,
                max_tokens=MOST_TOKENS,
                seed=seed_of(self._seed, PROMPT, *view.key, len(view.lines)),
                facts=PromptOnly(),
            )
        )
        words = spoken(reply)
        return Spoken(
            line=_plain(words.value or phrase("bench_words", "silent", code)),
            emphasis=None,
            source=reply.source if words.value else "fallback",
            **traced(reply),
        )


def _plain(text: str) -> LineAnswer:
    return LineAnswer(say=text, emotion="neutral", intensity=3, poignancy=3, wish="go on")


def stage(crisis: Crisis, seat: Seat) -> Stage:
    """A talk of this client with that counselor. SpecError as `policy_for`."""
    world = _world(crisis)
    scene = _scene(world, seat.seed)
    counselor, client = (Resident(spec, world, {}) for spec in world.residents)
    safety = safety_of(world.safety, seat)
    policy = policy_for("counselor", seat.policy or "unguided", crisis.language)
    mind = Counseling(counselor) if seat.policy else Alone(counselor, seat.seed)
    protects = safety.counselors == "protocol"
    listener = danger_listener(safety, protects=protects) if seat.policy else None
    return Stage(
        counselor=Side(
            mind=mind,
            scene=scene,
            policy=guard(policy, "counselor", safety),
            listeners=(listener,) if listener else (),
        ),
        client=Side(
            mind=Client(client, crisis, by_model=seat.client_model, seed=seat.seed),
            scene=scene,
            policy=policy_for("client", None, crisis.language),
        ),
        started=ConversationStarted(
            chat=crisis.id,
            who=(counselor.name, client.name),
            place=PLACE[crisis.language],
            cause="appointment",
            closeness=2.0,
            probability=1.0,
        ),
    )


def safety_of(safety: SafetySettings, seat: Seat) -> SafetySettings:
    """The settings under which a counselor of that seat works."""
    counselors = "protocol" if seat.policy and seat.protected else "assess"
    return safety.model_copy(update={"counselors": counselors})


@cache
def _people() -> dict[str, Any]:
    data: dict[str, Any] = packaged(__package__, "people.yaml")
    return data


def _world(crisis: Crisis) -> World:
    """A world of the two, the counselor first."""
    people, place = _people(), PLACE[crisis.language]
    counselor = people["counselor"][crisis.language]
    client = people["client"] | {"name": crisis.name}
    return World(
        name="protocol",
        start=START,
        ticks=96,
        places=(Place(name=place, kind="counseling center"),),
        residents=tuple(
            ResidentSpec(name=one["name"], persona=one, home=place, starts_in=place)
            for one in (counselor, client)
        ),
        client_state="off",
        language=crisis.language,
        safety=SafetySettings(locale=crisis.locale),
    )


def _scene(world: World, seed: int) -> Scene:
    minute = minutes_of_day(HOUR)
    return Scene(
        seed=seed,
        tick=minute // world.tick_minutes,
        minute=minute,
        start=world.start,
        tick_minutes=world.tick_minutes,
        plan_slots=world.plan_slots,
        places=(),
        language=world.language,
        locale=world.safety.locale,
    )
