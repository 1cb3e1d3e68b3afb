"""What a client asks itself: which of its defenses was touched, what was agreed, what has become
clear.
"""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from simcounsel.agents.talk import TalkView
from simcounsel.agents.tasks import Answer
from simcounsel.agents.views import talk_text
from simcounsel.chance import seed_of
from simcounsel.llm.question import Facts, Question
from simcounsel.prompts import phrase, render

NOT_TOUCHED = "none"


@dataclass(frozen=True, kw_only=True)
class TouchedFacts(Facts):
    """Which of a client's defenses a line touched."""

    heard: str
    """The counselor's line."""
    defenses: tuple[str, ...]
    """In the order of the question's options after `none`."""


@dataclass(frozen=True, kw_only=True)
class AgreedFacts(Facts):
    """What was agreed for the time until the next session."""

    lines: tuple[str, ...]
    """The counselor's, of the session."""


@dataclass(frozen=True, kw_only=True)
class InsightFacts(Facts):
    """What has become clear to a client about one of its defenses."""

    defense: str
    """That one."""


class AgreedAnswer(Answer):
    """What was agreed. Both empty when there was nothing."""

    agreed: Annotated[str, Field(max_length=200)] = ""
    quote: Annotated[str, Field(max_length=400)] = ""


class InsightAnswer(Answer):
    """What has become clear."""

    insight: Annotated[str, Field(min_length=8, max_length=240)]


def touched(view: TalkView, heard: str) -> Question[str]:
    """Which of its defenses the counselor's last line touched, by what was said alone."""
    options = (NOT_TOUCHED, *(f"defense {number}" for number in range(1, len(view.defenses) + 1)))
    listed = "\n".join(
        f"defense {number}: {defense}" for number, defense in enumerate(view.defenses, 1)
    )
    system, prompt = render(
        "client_touched", view.language, me=view.me, other=view.other, heard=heard, defenses=listed
    )
    return Question(
        verb="choose",
        purpose="client_touched",
        tier="quick",
        who=view.me,
        system=system,
        prompt=prompt,
        options=options,
        fallback=NOT_TOUCHED,
        temperature=0.0,
        max_tokens=10,
        seed=seed_of(*view.key, view.me, "touched", len(view.lines)),
        facts=TouchedFacts(heard=heard, defenses=view.defenses),
    )


def agreed(view: TalkView) -> Question[AgreedAnswer]:
    """What was agreed for the time until the next session, with the words that suggested it."""
    system, prompt = render(
        "client_agreed", view.language, me=view.me, other=view.other, talk=talk_text(view.lines)
    )
    return Question(
        verb="fill",
        purpose="client_agreed",
        tier="quick",
        who=view.me,
        system=system,
        prompt=prompt,
        schema=AgreedAnswer,
        fallback=AgreedAnswer(),
        temperature=0.0,
        max_tokens=160,
        seed=seed_of(*view.key, view.me, "agreed"),
        facts=AgreedFacts(lines=tuple(line.text for line in view.lines if line.who == view.other)),
    )


def insight(view: TalkView, defense: str) -> Question[InsightAnswer]:
    """What has become clear about a defense."""
    system, prompt = render(
        "client_insight",
        view.language,
        me=view.me,
        other=view.other,
        defense=defense,
        talk=talk_text(view.lines[-12:]),
    )
    return Question(
        verb="fill",
        purpose="client_insight",
        who=view.me,
        system=system,
        prompt=prompt,
        schema=InsightAnswer,
        fallback=InsightAnswer(
            insight=phrase("client_words", "clear", view.language, defense=defense)[:240]
        ),
        temperature=0.5,
        max_tokens=120,
        seed=seed_of(*view.key, view.me, "insight"),
        facts=InsightFacts(defense=defense),
    )
