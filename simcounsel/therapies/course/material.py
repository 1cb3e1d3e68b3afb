"""What a case's plan has for a session, and when a counselor may know of it: once the client has
said what it rests on.

*Said* goes by meaning. Vectors find the facts that come near to what the client just said; then a
model that reads judges which of them were said, and by which words. Without such a model only what
is very near counts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from simcounsel.agents.talk import TalkView
from simcounsel.chance import seed_of
from simcounsel.events import MaterialOpened
from simcounsel.llm.question import Ask, Question, Traced, ask, embedding, traced
from simcounsel.prompts import phrase, render
from simcounsel.texts import sentences
from simcounsel.texts.quotes import stands_in
from simcounsel.therapies.course.facts import SaidFacts
from simcounsel.therapies.course.schemas import SaidAnswer, SaidFact
from simcounsel.therapies.course.state import CourseState
from simcounsel.therapies.course.withholding import opening
from simcounsel.therapies.specs.course import CoursePlan, PlannedFact, PlannedKind, PlannedPart
from simcounsel.therapies.specs.therapy import Therapy

NEAR, SURE, MOST_ASKED = 0.2, 0.55, 8
"""Cosines of MiniLM's vectors: from the first on a fact is asked about, from the second on it
counts as said where no model can judge. Most facts that are asked about at once, the nearest.
"""
ABOUT_THE_CLIENT = ("link", "rationale")
"""Kinds of parts that rest on one of the facts of their session where nothing else is said."""


@dataclass(frozen=True, kw_only=True)
class _Heard:
    """Words of the client's."""

    text: str
    message: int | None
    """The line's number in this conversation, from 1; None for one of an earlier session."""


def facts_said(
    view: TalkView, plan: CoursePlan, state: CourseState
) -> Ask[tuple[MaterialOpened, ...]]:
    """Facts of the plan that the client has told since the counselor last listened for them."""
    waiting = tuple(fact for fact in plan.facts if fact.id not in state.told)
    heard = tuple(_heard(view, state))
    if not waiting or not heard:
        return ()
    near = yield from _near(view, plan, waiting, heard)
    if not near:
        return ()
    facts = tuple(near)
    reply = yield from ask(_check(view, heard, facts, near))
    found: list[MaterialOpened] = []
    for said in reply.value.said:
        fact = facts[said.number - 1] if said.number <= len(facts) else None
        by = next((one for one in heard if stands_in(said.quote, one.text)), None)
        if fact is None or by is None or fact.id in {one.rests_on[0] for one in found}:
            continue
        found.append(
            _opened(
                view, state, "fact", fact.text, (fact.id,), (said.quote,), by.message, traced(reply)
            )
        )
    return tuple(found)


def newly_open(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState
) -> tuple[MaterialOpened, ...]:
    """What opens now, each with the client's words by which it does. What did not open in an
    earlier session of the stage, or only with its last line, is still waiting.
    """
    by_fact = {
        one.rests_on[0]: one for one in (*state.told_before, *state.opened) if one.of == "fact"
    }
    there = {one.text for one in state.opened}
    found: list[MaterialOpened] = []
    for kind, part, uses in _waiting(plan, state):
        by = opening(part, plan.facts, state.told, therapy, view.other)
        if by == () and part.rests_on is None and kind in ABOUT_THE_CLIENT and uses:
            by = tuple(one for one in uses if one in state.told) or None
        if by is None or part.text in there:
            continue
        there.add(part.text)
        told = [by_fact[one] for one in by if one in by_fact]
        quotes = tuple(dict.fromkeys(quote for one in told for quote in one.quotes))
        lines = [one.message for one in told if one.chat == view.chat and one.message]
        found.append(_opened(view, state, kind, part.text, by, quotes, max(lines, default=None)))
    return tuple(found)


def opened_text(view: TalkView, state: CourseState) -> str:
    """What is open so far, for a prompt; '' when nothing is."""
    texts = [
        phrase("course_words", f"open {one.of}", view.language, other=view.other, text=one.text)
        for one in state.opened
        if one.of != "fact"
    ]
    listed = "".join(f"\n- {text}" for text in texts)
    return (
        "\n" + phrase("course_words", "open", view.language, other=view.other, text=listed)
        if texts
        else ""
    )


def _waiting(
    plan: CoursePlan, state: CourseState
) -> Iterator[tuple[PlannedKind, PlannedPart, tuple[str, ...]]]:
    """The parts of this session, and of the stage's earlier ones those that nobody could use yet;
    each with the facts that its session builds on.
    """
    *earlier, now = state.sessions_until(plan)
    for session in earlier:
        yield from (
            (kind, part, session.uses)
            for kind, part in session.parts
            if part.text not in state.used_up
        )
    yield from ((kind, part, now.uses) for kind, part in now.parts)


def _heard(view: TalkView, state: CourseState) -> Iterator[_Heard]:
    """The client's lines since the counselor's last one. Before its first line, what it kept of the
    session before, which has the words of that session's very last line.
    """
    own = [at for at, line in enumerate(view.lines) if line.who == view.me]
    if not own:
        for fact in state.facts:
            if fact.session == state.session - 1:
                yield _Heard(text=fact.quote, message=None)
    for at in range(own[-1] + 1 if own else 0, len(view.lines)):
        if view.lines[at].text.strip():
            yield _Heard(text=view.lines[at].text, message=at + 1)


def _near(
    view: TalkView, plan: CoursePlan, waiting: tuple[PlannedFact, ...], heard: tuple[_Heard, ...]
) -> Ask[Mapping[PlannedFact, tuple[float, str]]]:
    """Facts that come near to what was heard, in the plan's order, which says nothing of how near;
    each with how near and to which words. The plan's own vectors are asked for once in a process.
    """
    texts = tuple(text for fact in plan.facts for text in (fact.text, fact.quote or fact.text))
    whole = replace(embedding("course_said", view.me, texts), once=True)
    facts = (yield from ask(whole)).value
    words = tuple(
        dict.fromkeys(
            part.strip()
            for one in heard
            for part in (one.text, *sentences.bare(one.text))
            if part.strip()
        )
    )
    said = (yield from ask(embedding("course_said", view.me, words))).value
    cosines = (facts @ said.T).reshape(len(plan.facts), 2, len(words)).max(axis=1)
    rows = {fact.id: cosines[at] for at, fact in enumerate(plan.facts)}
    near = {
        fact: (float(rows[fact.id].max()), words[int(rows[fact.id].argmax())])
        for fact in waiting
        if rows[fact.id].max() >= NEAR
    }
    nearest = sorted(near, key=lambda fact: -near[fact][0])[:MOST_ASKED]
    return {fact: near[fact] for fact in near if fact in nearest}


def _check(
    view: TalkView,
    heard: tuple[_Heard, ...],
    facts: tuple[PlannedFact, ...],
    near: Mapping[PlannedFact, tuple[float, str]],
) -> Question[SaidAnswer]:
    """Which of the facts were said. It is no question to the counselor, who never learns of it."""
    system, prompt = render(
        "course_said",
        view.language,
        other=view.other,
        said="\n".join(f"“{one.text}”" for one in heard),
        facts="\n".join(f"{number}. {fact.text}" for number, fact in enumerate(facts, 1)),
    )
    surely = tuple(
        SaidFact(number=number, quote=near[fact][1])
        for number, fact in enumerate(facts, 1)
        if near[fact][0] >= SURE
    )
    return Question(
        verb="fill",
        purpose="course_said",
        tier="judge",
        who=view.me,
        of_world=True,
        system=system,
        prompt=prompt,
        language=view.language,
        schema=SaidAnswer,
        fallback=SaidAnswer(said=surely),
        temperature=0.0,
        max_tokens=80 + 60 * len(facts),
        seed=seed_of(*view.key, view.me, "course_said", len(view.lines)),
        facts=SaidFacts(
            said=tuple(one.text for one in heard), facts=tuple(fact.text for fact in facts)
        ),
    )


def _opened(
    view: TalkView,
    state: CourseState,
    of: str,
    text: str,
    by: tuple[str, ...],
    quotes: tuple[str, ...],
    message: int | None,
    calls: Traced | None = None,
) -> MaterialOpened:
    return MaterialOpened(
        who=view.me,
        chat=view.chat,
        about=view.other,
        session=state.session,
        of=of,  # type: ignore[arg-type]
        text=text,
        rests_on=by,
        quotes=quotes,
        message=message,
        **(calls or traced()),
    )
