"""What every policy keeps to, and what each does of its own."""

from itertools import pairwise
from typing import Any

import pytest

from simcounsel.agents.talk import Decision, TalkLine, TalkView
from simcounsel.errors import SpecError
from simcounsel.llm.question import Question, Reply
from simcounsel.policies import DEFAULT, POLICIES, policies_of, policy_for
from simcounsel.policies.manual import aims
from simcounsel.policies.socratic import MOVES as ALL_MOVES
from simcounsel.specs.vocabulary import QUESTIONS
from simcounsel.therapies.staged.manuals import shipped
from simcounsel.therapies.staged.questions import words
from simcounsel.therapies.staged.timing import NEARLY_UP, NO_TIME
from tests.each import each
from tests.stage import noting, said, view

MOVES = ALL_MOVES[:-1]
"""Without a close, which needs something gathered before."""

LONG = "I have been lying awake for weeks now and I count the hours until it is light again."


def talk(lines: int, first: str = "Miriam", text: str = LONG) -> tuple[TalkLine, ...]:
    names = (first, "Ines" if first == "Miriam" else "Miriam")
    return tuple(said(names[n % 2], f"{text} {n}") for n in range(lines))


def decide(
    policy: str, seen: TalkView, answer: str = "evidence", requests: list[Question] | None = None
) -> Decision:
    noted = [] if requests is None else requests
    asking = noting(
        policy_for("client" if policy in policies_of("client") else "counselor", policy).decide(
            seen
        ),
        noted,
    )
    try:
        next(asking)
        while True:
            asking.send(Reply(value=reply_to(noted[-1], answer)))
    except StopIteration as end:
        decision: Decision = end.value
        return decision


def reply_to(request: Question, answer: str) -> Any:
    """What a model might say: the answer where it is one of the options, else the first; what is asked for where it is a text or a form."""
    if request.verb == "choose":
        return answer if answer in request.options else request.options[0]
    return request.fallback


def acting(decision: Decision) -> str:
    return decision.wording.act or decision.move


def objectives() -> dict[str, str]:
    return {
        state.id: state.objective for state in shipped("attachment_selfcare", "en").states.values()
    }


def as_counselor(lines: tuple[TalkLine, ...], moves: tuple[str, ...], **more: Any) -> TalkView:
    return view(*lines, me="Miriam", other="Ines", moves=moves, **more)


def whole_talk(policy: str, seed: int, turns: int = 12) -> list[Decision]:
    """A conversation in which this policy has every second line."""
    made: list[Decision] = []
    for turn in range(0, turns, 2):
        seen = as_counselor(
            talk(turn),
            tuple(d.move for d in made),
            turns_left=turns - turn,
            key=(seed, 1, "c"),
            closeness=float(seed % 11),
            emotion=("joy", "anger", "neutral")[seed % 3],
            own=tuple(event for d in made for event in d.events),
        )
        made.append(decide(policy, seen, QUESTIONS[(turn + seed) % 6]))
    return made


COURSES = ("course",)
"""What it does depends on sessions before; see tests/therapies."""


@pytest.mark.parametrize("policy", sorted(set(POLICIES.names()) - set(COURSES)))
class TestEveryPolicy:
    def test_move_is_one_of_its_options(self, policy: str) -> None:
        for seed in range(30):
            for decision in whole_talk(policy, seed):
                assert decision.move in decision.options
                moves = "simcounsel.therapies:single" if policy == "single" else policy
                told = objectives() if policy == "staged" else aims(moves)
                short = policy == "staged" and decision.reason in (NEARLY_UP, NO_TIME)
                assert decision.aim == (
                    words("en")["time_aim" if decision.reason == NEARLY_UP else "rest_aim"]
                    if short
                    else told.get(decision.move, "")
                    if policy == "client"
                    else told[decision.move]
                )
                assert decision.reason

    def test_same_key_same_move(self, policy: str) -> None:
        assert whole_talk(policy, 3) == whole_talk(policy, 3)

    @each("more", [{"parting": True}, {"turns_left": 1}])
    @each("lines", [1, 4, 9])
    def test_closes_when_parting_or_out_of_turns(
        self, policy: str, more: dict[str, Any], lines: int
    ) -> None:
        for seed in range(10):
            seen = as_counselor(
                talk(lines), ("greet", "clarify")[: lines // 2], key=(seed, 1, "c"), **more
            )
            assert acting(decide(policy, seen)) in ("close", "ending")
            assert decide(policy, seen).leaves is not False

    def test_does_not_close_at_once(self, policy: str) -> None:
        assert all(
            acting(whole_talk(policy, seed)[0]) not in ("close", "ending") for seed in range(30)
        )

    def test_is_named_as_it_is_listed(self, policy: str) -> None:
        own, others = (
            ("client", "counselor") if policy in policies_of("client") else ("counselor", "client")
        )
        assert policy_for(own, policy).name == policy  # type: ignore[arg-type]
        with pytest.raises(SpecError, match=f"{policy} is no {others}'s"):
            policy_for(others, policy)  # type: ignore[arg-type]


def test_defaults_by_role() -> None:
    assert {role: policy_for(role, None).name for role in DEFAULT} == {
        "client": "client",
        "counselor": "socratic",
        "layperson": "supportive",
    }
    with pytest.raises(
        SpecError,
        match="no policy 'freudian'; there are client, course, single, socratic, staged, supportive, unguided",
    ):
        policy_for("counselor", "freudian")


def test_socratic_greets_first_without_asking_a_model() -> None:
    seen: list[Question] = []
    for lines in (talk(0), talk(1, first="Ines")):
        assert decide("socratic", as_counselor(lines, ()), requests=seen).move == "greet"
    assert seen == []


def test_socratic_asks_on_when_little_was_said() -> None:
    seen: list[Question] = []
    short = (said("Miriam", "How are you?"), said("Ines", "Tired."))
    assert decide("socratic", as_counselor(short, ("greet",)), requests=seen).move == "ask"
    assert seen == []
    assert (
        decide("socratic", as_counselor(talk(2), ("greet",)), "viewpoint", seen).move == "viewpoint"
    )
    assert len(seen) == 1


def test_socratic_asks_a_model_what_a_line_calls_for() -> None:
    seen: list[Question] = []
    decision = decide(
        "socratic", as_counselor(talk(6), ("greet", "clarify", "evidence")), "viewpoint", seen
    )
    (request,) = seen
    assert (decision.move, decision.options) == ("viewpoint", MOVES)
    assert (request.verb, request.tier, request.options, request.who) == (
        "choose",
        "quick",
        MOVES,
        "Miriam",
    )
    assert "Done in this meeting so far: greet, clarify, evidence" in request.prompt
    assert "Time left: 5 of Miriam's lines" in request.prompt
    assert f"Ines: {LONG} 5" in request.prompt
    assert all(f"- {kind}: {aims('socratic')[kind]}" in request.prompt for kind in MOVES)


def test_without_a_model_questions_change_and_something_else_comes_between() -> None:
    moves: tuple[str, ...] = ("greet",)
    for _ in range(8):
        seen: list[Question] = []
        decide(
            "socratic", as_counselor(talk(2 * len(moves)), moves, turns_left=20), "evidence", seen
        )
        moves += (seen[0].fallback,)
    asked = [move for move in moves if move in QUESTIONS]
    assert sorted(asked) == sorted(QUESTIONS), "each kind once before one comes again"
    between = [move for move in moves[1:] if move not in QUESTIONS]
    assert between and set(between) <= {"reflect", "summarize"}


def test_socratic_gives_the_models_reason() -> None:
    asking = policy_for("counselor", "socratic").decide(as_counselor(talk(4), ("greet", "ask")))
    next(asking)
    with pytest.raises(StopIteration) as end:
        asking.send(Reply(value="evidence", notes={"why": "nothing spoke for it"}))
    assert end.value.value.reason == "nothing spoke for it"


def test_supportive_never_does_the_same_twice_running() -> None:
    for seed in range(60):
        moves = [d.move for d in whole_talk("supportive", seed, 14)]
        assert moves[0] == "greet"
        assert all(a != b for a, b in pairwise(moves[1:-1]))
        assert "close" not in moves[:3]


def test_a_client_speaks_from_where_it_stands_and_nothing_is_drawn() -> None:
    def stage(closeness: float, lines: int, emotion: Any = "neutral", meeting: int = 1) -> str:
        seen = {
            decide(
                "client",
                view(*talk(lines), closeness=closeness, emotion=emotion, number=meeting, key=(n,)),
            ).move
            for n in range(20)
        }
        (only,) = seen
        return only

    assert stage(0, 1) == "early"
    assert stage(0, 1, meeting=2) == "telling"
    assert stage(0, 5) == "telling"
    assert stage(10, 5, "trust") == "hopeful"
    assert stage(10, 5) == "telling"
    assert decide("client", view(*talk(5))).aim == "", "a model is told no stance"
