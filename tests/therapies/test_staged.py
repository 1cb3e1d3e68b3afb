"""The staged policy: verdicts, notes, exercises, the way out, and eight days of it."""

from typing import Any

import pytest

from simcounsel.agents.appointments import clock_text
from simcounsel.agents.talk import TalkView
from simcounsel.events import Assessed, Entry, Judged, Noted, Retrieved, Transitioned
from simcounsel.llm.driving import play
from simcounsel.llm.question import Question
from simcounsel.policies import policy_for
from simcounsel.policies.policy import Concluding
from simcounsel.therapies.staged import questions
from simcounsel.therapies.staged.exercises import library, schedule
from simcounsel.therapies.staged.manuals import names, shipped
from simcounsel.therapies.staged.questions import ExerciseFacts, NoteFacts, words
from simcounsel.therapies.staged.session import ASKED, GOES_ON, TIME, Session
from tests.each import each
from tests.stage import said, view
from tests.therapies.sessions import Course, agreeable

FEELS = "I feel heavy and slow, as if I were carrying a tray full of glasses all day."
TOLD = "It began on Monday when the letter came and nobody at home said a word."


def path(course: Course) -> list[str]:
    return [event.state for event in course.of(Transitioned)]


def to_consent(course: Course) -> None:
    course.speak()
    for text in ("Just as it comes.", FEELS, FEELS, TOLD, TOLD):
        course.heard(text)


def saying(**by_purpose: Any) -> Any:
    """A model with other answers to some purposes."""

    def answer(request: Question) -> Any:
        given = by_purpose.get(request.purpose)
        return agreeable(request) if given is None else given(request) if callable(given) else given

    return answer


# a session


def test_a_whole_session_goes_through_the_states() -> None:
    course = Course()
    to_consent(course)
    assert [d.move for d in course.decided] == [
        "greeting",
        "emotion",
        "emotion",
        "event",
        "event",
        "consent",
    ]
    for text in (
        "Yes, please.",
        "Yes.",
        "Okay, go on.",
        "That's clear.",
        "Understood, I'll try it tonight.",
        "It was calmer than I thought.",
        "No, thank you.",
        "Thank you.",
    ):
        course.heard(text)
    assert [d.move for d in course.decided][6:10] == [
        "suggestion",
        "explanation",
        "explanation",
        "explanation",
    ]
    assert [d.move for d in course.decided][-3:] == ["another", "thanks", "end"]
    assert course.decided[-1].leaves is True
    assert all(d.leaves is False for d in course.decided[:-1])
    assert {d.wording.act for d in course.decided[-1:]} == {"close"}


def test_every_line_has_the_brief_of_its_own_state_and_its_lines() -> None:
    course = Course()
    to_consent(course)
    manual = course.policy.manual
    for decision in course.decided:
        state = manual.states[decision.move]
        assert state.prompt in decision.wording.brief
        assert decision.aim == state.objective
        assert decision.move in decision.options
        assert decision.wording.lines
        assert {e.text for e in decision.wording.lines} <= set(state.lines)
        others = [s.prompt for s in manual.states.values() if s.id != decision.move and s.prompt]
        assert not any(prompt in decision.wording.brief for prompt in others)


def test_the_least_number_of_messages_is_kept_without_asking_a_model() -> None:
    course = Course()
    course.speak()
    course.heard("Informal, please.")
    course.requests.clear()
    course.heard(FEELS)
    assert [r.purpose for r in course.requests] == []
    judged = course.of(Judged)[-1]
    assert (judged.state, judged.verdict, judged.by, judged.reason) == (
        "emotion",
        "no",
        "rule",
        "1 of at least 2 messages",
    )
    course.heard(FEELS)
    assert [r.purpose for r in course.requests] == ["note", "sufficient", "valence"]
    assert [(e.origin, e.state) for e in course.of(Transitioned)[-2:]] == [
        ("emotion", "mood"),
        ("mood", "event"),
    ]


def test_judges_are_asked_of_the_quick_model_at_temperature_zero() -> None:
    course = Course()
    to_consent(course)
    course.heard("Perhaps I could do something like that after all these weeks.")
    course.heard("Hm.")
    asked = {r.purpose: r for r in course.requests}
    assert set(asked) == {"sufficient", "valence", "intent", "note", "exercise"}
    assert {r.tier for r in asked.values()} == {"quick"}
    assert {r.temperature for r in asked.values()} == {0.0}
    assert {r.who for r in asked.values()} == {"Miriam"}


def test_a_state_that_is_never_sufficient_is_left_by_rule() -> None:
    course = Course(
        answers=saying(sufficient=lambda r: r.schema(sufficient="no", reason="not yet"))
    )
    course.speak()
    for _ in range(2):
        course.heard("Hm.")
    assert path(course) == ["greeting", "emotion"]
    assert course.of(Judged)[-1].reason == "2 messages are as many as it takes"


def test_a_good_mood_skips_what_set_it_off() -> None:
    course = Course(answers=saying(valence="positive"))
    course.speak()
    for text in ("Fine.", FEELS, FEELS):
        course.heard(text, "joy")
    assert path(course) == ["greeting", "emotion", "mood", "consent"]


def test_who_wants_to_tell_more_is_listened_to_for_at_least_four_messages() -> None:
    course = Course()
    course.speak()
    for text in ("Fine.", FEELS, FEELS, TOLD, "I'd like to talk about it some more."):
        course.heard(text)
    assert path(course)[-1] == "open_talk"
    for _ in range(3):
        assert course.heard(TOLD).move == "open_talk"
    assert course.heard(TOLD).move == "consent"


@each(
    ("text", "state"),
    [
        ("Yes, please.", "suggestion"),
        ("No, thank you.", "thanks"),
        ("Maybe later.", "thanks"),
        ("What would that be?", "consent"),
        ("I'd rather not.", "thanks"),
        ("Can I tell you something else first?", "open_talk"),
    ],
)
def test_consent_by_words_needs_no_model(text: str, state: str) -> None:
    course = Course()
    to_consent(course)
    course.requests.clear()
    assert course.heard(text).move == state
    assert "intent" not in [r.purpose for r in course.requests]
    assert course.of(Judged)[-1].by == "words"


def test_consent_that_stays_unclear_is_none() -> None:
    course = Course(answers=saying(intent="unclear"))
    to_consent(course)
    moves = [course.heard("My mother would not have said anything either.").move for _ in range(4)]
    assert moves == ["consent", "consent", "consent", "thanks"]
    assert course.of(Judged)[-1].reason == "unclear after 4 messages"
    assert not course.of(Retrieved)


def test_steps_are_said_two_at_a_time_to_the_end() -> None:
    course = Course()
    to_consent(course)
    course.heard("Yes.")
    exercise = library("en").named(course.of(Retrieved)[0].chosen[0])
    assert exercise is not None
    assert exercise.name in course.decided[-1].wording.brief
    assert all(exercise.name in e.text for e in course.decided[-1].wording.lines)
    shown = [course.heard("Yes.")]
    while shown[-1].move == "explanation":
        shown.append(course.heard("Yes, that's clear."))
    told = [d for d in shown if d.move == "explanation"]
    assert len(told) == -(-len(exercise.steps) // 2)
    for number, decision in enumerate(told):
        mine = exercise.steps[2 * number : 2 * number + 2]
        assert all(step in decision.wording.brief for step in mine)
        assert not any(
            step in decision.wording.brief for step in exercise.steps if step not in mine
        )
    assert shown[-1].move == "feedback"
    assert exercise.afterwards in shown[-1].wording.brief
    assert "8 short sentences" in str(told[0].wording.manner)


def test_an_exercise_may_be_broken_off_before_its_steps_are_said() -> None:
    course = Course()
    to_consent(course)
    for text in ("Yes.", "Yes."):
        course.heard(text)
    assert course.heard("Something else, please.").move == "another"
    assert course.heard("Yes, please.").move == "suggestion"
    first, second = course.of(Retrieved)
    assert first.chosen != second.chosen
    assert "offered in this talk already" in {c.why for c in second.candidates}


# exercises


def test_what_was_heard_against_exercises_is_kept_for_all_later_sessions() -> None:
    course = Course()
    course.speak()
    for text in (
        "Fine.",
        "I've had asthma since I was six, and I feel low.",
        FEELS,
        TOLD,
        TOLD,
        "Yes.",
    ):
        course.heard(text)
    judged = [e for e in course.of(Judged) if e.question == "contraindication"]
    assert [(e.verdict, e.reason) for e in judged] == [("breathing_trouble", "“asthma”")]
    assert "not with breathing_trouble" in {c.why for c in course.of(Retrieved)[0].candidates}
    course.end()
    course.begin(3)
    to_consent(course)
    course.heard("Yes.")
    assert "not with breathing_trouble" in {c.why for c in course.of(Retrieved)[0].candidates}


def test_danger_leaves_no_exercise_and_the_session_closes() -> None:
    course = Course()
    to_consent(course)
    course.own.append(
        Assessed(
            who="Ines",
            chat="c",
            message=9,
            level="high",
            kinds=("suicide",),
            by="model",
            evidence=("…",),
            why="active thoughts",
        )
    )
    said_so = course.heard("Yes, please.")
    assert (said_so.move, course.of(Retrieved)[0].chosen) == ("suggestion", ())
    assert "No exercise fits today" in said_so.wording.brief
    assert "What it is for" not in said_so.wording.brief
    assert course.heard("All right.").move == "thanks"
    assert course.heard("Thank you.").leaves is True


# memory


def test_notes_are_brought_up_to_date_every_three_messages_and_shared() -> None:
    course = Course()
    to_consent(course)
    course.heard("Yes.")
    noted = course.of(Noted)
    assert [(n.first, n.last) for n in noted] == [(1, 6), (7, 12)]
    assert course.requests[-1].purpose == "exercise"
    assert noted[-1].text in course.requests[-1].prompt
    assert noted[-1].text in course.decided[-1].wording.brief
    second = [r for r in course.requests if r.purpose == "note"][1]
    assert noted[0].text in second.prompt
    assert all(
        r.facts.notes in r.prompt
        for r in course.requests
        if isinstance(r.facts, NoteFacts | ExerciseFacts)
    )
    course.end()
    assert course.of(Noted)[-1].last < len(course.lines) or len(course.of(Noted)) == 2


def test_the_last_lines_are_noted_when_the_session_is_over() -> None:
    course = Course()
    to_consent(course)
    course.lines.append(said("Ines", "Goodbye then."))
    course.end()
    assert course.of(Noted)[-1].last == len(course.lines)


# time


@each("first", ["Miriam", "Ines"])
@each("turns", [4, 6, 8, 10, 12, 16, 24, 48])
def test_the_end_is_called_near_in_the_last_two_lines_alone(turns: int, first: str) -> None:
    """Whatever the manual's stages, no line speaks of the end, or is of the conclusion, before; the
    last but one asks, the last hears the answer and takes leave."""
    course = Course(turns=turns)
    if first == "Miriam":
        course.speak()
    near = []
    while not course.decided or not course.decided[-1].leaves:
        left = max(1, course.view().turns_left // 2)
        decision = course.heard("There was my sister's wedding, and I lay awake before it.")
        told = f"{decision.aim} {decision.wording.brief}".lower()
        forced = any(isinstance(e, Transitioned) and e.forced for e in decision.events)
        if forced or "nearly over" in told or "not much time" in told:
            near.append(left)
        assert not (left > 2 and ("end of the session" in told or decision.move == "end"))
    assert max(near, default=1) <= 2
    if course.decided[-2].aim == words("en")["time_aim"]:
        assert words("en")["left_open"].split(".")[0] in course.decided[-1].wording.brief


def test_stages_share_the_lines_there_are() -> None:
    """However strict the judge, a session of 24 lines comes past feelings to what set them off."""

    def strict(request: Question) -> Any:
        if request.purpose == "sufficient":
            return request.schema(sufficient="no", reason="not yet")  # type: ignore[misc]
        return agreeable(request)

    def reached(turns: int) -> set[str]:
        course = Course(turns=turns, answers=strict)
        course.speak()
        while not course.decided[-1].leaves:
            course.heard("I felt " + FEELS)
        return {decision.move for decision in course.decided}

    assert {"emotion", "event"} <= reached(24) and "event" not in reached(8)


def test_lines_and_minutes_of_a_clock_agree() -> None:
    """Time is told from what is left, and not at all where leave is being taken."""
    course = Course(turns=8)
    assert "about 38 minutes" in clock_text(course.view(turns_left=6, minutes_left=38))
    assert "minutes" not in clock_text(course.view(turns_left=6, minutes_left=38, parting=True))


@each("turns", range(4, 34))
@each("first", ["Miriam", "Ines"])
def test_no_session_is_cut_off(turns: int, first: str) -> None:
    course = Course(turns=turns)
    if first == "Miriam":
        course.speak()
    while len(course.lines) < turns - 1:
        course.heard("Yes, " + FEELS)
        if course.decided[-1].leaves:
            break
    assert course.decided[-1].leaves is True
    assert course.decided[-1].move == "end"
    for a, b in zip(course.of(Transitioned), course.of(Transitioned)[1:], strict=False):
        assert b.origin == a.state


@each("turns", range(12, 34, 2))
def test_nobody_is_cut_off_unasked(turns: int) -> None:
    """Before time sends a session to its close the client is asked, once, and then heard out."""
    course = Course(turns=turns)
    course.speak()
    while not course.decided[-1].leaves:
        course.heard("There was my sister's wedding, and I was awake all night before it.")
    forced = [one for one in course.of(Transitioned) if one.forced]
    asked = [one for one in course.of(Judged) if one.question == TIME]
    if forced:
        assert asked and asked[0].verdict == ASKED
        assert {one.verdict for one in asked[1:]} <= {GOES_ON}
        assert course.own.index(asked[0]) < course.own.index(forced[0])
    assert turns > 14 or forced, "so short a session is always sent to its close"


def in_time(left: int) -> Course:
    """Before the client's answer to whether it would like to tell what set it off."""
    course = Course(turns=60)
    to_consent(course)
    course.turns = len(course.lines) + 2 * left
    return course


def test_the_last_line_before_the_way_out_asks_what_it_is_for() -> None:
    course = in_time(2)
    asks = course.heard("I was awake all night before it.")
    assert (asks.move, asks.aim) == ("consent", words("en")["time_aim"])
    assert asks.leaves is False and "little time" not in asks.aim
    assert {line.text for line in asks.wording.lines} == {
        words("en")[f"time_line_{n}"] for n in range(1, 5)
    }
    closes = course.heard("No, that is all.")
    assert (closes.move, closes.leaves) == ("end", True)
    assert (
        closes.wording.brief.startswith("The part")
        and words("en")["left_open"] in closes.wording.brief
    )


@pytest.mark.parametrize(("says", "closes"), [("No, thank you.", True), (FEELS, False)])
def test_too_little_time_for_an_exercise_is_asked_about(says: str, closes: bool) -> None:
    """What the client says to it decides: to the close, or on listening until the clock's end."""
    course = Course(turns=22)
    course.speak()
    while not (course.of(Judged) and course.of(Judged)[-1].question == TIME):
        course.heard(FEELS)
    state = course.decided[-1].move
    assert course.decided[-1].reason == "too little time for an exercise"
    answer = course.heard(says)
    if closes:
        assert answer.move == "thanks"
        assert "too little time for an exercise, and they were asked" in answer.reason
    else:
        assert answer.move == state
        assert answer.aim == words("en")["goes_on_aim"]


def test_who_takes_leave_is_taken_leave_of() -> None:
    course = Course()
    to_consent(course)
    decision = course.heard("I have to go.", parting=True)
    assert (decision.move, decision.leaves) == ("end", True)
    *before, first, last = course.of(Transitioned)
    assert first.forced and last.forced and not any(one.forced for one in before)
    assert "they are taking leave" in first.reason


# days


def test_the_day_is_counted_by_dates_and_capped() -> None:
    course = Course()
    days = []
    for date in (0, 1, 1, 4, 9, 20):
        course.begin(date, 9 if date == 1 and days and len(days) == 1 else 16)
        course.speak()
        days.append(course.of(Transitioned)[0].reason.rsplit("day ", 1)[1])
        course.heard("I must go.", parting=True)
        course.end()
    assert days == ["1 of 8", "2 of 8", "2 of 8", "5 of 8", "8 of 8", "8 of 8"]


def test_a_later_session_greets_anew_and_knows_the_notes() -> None:
    course = Course()
    to_consent(course)
    course.end()
    course.begin(1)
    decision = course.speak()
    assert decision.move == "greeting"
    assert "They have met before" in decision.wording.brief
    assert course.kept
    notes = [e.event.text for e in course.kept if isinstance(e.event, Noted)]
    assert notes[-1] in decision.wording.brief


def test_the_same_day_goes_on_where_it_was_broken_off() -> None:
    course = Course()
    to_consent(course)
    for text in ("Yes.", "Yes."):
        course.heard(text)
    chosen = course.of(Retrieved)[0].chosen[0]
    course.heard("I have to go now.", parting=True)
    course.end()
    course.begin(0, 18)
    decision = course.speak()
    assert decision.move == "explanation"
    assert [event.resumed for event in course.of(Transitioned)] == [True]
    assert "They talked earlier today" in decision.wording.brief
    exercise = library("en").named(chosen)
    assert exercise is not None
    assert exercise.name in decision.wording.brief
    assert not course.of(Retrieved)


def test_a_session_that_was_finished_begins_anew_on_the_same_day() -> None:
    course = Course()
    to_consent(course)
    for text in ("No, thank you.", "Goodbye."):
        course.heard(text)
    assert course.decided[-1].leaves
    course.end()
    course.begin(0, 18)
    assert course.speak().move == "greeting"


def test_eight_days_of_it() -> None:
    course = Course()
    offered: list[str] = []
    stages = []
    for day in range(8):
        course.begin(day)
        to_consent(course)
        for text in (
            "Yes.",
            "Yes.",
            "Yes.",
            "Yes.",
            "Yes, that's clear.",
            "It was quiet.",
            "No, thank you.",
            "Thank you.",
        ):
            if course.decided[-1].leaves:
                break
            course.heard(text)
        while not course.decided[-1].leaves:
            course.heard("No, thank you.")
        offered += [name for event in course.of(Retrieved) for name in event.chosen]
        stages.append(course.of(Retrieved)[0].candidates[0].why)
        course.end()
    assert len(offered) == len(set(offered)) >= 8
    days = {name: library("en").named(name).days for name in offered}  # type: ignore[union-attr]
    assert all(
        first <= number <= last
        for number, (first, last) in enumerate((days[name] for name in offered[:8]), 1)
    )
    for entry in course.kept:
        if isinstance(entry.event, Transitioned) and entry.event.origin:
            allowed = course.policy.manual.states[entry.event.origin].next
            assert entry.event.state in (*allowed, "thanks")


def test_another_policys_lines_in_between_do_not_count() -> None:
    course = Course()
    course.speak()
    course.heard("Fine.")
    safety = course.decided[-1]
    course.decided[-1] = type(safety)(
        move="safety:ask", options=("safety:ask",), reason="r", aim="a"
    )
    course.heard("No, nothing like that.")
    assert course.of(Judged)[-1].verdict != "sufficient"
    assert course.decided[-1].move == "emotion"


def test_it_keeps_nothing_itself() -> None:
    one, two = Course(), Course()
    to_consent(one)
    for line in one.lines:
        two.lines.append(line)
    two.decided, two.own = list(one.decided), list(one.own)
    assert one.heard("Yes.") == two.heard("Yes.")


def test_a_window_for_sleep_is_passed_by_with_who_must_not_have_one() -> None:
    course = Course(shipped("insomnia_cbt", "en"))
    course.speak()
    for text in (
        "Bad.",
        "I have epilepsy, so I lie still.",
        TOLD,
        TOLD,
        TOLD,
        "Yes.",
        "Yes.",
        "Yes.",
        "No.",
    ):
        course.heard(text)
    assert [d.move for d in course.decided][-4:] == ["stimulus", "stimulus", "caution", "worry"]
    assert "window" in path(course)
    assert course.decided[-1].move == "worry"
    assert [e.reason for e in course.of(Transitioned) if e.origin == "window"] == [
        "passed by with unsafe_nights"
    ]
    assert "window" not in [d.move for d in course.decided]


@pytest.mark.parametrize("name", names("en"))
def test_every_manual_of_ours_can_be_lived(name: str) -> None:
    course = Course(shipped(name, "en"))
    course.speak()
    for n in range(50):
        if course.decided[-1].leaves:
            break
        course.heard(("Yes.", FEELS, "No, thank you.")[n % 3])
    assert course.decided[-1].leaves
    assert not course.of(Transitioned)[-1].forced


@pytest.mark.parametrize("state", ["plan", "evoke"])
def test_the_safety_protocol_s_moves_are_no_states_of_the_manual(state: str) -> None:
    """`motivational` has a state `plan`, and so has the protocol."""
    manual = shipped("motivational", "en")
    own = (
        Transitioned(
            who="Miriam", chat="c", protocol=manual.name, origin=None, state=state, reason="r"
        ),
    )
    texts = ("Yes, that is so.", "I know how.", "Yes, I am.", "A bridge.", "Here.")
    lines = [line for text in texts for line in (said("Miriam", "Say more?"), said("Ines", text))]
    seen = view(
        *lines,
        me="Miriam",
        other="Ines",
        own=own,
        moves=(state, "acknowledge", "ask_directly", "plan", "help"),
        deciders=(None, *["safety"] * 4),
    )
    now = Session(manual=manual, view=seen)
    assert seen.guided == (state, None, None, None, None)
    assert [line.text for line in now.heard] == ["Yes, that is so."]
    assert now.said_here == 1


# single and unguided


def other(policy: str, **more: Any) -> Any:
    seen: TalkView = view(said("Ines", FEELS), me="Miriam", other="Ines", moves=("greet",), **more)
    return play(policy_for("counselor", policy).decide(seen))


def test_single_is_told_all_prompts_in_order_and_the_exercises_of_the_day() -> None:
    decision = other("single")
    manual = shipped("attachment_selfcare", "en")
    places = [
        decision.wording.background.index(state.prompt)
        for state in manual.states.values()
        if not state.internal
    ]
    assert places == sorted(places)
    for exercise in library("en").exercises:
        assert decision.wording.background.count(exercise.name) == 1
        told = [step in decision.wording.background for step in exercise.steps]
        assert all(told) if exercise in schedule(1, library("en")) else not any(told)
    assert len(decision.wording.background) < 7_000, "it was 36,000 with all exercises"
    assert decision.events == ()


def test_single_has_a_schedule_by_the_day() -> None:
    days = [[one.id for one in schedule(day, library("en"))] for day in range(1, 9)]
    assert all(len(set(ids)) == 3 for ids in days)
    assert days[0] != days[1]
    earlier = Entry(0, 0, 0, Noted(who="Miriam", chat="c", about="Ines", text="x", first=1, last=2))
    assert "day 3 of 8" in other("single", kept=(earlier,), minute=2 * 24 * 60).wording.background


def test_unguided_is_told_two_sentences() -> None:
    decision = other("unguided")
    assert decision.wording.brief.count(".") == 2
    assert not any(exercise.name in decision.wording.brief for exercise in library("en").exercises)


@pytest.mark.parametrize("policy", ["single", "unguided"])
def test_they_have_lines_of_their_own_and_no_notes(policy: str) -> None:
    for more in ({}, {"moves": ()}, {"parting": True}):
        decision = (
            other(policy, **more)
            if "moves" not in more
            else play(policy_for("counselor", policy).decide(view(me="Miriam", other="Ines")))
        )
        assert len(decision.wording.lines) >= 4
        assert not any(
            "{exercise}" in e.text or "{steps}" in e.text for e in decision.wording.lines
        )
    assert not isinstance(policy_for("counselor", policy), Concluding)


def test_a_note_too_long_is_cut_in_the_fallback_only() -> None:
    assert len(questions.quoted("old " * 400, "Ines", ["new words"])) <= questions.NOTE_CHARACTERS
    assert questions.quoted("", "Ines", ["I sleep."]) == "Ines: “I sleep.”"


def test_single_lays_out_one_exercise_a_talk_by_hand() -> None:
    policy = policy_for("counselor", "single")
    first = play(
        policy.decide(
            view(
                said("Ines", "I cannot sleep."),
                me="Miriam",
                other="Ines",
                moves=("greet",),
                turns_left=12,
            )
        )
    )
    laid = next(one.text for one in first.wording.lines if "for today" in one.text)
    later = view(
        said("Ines", "I cannot sleep."),
        said("Miriam", laid),
        said("Ines", "Not today."),
        me="Miriam",
        other="Ines",
        moves=("greet", "talk"),
        turns_left=10,
    )
    again = play(policy.decide(later))
    assert again.wording.lines and not [
        one.text for one in again.wording.lines if "for today" in one.text
    ]
