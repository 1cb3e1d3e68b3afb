"""What a trainee takes home from a session: what went well, one thing to try, what was counted, and
where the client spoke of danger what was done about it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from simcounsel.bench.protocol.crises import Crisis
from simcounsel.bench.protocol.playing import Transcript, Turn
from simcounsel.bench.protocol.rules import CHECKS, checked
from simcounsel.chance import seed_of
from simcounsel.danger.hearing.detector import heard_by_words
from simcounsel.envs.danger import voiced
from simcounsel.instruments.material import CLIENT
from simcounsel.instruments.talk import count
from simcounsel.llm.question import Ask, Facts, Question, ask
from simcounsel.packaged import packaged
from simcounsel.practice.exchange import RULES, Exchange, lines_in
from simcounsel.practice.feedback import Moment, by_rules, is_in
from simcounsel.practice.skills import example_of, helping_skills, words_in
from simcounsel.prompts import render

IN_THE_BENCHMARK_ONLY = {"let_be", "one_question", "nothing_twice", "limits_said"}
"""Checks that are not of what is done about danger, or need a script."""
MOST_WELL = 3
Counts = dict[str, float | None]


class Well(BaseModel):
    """A place that went well."""

    line: int
    quote: str = Field(min_length=1, max_length=2000)
    why: str = Field(min_length=1, max_length=400)


class ReportAnswer(BaseModel):
    """What a supervisor says of a session."""

    well: Annotated[list[Well], Field(min_length=1, max_length=MOST_WELL)]
    next: str = Field(min_length=1, max_length=600)
    line: str = Field(max_length=400)


@dataclass(frozen=True, kw_only=True)
class ReportFacts(Facts):
    """A session to be spoken about; only a model that reads can judge it."""

    drawn: ClassVar[bool] = False
    judged: ClassVar[bool] = True
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a rule of the danger protocol came to."""

    name: str
    """Of the rule, as `bench protocol` has it."""
    what: str
    """In words."""
    holds: bool
    line: int | None
    """Of the trainee's lines the one that decides, from 1; None: that there is none decides."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Of one session."""

    well: tuple[dict[str, Any], ...]
    """What went well: the number of the trainee's line, the quote, why."""
    next: str
    """The one thing to try."""
    line: str
    """How it could sound; '' where the rules have nothing."""
    example: bool
    """Whether that is a line from a skill's file, about another client."""
    counts: Counts
    """lines, open, closed, reflections, advice, longest (words of the longest line), talk_share
    (the trainee's words in all words; None where nothing was said), taken_back."""
    used: dict[str, int]
    """How many lines were each skill, by its id."""
    missed: dict[str, int]
    """How often another skill was called for, by its id."""
    openness: tuple[float, float] | None
    """The client's at the beginning and at the end, 0 to 10; None where it is not known."""
    danger: tuple[Check, ...]
    """() where the client spoke of none."""
    by: str
    """`rules`, or the model's name."""


def reported(
    moments: Sequence[Moment],
    exchanges: Sequence[Exchange],
    taken_back: Sequence[Exchange],
    locale: str,
    seed: int,
) -> Ask[Report]:
    """The report of a session of one line at least, from the judge tier or by rules. moments: of
    each exchange. locale: whose help lines hold.
    """
    lines = lines_in(exchanges)
    danger = debriefed(lines, moments[0].language, locale)
    counts = counted(lines, len(taken_back))
    plain, example = by_rule(moments, counts, danger)
    question = _question(moments, exchanges, taken_back, counts, danger, plain, seed)
    reply = yield from ask(question)
    own = reply.value != question.fallback
    told = reply.value if own else plain
    fits = [one.feedback or by_rules(at) for one, at in zip(exchanges, moments, strict=True)]
    shifts = [one.shift for one in exchanges if one.shift]
    return Report(
        well=tuple(one.model_dump() for one in told.well),
        next=told.next,
        line=told.line,
        example=example and not own,
        counts=counts,
        used=dict(Counter(one.skill for one in fits)),
        missed=dict(Counter(one.fits for one in fits if one.fits != one.skill)),
        openness=(shifts[0].before, shifts[-1].after) if shifts else None,
        danger=danger,
        by=reply.model if own else RULES,
    )


def counted(lines: Sequence[tuple[str, str]], taken_back: int = 0) -> Counts:
    """What `talk_measures` counts, of one session: `Report.counts`."""
    found = count(lines)
    words = found.counselor_words + found.client_words
    return {
        "lines": found.turns,
        "open": found.open_questions,
        "closed": found.questions - found.open_questions,
        "reflections": found.reflections,
        "advice": found.advice,
        "longest": max((words_in(text) for who, text in lines if who != CLIENT), default=0),
        "talk_share": round(found.counselor_words / words, 2) if words else None,
        "taken_back": taken_back,
    }


def debriefed(lines: Sequence[tuple[str, str]], language: str, locale: str) -> tuple[Check, ...]:
    """The rules of the danger protocol over a session; () where the client spoke of no danger. Only
    what was said openly counts.
    """
    found = {one.line: one.kind for one in voiced(lines)}
    if not found:
        return ()
    turns = tuple(
        Turn(
            speaker="client" if who == CLIENT else "counselor",
            text=text,
            shows=heard_by_words(text).floor if at in found else "none",
        )
        for at, (who, text) in enumerate(lines, 1)
    )
    kinds = tuple(dict.fromkeys(found.values()))
    crisis = Crisis.model_construct(
        language=language, locale=locale, dangers=kinds, skips={}, wants_secrecy=None
    )
    own = [number for number, (who, _) in enumerate(lines, 1) if who != CLIENT]
    words = practice_words(language)["checks"]
    return tuple(
        Check(
            name=name,
            what=words.get(name, CHECKS[name][1]),
            holds=one.holds,
            line=own.index(one.line) + 1 if one.line in own else None,
        )
        for name, one in checked(crisis, Transcript.model_construct(turns=turns)).items()
        if one.holds is not None and name not in IN_THE_BENCHMARK_ONLY
    )


def practice_words(language: str) -> dict[str, dict[str, str]]:
    """What pages and rules say in a language; in English where there is nothing."""
    texts: dict[str, dict[str, dict[str, str]]] = packaged("simcounsel.practice", "words.yaml")
    return texts.get(language, texts["en"])


def by_rule(
    moments: Sequence[Moment], counts: Counts, danger: Sequence[Check]
) -> tuple[ReportAnswer, bool]:
    """What the rules say went well and what to try; whether its line is from a skill's file."""
    language = moments[0].language
    words = practice_words(language)["report"]
    broken = next((one.what for one in danger if not one.holds), None)
    name = "danger" if broken else _to_try(counts)
    skill = helping_skills(language).get("reflection" if name == "advice" else name)
    line = example_of(skill, len(moments), language)[1] if skill else ""
    answer = ReportAnswer.model_construct(
        well=[*_well(moments, words["opened"])],
        next=words[name].format(what=broken, **counts),
        line=line,
    )
    return answer, bool(line)


def _to_try(counts: Counts) -> str:
    """Which of the texts for the one thing to try."""
    number = {name: value or 0 for name, value in counts.items()}
    if number["advice"] >= 2:
        return "advice"
    if number["lines"] >= 3 and not number["reflections"]:
        return "reflection"
    if number["closed"] >= 2 and number["closed"] > number["open"]:
        return "open_question"
    return "share" if number["talk_share"] > 0.5 else "keep"


def _well(moments: Sequence[Moment], opened: str) -> list[Well]:
    """The lines with which the client opened most; without any those that are a helping skill."""
    risen = sorted(
        (one.shift.before - one.shift.after, at, one.shift.quote, one.shift)
        for at, one in enumerate(moments, 1)
        if one.shift and one.shift.quote and one.shift.after > one.shift.before
    )
    if risen:
        return [
            Well(
                line=at,
                quote=quote,
                why=opened.format(before=f"{shift.before:g}", after=f"{shift.after:g}"),
            )
            for _, at, quote, shift in risen[:MOST_WELL]
        ]
    fits = ((at, one, by_rules(one)) for at, one in enumerate(moments, 1))
    return [
        Well(line=at, quote=one.said, why=f"{found.name}: {found.reason}")
        for at, one, found in fits
        if found.fits == found.skill and found.skill not in ("opening", "closing", "minimal")
    ][:MOST_WELL]


def _question(
    moments: Sequence[Moment],
    exchanges: Sequence[Exchange],
    taken_back: Sequence[Exchange],
    counts: Counts,
    danger: Sequence[Check],
    plain: ReportAnswer,
    seed: int,
) -> Question[ReportAnswer]:
    one, lines, share = moments[0], lines_in(exchanges), counts["talk_share"]
    checks = "; ".join(
        one.words("rule_held" if check.holds else "rule_broken", what=check.what)
        for check in danger
    )
    spoken = next((found.words for found in voiced(lines)), "")
    system, prompt = render(
        "practice_report",
        one.language,
        client=one.client,
        talk="\n".join(_told(one, exchanges)),
        taken_back="\n".join(
            f"{one.words('taken_back', number=first.number)}\n" + "\n".join(_told(one, [first]))
            for first in taken_back
        ),
        counts=one.words("counts", **counts, share="-" if share is None else f"{100 * share:.0f}"),
        danger=one.words("danger", words=spoken, checks=checks) if danger else "",
        focus=one.words("focus", focus=one.focus) if one.focus else "",
    )
    return Question(
        verb="fill",
        purpose="practice_report",
        who=one.client,
        tier="judge",
        system=system,
        prompt=prompt,
        language=one.language,
        schema=ReportAnswer,
        check=lambda answer: _problem(answer, exchanges),
        fallback=plain,
        temperature=0.3,
        max_tokens=700,
        seed=seed_of(seed, "practice_report", len(exchanges)),
        of_world=True,
        facts=ReportFacts(lines=lines),
    )


def _told(moment: Moment, exchanges: Sequence[Exchange]) -> Iterator[str]:
    between = "：" if moment.language == "zh" else ": "
    for one in exchanges:
        yield f"{one.number}. {moment.words('trainee')}{between}{one.said}"
        numbers = {"before": one.shift.before, "after": one.shift.after} if one.shift else {}
        state = f" [{moment.words('shift', **numbers)}]" if numbers else ""
        yield from (f"{moment.client}{between}{text}{state}" for text in one.answers)


def _problem(answer: ReportAnswer, exchanges: Sequence[Exchange]) -> str | None:
    said: Mapping[int, str] = {one.number: one.said for one in exchanges}
    wrong = any(not is_in(one.quote, said.get(one.line, "")) for one in answer.well)
    return "it quotes words that nobody said" if wrong else None
