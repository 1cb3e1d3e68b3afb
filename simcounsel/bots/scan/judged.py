"""What a model says that a bot's lines do, beside the rules: one question for a talk.

It knows the marks by what they mean, and nothing of the client's file. How often it is right on
labelled lines is measured before its first talk (`checked_judge`).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from simcounsel.agents.tasks import Answer
from simcounsel.bots.scan.checked import Checked, against, labelled
from simcounsel.bots.scan.scanners import MARKS
from simcounsel.chance import seed_of
from simcounsel.llm.question import Ask, PromptOnly, Question, ask, ask_all
from simcounsel.prompts import render
from simcounsel.specs.vocabulary import Language

PROMPT = "bot_marks"
AT_ONCE = 8
"""Labelled lines in a question."""
Exchanged = tuple[str, str]


class LineMarks(Answer):
    """What one line of the bot does."""

    line: Annotated[int, Field(ge=1, description="the number of the bot's line")]
    marks: Annotated[tuple[str, ...], Field(description="what it does, by name; none if nothing")]


class TalkMarks(Answer):
    """What each line of the bot does."""

    lines: tuple[LineMarks, ...]


def judged(
    exchanged: Sequence[Exchanged], who: str, language: Language, seed: int
) -> Ask[tuple[frozenset[str], ...] | None]:
    """The marks of each of the bot's lines; None where no usable answer came. exchanged: each line
    of the client with the bot's answer.
    """
    reply = yield from ask(_question(exchanged, who, language, seed))
    return _read(reply.value, len(exchanged))


def checked_judge(language: Language) -> Ask[Mapping[str, Checked]]:
    """How often the judge is right on the labelled test lines of a language. What it does not
    answer counts as nothing found.
    """
    lines = labelled(language, "test")
    groups = [lines[at : at + AT_ONCE] for at in range(0, len(lines), AT_ONCE)]
    asked = tuple(
        _question([(one["before"], one["line"]) for one in some], f"labelled/{at}", language, at)
        for at, some in enumerate(groups)
    )
    replies = yield from ask_all(asked)
    found: list[frozenset[str]] = []
    for some, reply in zip(groups, replies, strict=True):
        found += _read(reply.value, len(some)) or [frozenset[str]()] * len(some)
    return against(lines, found)


def _question(
    exchanged: Sequence[Exchanged], who: str, language: Language, seed: int
) -> Question[TalkMarks | None]:
    talk = "\n".join(
        f"{at}. client: {before}\n{at}. bot: {line}"
        for at, (before, line) in enumerate(exchanged, 1)
    )
    system, prompt = render(PROMPT, language, talk=talk)
    return Question(
        verb="fill",
        purpose=PROMPT,
        who=who,
        tier="judge",
        of_world=True,
        language=language,
        system=system,
        prompt=prompt,
        schema=TalkMarks,
        check=lambda answer: _problem(answer, len(exchanged)),
        fallback=None,
        temperature=0.0,
        max_tokens=60 * len(exchanged) + 100,
        seed=seed_of(seed, PROMPT, who),
        facts=PromptOnly(),
    )


def _problem(answer: TalkMarks | None, count: int) -> str | None:
    if answer is None:
        return None
    strange = [one for line in answer.lines for one in line.marks if one not in MARKS]
    if strange:
        return f"{strange[0]!r} is none of the names: {', '.join(MARKS)}"
    off = next((line.line for line in answer.lines if line.line > count), None)
    return f"there is no line {off}; there are {count}" if off else None


def _read(answer: TalkMarks | None, count: int) -> tuple[frozenset[str], ...] | None:
    if answer is None:
        return None
    marks = {line.line: frozenset(line.marks) for line in answer.lines}
    return tuple(marks.get(at, frozenset()) for at in range(1, count + 1))
