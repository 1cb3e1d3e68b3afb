"""How a course asks: one shape of question, and the texts that its prompts share."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from simcounsel.agents.talk import TalkView
from simcounsel.agents.tasks import Answer
from simcounsel.chance import seed_of
from simcounsel.events import FactLearned
from simcounsel.llm.question import Ask, Facts, Question, Reply, Tier, ask
from simcounsel.prompts import phrase, render
from simcounsel.therapies.course.state import CourseState
from simcounsel.therapies.specs.therapy import Therapy

A = TypeVar("A", bound=Answer)
KNOWN_AT_MOST = 24


def asked(
    view: TalkView,
    purpose: str,
    schema: type[A],
    fallback: A,
    slots: Mapping[str, object],
    facts: Facts,
    *,
    tier: Tier = "reason",
    temperature: float = 0.3,
    max_tokens: int = 500,
    check: Callable[[A], str | None] | None = None,
) -> Ask[Reply[A]]:
    """One question of the counselor's policy. slots: what its prompt says."""
    system, prompt = render(purpose, view.language, me=view.me, other=view.other, **slots)
    return (
        yield from ask(
            Question(
                verb="fill",
                purpose=purpose,
                tier=tier,
                who=view.me,
                system=system,
                prompt=prompt,
                language=view.language,
                schema=schema,
                fallback=fallback,
                temperature=temperature,
                max_tokens=max_tokens,
                check=check,
                seed=seed_of(*view.key, view.me, purpose, len(view.lines)),
                facts=facts,
            )
        )
    )


def listed(texts: Mapping[str, str] | tuple[str, ...]) -> str:
    """Texts with their ids in front, or numbered from 1; '' for none."""
    pairs = texts.items() if isinstance(texts, Mapping) else enumerate(texts, 1)
    return "\n".join(f"{key}. {text}" for key, text in pairs)


def labelled(view: TalkView, key: str, text: str) -> str:
    """A text after its label, a list below it; '' for nothing, without the label."""
    below = f"\n{text}" if "\n" in text else text
    return worded(view, key, text=below).replace(" \n", "\n", 1) if text else ""


def worded(view: TalkView, key: str, **slots: object) -> str:
    """Words of a course in the language of the world."""
    return phrase("course_words", key, view.language, me=view.me, other=view.other, **slots)


def known_text(view: TalkView, state: CourseState) -> str:
    """What is known of the client, the newest last; whatever contradicts something stands with it,
    however old.
    """
    known = state.known()
    disputed = {one for fact in known for one in fact.contradicts} | {
        fact.id for fact in known if fact.contradicts
    }
    kept = [
        fact
        for index, fact in enumerate(known)
        if fact.id in disputed or index >= len(known) - KNOWN_AT_MOST
    ]
    return "\n".join(_fact(view, fact) for fact in kept[-2 * KNOWN_AT_MOST :])


def _fact(view: TalkView, fact: FactLearned) -> str:
    between = "、" if view.language == "zh" else ", "
    against = (
        worded(view, "contradicts", what=between.join(fact.contradicts)) if fact.contradicts else ""
    )
    return worded(
        view,
        "fact",
        id=fact.id,
        session=fact.session,
        realm=worded(view, fact.realm),
        status=worded(view, "is fact" if fact.status == "fact" else fact.status),
        against=against,
        text=fact.text,
    )


def formulation_text(state: CourseState, therapy: Therapy) -> str:
    """What has been filled in about the client, by field."""
    found = []
    for field in therapy.conceptualization:
        rows = [" | ".join(row.cells) for row in state.formulated if row.field == field.id]
        if rows:
            found.append(f"{field.name}: " + "; ".join(rows[-6:]))
    return "\n".join(found)


def before_text(view: TalkView, state: CourseState) -> str:
    """The notes on the last two sessions."""
    return "\n".join(
        worded(
            view,
            "noted",
            session=review.session,
            state=review.client_state.rstrip(".。"),
            alliance=review.alliance,
            text=review.summary,
        )
        for review in state.reviews[-2:]
    )


def agenda(state: CourseState) -> tuple[str, ...]:
    """What is never to be said."""
    return (*state.planned.objective, *state.planned.goals) if state.planned else ()


def sayable(view: TalkView, state: CourseState) -> tuple[str, ...]:
    """What anybody may repeat: the lines of this session, what the client told before, and what was
    agreed.
    """
    agreed = [review.homework for review in state.reviews if review.homework]
    return (
        *(line.text for line in view.lines),
        *(text for fact in state.facts for text in (fact.quote, fact.text)),
        *agreed,
    )
