"""An answer to a researcher's question, from persona and memories as of a moment of the past."""

from dataclasses import dataclass

from simcounsel.agents.facts import InterviewFacts
from simcounsel.agents.handwritten import SILENCE
from simcounsel.agents.past import Past
from simcounsel.agents.recollection import recollect
from simcounsel.agents.views import at_this_moment, in_mind, under, whoami
from simcounsel.clock import date_text, time_text
from simcounsel.events import Recalled
from simcounsel.llm.question import Ask, Question, ask
from simcounsel.prompts import phrase, render
from simcounsel.specs.persona import ClientPersona, LaypersonPersona
from simcounsel.specs.vocabulary import Source

ANSWER_CHARACTERS = 4000
SOCIAL = frozenset({"greeting", "chat", "sympathy", "advice", "closing"})
"""What such a line answers is no question about oneself."""
EARLIER = 12
"""How many earlier questions are shown at most to the model."""
SHORT = 4
"""A question of so few words ('And then?') is about what was asked before it."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class Answered:
    """An answer with what came to mind before it."""

    text: str
    source: Source
    """Where the words come from."""
    model: str
    problem: str | None
    """Why the fallback was taken; None otherwise."""
    recalled: Recalled


def answer_question(past: Past, question: str, earlier: tuple[Exchange, ...] = ()) -> Ask[Answered]:
    """What this person, as it was then, answers."""
    resident, scene = past.resident, past.scene
    about = (
        f"{earlier[-1].question} {question}"
        if earlier and len(question.split()) <= SHORT
        else question
    )
    recalled = yield from recollect(resident, scene, "interview", about)
    reply = yield from ask(_question(past, question, earlier, recalled))
    return Answered(
        text=_plain(reply.value, resident.name),
        source=reply.source,
        model=reply.model,
        problem=reply.problem,
        recalled=recalled,
    )


def _question(
    past: Past, question: str, earlier: tuple[Exchange, ...], recalled: Recalled
) -> Question[str]:
    """What the model is asked: the person as it was, what came to mind, and the talk so far."""
    resident, scene = past.resident, past.scene
    memories = tuple(
        resident.memory.get(hit.id) for hit in sorted(recalled.hits, key=lambda hit: -hit.score)
    )
    system, prompt = render(
        "interview",
        scene.language,
        whoami=whoami(resident, scene.language),
        name=resident.name,
        now=date_text(scene.minute, scene.start, scene.language),
        place=resident.place,
        doing=resident.activity or phrase("lived", "comes", scene.language),
        feeling=at_this_moment(resident, resident.emotion, resident.intensity),
        activities=_lately(past),
        people=_people(past),
        mind=in_mind(
            resident, tuple(dict.fromkeys(memory.text for memory in memories)), scene.language
        ),
        talk=_talk(past, earlier[-EARLIER:]),
        question=question,
    )
    return Question(
        verb="write",
        **scene.asks(resident.name, "interview", len(earlier), question),
        system=system,
        prompt=prompt,
        check=_problem,
        temperature=0.7,
        max_tokens=400,
        fallback=SILENCE[scene.language]["client"],
        facts=InterviewFacts(
            question=question,
            answers=tuple(one.answer for one in earlier),
            own_words=own_words(past),
        ),
    )


def own_words(past: Past) -> tuple[str, ...]:
    """What somebody has said or thought by then, or could have said, in its own words.

    A client's hopeful lines are not known before anybody has listened, and what answers nothing
    but a greeting or a remark says nothing of oneself; so only a layperson's lines about itself
    are here.
    """
    resident, persona = past.resident, past.resident.persona
    said = [
        line.text for held in past.conversations for line in held.lines if line.who == resident.name
    ]
    written: list[str] = []
    if isinstance(persona, ClientPersona):
        written += [
            line.text
            for line in persona.voice
            if line.stage != "ending"
            and (past.conversations or line.stage != "hopeful")
            and set(line.answers) - SOCIAL
        ]
        written += [one.thought for one in persona.situations]
        written += persona.inner
    elif isinstance(persona, LaypersonPersona):
        written += [
            line.text for line in persona.voice if line.act == "share" and "{" not in line.say
        ]
    return tuple(dict.fromkeys((*said, *written)))


def _lately(past: Past) -> str:
    """The last twelve things that were done, with their times."""
    return under(
        _worded(past, "of_late", name=past.resident.name),
        tuple(
            _worded(past, "activity", at=time_text(one.minute), doing=one.activity, place=one.place)
            for one in past.activities[-12:]
        ),
    )


def _people(past: Past) -> str:
    """Who lives here, how often one talked with them, and how close one feels."""
    resident = past.resident
    people = ("；" if past.scene.language == "zh" else "; ").join(
        _worded(
            past,
            "person",
            name=name,
            role=_worded(past, role),
            close=f"{resident.close_to(name):g}",
            count=resident.meetings.get(name, 0),
        )
        for name, role in sorted(past.others.items())
        if resident.knows(name)
    )
    return _worded(past, "people", people=people) if people else ""


def _worded(past: Past, key: str, **slots: object) -> str:
    return phrase("lived", key, past.scene.language, **slots)


def _talk(past: Past, earlier: tuple[Exchange, ...]) -> str:
    name = past.resident.name
    said = "\n".join(
        f"{_worded(past, 'asked', question=one.question)}\n{name}: {one.answer}" for one in earlier
    )
    return f"{_worded(past, 'asked_so_far')}\n{said}" if said else ""


def _problem(text: str) -> str | None:
    if len(text) > ANSWER_CHARACTERS:
        return "the answer was far too long; say it in a few sentences"
    if "\nResearcher:" in text:
        return "the answer held more than one answer; give the words of this answer only"
    return None


def _plain(text: str, name: str) -> str:
    """The words alone: no name in front, no quotation marks around."""
    text = " ".join(text.split()).removeprefix(f"{name}:").strip()
    if (
        len(text) > 1
        and (text[0], text[-1]) in {('"', '"'), ("“", "”")}
        and text[1:-1].count(text[0]) == 0
    ):
        text = text[1:-1].strip()
    return text
