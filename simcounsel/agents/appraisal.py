"""What is new gets an emotion, its intensity and its poignancy, in one batch."""

from simcounsel.agents.facts import AppraisalFacts
from simcounsel.agents.mind import Effects, Scene
from simcounsel.agents.resident import Resident
from simcounsel.agents.tasks import FeelingAnswer, FeelingsAnswer
from simcounsel.agents.views import feeling, numbered, whoami
from simcounsel.chance import seed_of
from simcounsel.clock import date_text
from simcounsel.events import Appraised, Memory
from simcounsel.llm.question import Ask, Question, Reply, ask, traced
from simcounsel.prompts import phrase, render
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.vocabulary import Emotion

INDIFFERENT = FeelingAnswer(emotion="neutral", intensity=1, poignancy=1)


def appraise(resident: Resident, scene: Scene) -> Ask[Effects]:
    """Feelings about the tick's news, and an event memory of each piece of it."""
    reply = yield from ask(_question(resident, scene))
    return Effects(events=_events(resident, reply), drafts=_drafts(resident, reply))


def _question(resident: Resident, scene: Scene) -> Question[FeelingsAnswer]:
    """One feeling for each piece of news, in its order."""
    news = resident.news
    system, prompt = render(
        "appraise",
        scene.language,
        whoami=whoami(resident, scene.language),
        name=resident.name,
        now=date_text(scene.minute, scene.start, scene.language),
        feeling=feeling(resident.emotion, resident.intensity, scene.language),
        news=numbered(news),
    )

    def check(answer: FeelingsAnswer) -> str | None:
        return (
            None
            if len(answer.feelings) >= len(news)
            else f"{len(answer.feelings)} feelings came, {len(news)} were asked for"
        )

    return Question(
        verb="fill",
        purpose="appraise",
        tier="quick",
        who=resident.name,
        system=system,
        prompt=prompt,
        schema=FeelingsAnswer,
        check=check,
        fallback=FeelingsAnswer(feelings=(INDIFFERENT,) * len(news)),
        temperature=0.0,
        max_tokens=60 * len(news),
        seed=seed_of(scene.seed, scene.tick, resident.name, "appraise"),
        facts=AppraisalFacts(name=resident.name, news=news, felt=known_feelings(resident)),
    )


def _events(resident: Resident, reply: Reply[FeelingsAnswer]) -> tuple[Appraised, ...]:
    return tuple(
        Appraised(
            who=resident.name,
            about=text,
            emotion=f.emotion,
            intensity=f.intensity,
            poignancy=f.poignancy,
            **traced(reply),
        )
        for text, f in zip(resident.news, reply.value.feelings, strict=False)
    )


def _drafts(resident: Resident, reply: Reply[FeelingsAnswer]) -> tuple[Memory, ...]:
    own_act = phrase("lived", "did", resident.language, name=resident.name, doing=resident.activity)
    return tuple(
        Memory(
            id="",
            type="event",
            text=text,
            emotion=f.emotion,
            intensity=f.intensity,
            poignancy=f.poignancy,
            place=resident.place,
            present=tuple(s.name for s in resident.sights),
            origin="own act" if text == own_act else "sight",
            calls=traced(reply)["calls"],
        )
        for text, f in zip(resident.news, reply.value.feelings, strict=False)
    )


def known_feelings(resident: Resident) -> tuple[tuple[str, Emotion, int, int], ...]:
    """What is known beforehand about how things feel to this person: (text, emotion, intensity,
    poignancy) of its routines and, for a client, of the situations of its file."""
    routines = tuple(
        (
            f"{resident.name} {r.do}.",
            r.emotion or "neutral",
            4 if r.emotion else 1,
            3 if r.emotion else 1,
        )
        for r in resident.persona.routines
    )
    if not isinstance(resident.persona, ClientPersona):
        return routines
    return (
        *routines,
        *(
            (f"{s.situation} {s.thought}", s.emotion, s.intensity, s.intensity)
            for s in resident.persona.situations
        ),
    )
