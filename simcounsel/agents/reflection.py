"""Reflection (Park et al. 2023, section 4.2) and the persona's text, which it rewrites."""

from collections import Counter

from simcounsel.agents.client_state import BROUGHT_ALONG, belief_steps, parts, strengths
from simcounsel.agents.facts import InsightsFacts, SalienceFacts
from simcounsel.agents.lived import with_dates
from simcounsel.agents.mind import Effects, Scene
from simcounsel.agents.portrait import rewrite
from simcounsel.agents.recollection import recollect_each
from simcounsel.agents.resident import Resident
from simcounsel.agents.tasks import ClientInsightsAnswer, InsightsAnswer, QuestionsAnswer
from simcounsel.agents.views import bullets, closed, in_terms, numbered, whoami
from simcounsel.events import Insight, Memory, PersonaChanged, Recalled, Reflected
from simcounsel.llm.question import Ask, Example, Question, Reply, Tags, ask, traced
from simcounsel.prompts import phrase, render
from simcounsel.specs.persona import ClientPersona

RECENT = 30
EVIDENCE = 12
OF_ONE_TALK = 4
"""Lines of one conversation among the evidence at most, so that a talk does not crowd out all else
that happened; its summary counts beside them.
"""


def first_memories(resident: Resident) -> tuple[Memory, ...]:
    """What a client brings along: its situations, with thought and behavior, as long-term
    memory. () for others.
    """
    persona = resident.persona
    if not isinstance(persona, ClientPersona):
        return ()
    return tuple(
        Memory(
            id="",
            type="thought",
            text=phrase(
                "lived",
                "thought",
                resident.language,
                situation=_sentence(s.situation),
                name=resident.name,
                thought=s.thought,
                behavior=s.behavior,
            ),
            emotion=s.emotion,
            intensity=s.intensity,
            poignancy=s.intensity,
            origin="initial",
        )
        for s in persona.situations
    )


def _sentence(text: str) -> str:
    """Words as a sentence: a capital in front, a stop behind."""
    return closed(text[:1].upper() + text[1:])


def arrive(resident: Resident) -> Effects:
    """First memories, and version 0 of the persona's text: the portrait of the file, the same in
    every run, so that what reflection makes of it can be compared.
    """
    persona = resident.persona
    version = PersonaChanged(
        who=resident.name,
        version=0,
        background=persona.background,
        characteristic=persona.portrait.characteristic,
        recent_feeling=persona.portrait.recent_feeling,
        evidence=(),
    )
    return Effects(events=(version,), drafts=first_memories(resident))


def reflect(resident: Resident, scene: Scene, trigger: str) -> Ask[Effects]:
    """Salient questions, recall for each, insights that cite evidence, a new version of the
    persona.
    """
    salient = yield from _questions(resident, scene)
    questions = salient.value.questions
    recalled = yield from recollect_each(resident, scene, "reflect", questions)
    evidence = _evidence(resident, recalled)
    reply = yield from _insights(resident, scene, questions, evidence)
    drafts: list[Memory] = []
    insights: list[Insight] = []
    for item in reply.value.insights if reply and reply.value else ():
        cited = tuple(evidence[number - 1].id for number in dict.fromkeys(item.evidence))
        insights.append(Insight(text=item.text, evidence=cited))
        drafts.append(
            Memory(
                id="",
                type="thought",
                text=item.text,
                emotion=item.emotion,
                intensity=item.intensity,
                poignancy=item.poignancy,
                evidence=cited,
                origin="insight",
                calls=traced(reply)["calls"] if reply else (),
            )
        )
    reflected = Reflected(
        who=resident.name,
        trigger=trigger,
        questions=questions,
        insights=tuple(insights),
        **traced(salient, *((reply,) if reply else ())),
    )
    moved = belief_steps(resident, reply, evidence) if reply else ()
    changed = yield from rewrite(resident, scene, reflected, evidence)
    return Effects(events=(*recalled, reflected, *moved, *changed), drafts=tuple(drafts))


def _questions(resident: Resident, scene: Scene) -> Ask[Reply[QuestionsAnswer]]:
    recent = [m for m in resident.memory.short.memories[-3 * RECENT :] if m.origin != "plan"][
        -RECENT:
    ]
    memories = (*recent, *resident.memory.latest_thoughts(5))
    system, prompt = render(
        "questions",
        scene.language,
        name=resident.name,
        memories=bullets(with_dates(resident, memories, scene)),
    )
    fallback = QuestionsAnswer(
        questions=(phrase("lived", "concern", scene.language, name=resident.name),)
    )
    return (
        yield from ask(
            Question(
                verb="fill",
                **scene.asks(resident.name, "questions"),
                system=system,
                prompt=prompt,
                schema=QuestionsAnswer,
                fallback=fallback,
                max_tokens=200,
                facts=SalienceFacts(
                    name=resident.name,
                    role=resident.spec.role,
                    memories=tuple(m.text for m in memories),
                    wondered=resident.wondered,
                ),
            )
        )
    )


def _evidence(resident: Resident, recalled: tuple[Recalled, ...]) -> tuple[Memory, ...]:
    """The best of what came to mind at all questions, plans left out, each once, and few lines of
    any one conversation.
    """
    hits = sorted((hit for event in recalled for hit in event.hits), key=lambda hit: -hit.score)
    memories = [
        resident.memory.get(memory_id) for memory_id in dict.fromkeys(hit.id for hit in hits)
    ]
    apart_from_plans = [memory for memory in memories if memory.origin != "plan"] or memories
    once = {memory.text: memory for memory in reversed(apart_from_plans)}
    of_a_talk = Counter[str]()
    kept = []
    for memory in reversed(once.values()):
        if memory.type == "chat" and memory.chat is not None:
            of_a_talk[memory.chat] += 1
            if of_a_talk[memory.chat] > OF_ONE_TALK:
                continue
        kept.append(memory)
    return tuple(kept[:EVIDENCE])


def _insights(
    resident: Resident, scene: Scene, questions: tuple[str, ...], evidence: tuple[Memory, ...]
) -> Ask[Reply[InsightsAnswer | None] | None]:
    """The reply's value is None when it was unusable; no reply where there is no evidence."""
    if not evidence:
        return None
    moves = bool(parts(resident.persona)) and resident.client_state == "moves"
    system, prompt = render(
        "insights",
        scene.language,
        whoami=whoami(resident, scene.language, ids=moves),
        name=resident.name,
        questions=bullets(questions),
        memories=numbered(with_dates(resident, evidence, scene)),
        beliefs=phrase("moment", in_terms(resident, "beliefs"), scene.language) if moves else "",
    )
    question: Question[InsightsAnswer | None] = Question(
        verb="fill",
        **scene.asks(resident.name, "insights"),
        system=system,
        prompt=prompt,
        schema=ClientInsightsAnswer if moves else InsightsAnswer,
        check=lambda answer: _citation_problem(answer, len(evidence)),
        fallback=None,
        temperature=0.5,
        max_tokens=700 if moves else 500,
        examples=tuple(
            Example(text=t.say, tags=Tags(theme=t.theme, emotion=t.emotion))
            for t in resident.persona.thoughts
        ),
        facts=InsightsFacts(
            name=resident.name,
            evidence=tuple(m.text for m in evidence),
            emotions=tuple(m.emotion for m in evidence),
            poignancies=tuple(m.poignancy for m in evidence),
            known=tuple(m.text for m in resident.memory.long.memories),
            lived=tuple(m.origin not in BROUGHT_ALONG for m in evidence),
            beliefs={
                name: text
                for name, text in parts(resident.persona).items()
                if moves and name in strengths(resident.persona)
            },
        ),
    )
    return (yield from ask(question))


def _citation_problem(answer: InsightsAnswer | None, known: int) -> str | None:
    """Whether a conclusion cites a memory that was not shown."""
    cited = [n for item in (answer.insights if answer else ()) for n in item.evidence]
    if isinstance(answer, ClientInsightsAnswer):
        cited += [n for step in answer.beliefs for n in step.evidence]
    wrong = next((n for n in cited if not 1 <= n <= known), None)
    return f"there is no memory number {wrong}" if wrong is not None else None
