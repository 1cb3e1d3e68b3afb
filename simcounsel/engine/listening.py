"""Listening for danger in what a client says."""

from collections.abc import Callable, Sequence

from simcounsel.events import Assessed, Said
from simcounsel.llm.question import Ask
from simcounsel.safety.answers import Asked
from simcounsel.safety.assessing import NOTHING_HEARD, assess
from simcounsel.safety.gate import VECTORS_BY
from simcounsel.specs.practice import SafetySettings

Assess = Callable[
    [Said, str, tuple[object, ...], str, Sequence[Asked] | None], Ask[Assessed | None]
]
"""How near danger is in a client's line, from the line, the line before it, a key for chance,
the language and what the line before asked about (None: by its words); None: nothing was heard.
"""


def listening(safety: SafetySettings, embed: str = "") -> Assess | None:
    """How danger is listened for under these settings; None: not at all. A line in which there is
    nothing to wonder about leaves nothing in the log.

    embed: the name of the model for vectors.
    """
    if safety.counselors == "nothing":
        return None

    def hear(
        said: Said,
        before: str,
        key: tuple[object, ...],
        language: str,
        asked: Sequence[Asked] | None = None,
    ) -> Ask[Assessed | None]:
        heard = yield from assess(
            said.text,
            before,
            who=said.who,
            key=key,
            language=language,
            chat=said.chat,
            message=said.message,
            every_line=safety.ask == "every_line",
            vectors=embed == VECTORS_BY,
            asked=asked,
        )
        return heard if heard.level != "none" or heard.why != NOTHING_HEARD else None

    return hear
