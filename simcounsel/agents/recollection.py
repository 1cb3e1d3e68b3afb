"""Recall as an Ask: embed the query, score, and tell what came to mind."""

from dataclasses import replace

from simcounsel.agents.accessibility import NOWHERE, Moment
from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.events import Recalled
from simcounsel.llm.question import Ask, ask, embedding, traced


def recollect(
    resident: Resident, scene: Scene, purpose: str, query: str, moment: Moment = NOWHERE
) -> Ask[Recalled]:
    """What comes to a resident's mind at a query, in its present emotion."""
    return (yield from recollect_each(resident, scene, purpose, (query,), moment))[0]


def recollect_each(
    resident: Resident,
    scene: Scene,
    purpose: str,
    queries: tuple[str, ...],
    moment: Moment = NOWHERE,
) -> Ask[tuple[Recalled, ...]]:
    """The same for several queries at once."""
    emotion = moment.emotion or resident.emotion
    reply = yield from ask(embedding(purpose, resident.name, queries))
    found = []
    for query, vector in zip(queries, reply.value, strict=True):
        hits = resident.memory.recall(vector, emotion, scene.minute, moment)
        fresh = replace(moment, lately=())
        if_fresh = (
            resident.memory.recall(vector, emotion, scene.minute, fresh) if moment.lately else hits
        )
        come = {hit.id for hit in hits}
        found.append(
            Recalled(
                who=resident.name,
                purpose=purpose,
                query=query,
                emotion=emotion,
                hits=hits,
                stood_back=tuple(hit.id for hit in if_fresh if hit.id not in come),
                **traced(reply),
            )
        )
    return tuple(found)
