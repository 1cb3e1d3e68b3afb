"""How somebody comes across: the persona's text, which reflection rewrites."""

import re

from simcounsel.agents.facts import PersonaFacts
from simcounsel.agents.lived import with_dates
from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.agents.tasks import PortraitAnswer
from simcounsel.agents.views import bullets, in_mind, whoami
from simcounsel.events import Memory, PersonaChanged, Reflected
from simcounsel.llm.question import Ask, Question, ask, traced
from simcounsel.prompts import render

OF_A_DAY = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|last night|this (?:morning|afternoon|evening))\b"
    r"|今天|今晚|今早|今晨|明天|昨天|昨晚",
    re.IGNORECASE,
)
"""Words that bind a sentence to its day."""


def rewrite(
    resident: Resident, scene: Scene, reflected: Reflected, evidence: tuple[Memory, ...]
) -> Ask[tuple[PersonaChanged, ...]]:
    """A new version when the text really changes; the old one stays in the log."""
    before = resident.version
    if before is None or not reflected.insights:
        return ()
    reply = yield from ask(_new_text(resident, scene, before, reflected, evidence))
    after = reply.value
    if (after.characteristic, after.recent_feeling) == (
        before.characteristic,
        before.recent_feeling,
    ):
        return ()
    cited = tuple(
        dict.fromkeys(memory_id for insight in reflected.insights for memory_id in insight.evidence)
    )
    return (
        PersonaChanged(
            who=resident.name,
            version=before.version + 1,
            background=before.background,
            characteristic=after.characteristic,
            recent_feeling=after.recent_feeling,
            evidence=cited,
            **traced(reply),
        ),
    )


def _of_the_moment(answer: PortraitAnswer) -> str | None:
    """Whether a portrait says what holds for its day alone."""
    found = OF_A_DAY.search(f"{answer.characteristic} {answer.recent_feeling}")
    return (
        f"“{found.group()}” holds for one day only; a portrait is read on other days, too"
        if found
        else None
    )


def _new_text(
    resident: Resident,
    scene: Scene,
    before: PersonaChanged,
    reflected: Reflected,
    evidence: tuple[Memory, ...],
) -> Question[PortraitAnswer]:
    """How somebody comes across after new conclusions; the text so far is the fallback."""
    conclusions = tuple(insight.text for insight in reflected.insights)
    system, prompt = render(
        "persona",
        scene.language,
        whoami=whoami(resident, scene.language),
        name=resident.name,
        insights=bullets(conclusions),
        mind=in_mind(resident, with_dates(resident, evidence[:6], scene), scene.language),
    )
    fallback = PortraitAnswer(
        characteristic=before.characteristic, recent_feeling=before.recent_feeling
    )
    return Question(
        verb="fill",
        **scene.asks(resident.name, "persona"),
        system=system,
        prompt=prompt,
        schema=PortraitAnswer,
        check=_of_the_moment,
        fallback=fallback,
        temperature=0.3,
        max_tokens=500,
        facts=PersonaFacts(
            name=resident.name,
            portrait=fallback,
            insights=conclusions,
            evidence=tuple(m.text for m in evidence),
            emotion=resident.emotion,
        ),
    )
