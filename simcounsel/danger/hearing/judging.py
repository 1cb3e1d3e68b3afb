"""The question with which a model judges the danger in a client's line: kinds, level, and what the
line says about it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from simcounsel.chance import seed_of
from simcounsel.events.practice import DangerDetails
from simcounsel.llm.question import Facts, Question
from simcounsel.prompts import phrase, render
from simcounsel.specs.vocabulary import Danger, RiskLevel

SHOWN = 6
"""How many lines before the client's are shown to a model."""
EARLIER = 4
"""How many of the lines before those, in which danger was heard, are shown too."""
Quoted = Annotated[str, Field(max_length=200)]


class RiskAnswer(BaseModel):
    """What a model says of the danger in a line. Everything in it that quotes is in the client's
    words.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)

    words: Annotated[
        tuple[Quoted, ...],
        Field(max_length=4, description="the client's words that it rests on, exactly; [] at none"),
    ] = ()
    kinds: Annotated[
        tuple[Danger, ...], Field(max_length=4, description="all that are there; [] at none")
    ] = ()
    level: RiskLevel
    when: Annotated[
        Quoted | None,
        Field(description="the client's words for the time it is meant for; null if none"),
    ] = None
    people: Annotated[
        tuple[Quoted, ...],
        Field(max_length=6, description="people in the client's words who matter to it or to help"),
    ] = ()
    means: Annotated[
        Quoted | None,
        Field(description="the client's words for what it would be done with; null if none"),
    ] = None
    whose: Annotated[
        Quoted | None,
        Field(
            description="the client's words for whose life or body it is; null: the client's own"
        ),
    ] = None

    def details(self, said: str) -> DangerDetails:
        """What it says about the danger, as far as the words are in what the client said."""
        return DangerDetails(
            when=_quoted(self.when, said),
            people=tuple(dict.fromkeys(one for one in self.people if _quoted(one, said))),
            means=_quoted(self.means, said),
            whose=_quoted(self.whose, said),
        )

    def quotes(self, said: str) -> tuple[str, ...]:
        """The words that it rests on, as far as they were said."""
        return tuple(one for one in self.words if _quoted(one, said))


def _quoted(words: str | None, said: str) -> str | None:
    """The words if they were said; case and curly quotes do not matter."""
    if not words or _plain(words) not in _plain(said):
        return None
    return words


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split()).strip(" .,!?;:…。，！？；：“”\"'")


@dataclass(frozen=True, kw_only=True)
class RiskFacts(Facts):
    """How near danger is in a client's line."""

    judged: ClassVar[bool] = True
    level: RiskLevel
    """What stands where no model can judge."""


@dataclass(frozen=True, kw_only=True)
class LineContext:
    """What a client's line is judged with."""

    who: str
    """The client."""
    key: tuple[object, ...]
    """What the seed depends on, such as (seed, tick, chat, message)."""
    language: str | None = None
    """Of the talk, as `hear` takes it."""
    before: str = ""
    """The line before it; '' if there is none."""
    talk: tuple[tuple[bool, str], ...] = ()
    """The lines before it, in order: whether it is the client's, and its text."""
    earlier: tuple[str, ...] = ()
    """The client's lines of this talk in which danger was heard before."""
    kinds: tuple[Danger, ...] = ()
    """The kinds of danger in the last of those."""
    noted: tuple[Danger, ...] | None = None
    """The dangers that earlier lines of this talk raised in doubt only, while none was heard; None:
    a line counts by itself.
    """
    file: tuple[Danger, ...] | None = None
    """The dangers in the client's file, where the line was chosen out of it; None: it was not."""


def judging(
    line: str, context: LineContext, heard: str, fallback: RiskAnswer
) -> Question[RiskAnswer]:
    """The question. heard: what the detector says, in words; '': nothing. fallback: what stands
    where no model can judge.
    """
    language = "zh" if context.language == "zh" else "en"
    system, prompt = render(
        "risk",
        language,
        before=_talk(context, language),
        line=line,
        earlier=_earlier(context, language),
        heard=heard or phrase("lived", "nothing_heard", language),
        taken=_taken_for(context.kinds, language),
    )
    return Question(
        verb="fill",
        language=language,
        purpose="risk",
        who=context.who,
        tier="quick",
        of_world=True,
        system=system,
        prompt=prompt,
        schema=RiskAnswer,
        fallback=fallback,
        facts=RiskFacts(level=fallback.level),
        temperature=0.0,
        max_tokens=300,
        seed=seed_of(*context.key, "risk"),
    )


def _talk(context: LineContext, language: str) -> str:
    shown = context.talk or (((False, context.before),) if context.before.strip() else ())
    if not shown:
        return phrase("lived", "nothing_before", language)
    return "\n".join(
        phrase("lived", "line_of_client" if client else "line_of_counselor", language, text=text)
        for client, text in shown[-SHOWN:]
    )


def _earlier(context: LineContext, language: str) -> str:
    shown = {text for _, text in context.talk[-SHOWN:]}
    some = [text for text in context.earlier if text not in shown][-EARLIER:]
    if not some:
        return ""
    lines = " ".join(f"“{one}”" for one in some)
    return phrase("lived", "danger_before", language, lines=lines) + "\n\n"


def _taken_for(kinds: Sequence[Danger], language: str) -> str:
    if not kinds:
        return ""
    named = ("、" if language == "zh" else ", ").join(kinds)
    return "\n" + phrase("lived", "taken_for", language, kinds=named)
