"""A rubric in VERA-MH's form (github.com/SpringCare/VERA-MH), asked one question at a time.

The file is the user's own copy, such as `data/SI/rubric.tsv`; nothing of its texts is here. Form as
stored at commits 2356721 (what GOTO can hold), 866241c (SI), b71a7a8 (HFO), 15fdd2d (columns). A
row with a Question ID begins a question, rows without one are more of its answers; without any
answer it is Yes (on to the next dimension) or No (on to the next row).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from simcounsel.agents.tasks import Answer
from simcounsel.bots.clients.personas import tsv_rows
from simcounsel.bots.study.lives import Turn
from simcounsel.bots.vera import transcript
from simcounsel.chance import seed_of
from simcounsel.errors import SpecError
from simcounsel.llm.question import Ask, Facts, Question, ask
from simcounsel.prompts import render
from simcounsel.specs.load import Spec

PROMPT = "judge_rubric"
NEEDED = ("Question ID", "Dimension", "Severity", "Question", "Answer", "GOTO")
STOPS = ("END", "ASSIGN_END")
"""No further question. After END no dimension is rated; after ASSIGN_END only those so far."""
SKIPS = "NOT_RELEVANT>>"
"""In front of the next question's id: the dimension of this one is not rated."""
MOST_TOKENS = 250


class RubricVerdict(Answer):
    """The answer to a question of a rubric, after its reason."""

    because: Annotated[
        str, Field(max_length=600, description="what in the talk decides it, in a sentence")
    ]
    answer: Annotated[str, Field(description="one of the answers, word by word")]


class RubricAnswer(Spec):
    """What can be answered."""

    option: str
    goto: str = ""
    """The GOTO cell; '': none."""
    next: str | None
    """The id of the next question; None: this was the last."""


class RubricQuestion(Spec):
    """A question of a rubric."""

    id: str
    dimension: str
    severity: str = ""
    """What a Yes counts for, `Red` or `Yellow`; '' for a question that only leads on."""
    question: str
    examples: str = ""
    answers: tuple[RubricAnswer, ...]
    auto: bool = False
    """Whether its one answer is taken without asking."""


class Answered(Spec):
    """A step of the way through a rubric."""

    id: str
    dimension: str
    option: str
    """''; no usable answer came, and the way ends here."""
    goto: str
    severity: str
    """Of the question where the answer is Yes, else ''."""
    call: str = ""
    """Key of the call that answered it."""


@dataclass(frozen=True, kw_only=True)
class RubricFacts(Facts):
    """A question about a talk: only who reads the talk can answer."""

    judged: ClassVar[bool] = True
    drawn: ClassVar[bool] = False
    id: str


def read_rubric(path: Path) -> tuple[RubricQuestion, ...]:
    """The questions of a rubric in VERA-MH's form, in its order. SpecError names what is wrong: a
    missing column, an id that comes twice, an answer that leads nowhere, a way that never ends.
    """
    rows: dict[str, list[tuple[int, dict[str, str]]]] = defaultdict(list)
    id = ""
    for line, row in tsv_rows(path, NEEDED):
        if row["Question ID"] in rows:
            raise SpecError([f"{path}:{line}: question {row['Question ID']!r} comes twice"])
        id = row["Question ID"] or id
        if not id or (row["Question ID"] and not row["Dimension"]):
            raise SpecError([f"{path}:{line}: a question needs a Question ID and a Dimension"])
        rows[id].append((line, row))
    dimensions = {one: some[0][1]["Dimension"] for one, some in rows.items()}
    found = tuple(_question(path, id, some, dimensions) for id, some in rows.items())
    leads = {one.id: {a.next for a in one.answers if a.next} for one in found}
    try:
        TopologicalSorter(leads).prepare()
    except CycleError as error:
        round_ = " > ".join(reversed(error.args[1]))
        raise SpecError([f"{path}: the questions {round_} lead in a circle; mend a GOTO"]) from None
    return found


def _question(
    path: Path, id: str, rows: Sequence[tuple[int, dict[str, str]]], dimensions: Mapping[str, str]
) -> RubricQuestion:
    line, first = rows[0]
    after = list(dimensions)[list(dimensions).index(id) + 1 :]
    below = next(iter(after), None)
    answers = []
    for at, row in rows:
        goto = row["GOTO"]
        to = None if goto in STOPS else goto.removeprefix(SKIPS) or below
        if row["Answer"] and to is not None and to not in dimensions:
            known = f"{', '.join(STOPS)}, {SKIPS}ID or a Question ID"
            raise SpecError([f"{path}:{at}: GOTO: {goto!r} is no question; write {known}"])
        if row["Answer"]:
            answers.append(RubricAnswer(option=row["Answer"], goto=goto, next=to))
    other = next((one for one in after if dimensions[one] != dimensions[id]), None)
    usual = (RubricAnswer(option="Yes", next=other), RubricAnswer(option="No", next=below))
    auto = first.get("Auto Answer", "").casefold() == "true"
    if auto and len(answers) != 1:
        raise SpecError([f"{path}:{line}: Auto Answer: {len(answers)} answers; there is to be one"])
    return RubricQuestion(
        id=id,
        dimension=dimensions[id],
        severity=first["Severity"],
        question=first["Question"],
        examples=first.get("Examples", ""),
        answers=tuple(answers) or usual,
        auto=auto,
    )


def judged(
    rubric: Sequence[RubricQuestion], turns: Sequence[Turn], who: str, seed: int = 0
) -> Ask[tuple[Answered, ...]]:
    """The way through a rubric for one talk, question by question. who: whose talk it is."""
    by_id, way = {one.id: one for one in rubric}, list[Answered]()
    at: str | None = rubric[0].id
    while at is not None:
        one = by_id[at]
        option, call = (one.answers[0].option, "") if one.auto else ("", "")
        if not one.auto:
            reply = yield from ask(_asked(one, turns, who, seed))
            option, call = reply.value.answer if reply.value else "", reply.call
        taken = next((a for a in one.answers if a.option == option), None)
        way.append(
            Answered(
                id=one.id,
                dimension=one.dimension,
                option=option,
                goto=taken.goto if taken else "",
                severity=one.severity if option.casefold() == "yes" else "",
                call=call,
            )
        )
        at = taken.next if taken else None
    return tuple(way)


def _asked(
    one: RubricQuestion, turns: Sequence[Turn], who: str, seed: int
) -> Question[RubricVerdict | None]:
    options = tuple(a.option for a in one.answers)
    system, prompt = render(
        PROMPT,
        talk=transcript(turns),
        dimension=one.dimension,
        question=one.question,
        examples=one.examples or "none",
        answers="; ".join(options),
    )
    return Question(
        verb="fill",
        purpose=PROMPT,
        who=who,
        tier="judge",
        system=system,
        prompt=prompt,
        schema=RubricVerdict,
        check=lambda got: (
            None
            if got is None or got.answer in options
            else f"{got.answer!r} is none of the answers: {'; '.join(options)}"
        ),
        fallback=None,
        temperature=0.0,
        max_tokens=MOST_TOKENS,
        seed=seed_of(seed, PROMPT, who, one.id),
        facts=RubricFacts(id=one.id),
    )
