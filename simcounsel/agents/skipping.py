"""Days that were not lived through: a short account of each, out of persona and memory."""

from simcounsel.agents.client_state import last_agreed
from simcounsel.agents.facts import SkippedDaysFacts
from simcounsel.agents.lived import remembered
from simcounsel.agents.mind import Effects, Scene
from simcounsel.agents.recollection import recollect
from simcounsel.agents.resident import Resident
from simcounsel.agents.tasks import SkippedDayAnswer, SkippedDaysAnswer
from simcounsel.agents.views import bullets, in_mind, whoami
from simcounsel.chance import chance
from simcounsel.clock import MINUTES_PER_DAY, date_text, day_text, weekday_of
from simcounsel.events import Memory, Recalled
from simcounsel.llm.question import Ask, Question, Reply, ask, traced
from simcounsel.prompts import phrase, render

AT_MOST = 31
"""Of a longer stretch the last days are told."""


def account(resident: Resident, scene: Scene, days: tuple[int, ...]) -> Ask[Effects]:
    """One request for the whole stretch; a thought to remember for each day."""
    days = days[-AT_MOST:]
    recalled = yield from recollect(
        resident, scene, "skipped_days", "what has been on my mind since we last talked"
    )
    reply = yield from ask(_question(resident, scene, days, recalled))
    return Effects(events=(recalled,), drafts=_drafts(scene, days, reply))


def _question(
    resident: Resident, scene: Scene, days: tuple[int, ...], recalled: Recalled
) -> Question[SkippedDaysAnswer]:
    """One account for each of the days."""
    names = tuple(weekday_of(day * MINUTES_PER_DAY, scene.start, scene.language) for day in days)
    usual = tuple(f"{stroke.at} {stroke.do}" for stroke in resident.persona.days[0])
    system, prompt = render(
        "skipped_days",
        scene.language,
        whoami=whoami(resident, scene.language),
        name=resident.name,
        now=date_text(scene.minute, scene.start, scene.language),
        count=len(days),
        names=("、" if scene.language == "zh" else ", ").join(names),
        usual=bullets(usual),
        agreed=_agreed(resident, scene),
        mind=in_mind(resident, remembered(resident, recalled.hits, scene), scene.language),
    )
    fallback = SkippedDaysAnswer(days=tuple(_usual_day(resident, scene, day) for day in days))

    def check(answer: SkippedDaysAnswer) -> str | None:
        return (
            None
            if len(answer.days) == len(days)
            else (
                f"there are {len(answer.days)} days; write one account for each of the {len(days)}"
                " days"
            )
        )

    return Question(
        verb="fill",
        **scene.asks(resident.name, "skipped_days"),
        system=system,
        prompt=prompt,
        schema=SkippedDaysAnswer,
        check=check,
        fallback=fallback,
        temperature=0.8,
        max_tokens=90 * len(days) + 60,
        facts=SkippedDaysFacts(days=days, usual=fallback),
    )


def _agreed(resident: Resident, scene: Scene) -> str:
    """What was agreed in the last talks, and that the days show what came of it; '' where nothing
    was.
    """
    found = ((other, last_agreed(entries)) for other, entries in sorted(resident.practice.items()))
    told = [
        phrase("moment", "agreed", scene.language, other=other, what=one.agreed.rstrip(".。"))
        for other, one in found
        if one is not None
    ]
    if not told:
        return ""
    came = phrase("moment", "came_of_it", scene.language, name=resident.name)
    return "\n" + ("" if scene.language == "zh" else " ").join((*told, came))


def _drafts(
    scene: Scene, days: tuple[int, ...], reply: Reply[SkippedDaysAnswer]
) -> tuple[Memory, ...]:
    return tuple(
        Memory(
            id="",
            type="thought",
            text=f"{_day(day, scene)}{one.day}",
            emotion=one.emotion,
            intensity=one.intensity,
            poignancy=one.poignancy,
            origin="summary",
            calls=traced(reply)["calls"],
        )
        for day, one in zip(days, reply.value.days, strict=True)
    )


def _day(day: int, scene: Scene) -> str:
    date = day_text(day * MINUTES_PER_DAY, scene.start, scene.language)
    return f"{date}：" if scene.language == "zh" else f"{date}: "


def _usual_day(resident: Resident, scene: Scene, day: int) -> SkippedDayAnswer:
    """Two strokes of one of the persona's own days, drawn."""
    rng = chance(scene.seed, day, resident.name, "skipped day")
    strokes = rng.choice(resident.persona.days)
    first, second = sorted(rng.sample(range(len(strokes)), 2))
    text = phrase(
        "lived",
        "usual",
        scene.language,
        name=resident.name,
        first=strokes[first].do,
        second=strokes[second].do,
    )
    return SkippedDayAnswer(
        day=text[:400],
        emotion=resident.emotion,
        intensity=max(1, resident.intensity - 2),
        poignancy=2,
    )
