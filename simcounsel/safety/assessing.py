"""How near danger is in a client's line: the detector where its words leave no doubt, a model where
they do.

A model is asked only in doubt. The higher of its level and a floor counts (`Heard.floor`): what was
said openly, and one level below what hints add up to. So one hint alone may be waved away by a
model that knows better, since a word list cannot know what a cat that is given away means; several
of them together at most one level; and nothing that was said openly. Without a model that can
judge, the detector's own level stands: a question too many rather than a danger unheard.

Most hints in which no telling word falls, the detector does not hear at all, not even as doubt
(`detector` has the numbers). `every_line` is for where that weighs more than a request for each
line: a model is then asked about all that is no clear danger.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from simcounsel.chance import seed_of
from simcounsel.events.practice import Assessed
from simcounsel.llm.question import Ask, Facts, Question, Reply, ask, embedding, traced
from simcounsel.prompts import phrase, render
from simcounsel.safety.answers import Asked
from simcounsel.safety.detector import Heard, hear, takes_vectors
from simcounsel.safety.weighing import higher
from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS, Danger, RiskLevel

NOTHING_HEARD = "nothing was heard"
ITEM_LEVELS: dict[int, RiskLevel] = {0: "none", 1: "low", 2: "high", 3: "high"}
"""PHQ-9's item 9: not at all, several days, more than half the days, nearly every day."""


EARLIER = 4
"""So many lines in which danger was heard before are shown to a model."""


@dataclass(frozen=True, kw_only=True)
class RiskFacts(Facts):
    """How near danger is in a client's line."""

    level: RiskLevel
    """What the detector heard; it stands where no model can judge."""


def assess(
    line: str,
    before: str = "",
    *,
    who: str,
    key: tuple[object, ...],
    language: str | None = None,
    chat: str | None = None,
    message: int | None = None,
    every_line: bool = False,
    vectors: bool = False,
    asked: Sequence[Asked] | None = None,
    earlier: Sequence[str] = (),
    kinds_before: Sequence[Danger] = (),
) -> Ask[Assessed]:
    """What is in a client's line. At most one request, and none where the detector is sure;
    every_line: only where it is sure of danger.

    before: the counselor's line before it, '' if there is none. who: the client. key: what the
    seed of the question depends on, such as (seed, tick, chat, message). language: of the talk, as
    `hear` takes it. chat, message: where the line stands, for the event. `by` is "model" when one
    judged; a model that cannot (embedded, scripted) leaves it to the detector. vectors: the
    classifier is given the line's vector, where the words alone are not sure of danger; the world's
    `embed` model has to be MiniLM then. asked: as `hear` takes it. earlier: the client's lines of
    this talk in which danger was heard before; the last few are shown to the model. kinds_before:
    what was heard last in it, which a line is about where its words tell of none.
    """
    heard = hear(line, language, before, asked=asked)
    replies: list[Reply[Any]] = []
    if vectors and heard.floor == "none" and takes_vectors(line, language):
        seen = yield from ask(embedding("risk", who, (line,)))
        replies.append(seen)
        heard = hear(line, language, before, seen.value[0], asked)
    level: RiskLevel = heard.level
    by: Literal["words", "classifier", "model"] = heard.by
    why = "; ".join(part for part in (heard.why, heard.guess if heard.doubt else "") if part)
    if heard.doubt or (every_line and heard.level == "none" and line.strip()):
        reply = yield from ask(_question(line, before, who, key, heard, language, earlier))
        judged = reply.value
        replies.append(reply)
        if reply.source in ("chosen", "fallback"):
            level = _unjudged(heard)
            stands = (
                "so it is asked about" if level != heard.level else "so the detector's level stands"
            )
            why = f"{why or NOTHING_HEARD}; no model that can judge it was there, {stands}"
        else:
            level, by = higher(heard.floor, judged), "model"
            least = "" if judged == level else f", and {level} is the least after these words"
            why = f"{why or NOTHING_HEARD}; {reply.model or 'a model'} says {judged}{least}"
    return Assessed(
        who=who,
        chat=chat,
        message=message,
        level=level,
        kinds=_kinds(heard, level, kinds_before),
        by=by,
        evidence=tuple(dict.fromkeys(one.words for one in heard.evidence)),
        why=why or NOTHING_HEARD,
        **traced(*replies),
    )


def _unjudged(heard: Heard) -> RiskLevel:
    """The level where a model was wanted and none can judge: the detector's, and low in a language
    without words, so that the counselor asks plainly and names help.
    """
    return "low" if heard.strange and heard.level == "none" else heard.level


def _question(
    line: str,
    before: str,
    who: str,
    key: tuple[object, ...],
    heard: Heard,
    language: str | None,
    earlier: Sequence[str],
) -> Question[RiskLevel]:
    spoken = "zh" if language == "zh" else "en"
    some = " ".join(f"“{one}”" for one in earlier[-EARLIER:])
    system, prompt = render(
        "risk",
        spoken,
        before=before.strip() or phrase("lived", "nothing_before", spoken),
        line=line,
        earlier=phrase("lived", "danger_before", spoken, lines=some) + "\n\n" if some else "",
        heard=heard.why or phrase("lived", "nothing_heard", spoken),
    )
    return Question(
        verb="choose",
        language=spoken,
        purpose="risk",
        who=who,
        tier="quick",
        of_world=True,
        system=system,
        prompt=prompt,
        options=RISK_LEVELS,
        fallback=_unjudged(heard),
        facts=RiskFacts(level=_unjudged(heard)),
        temperature=0.0,
        max_tokens=20,
        seed=seed_of(*key, "risk"),
    )


def _kinds(heard: Heard, level: RiskLevel, before: Sequence[Danger]) -> tuple[Danger, ...]:
    """The kinds that were heard; where no words tell any, those that raised the doubt, or what was
    heard before, or the one that the classifier takes for likeliest, or suicide, which is asked
    about first.
    """
    if level == "none":
        return ()
    if heard.kinds and not (heard.by == "classifier" and before):
        return heard.kinds
    doubted = tuple(kind for kind in DANGERS if heard.first(kind))
    return doubted or tuple(before) or (heard.likeliest or "suicide",)


def raised_by_item(value: float) -> RiskLevel:
    """What an answer to PHQ-9's item 9 ("better off dead, or hurting yourself") raises danger to: 1
    low, 2 and 3 high.

    ValueError when the value is none of the item's.
    """
    if value not in ITEM_LEVELS:
        raise ValueError(f"PHQ-9's item 9 is answered 0, 1, 2 or 3, not {value!r}")
    return ITEM_LEVELS[int(value)]


def assessed_by_item(value: float, *, who: str) -> Assessed:
    """The event after a questionnaire; its level is none for 0."""
    level = raised_by_item(value)
    return Assessed(
        who=who,
        chat=None,
        message=None,
        level=level,
        kinds=("suicide", "self_harm") if level != "none" else (),
        by="questionnaire",
        evidence=(),
        why=f"PHQ-9, item 9 (thoughts of being better off dead or of self-harm): {value:g} of 3",
    )
