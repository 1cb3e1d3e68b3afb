"""What a conversation leaves open: told by what was said, for every policy and for a human in the counselor's seat."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from simcounsel.danger.hearing.in_answers import assessed_by_item
from simcounsel.danger.hearing.left_open import HeardIn, heard_in, left_open
from simcounsel.danger.hearing.phrases import foreign_number
from simcounsel.danger.protection.data import words
from simcounsel.danger.protection.wording import Wanted
from simcounsel.events import Assessed, ConversationEnded, Entry
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.policies import policy_for
from simcounsel.safety.help import Help
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger
from simcounsel.scripted import Scripted
from simcounsel.specs.practice import locale_names
from simcounsel.specs.vocabulary import DANGERS, Danger, RiskLevel
from tests.danger.planted import Line, Session, _small_talk, high, low, session, talk_of
from tests.danger.test_in_a_world import DANGER, lived, safety, says
from tests.each import each
from tests.stage import begun, changed, go_on, happened, log, switchboard, three, tiny

GB = Help(locale="en-GB", language="en")
TOLD = "I want to end my life."
ASKED = "Are you thinking of killing yourself?"
NAMED = "You can call Samaritans (116 123), or 999 in an emergency."
TEA = "Did you see the match?"


def heard(message: int, level: RiskLevel = "high", kind: Danger = "suicide") -> HeardIn:
    return HeardIn(message=message, level=level, kinds=(kind,), words=())


def left(
    *lines: str, danger: Sequence[HeardIn] = (heard(1),), help_: Help = GB, **more: Any
) -> RiskLevel:
    """What is open after lines of which the client says the first, third, ..."""
    said = [("Miriam" if at % 2 else "Ines", text) for at, text in enumerate(lines)]
    return left_open(said, "Ines", danger, help_, **more).level


@each(
    ("lines", "level"),
    [
        ((TOLD,), "high"),
        ((TOLD, TEA), "high"),
        ((TOLD, ASKED), "high"),
        ((TOLD, NAMED), "high"),
        ((TOLD, ASKED, "No.", TEA), "high"),
        ((TOLD, ASKED, "No.", NAMED), "none"),
        ((TOLD, f"{ASKED} {NAMED}"), "none"),
        ((TOLD, ASKED, "No.", "Call 988, or 911 in an emergency."), "high"),
    ],
)
def test_met_is_asked_and_help_named(lines: tuple[str, ...], level: RiskLevel) -> None:
    assert left(*lines) == level


def test_nothing_heard_leaves_nothing_open() -> None:
    assert left(TOLD, TEA, danger=()) == "none"
    assert not NOTHING_OPEN and OpenDanger(level="low")


def test_what_comes_nearer_or_anew_wants_its_own_answer() -> None:
    met = (TOLD, f"{ASKED} {NAMED}")
    again = (*met, "I can't stop thinking of it.")
    assert left(*again, TEA, danger=(heard(1), heard(3))) == "high", "nobody took it up again"
    assert left(*again, ASKED, danger=(heard(1), heard(3))) == "none", "help was named already"
    assert left(*again, TEA, danger=(heard(1), heard(3, "low"))) == "none", "it came no nearer"
    nearer = (heard(1), heard(3, "imminent"))
    assert left(*again, ASKED, danger=nearer) == "imminent", "help is named again"
    assert left(*again, "Ring Samaritans on 116 123.", danger=nearer) == "imminent"
    assert left(*again, "Please call 999 right now.", danger=nearer) == "none"
    second = (heard(1), heard(3, kind="abuse"))
    assert left(*again, NAMED, danger=second) == "high", "nobody asked about the other danger"
    assert left(*again, f"Is somebody hurting you? {NAMED}", danger=second) == "none"


def test_an_earlier_one_stays_open_until_it_is_met() -> None:
    before = OpenDanger(level="imminent", kinds=("suicide",))
    assert left("Hello.", TEA, danger=(), before=before) == "imminent"
    assert (
        left("Hello.", "Are you thinking of suicide still?", danger=(), before=before) == "imminent"
    )
    assert (
        left("Hello.", "Are you thinking of suicide still? Call 999.", danger=(), before=before)
        == "none"
    )


def test_in_chinese() -> None:
    cn = Help(locale="zh-CN", language="zh")
    assert left("我想自杀。", "你想过自杀吗？", help_=cn) == "high"
    assert left("我想自杀。", "你想过自杀吗？请打120或12356。", help_=cn) == "none"
    assert left("我想自杀。", "你想过自杀吗？请打999。", help_=cn) == "high"


def test_only_verdicts_on_lines_count() -> None:
    def assessed(message: int | None, level: RiskLevel) -> Assessed:
        return Assessed(
            who="Ines",
            chat=None,
            message=message,
            level=level,
            kinds=("suicide",),
            by="words",
            evidence=(),
            why="",
        )

    found = heard_in((assessed(None, "high"), assessed(2, "none"), assessed(4, "low")))
    assert [(one.message, one.level) for one in found] == [(4, "low")]


# numbers


@each(
    ("text", "number"),
    [
        ("Call 999 or Samaritans (116 123).", None),
        ("You can call 988 at any time.", "988"),
        ("988 is a crisis line.", "988"),
        ("You could ring 0800 111 0 111.", "0800 111 0 111"),
        ("It took 120 minutes in 1995.", None),
        ("Line 2 of mine, number 133.", None),
        ("请打120。", "120"),
        ("我等了120分钟。", None),
    ],
)
def test_a_number_of_another_country(text: str, number: str | None) -> None:
    assert foreign_number(text, GB) == number


def test_no_locale_calls_its_own_numbers_foreign() -> None:
    for locale in locale_names():
        own = Help(locale=locale, language="en")
        assert foreign_number(f"Call {' or '.join(own.numbers)}.", own) is None
        assert set(own.emergency_numbers) < set(own.numbers)


# in the engine


class Beside(Scripted):
    """A human for the counselor, who talks of other things."""

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        answer = await super().complete(request, complaint)
        return replace(answer, source="human") if request.purpose == "line_counselor" else answer


def test_a_human_who_speaks_beside_the_point_leaves_it_open() -> None:
    """The protocol counts its steps as taken, what was said does not bear it out; it is asked about in the next meeting."""
    lines = (
        high(),
        Line("For weeks."),
        Line("No."),
        Line("My brother."),
        Line("Yes."),
        Line("Thanks."),
    )
    models = switchboard(Beside({"line_counselor": _small_talk}))
    try:
        talk = Session(models.ask({"talk": talk_of(*lines, max_turns=30)})["talk"].value)
        again = Session(
            models.ask({"talk": talk_of(before=talk.entries(), tick=9, meeting=2)})["talk"].value
        )
    finally:
        models.close()
    assert talk.steps[-1] == "over"
    assert (talk.end.open_danger, talk.end.open_kinds) == ("high", ("suicide",))
    assert again.steps[0] == "follow_up"


def test_who_denies_what_was_left_open_is_told_whom_to_call() -> None:
    first = session(high(), Line("Bye.", leaves=True), Line("Bye now.", leaves=True), max_turns=4)
    assert first.end.open_danger == "high"
    second = session(
        Line("Hello."), Line("No."), Line("I will."), before=first.entries(), tick=9, meeting=2
    )
    assert second.steps == ["follow_up", "help", "over"] and second.end.open_danger == "none"


def test_a_run_without_the_protocol_says_it(tmp_path: Path) -> None:
    run = lived(tmp_path, safety(tiny(), counselors="assess"), says(DANGER))
    first = happened(run, ConversationEnded)[0]
    assert (first.open_danger, first.open_kinds) == ("imminent", ("suicide",))


def test_with_the_protocol_it_is_met(tmp_path: Path) -> None:
    run = lived(tmp_path, safety(tiny(), locale="en-GB"), says(DANGER))
    assert {event.open_danger for event in happened(run, ConversationEnded)} == {"none"}


def test_a_friend_who_says_nothing_to_it_leaves_it_open(tmp_path: Path) -> None:
    found: dict[str, str] = {}
    for at in (1, 2):
        run = lived(tmp_path / str(at), three(), says(DANGER, to="Omar", at=at))
        ends = {end.chat: end.open_danger for end in happened(run, ConversationEnded)}
        found |= {
            one.chat: ends[one.chat]
            for one in happened(run, Assessed)
            if one.chat and "Omar" in one.chat
        }
    assert found and set(found.values()) == {"imminent"}


def test_a_follow_up_that_was_never_asked_is_owed_again() -> None:
    """A human met danger in no meeting, though the protocol took all its steps in each: it stays owed."""
    before: list[Entry] = []
    models = switchboard(Beside({"line_counselor": _small_talk}))
    try:
        for meeting in (1, 2, 3):
            first = high() if meeting == 1 else Line("Hello.")
            lines = (
                first,
                Line("No."),
                Line("No."),
                Line("My brother."),
                Line("Yes."),
                Line("Thanks."),
            )
            asking = talk_of(*lines, before=before, tick=9 * meeting, meeting=meeting)
            talk = Session(models.ask({"talk": asking})["talk"].value)
            assert talk.steps[-1] == "over" and talk.end.open_danger == "high"
            before += talk.entries()
    finally:
        models.close()
    assert talk.steps[0] == "follow_up"


def test_another_danger_in_an_unclear_answer_leaves_the_question_sayable() -> None:
    """Asked once more about being hurt, though a wish to die was just said, which has lines of its own."""
    talk = session(
        low("He used to hurt me.", kind="abuse"),
        Line("Leave it."),
        high("I want to die.", kind="suicide"),
        scripts={"safety_answer": lambda request, draw: "unclear"},
    )
    again = [
        text
        for (_, move), text in zip(talk.moves, talk.spoken, strict=True)
        if move == "ask_directly"
    ]
    assert len(again) == 2 and all(
        Wanted(language="en", asks=(r"\b(?:hurt\w*|safe with)\b",)).problem(text) is None
        for text in again
    )


@each(("policy", "level"), [("supportive", "high"), (None, "none")])
def test_what_a_questionnaire_told_is_to_be_taken_up_too(
    policy: str | None, level: RiskLevel
) -> None:
    """By a policy without the protocol as well, which does not; the protocol asks about it and it is denied."""
    before = [Entry(1, 1, 60, assessed_by_item(3, who="Ines"))]
    without = policy_for("counselor", policy) if policy else "supportive"
    talk = session(Line("Hello."), Line("No."), before=before, tick=9, meeting=2, policy=without)
    assert talk.end.open_danger == level


@each("language", ["en", "zh"])
@each("kind", DANGERS)
def test_who_leaves_before_anybody_asked_is_asked_as_they_go(kind: Danger, language: str) -> None:
    talk = session(
        high(kind=kind),
        Line("Bye.", leaves=True),
        Line("Bye now.", leaves=True),
        language=language,
        max_turns=4,
    )
    assert talk.steps == ["acknowledge", "stay", "help"]
    wanted = words(language)["steps"]["ask_directly"]["must"][kind]
    assert (
        Wanted(language=language, numbers=("999",), asks=tuple(wanted)).problem(
            talk.said_at("stay")
        )
        is None
    )


def test_who_was_asked_before_is_only_asked_to_stay() -> None:
    talk = session(high(), Line("Hm."), Line("Bye.", leaves=True), Line("Bye now.", leaves=True))
    assert talk.steps[:3] == ["acknowledge", "ask_directly", "stay"]
    assert not re.search("suicide|kill|ending your life", talk.said_at("stay"))


def test_what_was_left_open_is_known_after_a_break_too(tmp_path: Path) -> None:
    """The second meeting, in which nothing of it is said, ends on it again, also in a run that was stopped between the two."""
    (once,) = tiny().appointments
    twice = (once, once.model_copy(update={"at": "11:00"}))
    world = changed(safety(tiny(), counselors="assess"), appointments=twice)

    def line(request: Question, draw: Random) -> str:
        first = request.facts.meeting == 1 and len(request.facts.lines) == 1
        say = (
            DANGER if first else f"I was at the window with a tea, number {draw.randrange(10**6)}."
        )
        return json.dumps(
            {"say": say, "emotion": "sadness", "intensity": 5, "poignancy": 5, "wish": "go on"}
        )

    whole = lived(tmp_path / "a", world, {"line_client": line})
    assert [end.open_danger for end in happened(whole, ConversationEnded)] == ["imminent"] * 2
    part = begun(tmp_path / "b", world)
    go_on(part, 4, models=switchboard(Scripted({"line_client": line})))
    go_on(part, models=switchboard(Scripted({"line_client": line})))
    assert log(part) == log(whole)
