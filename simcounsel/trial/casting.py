"""Who meets whom: a participant's place in the world of their arm."""

from dataclasses import replace
from datetime import datetime, time
from functools import lru_cache
from pathlib import Path
from typing import Any

from simcounsel.chance import seed_of
from simcounsel.envs.setting import Setting
from simcounsel.errors import SpecError
from simcounsel.practice.clients import setting_of as practiced_with
from simcounsel.prompts import prompt_text
from simcounsel.specs.persona import CasePart, ClientPersona, Portrait, Routine, Situation, Stroke
from simcounsel.specs.prompt_set import PromptSet
from simcounsel.specs.residents import ResidentSpec
from simcounsel.specs.world import World
from simcounsel.specs.world_file import read_world
from simcounsel.therapies.clinic import with_client
from simcounsel.trial.person import Participant
from simcounsel.trial.plan import Trial, TrialArm

TICK_MINUTES = 15
AGES = (16, 110)
"""That a resident may have; the nearest of them is taken."""
NOTHING_KNOWN = "A person who takes part in a study. Nothing is known of them but what they say."
SPEAKS = {"fa": "Persian (Farsi)"}
"""Languages that prompts are not in: those whose answers a person reads ask for them."""
READ_BY_PEOPLE = (
    *("line_bare", "line_counselor", "line_layperson"),
    *("staged_exercise", "exercise"),
)
"""The prompts whose answers a participant reads."""


def arm_world(trial: Trial, arm: TrialArm, folder: Path) -> World:
    """The world of an arm, with the client whose place participants take. SpecError where it, or
    one of the two, cannot be had.
    """
    models = {f"models.{role}": name for role, name in _models(trial).items()}
    own = folder / trial.world
    world = read_world(
        own if own.is_file() else trial.world, models | trial.set | arm.set, seen_from=folder
    )
    for name in (trial.in_place_of, partner_of(trial, arm)):
        if all(one.name != name for one in world.residents):
            raise SpecError(
                [
                    f"arms.{arm.name}: nobody called {name!r} in the world {world.name!r}; there"
                    f" are {', '.join(one.name for one in world.residents)}"
                ]
            )
    return world


def partner_of(trial: Trial, arm: TrialArm) -> str:
    """With whom participants of an arm talk."""
    return arm.with_whom or trial.with_whom


def _models(trial: Trial) -> dict[str, Any]:
    given = trial.models.model_dump(exclude_none=True, exclude={"timeouts"}) if trial.models else {}
    return dict(given)


def resident(world: World, name: str) -> ResidentSpec:
    """The resident of that name."""
    return next(one for one in world.residents if one.name == name)


def setting_of(trial: Trial, world: World, who: Participant, number: int) -> Setting:
    """The frame of a participant's talks, as it was when talk `number` began: earlier talks were
    when they were, later ones are expected at the same time of the days that follow.
    """
    assert who.arm is not None and who.first_day is not None
    arm = trial.arm(who.arm)
    language = "zh" if who.language == "zh" else "en"
    placed = with_client(
        world.model_copy(
            update={
                "language": language,
                "start": datetime.combine(who.first_day, time(0)),
                "tick_minutes": TICK_MINUTES,
                "prompts": _prompts(who.language or "en") or world.prompts,
                "safety": world.safety.model_copy(update={"locale": trial.locale}),
            }
        ),
        resident(world, trial.in_place_of),
        resident(world, partner_of(trial, arm)),
        persona_of(who),
    )
    known = [talk.minute for talk in who.talks[:number]]
    most = trial.days * trial.talks.a_day
    later = (known[-1] + 1440 * (n + 1) for n in range(most - len(known)))
    client, counselor = placed.residents
    return Setting(
        world=placed.model_copy(update={"appointments": ()}),
        client=client,
        counselor=counselor,
        outside="client",
        seed=seed_of(trial.name, who.code) >> 32,
        sessions=most,
        days_apart=1,
        max_turns=trial.talks.lines,
        times=(*known, *later),
    )


def practice_of(trial: Trial, world: World, who: Participant, number: int) -> Setting:
    """The frame of talk `number`, in which a participant counsels the next client of their arm."""
    assert who.arm is not None and who.first_day is not None
    task = trial.arm(who.arm).practice
    assert task is not None
    named = task.clients[(number - 1) % len(task.clients)]
    language: Any = "zh" if who.language == "zh" else "en"
    placed = world.model_copy(
        update={"language": language, "start": datetime.combine(who.first_day, time(0))}
    )
    setting = practiced_with(placed, named, seed_of(trial.name, who.code, number) >> 32)
    return replace(setting, max_turns=trial.talks.lines, times=(who.talks[number - 1].minute,))


def persona_of(who: Participant) -> ClientPersona:
    """A participant as a resident: the name that they chose, the age that they told, and nothing
    else.
    """
    age = next(
        (one["age"] for one in who.answers.values() if isinstance(one.get("age"), int | float)), 30
    )
    youngest, oldest = AGES
    return ClientPersona(
        role="client",
        name=who.name or who.code,
        age=min(max(int(age), youngest), oldest),
        gender="not told",
        pronouns="they/them",
        culture="not told",
        occupation="not told",
        background=NOTHING_KNOWN,
        history=NOTHING_KNOWN,
        style="their own",
        habits=("not told",),
        portrait=Portrait(characteristic=NOTHING_KNOWN, recent_feeling="Not told."),
        days=(tuple(Stroke(at=f"{8 + 2 * n:02}:00", do="not told") for n in range(5)),),
        routines=(
            Routine(since="00:00", until="12:00", place="other", kind="rest", do="not told"),
            Routine(since="12:00", until="00:00", place="other", kind="rest", do="not told"),
        ),
        theme="loneliness",
        situations=(
            Situation(
                situation="not told",
                thought="not told",
                emotion="neutral",
                intensity=1,
                behavior="not told",
            ),
        ),
        case=(CasePart(kind="not_told", name="not told", text="not told"),),
    )


@lru_cache(maxsize=4)
def _prompts(language: str) -> PromptSet | None:
    """The prompts whose answers people read, asking for a language that prompts are not in; None
    where they are.
    """
    if language not in SPEAKS:
        return None
    asks = (
        f"\n\nThe two speak {SPEAKS[language]}. Write whatever the client reads or hears in"
        f" everyday, polite {SPEAKS[language]}, in its own script; keys and options stay English."
    )
    return PromptSet(
        name=f"in {language}",
        texts={name: prompt_text(name) + asks for name in READ_BY_PEOPLE if _there(name)},
    )


def _there(name: str) -> bool:
    try:
        return bool(prompt_text(name))
    except FileNotFoundError:
        return False


def next_minute(who: Participant, now: datetime) -> int:
    """When a talk that opens now begins, in whole ticks, after the talk before."""
    minute = who.minute(now) // TICK_MINUTES * TICK_MINUTES
    return max(minute, who.talks[-1].minute + TICK_MINUTES) if who.talks else minute


def without_later(setting: Setting, number: int) -> Setting:
    """The same with no talks after that one, for a log that is written when all is over."""
    return replace(setting, sessions=number, times=setting.times[:number])
