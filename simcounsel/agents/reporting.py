"""A person answers questions about itself, from its persona and what comes to its mind now.

Nothing of it is remembered: a self-report changes nobody (in this version), so a world that is
measured goes on like one that is not.
"""

from pydantic import BaseModel

from simcounsel.agents.facts import SelfReportFacts
from simcounsel.agents.lived import remembered
from simcounsel.agents.mind import Scene
from simcounsel.agents.questionnaire import Sheet
from simcounsel.agents.recollection import recollect
from simcounsel.agents.resident import Resident
from simcounsel.agents.views import at_this_moment, in_mind, whoami
from simcounsel.chance import seed_of
from simcounsel.clock import date_text
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import render

TOPIC_CHARACTERS = 600


def report(resident: Resident, scene: Scene, sheet: Sheet) -> Ask[Reply[BaseModel | None]]:
    """The person's answers to one block; `value` is None when no reply could be used."""
    topic = " ".join((sheet.instruction, *(question.text for question in sheet.questions)))[
        :TOPIC_CHARACTERS
    ]
    recalled = yield from recollect(resident, scene, "self_report", topic)
    memories = resident.memory.texts(recalled.hits)
    system, prompt = render(
        "self_report",
        scene.language,
        whoami=whoami(resident, scene.language),
        name=resident.name,
        now=date_text(scene.minute, scene.start, scene.language),
        feeling=at_this_moment(resident, resident.emotion, resident.intensity),
        mind=in_mind(resident, remembered(resident, recalled.hits, scene), scene.language),
        instruction=sheet.instruction,
        scale=sheet.scale,
        items=sheet.listed(),
        again=sheet.again,
    )
    first = sheet.questions[0].id
    asked = ("self_report", sheet.instrument, first, sheet.sample, bool(sheet.again))
    return (
        yield from ask(
            Question(
                verb="fill",
                purpose="self_report",
                who=resident.name,
                system=system,
                prompt=prompt,
                language=scene.language,
                schema=sheet.answers,
                fallback=None,
                temperature=sheet.temperature,
                max_tokens=40 + 16 * len(sheet.questions),
                seed=seed_of(scene.seed, scene.tick, resident.name, *asked),
                facts=SelfReportFacts(
                    instrument=sheet.instrument,
                    items=sheet.questions,
                    seed=scene.seed,
                    memories=memories,
                    recent_feeling=resident.version.recent_feeling if resident.version else "",
                ),
            )
        )
    )
