"""What a case's plan has for a session, and when a counselor may know of it: once the client has
said what it rests on.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from simcounsel.agents.talk import TalkView
from simcounsel.events import MaterialOpened
from simcounsel.prompts import phrase
from simcounsel.texts import sentences
from simcounsel.texts.quotes import content
from simcounsel.therapies.course.state import CourseState
from simcounsel.therapies.course.withholding import own_words
from simcounsel.therapies.specs.course import CoursePlan, PlannedSession
from simcounsel.therapies.specs.therapy import Therapy

SAID = 0.5
"""So much of what a fact is about is in the client's words where it counts as told."""
Part = Literal["link", "material", "lesson"]


def newly_open(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState
) -> tuple[MaterialOpened, ...]:
    """What opens now, each with the client's words by which it does.

    A text rests on the words that it shares with the plan's facts: each of them must have been
    said. A link or a task that shares none rests on the facts that its session uses, one of which
    must have been told. What rests on nothing, as a lesson may, is open from the start.
    """
    session = state.planned_for(plan)
    told = _told(view, state)
    facts = {fact.id: own_words(fact, therapy) - content(view.other) for fact in plan.facts}
    there = {one.text for one in state.opened}
    found = []
    for of, text in _parts(session):
        used = () if of == "lesson" else session.uses
        quotes = _quotes(text, tuple(facts[one] for one in used), facts, told)
        if text in there or quotes is None:
            continue
        found.append(
            MaterialOpened(
                who=view.me,
                chat=view.chat,
                about=view.other,
                session=state.session,
                of=of,
                text=text,
                rests_on=tuple(one for one, words in facts.items() if words & content(text))
                or used,
                quotes=quotes,
            )
        )
    return tuple(found)


def opened_text(view: TalkView, state: CourseState) -> str:
    """What is open so far, for a prompt; '' when nothing is."""
    texts = "\n".join(f"- {one.text}" for one in state.opened)
    return (
        "\n" + phrase("course_words", "open", view.language, other=view.other, text=f"\n{texts}")
        if texts
        else ""
    )


def _parts(session: PlannedSession) -> Iterator[tuple[Part, str]]:
    yield from (("link", text) for text in session.links)
    yield from (("material", text) for text in session.material)
    yield from (("lesson", text) for text in session.psychoeducation)


def _told(view: TalkView, state: CourseState) -> tuple[str, ...]:
    """The client's sentences that a counselor has: of earlier sessions those that it kept."""
    kept = (fact.quote for fact in state.facts)
    lines = (line.text for line in view.lines if line.who != view.me)
    return (*kept, *(one.strip() for line in lines for one in sentences.bare(line) if one.strip()))


def _quotes(
    text: str,
    used: tuple[frozenset[str], ...],
    facts: Mapping[str, frozenset[str]],
    told: tuple[str, ...],
) -> tuple[str, ...] | None:
    """The client's words by which a text is open, () where it rests on nothing; None while it is
    not.
    """
    needed = content(text) & frozenset().union(*facts.values())
    if needed:
        return _said(needed, told)
    if not any(used):
        return ()
    said = content(*told)
    known = [words & said for words in used if words and len(words & said) >= SAID * len(words)]
    return _said(known[0], told) if known else None


def _said(words: frozenset[str], told: tuple[str, ...]) -> tuple[str, ...] | None:
    """The first sentences in which the words were said; None when one of them was not."""
    left, quotes = set(words), []
    for sentence in told:
        if left & content(sentence):
            quotes.append(sentence)
            left -= content(sentence)
    return None if left else tuple(quotes)
