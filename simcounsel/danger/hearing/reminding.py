"""What a human in the counselor's seat is reminded of while a client's danger is open."""

from collections.abc import Iterator, Sequence

from simcounsel.danger.hearing.assessing import assess
from simcounsel.danger.hearing.judging import LineContext
from simcounsel.danger.hearing.left_open import HeardIn, heard_in, left_open
from simcounsel.events.practice import Assessed
from simcounsel.llm.question import Ask, Question, Reply
from simcounsel.safety.help import Help, notice
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger


def reminder(
    lines: Sequence[tuple[str, str]],
    client: str,
    language: str,
    locale: str,
    before: OpenDanger = NOTHING_OPEN,
) -> str | None:
    """What to do before the conversation ends; None while no danger is open. lines: (who, text) so
    far. before: what the last conversation of the two left open.

    Heard at once, without a model: what only a model hears is not in it.
    """
    heard = heard_at_once(lines, client, language)
    help_ = Help(locale=locale, language=language)
    open_ = left_open(lines, client, heard, help_, before)
    if not open_:
        return None
    return notice(
        "open" if heard else "before_open", language, locale, other=client, dangers=open_.kinds
    )


def heard_at_once(
    lines: Sequence[tuple[str, str]], client: str, language: str
) -> tuple[HeardIn, ...]:
    """Danger in a client's lines by the detector alone. lines: (who, text) from the first."""
    return heard_in(_assessed(lines, client, language))


def _assessed(lines: Sequence[tuple[str, str]], client: str, language: str) -> Iterator[Assessed]:
    for number, (who, text) in enumerate(lines, 1):
        if who == client:
            before = lines[number - 2][1] if number > 1 else ""
            context = LineContext(who=who, key=(), language=language, before=before)
            yield _alone(assess(text, context, message=number))


def _alone(asking: Ask[Assessed]) -> Assessed:
    """What it comes to where no model can judge."""
    try:
        question = next(asking)
        while isinstance(question, Question):
            question = asking.send(Reply(value=question.fallback, source="fallback"))
    except StopIteration as done:
        assessed: Assessed = done.value
        return assessed
    raise TypeError("one line raises one question at a time")
