"""The danger in a client's line: the detector where its words leave no doubt, a model for the rest
and for what the line says about it.

A model is asked where danger was heard or is in doubt. The higher of its level and a floor counts
(`Heard.floor`): what was said openly, and one level below what hints add up to. So one hint alone
may be waved away by a model that knows better, since a word list cannot know what a cat that is
given away means; several of them together at most one level; and nothing that was said openly.
Whoever judges the level judges the kinds: a model's count beside those that were said openly.

Without a model that can judge, the detector's own level stands, but a line in doubt only is noted
and begins nothing, until a second one of the talk raises the same danger. A line that a stand-in
chose out of the client's file means no more than the file does (`in_file`).

Most hints in which no telling word falls, the detector does not hear at all, not even as doubt
(`detector` has the numbers). `every_line` is for where that weighs more than a request for each
line: a model is then asked about every line.
"""

from dataclasses import dataclass
from typing import Any, Literal

from simcounsel.danger.hearing.answers import Asked
from simcounsel.danger.hearing.detector import Heard, hear, takes_vectors
from simcounsel.danger.hearing.judging import LineContext, RiskAnswer, judging
from simcounsel.events.practice import Assessed
from simcounsel.llm.question import Ask, Reply, ask, embedding, traced
from simcounsel.safety.open_danger import higher
from simcounsel.specs.vocabulary import DANGERS, Danger, RiskLevel

NOTHING_HEARD = "nothing was heard"


def assess(
    line: str,
    context: LineContext,
    *,
    chat: str | None = None,
    message: int | None = None,
    every_line: bool = False,
    vectors: bool = False,
    asked: tuple[Asked, ...] | None = None,
) -> Ask[Assessed]:
    """What is in a client's line, with at most one request to a model that judges.

    chat, message: where the line stands, for the event. every_line: a model is asked also where
    nothing was heard. vectors: the classifier is given the line's vector, where the words alone are
    not sure of danger; the world's `embed` model has to be MiniLM then. asked: as `hear` takes it.
    `by` is "model" when one judged; a model that cannot (embedded, scripted) leaves it to the
    detector.
    """
    heard = hear(line, context.language, context.before, asked=asked)
    replies: list[Reply[Any]] = []
    if vectors and heard.floor == "none" and takes_vectors(line, context.language):
        seen = yield from ask(embedding("risk", context.who, (line,)))
        replies.append(seen)
        heard = hear(line, context.language, context.before, seen.value[0], asked)
    judged = None
    if heard.doubt or heard.level != "none" or (every_line and line.strip()):
        judged = yield from ask(judging(line, context, heard.why, _unjudged(heard, context)))
        replies.append(judged)
    found = _verdict(heard, judged, context)
    said = judged.value if judged and _judges(judged) and found.level != "none" else None
    quotes = said.quotes(line) if said else ()
    return Assessed(
        who=context.who,
        chat=chat,
        message=message,
        level=found.level,
        kinds=found.kinds,
        by=found.by,
        evidence=tuple(dict.fromkeys((*(one.words for one in heard.evidence), *quotes))),
        why=found.why or NOTHING_HEARD,
        details=said.details(line) if said else None,
        noted=heard.kinds if _waits(heard, context) and judged and not _judges(judged) else (),
        **traced(*replies),
    )


@dataclass(frozen=True, kw_only=True)
class _Verdict:
    """What it came to."""

    level: RiskLevel
    kinds: tuple[Danger, ...]
    by: Literal["words", "classifier", "model"]
    """Who raised it to its level, or was asked last."""
    why: str


def _verdict(heard: Heard, reply: Reply[RiskAnswer] | None, context: LineContext) -> _Verdict:
    why = "; ".join(part for part in (heard.why, heard.guess if heard.doubt else "") if part)
    if reply is None:
        return _Verdict(level=heard.level, kinds=heard.kinds, by=heard.by, why=why)
    judged = reply.value
    if not _judges(reply):
        if judged.level == heard.level and not heard.doubt:
            return _Verdict(level=heard.level, kinds=judged.kinds, by=heard.by, why=why)
        said = f"{why or NOTHING_HEARD}; {_no_judge(heard, judged.level, context)}"
        return _Verdict(level=judged.level, kinds=judged.kinds, by=heard.by, why=said)
    level = higher(heard.floor, judged.level)
    least = "" if judged.level == level else f", and {level} is the least after these words"
    openly = {one.kind for one in heard.evidence if one.level != "none" and not one.doubt}
    kinds = tuple(kind for kind in DANGERS if kind in {*openly, *judged.kinds})
    return _Verdict(
        level=level,
        kinds=(kinds or context.kinds or ("suicide",)) if level != "none" else (),
        by="model" if heard.doubt or level != heard.level or level == "none" else heard.by,
        why=f"{why or NOTHING_HEARD}; {reply.model or 'a model'} says {judged.level}{least}",
    )


def _judges(reply: Reply[RiskAnswer]) -> bool:
    """Whether a model that can judge gave it."""
    return reply.source not in ("chosen", "fallback")


def _unjudged(heard: Heard, context: LineContext) -> RiskAnswer:
    """What stands where no model can judge: the detector's level, and low in a language without
    words, so that the counselor asks plainly and names help. A hint in a line out of a file that
    holds no danger is none.
    """
    level: RiskLevel = "low" if heard.strange and heard.level == "none" else heard.level
    if (context.file == () and heard.doubt) or _waits(heard, context):
        level = heard.floor
    return RiskAnswer(level=level, kinds=_kinds(heard, level, context.kinds))


def _waits(heard: Heard, context: LineContext) -> bool:
    """Whether danger in doubt begins nothing yet, since no other line of the talk raised it."""
    if context.noted is None or context.kinds or context.file is not None:
        return False
    return heard.waits(context.noted)


def _no_judge(heard: Heard, level: RiskLevel, context: LineContext) -> str:
    if _waits(heard, context):
        return "no model that can judge it was there, so it waits for a second line that says so"
    if context.file == () and level != heard.level:
        return "the line is out of the client's file, which holds no danger"
    stands = "so it is asked about" if level != heard.level else "so the detector's level stands"
    return f"no model that can judge it was there, {stands}"


def _kinds(heard: Heard, level: RiskLevel, before: tuple[Danger, ...]) -> tuple[Danger, ...]:
    """The kinds that the detector heard; where no words tell any, those that raised the doubt, or
    what was heard before, or the one that the classifier takes for likeliest, or suicide, which is
    asked about first.
    """
    if level == "none":
        return ()
    if heard.kinds and not (heard.by == "classifier" and before):
        return heard.kinds
    doubted = tuple(kind for kind in DANGERS if heard.first(kind))
    return doubted or before or (heard.likeliest or "suicide",)
