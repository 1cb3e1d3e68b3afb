"""The day in broad strokes, and the next slots of fifteen minutes (Park et al. 2023, section
4.3).
"""

from simcounsel.agents.facts import DayFacts, SlotsFacts
from simcounsel.agents.mind import Lived, Scene
from simcounsel.agents.recollection import recollect
from simcounsel.agents.resident import Resident
from simcounsel.agents.tasks import BlockAnswer, DayAnswer, SlotAnswer, StrokeAnswer
from simcounsel.agents.views import bullets, feeling, theme_of, whoami
from simcounsel.chance import chance, seed_of
from simcounsel.clock import MINUTES_PER_DAY, date_text, day_of, minutes_of_day, time_text
from simcounsel.events import Memory, Planned, Scheduled, Slot, Stroke
from simcounsel.llm.question import Ask, Example, Question, ask, traced
from simcounsel.prompts import render
from simcounsel.specs.persona import Routine


def plan(resident: Resident, scene: Scene) -> Ask[Lived]:
    """The day's plan if there is none, then the next block of slots."""
    lived: Lived = Lived()
    strokes = resident.strokes
    if resident.needs_day(scene.minute):
        lived = yield from plan_day(resident, scene, None)
        planned = lived.events[-1]
        assert isinstance(planned, Planned)
        strokes = planned.strokes
    block = yield from plan_block(resident, scene, strokes)
    return Lived(events=lived.events + block.events, drafts=lived.drafts + block.drafts)


def replan(resident: Resident, scene: Scene, why: str) -> Ask[Lived]:
    """Revise the rest of the day, and the slots from the next tick on."""
    day = yield from plan_day(resident, scene, why)
    planned = day.events[-1]
    assert isinstance(planned, Planned)
    ahead = scene.minute + scene.tick_minutes
    if day_of(ahead) != day_of(scene.minute):
        return day
    block = yield from plan_block(resident, scene, planned.strokes, first=ahead)
    return Lived(events=day.events + block.events, drafts=day.drafts + block.drafts)


def plan_day(resident: Resident, scene: Scene, why: str | None) -> Ask[Lived]:
    """5 to 8 broad strokes. why: what calls for a revision; None for a new day."""
    recalled = yield from recollect(
        resident,
        scene,
        "plan_day",
        f"What {resident.name} means to do today and what stands in the way",
    )
    memories = resident.memory.texts(recalled.hits)
    slots = {
        "whoami": whoami(resident),
        "name": resident.name,
        "memories": bullets(memories),
        "now": date_text(scene.minute, scene.start),
        "appointments": _appointments(resident, scene),
    }
    system, prompt = _render_day(resident, scene, slots, why)
    days = resident.persona.days
    usual = days[
        chance(scene.seed, resident.name, "usual day", day_of(scene.minute)).randrange(len(days))
    ]
    keep = resident.strokes if why is not None and len(resident.strokes) >= 5 else usual
    fallback = DayAnswer(strokes=tuple(StrokeAnswer(at=s.at, do=s.do) for s in keep))
    reply = yield from ask(
        Question(
            verb="fill",
            purpose="plan_day",
            who=resident.name,
            system=system,
            prompt=prompt,
            schema=DayAnswer,
            fallback=fallback,
            max_tokens=500,
            seed=seed_of(scene.seed, scene.tick, resident.name, "plan_day"),
            facts=DayFacts(
                days=tuple(tuple((s.at, s.do) for s in day) for day in days),
                minute=scene.minute,
                why=why,
                strokes=tuple((s.at, s.do) for s in resident.strokes),
                memories=memories[:3],
                appointments=_today(scene),
            ),
        )
    )
    strokes = tuple(
        sorted(
            (
                Stroke(at=_two_digits(s.at), do=_phrase(s.do, resident.name))
                for s in reply.value.strokes
            ),
            key=lambda s: s.at,
        )
    )
    text = (
        f"{resident.name}'s plan for {date_text(scene.minute, scene.start).split(',')[0]}: "
        + "; ".join(f"{s.at} {s.do}" for s in strokes)
        + "."
    )
    event = Planned(
        who=resident.name,
        day=day_of(scene.minute),
        strokes=strokes,
        why=why or "a new day",
        **traced(reply),
    )
    return Lived(
        events=(recalled, event),
        drafts=(
            Memory(id="", type="day_plan", text=text, origin="plan", calls=traced(reply)["calls"]),
        ),
    )


def _render_day(
    resident: Resident, scene: Scene, slots: dict[str, str], why: str | None
) -> tuple[str, str]:
    if why is None:
        return render("plan_day", scene.language, **slots)
    return render(
        "replan_day",
        scene.language,
        **slots,
        why=why,
        strokes=bullets(tuple(f"{s.at} {s.do}" for s in resident.strokes)),
    )


def plan_block(
    resident: Resident, scene: Scene, strokes: tuple[Stroke, ...], first: int | None = None
) -> Ask[Lived]:
    """The next slots, up to the end of the day; appointments stand fast."""
    first = scene.minute if first is None else first
    until = min(
        first + scene.plan_slots * scene.tick_minutes, (day_of(first) + 1) * MINUTES_PER_DAY
    )
    minutes = tuple(range(first, until, scene.tick_minutes))
    place_names = {place.name for place in scene.places}
    system, prompt = render(
        "plan_slots",
        scene.language,
        whoami=whoami(resident),
        name=resident.name,
        now=date_text(scene.minute, scene.start),
        place=resident.place,
        feeling=feeling(resident.emotion, resident.intensity),
        activity=resident.activity or "begins the day",
        strokes=bullets(tuple(f"{s.at} {s.do}" for s in strokes)),
        memories=bullets(tuple(m.text for m in resident.memory.long.memories[-3:])),
        appointments=_appointments(resident, scene),
        places=bullets(tuple(f"{p.name}" for p in scene.places)),
        count=str(len(minutes)),
        tick_minutes=str(scene.tick_minutes),
        first=time_text(first),
    )

    def check(answer: BlockAnswer) -> str | None:
        if len(answer.slots) < len(minutes):
            return f"{len(answer.slots)} slots came, {len(minutes)} were asked for"
        unknown = next((s.place for s in answer.slots if s.place not in place_names), None)
        return f"{unknown!r} is none of the reachable places" if unknown else None

    reply = yield from ask(
        Question(
            verb="fill",
            purpose="plan_slots",
            who=resident.name,
            system=system,
            prompt=prompt,
            schema=BlockAnswer,
            check=check,
            fallback=usual_block(resident, scene, minutes),
            max_tokens=60 * len(minutes),
            seed=seed_of(scene.seed, scene.tick, resident.name, "plan_slots"),
            examples=tuple(
                Example(text=r.do) for r in resident.persona.routines if r.covers(first)
            ),
            facts=SlotsFacts(
                minutes=minutes,
                routines=resident.persona.routines,
                places=scene.places,
                emotion=resident.emotion,
                strokes=tuple((s.at, s.do) for s in strokes),
                activity=resident.activity,
                done=dict(resident.done_today),
                theme=theme_of(resident),
            ),
        )
    )
    slots = tuple(
        _keep_appointment(scene, minute) or _slot(answer, minute, resident)
        for minute, answer in zip(minutes, reply.value.slots, strict=False)
    )
    return Lived(
        events=(Scheduled(who=resident.name, slots=slots, **traced(reply)),),
        drafts=_slot_drafts(resident, slots, scene.tick_minutes, traced(reply)["calls"]),
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
            SlotAnswer(activity=routine.do, kind=routine.kind, place=place_for(routine, scene))
        )
    return BlockAnswer(slots=tuple(slots))


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


def _slot(answer: SlotAnswer, minute: int, resident: Resident) -> Slot:
    return Slot(
        minute=minute,
        activity=_phrase(answer.activity, resident.name),
        activity_kind=answer.kind,
        place=answer.place,
    )


def _keep_appointment(scene: Scene, minute: int) -> Slot | None:
    for at, place, other in scene.appointments:
        if at == minute:
            return Slot(
                minute=minute,
                activity=f"meets {other} as agreed",
                activity_kind="counseling",
                place=place,
            )
    return None


def _slot_drafts(
    resident: Resident, slots: tuple[Slot, ...], tick_minutes: int, calls: tuple[str, ...]
) -> tuple[Memory, ...]:
    """One memory for each stretch of the same activity."""
    drafts: list[Memory] = []
    start = 0
    for index in range(1, len(slots) + 1):
        if index == len(slots) or slots[index].activity != slots[start].activity:
            slot, end = slots[start], slots[index - 1].minute + tick_minutes
            text = (
                f"{time_text(slot.minute)} to {time_text(end)}: {resident.name} {slot.activity}"
                f" ({slot.place})."
            )
            drafts.append(
                Memory(id="", type="slot", text=text, place=slot.place, origin="plan", calls=calls)
            )
            start = index
    return tuple(drafts)


def _today(scene: Scene) -> tuple[tuple[str, str], ...]:
    return tuple(
        (time_text(at), f"meets {other} at {place}")
        for at, place, other in scene.appointments
        if day_of(at) == day_of(scene.minute) and at >= scene.minute
    )


def _appointments(resident: Resident, scene: Scene) -> str:
    today = _today(scene)
    if not today:
        return f"{resident.name} has no appointment today."
    return (
        f"{resident.name}'s appointments today: "
        + "; ".join(f"{at} {what}" for at, what in today)
        + "."
    )


def _phrase(text: str, name: str) -> str:
    """A verb phrase without its subject, its capital and its full stop."""
    text = " ".join(text.split()).rstrip(" .;,")
    for subject in (f"{name} ", "She ", "He ", "They "):
        text = text.removeprefix(subject)
    return (
        text[:1].lower() + text[1:]
        if not text[:2].isupper() and not text.startswith("I ")
        else text
    )


def _two_digits(at: str) -> str:
    return time_text(minutes_of_day(at))
