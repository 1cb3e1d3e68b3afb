"""What a client answered to a question of the safety protocol: by words that leave no doubt, or by
a model.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

from simcounsel.agents.talk import TalkView
from simcounsel.chance import seed_of
from simcounsel.danger.hearing.answers import takes_up_an_offer
from simcounsel.danger.hearing.grammar import Line
from simcounsel.danger.hearing.lexicon import lexicons
from simcounsel.danger.protection.data import told, words
from simcounsel.danger.protection.known import known
from simcounsel.danger.protection.ladder import NAMING, SETTLING, Step, Verdict
from simcounsel.danger.protection.saying import said_in
from simcounsel.danger.protection.state import ProtocolState
from simcounsel.danger.protection.telling import conditional, time_named
from simcounsel.llm.question import Ask, Facts, Question, Reply, ask
from simcounsel.prompts import render

_CLAUSE_END = re.compile(r"[,.!;:?…，。！；：？~～\-—]")
OPTIONS: tuple[Verdict, ...] = ("yes", "no", "unclear", "refuses", "conditional")
By = Literal["model", "words", "rule"]


@dataclass(frozen=True, kw_only=True)
class SafetyAnswerFacts(Facts):
    """What a client answered to a question of the safety protocol."""

    step: Step
    """The step that asked."""
    answer: str
    """The client's line."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How an answer was read."""

    verdict: Verdict
    by: By
    """Whose verdict it is."""
    reason: str
    replies: tuple[Reply[Verdict], ...] = ()
    """The model's, if one was asked."""


def read_answer(view: TalkView, protocol: ProtocolState) -> Ask[Reading]:
    """What was heard of danger in the answer itself goes before its words, and words that leave no
    doubt before a model.
    """
    step = protocol.state
    assert step is not None and view.heard is not None
    if step in NAMING and protocol.asking in protocol.last_kinds and protocol.last != "none":
        return Reading(
            verdict="passive" if protocol.last == "low" else "yes",
            by="rule",
            reason=f"{protocol.last} danger was heard in the answer",
        )
    if step == "intent" and protocol.last == "imminent":
        return Reading(verdict="yes", by="rule", reason="imminent danger was heard in the answer")
    plain = _plain(step, view)
    plain = plain or _by_time(step, view.heard.text, view.language)
    if plain:
        return Reading(verdict=plain, by="words", reason=f"“{view.heard.text[:60]}”")
    reply = yield from ask(_question(view, step, protocol))
    return Reading(
        verdict=reply.value,
        by="rule" if reply.problem else "model",
        reason="no usable answer of a model" if reply.problem else "the model's reading",
        replies=(reply,),
    )


def _plain(step: Step, view: TalkView) -> Verdict | None:
    """The answer in words that leave no doubt. Whoever takes up an offer, as of an exercise, says
    yes only where the step made one.
    """
    assert view.heard is not None
    answers = words(view.language)["answers"]
    found = plain_answer(view.heard.text, answers, _reassures(step), called=view.me)
    offered = found == "yes" and step not in SETTLING and _takes_up_an_offer(view)
    return None if offered else found


def _takes_up_an_offer(view: TalkView) -> bool:
    lexicon = lexicons().get(view.language)
    return (
        lexicon is not None
        and view.heard is not None
        and takes_up_an_offer(Line(view.heard.text, lexicon))
    )


def _by_time(step: Step, text: str, language: str) -> Verdict | None:
    """A day that is named is a plan, and today's an intent; what holds only later, or in a case, is
    no plain no.
    """
    today = time_named(text, language)
    if today is not None and step == "plan":
        return "yes"
    if today is not None and step in ("intent", "intent_also"):
        return "yes" if today else "conditional"
    return "conditional" if conditional(text, language) else None


def _reassures(step: Step) -> Verdict:
    """The answer after which less is asked."""
    return "yes" if step in SETTLING else "no"


def plain_answer(
    text: str, answers: dict[str, Any], reassures: Verdict = "no", *, called: str = ""
) -> Verdict | None:
    """yes, no or refuses where the words leave no doubt; None otherwise. An answer that reassures
    counts only where nothing follows but what bears it out, or the name of whom it is said to
    (called); any other by how it begins, up to a comma or a full stop, unless something after it
    turns it round. Words that only agree ("okay") are a yes to what is to be done; to any other
    question they are none, and what follows them is the answer ("All right. Yes, I do").
    """
    if reassures == "yes":
        answers = answers | {"yes": [*answers["yes"], *answers["agrees"]]}
    plain = re.sub(r"['’]", "", text.casefold()).strip()
    first, *rest = [clause.strip() for clause in _CLAUSE_END.split(plain) if clause.strip()] or [""]
    if reassures != "yes" and first in answers["agrees"] and rest:
        first, *rest = rest
    verdicts: tuple[Verdict, ...] = ("refuses", "no", "yes")
    for verdict in verdicts:
        if plain.strip(" .!?,。！？，…") in answers[verdict]:
            return verdict
    found = next((verdict for verdict in verdicts if first in answers[verdict]), None)
    if found is None or any(_within(plain, word) for word in answers["turns"]):
        return None
    if found == reassures:
        settles = [
            *answers["settles"][found],
            *([re.escape(re.sub("['’]", "", called.casefold()))] if called else []),
        ]
        return (
            found if all(_bears_out(clause, answers[found], settles) for clause in rest) else None
        )
    contrary: Verdict = "no" if found == "yes" else "yes"
    return (
        None
        if any(_within(clause, word) for clause in rest for word in answers[contrary])
        else found
    )


def _bears_out(clause: str, same: list[str], settles: list[str]) -> bool:
    return clause in same or any(re.fullmatch(form, clause) for form in settles)


def _within(text: str, word: str) -> bool:
    return re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", text) is not None


def _question(view: TalkView, step: Step, protocol: ProtocolState) -> Question[Verdict]:
    asked = next((line.text for line in reversed(view.lines) if line.who == view.me), "")
    assert view.heard is not None
    kind = protocol.asked_by(step)
    system, prompt = render(
        "safety_answer",
        view.language,
        aim=said_in(step, protocol.about, kind, view.language).about["aim"],
        known=known(protocol, view, kind, to_read=True),
        passive="\n" + told(view.language)["passive"] if step in NAMING else "",
        asked=asked,
        answer=view.heard.text,
    )
    return Question(
        verb="choose",
        language=view.language,
        purpose="safety_answer",
        who=view.me,
        tier="quick",
        system=system,
        prompt=prompt,
        options=(*OPTIONS, "passive") if step in NAMING else OPTIONS,
        fallback="unclear",
        temperature=0.0,
        max_tokens=8,
        seed=seed_of(*view.key, "safety", len(view.lines)),
        facts=SafetyAnswerFacts(step=step, answer=view.heard.text),
    )
