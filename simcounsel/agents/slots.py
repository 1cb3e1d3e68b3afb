"""The next slots of fifteen minutes: what, where, and around which appointments (Park et al. 2023,
section 4.3).
"""

from typing import TypedDict

from simcounsel.agents.appointments import appointed_slot, appointments_text, kind_of
from simcounsel.agents.facts import SlotsFacts
from simcounsel.agents.lived import remembered, with_dates
from simcounsel.agents.mind import Effects, Scene
from simcounsel.agents.recollection import recollect
from simcounsel.agents.resident import Resident
from simcounsel.agents.tasks import BlockAnswer, SlotAnswer
from simcounsel.agents.views import (
    at_this_moment,
    bullets,
    in_mind,
    theme_of,
    today,
    whereabouts,
    whoami,
)
from simcounsel.chance import chance
from simcounsel.clock import MINUTES_PER_DAY, date_text, day_of, time_text
from simcounsel.events import Memory, Recalled, Scheduled, Slot, Stroke
from simcounsel.llm.question import Ask, Question, ask, traced
from simcounsel.prompts import phrase, render
from simcounsel.specs.persona import Routine
from simcounsel.specs.vocabulary import ActivityKind, Emotion


class Felt(TypedDict):
    """What something feels like: the emotion, how strong and how poignant, 1 to 10."""

    emotion: Emotion
    intensity: int
    poignancy: int


def plan_block(resident: Resident, scene: Scene, strokes: tuple[Stroke, ...]) -> Ask[Effects]:
    """The next slots, up to the end of the day; appointments stand fast."""
    first = scene.minute
    until = min(
        first + scene.plan_slots * scene.tick_minutes, (day_of(first) + 1) * MINUTES_PER_DAY
    )
    minutes = tuple(range(first, until, scene.tick_minutes))
    recalled = yield from _recalled(resident, scene, strokes)
    reply = yield from ask(_question(resident, scene, strokes, minutes, recalled))
    slots = tuple(
        _slot(answer, minute, resident, scene)
        for minute, answer in zip(minutes, reply.value.slots, strict=False)
    )
    event = Scheduled(who=resident.name, slots=slots, **traced(reply))
    events = (event,) if recalled is None else (recalled, event)
    if resident.memory.settings.only_lived:
        return Effects(events=events)
    return Effects(events=events, drafts=_slot_drafts(resident, scene, slots, event.calls))


def _recalled(
    resident: Resident, scene: Scene, strokes: tuple[Stroke, ...]
) -> Ask[Recalled | None]:
    """What comes to mind at the next stroke of the day; None where slots are planned from the
    latest thoughts.
    """
    if resident.memory.settings.slots_from == "thoughts":
        return None
    now = time_text(scene.minute)
    ahead = next((s.do for s in reversed(strokes) if s.at <= now), None)
    query = phrase("lived", "today", scene.language, name=resident.name)
    return (yield from recollect(resident, scene, "plan_slots", ahead or query))


def _question(
    resident: Resident,
    scene: Scene,
    strokes: tuple[Stroke, ...],
    minutes: tuple[int, ...],
    recalled: Recalled | None,
) -> Question[BlockAnswer]:
    """One slot for each of the minutes, at places that can be reached."""
    place_names = {place.name for place in scene.places}
    system, prompt = _prompt(resident, scene, strokes, minutes, recalled)

    def check(answer: BlockAnswer) -> str | None:
        if len(answer.slots) < len(minutes):
            return f"{len(answer.slots)} slots came, {len(minutes)} were asked for"
        unknown = next((s.place for s in answer.slots if s.place not in place_names), None)
        return f"{unknown!r} is none of the reachable places" if unknown else None

    return Question(
        verb="fill",
        **scene.asks(resident.name, "plan_slots"),
        system=system,
        prompt=prompt,
        schema=BlockAnswer,
        check=check,
        fallback=usual_block(resident, scene, minutes),
        max_tokens=100 * len(minutes),
        facts=_facts(resident, scene, strokes, minutes),
    )


def _prompt(
    resident: Resident,
    scene: Scene,
    strokes: tuple[Stroke, ...],
    minutes: tuple[int, ...],
    recalled: Recalled | None,
) -> tuple[str, str]:
    """The system text and the prompt."""
    mind = (
        with_dates(resident, resident.memory.latest_thoughts(3), scene)
        if recalled is None
        else remembered(resident, recalled.hits, scene)
    )
    return render(
        "plan_slots",
        scene.language,
        whoami=whoami(resident, scene.language),
        name=resident.name,
        now=date_text(scene.minute, scene.start, scene.language),
        place=whereabouts(resident.place, scene),
        feeling=at_this_moment(resident, resident.emotion, resident.intensity),
        activity=_just_now(resident, scene),
        strokes=bullets(tuple(f"{s.at} {s.do}" for s in strokes)),
        due=bullets(tuple(_due(minute, strokes, scene) for minute in minutes)),
        today=today(resident, scene),
        mind=in_mind(resident, mind, scene.language),
        appointments=appointments_text(resident, scene),
        places=bullets(tuple(f"{p.name}" for p in scene.places)),
        count=str(len(minutes)),
        tick_minutes=str(scene.tick_minutes),
        first=time_text(minutes[0]),
    )


def _due(minute: int, strokes: tuple[Stroke, ...], scene: Scene) -> str:
    """The time of a slot, and the appointment or the stroke of the day that is due then."""
    end = time_text(minute + scene.tick_minutes - 1)
    appointed = appointed_slot(scene, minute)
    begun = [stroke.do for stroke in strokes if f"{stroke.at:0>5}" <= end]
    what = appointed.activity if appointed else begun[-1] if begun else ""
    return f"{time_text(minute)} {what}".strip()


def _just_now(resident: Resident, scene: Scene) -> str:
    """What was done last: a conversation that has just ended, with its end, or the activity."""
    talk = resident.talks.just_ended(scene.minute, scene.tick_minutes)
    if talk is not None:
        return talk.told
    return resident.activity or phrase("lived", "begins", scene.language)


def _facts(
    resident: Resident, scene: Scene, strokes: tuple[Stroke, ...], minutes: tuple[int, ...]
) -> SlotsFacts:
    """What a stand-in may know for the slots."""
    return SlotsFacts(
        minutes=minutes,
        routines=resident.persona.routines,
        places=scene.places,
        emotion=resident.emotion,
        strokes=tuple((s.at, s.do) for s in strokes),
        activity=resident.activity,
        done=resident.done_on(day_of(scene.minute)),
        theme=theme_of(resident),
        name=resident.name,
        appointed={
            minute: slot.activity
            for minute in minutes
            if (slot := appointed_slot(scene, minute)) is not None
        },
    )


def usual_block(resident: Resident, scene: Scene, minutes: tuple[int, ...]) -> BlockAnswer:
    """Slots out of the routines alone, by a draw among those that know no mood: the fallback."""
    slots = []
    for minute in minutes:
        fitting = [r for r in resident.persona.routines if r.covers(minute)]
        calm = [r for r in fitting if r.emotion is None] or fitting
        routine = calm[
            chance(scene.seed, resident.name, "usual", minute // 60).randrange(len(calm))
        ]
        slots.append(
            SlotAnswer(
                activity=routine.do,
                seen=routine.seen,
                kind=routine.kind,
                place=place_for(routine, scene),
                **usual_feeling(routine),
            )
        )
    return BlockAnswer(slots=tuple(slots))


def usual_feeling(routine: Routine) -> Felt:
    """What a routine feels like where nobody says it: its mood, if it has one, of middle
    intensity.
    """
    if routine.emotion is None:
        return Felt(emotion="neutral", intensity=1, poignancy=1)
    return Felt(emotion=routine.emotion, intensity=4, poignancy=3)


def place_for(routine: Routine, scene: Scene) -> str:
    """A reachable place of the routine's kind, at home if there is one; else any room at home."""
    kinds = [p for p in scene.places if p.kind == routine.place]
    here = (
        [p for p in kinds if p.own_home]
        or kinds
        or [p for p in scene.places if p.own_home]
        or list(scene.places)
    )
    return here[0].name


def _slot(answer: SlotAnswer, minute: int, resident: Resident, scene: Scene) -> Slot:
    """The slot as answered; an appointment stands fast, and only what it feels like is taken."""
    slot = appointed_slot(scene, minute) or Slot(
        minute=minute,
        activity=verb_phrase(answer.activity, resident.name),
        seen=verb_phrase(answer.seen, resident.name) if answer.seen else "",
        activity_kind=_kind(answer, resident),
        place=answer.place,
    )
    feeling = {key: getattr(answer, key) for key in ("emotion", "intensity", "poignancy")}
    return slot.model_copy(update=feeling)


def _kind(answer: SlotAnswer, resident: Resident) -> ActivityKind:
    """The kind as answered; but without an appointment nobody is counseled, whatever a model calls
    a talk with a friend. A counselor may see clients who do not live in the world.
    """
    counsels = resident.spec.role == "counselor"
    return kind_of(False) if answer.kind == "counseling" and not counsels else answer.kind


def _slot_drafts(
    resident: Resident, scene: Scene, slots: tuple[Slot, ...], calls: tuple[str, ...]
) -> tuple[Memory, ...]:
    """One memory for each stretch of the same activity, as in the paper."""
    drafts: list[Memory] = []
    start = 0
    for index in range(1, len(slots) + 1):
        if index == len(slots) or slots[index].activity != slots[start].activity:
            slot, end = slots[start], slots[index - 1].minute + scene.tick_minutes
            text = phrase(
                "lived",
                "slot",
                scene.language,
                begin=time_text(slot.minute),
                end=time_text(end),
                name=resident.name,
                doing=slot.activity,
                place=slot.place,
            )
            drafts.append(
                Memory(id="", type="slot", text=text, place=slot.place, origin="plan", calls=calls)
            )
            start = index
    return tuple(drafts)


def verb_phrase(text: str, name: str) -> str:
    """A verb phrase without its subject, its capital and its full stop."""
    text = " ".join(text.split()).rstrip(" .;,")
    for subject in (f"{name} ", "She ", "He ", "They "):
        text = text.removeprefix(subject)
    return (
        text[:1].lower() + text[1:]
        if not text[:2].isupper() and not text.startswith("I ")
        else text
    )
