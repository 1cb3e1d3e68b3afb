"""The day in broad strokes, then its next slots (Park et al. 2023, section 4.3)."""

from simcounsel.agents.appointments import appointments_text, todays_appointments
from simcounsel.agents.facts import DayFacts
from simcounsel.agents.lived import remembered
from simcounsel.agents.mind import Effects, Scene
from simcounsel.agents.recollection import recollect
from simcounsel.agents.resident import Resident
from simcounsel.agents.slots import plan_block, verb_phrase
from simcounsel.agents.tasks import DayAnswer, RestOfDayAnswer, StrokeAnswer
from simcounsel.agents.views import bullets, in_mind, whoami
from simcounsel.chance import chance
from simcounsel.clock import date_text, day_of, day_text, minutes_of_day, time_text
from simcounsel.events import Hit, Memory, Planned, Stroke
from simcounsel.llm.question import Ask, Question, ask, traced
from simcounsel.prompts import phrase, render


def plan(resident: Resident, scene: Scene) -> Ask[Effects]:
    """The day's plan if there is none, then the next block of slots."""
    effects: Effects = Effects()
    strokes = resident.strokes
    if resident.needs_day(scene.minute):
        effects = yield from plan_day(resident, scene, None)
        planned = effects.events[-1]
        assert isinstance(planned, Planned)
        strokes = planned.strokes
    block = yield from plan_block(resident, scene, strokes)
    return Effects(events=effects.events + block.events, drafts=effects.drafts + block.drafts)


def replan(resident: Resident, scene: Scene, why: str) -> Ask[Effects]:
    """Revise the rest of the day and the slots, from now on."""
    day = yield from plan_day(resident, scene, why)
    planned = day.events[-1]
    assert isinstance(planned, Planned)
    block = yield from plan_block(resident, scene, planned.strokes)
    return Effects(events=day.events + block.events, drafts=day.drafts + block.drafts)


def plan_day(resident: Resident, scene: Scene, why: str | None) -> Ask[Effects]:
    """5 to 8 broad strokes; of a revision those still to come. why: what calls for a revision; None
    for a new day.
    """
    recalled = yield from recollect(
        resident, scene, "plan_day", phrase("lived", "today", scene.language, name=resident.name)
    )
    reply = yield from ask(_question(resident, scene, why, recalled.hits))
    ahead = (
        Stroke(at=_two_digits(s.at), do=verb_phrase(s.do, resident.name))
        for s in reply.value.strokes
    )
    now = time_text(scene.minute)
    to_come = sorted((s for s in ahead if why is None or s.at >= now), key=lambda s: s.at)
    strokes = (*_past(resident, scene, why), *to_come)
    text = phrase(
        "lived",
        "plan",
        scene.language,
        name=resident.name,
        day=day_text(scene.minute, scene.start, scene.language),
        what=("；" if scene.language == "zh" else "; ").join(f"{s.at} {s.do}" for s in strokes),
    )
    event = Planned(
        who=resident.name,
        day=day_of(scene.minute),
        strokes=strokes,
        why=why or phrase("lived", "new_day", scene.language),
        **traced(reply),
    )
    return Effects(
        events=(recalled, event),
        drafts=(
            Memory(id="", type="day_plan", text=text, origin="plan", calls=traced(reply)["calls"]),
        ),
    )


def _past(resident: Resident, scene: Scene, why: str | None) -> tuple[Stroke, ...]:
    """What of the day's plan lies before a revision, and stays; () on a new day."""
    now = time_text(scene.minute)
    return () if why is None else tuple(s for s in resident.strokes if s.at < now)


def _question(
    resident: Resident, scene: Scene, why: str | None, hits: tuple[Hit, ...]
) -> Question[DayAnswer | RestOfDayAnswer]:
    """The strokes of a new day or, with a reason why, of the rest of this one."""
    system, prompt = _prompt(resident, scene, why, remembered(resident, hits, scene))
    return Question(
        verb="fill",
        **scene.asks(resident.name, "plan_day"),
        system=system,
        prompt=prompt,
        schema=DayAnswer if why is None else RestOfDayAnswer,
        check=None if why is None else lambda answer: _past_problem(answer, scene),
        fallback=_usual_day(resident, scene, why),
        max_tokens=500,
        facts=DayFacts(
            days=tuple(tuple((s.at, s.do) for s in day) for day in resident.persona.days),
            minute=scene.minute,
            why=why,
            strokes=tuple((s.at, s.do) for s in resident.strokes),
            memories=resident.memory.texts(hits)[:3],
            appointments=todays_appointments(scene),
        ),
    )


def _past_problem(answer: DayAnswer | RestOfDayAnswer, scene: Scene) -> str | None:
    """Whether a revision plans nothing but what is over."""
    now = time_text(scene.minute)
    if any(_two_digits(s.at) >= now for s in answer.strokes):
        return None
    over = answer.strokes[-1].at
    return f"{over} is over: it is {now}, and only what is still to come is asked for"


def _usual_day(resident: Resident, scene: Scene, why: str | None) -> DayAnswer | RestOfDayAnswer:
    """What is left of the plan where one is to be revised, else one of the persona's own days,
    drawn: the fallback.
    """
    now = time_text(scene.minute)
    left = tuple(StrokeAnswer(at=s.at, do=s.do) for s in resident.strokes if s.at >= now)
    if why is not None:
        at_least = resident.strokes[-1].do if resident.strokes else resident.activity
        return RestOfDayAnswer(strokes=left or (StrokeAnswer(at=now, do=at_least),))
    days = resident.persona.days
    usual = days[
        chance(scene.seed, resident.name, "usual day", day_of(scene.minute)).randrange(len(days))
    ]
    return DayAnswer(strokes=tuple(StrokeAnswer(at=s.at, do=s.do) for s in usual))


def _prompt(
    resident: Resident, scene: Scene, why: str | None, memories: tuple[str, ...]
) -> tuple[str, str]:
    """The system text and the prompt."""
    slots = {
        "whoami": whoami(resident, scene.language),
        "name": resident.name,
        "mind": in_mind(resident, memories, scene.language),
        "now": date_text(scene.minute, scene.start, scene.language),
        "appointments": appointments_text(resident, scene),
        "places": ("、" if scene.language == "zh" else ", ").join(one.name for one in scene.places),
    }
    if why is None:
        return render("plan_day", scene.language, **slots)
    return render(
        "replan_day",
        scene.language,
        **slots,
        why=why,
        strokes=bullets(tuple(f"{s.at} {s.do}" for s in resident.strokes)),
    )


def _two_digits(at: str) -> str:
    return time_text(minutes_of_day(at))
