"""Listening for danger in what a client says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simcounsel.agents.talk import TalkView
from simcounsel.events import Assessed, Said
from simcounsel.llm.question import Ask
from simcounsel.policies.policy import Holding, Policy
from simcounsel.safety.answers import Asked
from simcounsel.safety.assessing import NOTHING_HEARD, assess
from simcounsel.safety.gate import VECTORS_BY
from simcounsel.specs.practice import SafetySettings
from simcounsel.specs.vocabulary import Danger


@dataclass(frozen=True, kw_only=True)
class Around:
    """What stands around a client's line."""

    before: str = ""
    """The line before it."""
    key: tuple[object, ...]
    """What chance depends on."""
    language: str
    """Of the talk."""
    asked: Sequence[Asked] | None = None
    """What the line before asked about; None: by its words."""
    earlier: tuple[str, ...] = ()
    """The lines of this talk in which danger was heard before."""
    open: bool = False
    """Whether that danger is still open: then a model, if there is one, judges every line."""
    kinds_before: tuple[Danger, ...] = ()
    """The kinds of danger in the last line in which some was heard."""


def around(
    view: TalkView, policy: Policy, key: tuple[object, ...], asked: Sequence[Asked] | None
) -> Around:
    """What stands around the last line of `view.other`. policy: of `view.me`, who hears it."""
    some = [event for event in view.assessed if event.level != "none"]
    heard = {event.message for event in some}
    return Around(
        before=view.lines[-2].text if len(view.lines) > 1 else "",
        key=key,
        language=view.language,
        asked=asked,
        earlier=tuple(line.text for number, line in enumerate(view.lines, 1) if number in heard),
        open=isinstance(policy, Holding) and policy.holds(view),
        kinds_before=some[-1].kinds if some else (),
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
            around.before,
            who=said.who,
            key=around.key,
            language=around.language,
            chat=said.chat,
            message=said.message,
            every_line=around.open or safety.ask == "every_line",
            vectors=embed == VECTORS_BY,
            asked=around.asked,
            earlier=around.earlier,
            kinds_before=around.kinds_before,
        )
        wondered = heard.by == "model" or not heard.why.startswith(NOTHING_HEARD)
        return heard if heard.level != "none" or wondered else None

    return hear
