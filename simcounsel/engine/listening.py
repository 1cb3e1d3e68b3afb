"""Listening for danger in what a client says."""

from collections.abc import Callable
from dataclasses import dataclass

from simcounsel.agents.talk import TalkView
from simcounsel.events import Assessed, Said
from simcounsel.llm.question import Ask
from simcounsel.policies.policy import Holding, Policy
from simcounsel.safety.answers import Asked
from simcounsel.safety.assessing import NOTHING_HEARD, assess
from simcounsel.safety.gate import VECTORS_BY
from simcounsel.safety.judging import LineContext
from simcounsel.specs.practice import SafetySettings
from simcounsel.specs.vocabulary import Danger


@dataclass(frozen=True, kw_only=True)
class Around:
    """What stands around a client's line."""

    context: LineContext
    """What it is judged with."""
    asked: tuple[Asked, ...] | None = None
    """What the line before asked about; None: by its words."""
    open: bool = False
    """Whether danger heard before is still open: then a model, if there is one, judges every
    line.
    """


def around(
    view: TalkView,
    policy: Policy,
    key: tuple[object, ...],
    asked: tuple[Asked, ...] | None,
    file: tuple[Danger, ...] | None,
) -> Around:
    """What stands around the last line of `view.other`. policy: of `view.me`, who hears it. file:
    the dangers in the client's file, where the line was chosen out of it.
    """
    some = [event for event in view.assessed if event.level != "none"]
    heard = {event.message for event in some}
    lines = view.lines[:-1]
    context = LineContext(
        who=view.other,
        key=key,
        language=view.language,
        before=lines[-1].text if lines else "",
        talk=tuple((line.who == view.other, line.text) for line in lines),
        earlier=tuple(line.text for number, line in enumerate(lines, 1) if number in heard),
        kinds=some[-1].kinds if some else (),
        file=file,
    )
    return Around(
        context=context, asked=asked, open=isinstance(policy, Holding) and policy.holds(view)
    )


Assess = Callable[[Said, Around], Ask[Assessed | None]]
"""How near danger is in a client's line; None: nothing was heard."""


def listening(safety: SafetySettings, embed: str = "") -> Assess | None:
    """How danger is listened for under these settings; None: not at all. A line in which there is
    nothing to wonder about leaves nothing in the log.

    embed: the name of the model for vectors.
    """
    if safety.counselors == "nothing":
        return None

    def hear(said: Said, around: Around) -> Ask[Assessed | None]:
        heard = yield from assess(
            said.text,
            around.context,
            chat=said.chat,
            message=said.message,
            every_line=around.open or safety.ask == "every_line",
            vectors=embed == VECTORS_BY,
            asked=around.asked,
        )
        wondered = heard.by == "model" or not heard.why.startswith(NOTHING_HEARD)
        return heard if heard.level != "none" or wondered else None

    return hear
