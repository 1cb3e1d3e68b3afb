"""What a human in the counselor's seat is reminded of while a client's danger is open."""

from collections.abc import Iterator, Sequence

from simcounsel.safety.detector import hear
from simcounsel.safety.help import Help, notice
from simcounsel.safety.left_open import NOTHING_OPEN, HeardIn, OpenDanger, left_open


def reminder(
    lines: Sequence[tuple[str, str]],
    client: str,
    language: str,
    locale: str,
    before: OpenDanger = NOTHING_OPEN,
) -> str | None:
    """What to do before the conversation ends; None while no danger is open. lines: (who, text) so
    far. before: what the last conversation of the two left open.

    Heard by the detector alone, at once: what only a model hears is not in it.
    """
    heard = tuple(_heard(lines, client, language))
    help_ = Help(locale=locale, language=language)
    open_ = left_open(lines, client, heard, help_, before)
    if not open_:
        return None
    return notice(
        "open" if heard else "before_open", language, locale, other=client, dangers=open_.kinds
    )


def _heard(lines: Sequence[tuple[str, str]], client: str, language: str) -> Iterator[HeardIn]:
    for number, (who, text) in enumerate(lines, 1):
        if who != client:
            continue
        found = hear(text, language, lines[number - 2][1] if number > 1 else "")
        if found.level != "none":
            yield HeardIn(
                message=number,
                level=found.level,
                kinds=found.kinds,
                words=tuple(one.words for one in found.evidence),
            )
