"""Feelings: what one begins to do feels as it was planned; only what nobody planned is asked about,
all of it at once.
"""

from collections.abc import Iterable
from typing import Literal

from simcounsel.agents.facts import AppraisalFacts
from simcounsel.agents.mind import Effects, Scene
from simcounsel.agents.resident import Resident
from simcounsel.agents.tasks import FeelingAnswer, FeelingsAnswer
from simcounsel.agents.ties import acquaintance
from simcounsel.agents.views import at_this_moment, numbered, today, whereabouts, whoami
from simcounsel.clock import date_text
from simcounsel.events import Appraised, Memory, Slot
from simcounsel.llm.question import Ask, Question, ask, traced
from simcounsel.prompts import phrase, render

INDIFFERENT = FeelingAnswer(emotion="neutral", intensity=1, poignancy=1)


def appraise(resident: Resident, scene: Scene) -> Ask[Effects]:
    """What the act that has just begun feels like, as its slot foresaw, and what those feel like
    whom one comes upon unexpectedly; an event memory of each. Nothing is asked where nothing is
    unexpected.
    """
    felt: list[Appraised] = []
    drafts: list[Memory] = []
    if resident.begun is not None:
        felt.append(_foreseen(resident, resident.begun))
        drafts += _drafts(resident, felt, "own act")
    if resident.news:
        reply = yield from ask(_question(resident, scene, felt[-1] if felt else None))
        unexpected = tuple(
            Appraised(who=resident.name, about=text, **one.model_dump(), **traced(reply))
            for text, one in zip(resident.news, reply.value.feelings, strict=False)
        )
        felt += unexpected
        drafts += _drafts(resident, unexpected, "sight")
    return Effects(events=tuple(felt), drafts=tuple(drafts))


def _foreseen(resident: Resident, slot: Slot) -> Appraised:
    """The feeling that the slot foresaw. What has moved one since it was planned (a talk, somebody
    unexpected) stays for a half-life, and then as long as it is the stronger of the two; so does
    what is felt where the slot foresaw nothing.
    """
    mood = resident.mood
    emotion, intensity = mood.faded(slot.minute) if mood.moved else (mood.emotion, mood.intensity)
    stays = slot.emotion is None or mood.outweighs(slot.intensity or 1, slot.minute)
    return Appraised(
        who=resident.name,
        about=phrase("lived", "did", resident.language, name=resident.name, doing=slot.activity),
        emotion=emotion if stays or slot.emotion is None else slot.emotion,
        intensity=intensity if stays else slot.intensity or 1,
        poignancy=slot.poignancy or 1,
        **resident.slots_from,
    )


def _question(
    resident: Resident, scene: Scene, begun: Appraised | None
) -> Question[FeelingsAnswer]:
    """One feeling for each piece of news, in its order. begun: what is felt by now, as the act that
    has just begun was foreseen; None: what was felt before.
    """
    news = resident.news
    emotion, intensity = (
        (begun.emotion, begun.intensity) if begun else (resident.emotion, resident.intensity)
    )
    system, prompt = render(
        "appraise",
        scene.language,
        whoami=whoami(resident, scene.language),
        name=resident.name,
        today=today(resident, scene),
        place=whereabouts(resident.place, scene),
        now=date_text(scene.minute, scene.start, scene.language),
        feeling=at_this_moment(resident, emotion, intensity),
        news=numbered(tuple(_told(resident, text, who) for text, who in resident.come_upon)),
    )

    def check(answer: FeelingsAnswer) -> str | None:
        return (
            None
            if len(answer.feelings) >= len(news)
            else f"{len(answer.feelings)} feelings came, {len(news)} were asked for"
        )

    return Question(
        verb="fill",
        **scene.asks(resident.name, "appraise"),
        tier="quick",
        system=system,
        prompt=prompt,
        schema=FeelingsAnswer,
        check=check,
        fallback=FeelingsAnswer(feelings=(INDIFFERENT,) * len(news)),
        temperature=0.0,
        max_tokens=60 * len(news),
        facts=AppraisalFacts(news=news),
    )


def _told(resident: Resident, text: str, who: str) -> str:
    """A piece of news with what the other is to the resident. who: '' for a stranger."""
    if not who:
        return text
    gap = "" if resident.language == "zh" else " "
    return f"{text}{gap}{acquaintance(resident, who)}"


def _drafts(
    resident: Resident, felt: Iterable[Appraised], origin: Literal["own act", "sight"]
) -> tuple[Memory, ...]:
    """An event memory of each."""
    return tuple(
        Memory(
            id="",
            type="event",
            text=one.about,
            emotion=one.emotion,
            intensity=one.intensity,
            poignancy=one.poignancy,
            place=resident.place,
            present=tuple(s.name for s in resident.sights),
            origin=origin,
            calls=one.calls,
        )
        for one in felt
    )
