"""Counts of what a counselor does, made by coding: the turns are numbered, a judge gives each its
codes, and what is counted is turns. A bare total asked for at once is guessed, and grows with the
length of the session.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from simcounsel.chance import seed_of
from simcounsel.events import ItemAnswer
from simcounsel.instruments.collecting import Answers, wrong_again
from simcounsel.instruments.facts import CodeFacts
from simcounsel.instruments.forms import unusable
from simcounsel.instruments.material import CLIENT, COUNSELOR, Material
from simcounsel.instruments.wording import worded_items
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import render
from simcounsel.specs.scale import Scale

AT_A_TIME = 80
"""How many turns are coded with one question."""
MOST_UNCODED = 0.1
"""With a greater share of the turns left uncoded there are no counts."""
_TOKENS_A_TURN = 40
Turns = tuple[tuple[str, str], ...]
"""The counselor's, each with what the client had said before it: (heard, said)."""


class TurnCodes(BaseModel):
    """What a judge says of one turn."""

    turn: int
    because: str = ""
    codes: list[str] = Field(default_factory=list)


class CodedTurns(BaseModel):
    """What a judge says of some turns."""

    turns: list[TurnCodes]


def coded(
    scale: Scale, who: str, material: Material, *key: object, temperature: float = 0.0
) -> Ask[Answers]:
    """How many turns of the counselor have each code of the scale: answers to its coded items
    alone. None with a reason where a judge leaves too many turns uncoded.
    """
    turns = _turns(material.lines)
    found: dict[int, frozenset[str]] = {}
    replies: list[Reply[Any]] = []
    for start in range(0, len(turns), AT_A_TIME):
        some, again = turns[start : start + AT_A_TIME], ""
        for _ in range(2):
            question = _question(
                scale, who, material, some, start + 1, again, (*key, bool(again)), temperature
            )
            reply = yield from ask(question)
            replies.append(reply)
            wrong = _read(scale, reply, range(start + 1, start + 1 + len(some)), found)
            if not wrong:
                break
            again = wrong_again(wrong, material.language)
    problem = next((reply.problem for reply in replies if reply.problem), None)
    return Answers(items=_counted(scale, found, len(turns), problem), replies=tuple(replies))


def _turns(lines: Sequence[tuple[str, str]]) -> Turns:
    turns: list[tuple[str, str]] = []
    heard = ""
    for speaker, text in lines:
        if speaker == CLIENT:
            heard = text
        else:
            turns.append((heard, text))
    return tuple(turns)


def _read(
    scale: Scale, reply: Reply[CodedTurns | None], wanted: range, found: dict[int, frozenset[str]]
) -> Mapping[str, str]:
    """Put the codes of each turn into `found`; why some of them cannot be used, by number."""
    known = {item.id for item in scale.codes}
    wrong: dict[str, str] = {}
    for one in reply.value.turns if reply.value else ():
        unknown = [code for code in one.codes if code not in known]
        if one.turn in wanted and one.turn not in found:
            if unknown:
                wrong[str(one.turn)] = f"{unknown[0][:40]!r} is no code"
            else:
                found[one.turn] = frozenset(one.codes)
    return {
        str(number): wrong.get(str(number), "no answer") for number in wanted if number not in found
    }


def _counted(
    scale: Scale, found: Mapping[int, frozenset[str]], turns: int, problem: str | None
) -> tuple[ItemAnswer, ...]:
    """problem: why there was no answer to some of them; None when there was."""
    left = turns - len(found)
    if turns and left <= MOST_UNCODED * turns:
        return tuple(
            ItemAnswer(id=item.id, value=float(sum(item.id in codes for codes in found.values())))
            for item in scale.codes
        )
    reason = f"{left} of {turns} turns were not coded"
    if problem:
        reason = unusable(problem).reason
    elif not turns:
        reason = "the counselor said nothing"
    return tuple(
        ItemAnswer(id=item.id, value=None, reason=reason, absence="missing") for item in scale.codes
    )


def _question(
    scale: Scale,
    who: str,
    material: Material,
    turns: Turns,
    first: int,
    again: str,
    key: tuple[object, ...],
    temperature: float,
) -> Question[CodedTurns | None]:
    items = worded_items(scale, scale.codes, material.language)
    system, prompt = render(
        "judge_codes",
        material.language,
        material=material.text(numbered=COUNSELOR),
        codes="\n".join(f"{item.id}. {item.text}" for item in items),
        first=first,
        last=first + len(turns) - 1,
        again=again,
    )
    return Question(
        verb="fill",
        purpose="judge_codes",
        who=who,
        tier="judge",
        system=system,
        prompt=prompt,
        language=material.language,
        schema=CodedTurns,
        fallback=None,
        temperature=temperature,
        max_tokens=100 + _TOKENS_A_TURN * len(turns),
        seed=seed_of(*key, scale.id, "codes", first),
        facts=CodeFacts(
            instrument=scale.id, codes=tuple(item.id for item in items), first=first, turns=turns
        ),
    )
