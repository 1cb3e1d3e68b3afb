"""Where a client stands: how open it is with whom it talks, what it keeps back, and how strongly it
holds its beliefs. Talk and evidence move it; no dice do.

A client's file is a cognitive conceptualization (Beck 2020, chapter 3): core beliefs, the rules
that follow from them, and ways of coping that keep both from being felt; or a case in the terms of
another therapy. What a listener says can
touch one of these. Clients keep much to themselves, even in good sessions (Hill, Thompson, Cogar
and Denman 1993; Farber 2006), open up as the alliance grows (Bordin 1979), and withdraw or confront
where it is strained (Safran and Muran 2000). So openness moves with a line only where the client
can name the other's words that moved it, by a bounded step; and the strength of a belief moves only
in reflection, a little at a time, by memories of what has happened since.
"""

from collections.abc import Mapping, Sequence

from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import TalkView
from simcounsel.agents.tasks import ClientInsightsAnswer, ClientLineAnswer, InsightsAnswer
from simcounsel.events import BeliefMoved, ClientShifted, Decided, Entry, HomeworkAgreed, Memory
from simcounsel.llm.question import Reply, Traced, traced
from simcounsel.specs.persona import ClientPersona, Persona
from simcounsel.texts.quotes import stands_in

BROUGHT_ALONG = ("initial", "plan")
"""Origins of memories that are of nothing that happened."""
SHORTEST_QUOTE = 4
"""Characters: a shorter stretch of the other's words names nothing."""


def parts(persona: Persona) -> Mapping[str, str]:
    """What of a client's file can be touched, by a short id: core beliefs C1, C2, ..., rules and
    assumptions R1, ..., ways of coping D1, ...; of a case in other terms its parts P1, ...; {} for
    others.
    """
    return _parts(persona) if isinstance(persona, ClientPersona) else {}


def _parts(persona: ClientPersona) -> dict[str, str]:
    if persona.case:
        return {f"P{n}": one.text for n, one in enumerate(persona.case, 1)}
    return {
        **{f"C{n}": one.belief for n, one in enumerate(persona.core_beliefs, 1)},
        **{f"R{n}": one.belief for n, one in enumerate(persona.intermediate_beliefs, 1)},
        **{f"D{n}": one for n, one in enumerate(persona.coping_strategies, 1)},
    }


def strengths(persona: Persona) -> dict[str, int]:
    """How strongly each belief is held as the world begins, 0 to 100, by its id, or each part of a
    case that moves; {} for others.
    """
    if not isinstance(persona, ClientPersona):
        return {}
    if persona.case:
        parts = enumerate(persona.case, 1)
        return {f"P{n}": one.strength for n, one in parts if one.strength is not None}
    return {
        **{f"C{n}": one.strength for n, one in enumerate(persona.core_beliefs, 1)},
        **{f"R{n}": one.strength for n, one in enumerate(persona.intermediate_beliefs, 1)},
    }


def last_shift(view: TalkView) -> ClientShifted | None:
    """The last shift towards the other, in this conversation or an earlier one; None before."""
    events = (*(entry.event for entry in view.kept), *view.own)
    own = (one for one in reversed(events) if isinstance(one, ClientShifted))
    return next((one for one in own if one.who == view.me), None)


def last_agreed(practice: Sequence[Entry]) -> HomeworkAgreed | None:
    """What was agreed in the last conversation with somebody; None when nothing was. practice: what
    was written in all of them, oldest first.
    """
    for entry in reversed(practice):
        if isinstance(entry.event, HomeworkAgreed):
            return entry.event
        if isinstance(entry.event, Decided):
            return None
    return None


def openness(view: TalkView) -> float:
    """How open the speaker is with the other so far, 0 (keeps everything back) to 10."""
    last = last_shift(view)
    return view.opens.begins(view.meeting.closeness) if last is None else last.openness


def shifted(
    persona: Persona, view: TalkView, answer: ClientLineAnswer, calls: Traced
) -> ClientShifted:
    """What a line's reply says of the client's state, as far as it holds: without words of the
    other's last line there is no step, and a step has a limit. What the reply claimed is kept.
    """
    before = openness(view)
    heard = view.heard.text if view.heard else ""
    quote = " ".join(answer.quote.split())
    holds = len(quote) >= SHORTEST_QUOTE and stands_in(quote, heard)
    claimed = before if answer.openness is None else answer.openness
    opens = view.opens
    step = min(opens.up, max(-opens.down, claimed - before)) if holds else 0.0
    step -= opens.fades * (before - opens.begins(view.meeting.closeness))
    about = parts(persona).get(answer.touched) if holds else None
    return ClientShifted(
        who=view.me,
        chat=view.chat,
        message=len(view.lines) + 1,
        before=before,
        openness=round(min(10.0, max(0.0, before + step)), 2),
        claimed=claimed,
        quote=quote if holds else None,
        touched=answer.touched if about else None,
        about=about,
        held_back=answer.held_back.strip() or None,
        **calls,
    )


def belief_steps(
    resident: Resident, reply: Reply[InsightsAnswer | None], evidence: tuple[Memory, ...]
) -> tuple[BeliefMoved, ...]:
    """The beliefs that a reflection moves: one step each, by memories of which one at least is of
    what happened, not of what the client brought along, and has not moved this belief before; the
    reply's other steps do not count.
    """
    answer = reply.value
    if not isinstance(answer, ClientInsightsAnswer):
        return ()
    held, texts = strengths(resident.persona) | resident.strengths, parts(resident.persona)
    steps: dict[str, BeliefMoved] = {}
    for step in answer.beliefs:
        cited = [evidence[number - 1] for number in dict.fromkeys(step.evidence)]
        before = held.get(step.belief)
        counted = resident.moved_by.get(step.belief, set())
        new = any(m.origin not in BROUGHT_ALONG and m.id not in counted for m in cited)
        if before is None or step.belief in steps or not new:
            continue
        after = min(100, max(0, before + step.step))
        if after != before:
            steps[step.belief] = BeliefMoved(
                who=resident.name,
                belief=step.belief,
                text=texts[step.belief],
                before=before,
                after=after,
                evidence=tuple(memory.id for memory in cited),
                why=step.why,
                **traced(reply),
            )
    return tuple(steps.values())
