"""What a client's line calls for, what the clock leaves open, and what both know of the clock."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from simcounsel.agents.appointments import clock_text, nearly_up
from simcounsel.agents.talk import TalkLine, TalkView
from simcounsel.llm.driving import play
from simcounsel.llm.question import Question, Reply
from simcounsel.policies import policy_for
from simcounsel.policies.manual import aims, heard_as, lines_for
from simcounsel.policies.socratic import MOVES, WITH_PAIN, WOUNDING, called_for, open_moves, signs
from simcounsel.scripted import Scripted
from simcounsel.specs.vocabulary import QUESTIONS
from tests.each import each
from tests.stage import said, view

LONG = ("greet", *("clarify", "reflect") * 5)
"""Moves of a meeting of a dozen own lines or more."""
PAIN = "I was so ashamed that I could not look at her."
DOUBT = "I don't think that talking about it helps."
HURT = "You are not listening to me."


def meeting(
    heard: TalkLine | str, left: int, moves: tuple[str, ...] = ("greet", "clarify"), **more: Any
) -> TalkView:
    """What Miriam sees after that line of Ines, with so many own lines left."""
    line = heard if isinstance(heard, TalkLine) else said("Ines", heard)
    own = [said("Miriam", f"A line for {move}.") for move in moves]
    lines = [part for one in own for part in (one, said("Ines", "It is the nights."))][:-1]
    return view(
        *lines,
        line,
        me="Miriam",
        other="Ines",
        role="client",
        moves=moves,
        turns_left=2 * left,
        **more,
    )


@each(
    ("text", "language", "sign"),
    [
        (PAIN, "en", "pain"),
        ("My mother died in March.", "en", "pain"),
        ("I never told anyone.", "en", "pain"),
        (DOUBT, "en", "doubt"),
        ("What's the point of coming here?", "en", "doubt"),
        (HURT, "en", "hurt"),
        ("That really hurt me, what you said.", "en", "hurt"),
        ("Is that normal, with so little sleep?", "en", "asks"),
        ("我觉得很丢脸。", "zh", "pain"),
        ("谈这些有什么用？", "zh", "doubt"),
        ("你根本不懂。", "zh", "hurt"),
        ("我该怎么办？", "zh", "asks"),
    ],
)
def test_what_a_line_is_heard_as(text: str, language: str, sign: str) -> None:
    assert heard_as(text, "socratic", language) == (sign,)


@each("text", ["I lay awake again.", "I lost my keys.", "It helps a bit.", "You listen well."])
def test_a_plain_line_is_heard_as_nothing(text: str) -> None:
    assert heard_as(text, "socratic") == ()


def test_a_feeling_as_strong_as_that_is_pain_whatever_the_words() -> None:
    def heard(emotion: Any, intensity: int) -> tuple[str, ...]:
        line = TalkLine(
            who="Ines", text="So it is.", emphasis=None, emotion=emotion, intensity=intensity
        )
        return signs(meeting(line, 9), "socratic")

    assert heard("sadness", 8) == ("pain",)
    assert heard("sadness", 7) == heard("joy", 9) == ()


@each(
    ("text", "move"),
    [(HURT, "repair"), (PAIN, "stay_with"), (DOUBT, "meet_doubt"), ("word " * 45, "reflect")],
)
def test_stand_ins_choose_what_the_line_calls_for(text: str, move: str) -> None:
    asking = policy_for("counselor", "socratic").decide(meeting(text, 9))
    question: Question[str] = next(asking)  # type: ignore[assignment]
    assert question.fallback == move
    done = asyncio.run(Scripted().complete(question, None))
    assert done.text == move
    assert done.notes["why"]


def test_much_that_was_told_is_summed_up_once() -> None:
    def due(told: int, *used: str) -> str | None:
        found = called_for((), used, told, words=10, left=9, options=MOVES)
        return found[0] if found else None

    assert due(119, "greet") is None
    assert due(120, "greet") == "summarize"
    assert due(120, "greet", "summarize") is None
    assert due(0, "clarify", "evidence", "viewpoint") == "reflect"


def test_the_last_lines_wound_nobody_and_meet_what_hurts() -> None:
    plain = "It is the nights."
    for left in (2, 3):
        assert not WOUNDING & set(open_moves(meeting(plain, left), ()))
        assert open_moves(meeting(PAIN, left), ("pain",)) == WITH_PAIN
    assert set(open_moves(meeting(plain, 4), ())) >= WOUNDING
    assert {"clarify", "viewpoint"} <= set(open_moves(meeting(plain, 3), ()))
    assert not set(QUESTIONS) & set(open_moves(meeting(plain, 2), ()))


def test_a_meeting_closes_early_only_after_something_was_gathered() -> None:
    long = ("greet", "clarify", "reflect", "clarify", "evidence", "summarize")
    assert "close" in open_moves(meeting("Yes.", 9, long), ())
    assert "close" not in open_moves(meeting(PAIN, 9, long), ("pain",))
    assert "close" not in open_moves(meeting("Yes.", 9, (*long, "clarify")), ())
    assert "close" not in open_moves(meeting("Yes.", 9, ("greet", "summarize")), ())


def whole(
    turns: int, text: str = "It is the nights, and the clock that I turn to the wall."
) -> list[str]:
    """The moves of a meeting of so many lines with one who always says that."""
    policy = policy_for("counselor", "socratic")
    moves: tuple[str, ...] = ()
    for left in range(turns // 2, 0, -1):
        seen = meeting(text, left, moves) if moves else view(me="Miriam", turns_left=turns)
        asking = policy.decide(seen)
        try:
            question: Any = next(asking)
            asking.send(Reply(value=question.fallback))
        except StopIteration as end:
            decision = end.value
        moves = (*moves, decision.move)
        assert decision.leaves is (True if decision.move == "close" else None)
    return list(moves)


@pytest.mark.parametrize("turns", [8, 12, 20])
def test_closing_is_a_way_of_at_least_two_lines(turns: int) -> None:
    moves = whole(turns)
    assert moves[0] == "greet"
    assert moves[-2:] == ["summarize", "close"]
    assert ("homework" in moves) is (turns == 20), "a short talk has nothing to take home from"
    assert moves.count("close") == 1
    pained = whole(turns, PAIN)
    assert set(pained[-3:-1]) <= set(WITH_PAIN)


def test_a_close_after_pain_is_told_to_stay_first() -> None:
    close = play(policy_for("counselor", "socratic").decide(meeting(PAIN, 1)))
    assert (close.move, close.aim) == ("close", aims("socratic")["close_after_pain"])
    told = lines_for("socratic", "close_after_pain")
    assert [line.text for line in close.wording.lines] == list(told)
    plain = play(policy_for("counselor", "socratic").decide(meeting("It is the nights.", 1)))
    assert plain.aim == aims("socratic")["close"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_move_has_a_purpose_and_what_has_no_form_has_lines(language: str) -> None:
    assert {*MOVES, "greet", "ask", "close_after_pain"} == set(aims("socratic", language))
    for move in ("stay_with", "meet_doubt", "repair", "inform", "homework", "close_after_pain"):
        assert len(lines_for("socratic", move, language)) >= 3, move


def test_the_clock_in_words() -> None:
    seen = meeting("Yes.", 6, minutes_left=12, next_meeting=3 * 1440 + 900)
    assert clock_text(seen) == (
        "Time left: 6 of Miriam's lines, the next one included, about 12 minutes."
        " Miriam and Ines meet next on Sunday 4 January, 15:00."
    )
    last = meeting("Yes.", 1, minutes_left=2, language="zh")
    assert clock_text(last) == (
        "剩下的时间：只够再说一句，大约 2 分钟。Miriam 和 Ines 没有约好下一次：Miriam 不提日期，也不说“下次见”，"
        "而是说 Ines 可以再约，或者问 Ines 想不想再约。"
    )
    assert nearly_up(meeting("Yes.", 3)) == ""
    assert nearly_up(meeting("Yes.", 2)) == "The time for this talk is nearly up."
    assert nearly_up(meeting("Yes.", 3, LONG)) == "The time for this talk is nearly up."


def test_a_close_says_the_date_or_that_there_is_none() -> None:
    """With the last line, and as soon as somebody takes leave."""
    for seen in (meeting("Yes.", 1), meeting("I must go.", 5, parting=True)):
        assert "names no date and does not say “until next time”" in clock_text(seen)
    assert "name no date for one" in clock_text(meeting("Yes.", 3))
    agreed = clock_text(meeting("Yes.", 1, next_meeting=3 * 1440 + 900))
    assert agreed.endswith("Miriam and Ines meet next on Sunday 4 January, 15:00.")


def test_a_long_meeting_winds_down_three_lines_before_its_end() -> None:
    """No question any more; and what was opened is stayed with, by whoever leads the talk."""
    asked, winding = set(QUESTIONS), "Miriam opens nothing more that hurts"
    for left in (3, 2):
        assert not asked & set(open_moves(meeting("Yes.", left, LONG), ()))
        assert winding in clock_text(meeting("Yes.", left, LONG))
        assert winding not in clock_text(meeting("Yes.", left, LONG), on_a_plan=False)
    assert asked - WOUNDING <= set(open_moves(meeting("Yes.", 4, LONG), ()))
    assert winding not in clock_text(meeting("Yes.", 4, LONG))
    assert winding not in clock_text(meeting("Yes.", 1, LONG)), "then it ends"


def afraid(intensity: int) -> TalkLine:
    return TalkLine(
        who="Ines", text="So it is.", emphasis=None, emotion="fear", intensity=intensity
    )


@pytest.mark.parametrize("policy", [True, False])
def test_what_was_opened_shortly_before_the_end_is_stayed_with(policy: bool) -> None:
    first = "Miriam stays with that first, whatever else the line is for."

    def told(seen: TalkView) -> bool:
        return first in clock_text(seen, on_a_plan=policy)

    for left in (3, 2, 1):
        assert told(meeting(afraid(6), left, LONG))
        assert not told(meeting(afraid(5), left, LONG))
    assert not told(meeting(afraid(9), 4, LONG)), "there is time"


def test_socratic_closes_on_no_open_wound() -> None:
    """Opened by the last line, or by the one before it which nothing stayed with."""
    assert signs(meeting(afraid(6), 3, LONG), "socratic") == ("pain",)
    assert signs(meeting(afraid(6), 4, LONG), "socratic") == ()
    for move, aim in (("summarize", "close_after_pain"), ("stay_with", "close")):
        seen = meeting("Yes.", 1, (*LONG, move))
        lines = (*seen.lines[:-3], afraid(7), *seen.lines[-2:])
        close = play(policy_for("counselor", "socratic").decide(replace(seen, lines=lines)))
        assert close.aim == aims("socratic")[aim]


def test_nothing_is_agreed_until_a_meeting_that_nobody_agreed_on() -> None:
    for language, words in (("en", ("meet again", "next time")), ("zh", ("下次见", "下次会谈"))):
        for move in ("homework", "close", "close_after_pain"):
            told = (aims("socratic", language)[move], *lines_for("socratic", move, language))
            assert not [text for text in told if any(word in text for word in words)]


def test_friends_know_the_time_and_a_date_only_where_one_is_agreed() -> None:
    left = "Time left: 3 of Miriam's lines, the next one included, about 9 minutes."
    seen = meeting("Yes.", 3, minutes_left=9)
    assert clock_text(seen, on_a_plan=False) == left
    agreed = meeting("Yes.", 3, minutes_left=9, next_meeting=3 * 1440 + 900)
    assert clock_text(agreed, on_a_plan=False).startswith(f"{left} Miriam and Ines meet next on")
