"""Turns between two until a stop rule."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.engine.aftermath import Talked
from simcounsel.engine.conversation import converse
from simcounsel.engine.talk import Side
from simcounsel.events import ConversationEnded, ConversationStarted, Decided, PracticeEvent, Said
from simcounsel.llm.driving import play
from simcounsel.llm.question import Ask
from simcounsel.policies.listening import HeardLine
from simcounsel.safety.open_danger import OpenDanger
from tests.stage import EIGHT, Alone, memory, scene

STARTED = ConversationStarted(
    chat="2:Ines+Miriam",
    who=("Miriam", "Ines"),
    place="Counseling Center",
    cause="appointment",
    closeness=2,
    probability=1,
)


class Speaker:
    """A mind that says its name and a number, and takes leave with its line of that number."""

    def __init__(self, name: str, leaves_at: int | None = None) -> None:
        self.resident = Alone(name).resident
        self.leaves_at = leaves_at
        self.views: list[TalkView] = []

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        self.views.append(view)
        leaves = len(self.views) == self.leaves_at
        line = LineAnswer(
            say=f"{self.resident.name} {len(self.views)}",
            emotion="joy",
            intensity=2,
            poignancy=3,
            wish="say goodbye" if leaves else "go on",
        )
        return Spoken(line=line, emphasis=None, source="generated")
        yield

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        self.views.append(view)
        return Effects(
            drafts=(
                memory(
                    0,
                    f"{self.resident.name} remembers",
                    poignancy=len(view.lines),
                    origin="summary",
                ),
            )
        )
        yield


class Plain:
    name: ClassVar[str] = "plain"

    def decide(self, view: TalkView) -> Ask[Decision]:
        return Decision(move=f"move {len(view.moves) + 1}", options=("any",), reason="r", aim="a")
        yield


def talk(
    max_turns: int = 10, miriam: int | None = None, ines: int | None = None
) -> tuple[Talked, Speaker, Speaker]:
    first, second = Speaker("Miriam", miriam), Speaker("Ines", ines)
    sides: Iterator[Any] = (Side(mind=s, scene=scene(), policy=Plain()) for s in (first, second))  # type: ignore[arg-type]
    return play(converse(next(sides), next(sides), STARTED, max_turns)), first, second


def lines(talked: Talked) -> list[Said]:
    return [event for event in talked.events if isinstance(event, Said)]


def ended(talked: Talked) -> ConversationEnded:
    (end,) = (event for event in talked.events if isinstance(event, ConversationEnded))
    return end


def test_two_speakers_alternate_up_to_the_limit() -> None:
    talked, _, _ = talk(5)
    assert [(s.message, s.who, s.to, s.text) for s in lines(talked)] == [
        (1, "Miriam", "Ines", "Miriam 1"),
        (2, "Ines", "Miriam", "Ines 1"),
        (3, "Miriam", "Ines", "Miriam 2"),
        (4, "Ines", "Miriam", "Ines 2"),
        (5, "Miriam", "Ines", "Miriam 3"),
    ]
    assert ended(talked) == ConversationEnded(
        chat=STARTED.chat, cause="limit", by=None, messages=5, until=EIGHT + 50
    )
    assert talked.events[0] == STARTED


@pytest.mark.parametrize(
    ("leaver", "at", "said", "by"),
    [("miriam", 2, 4, "Miriam"), ("ines", 2, 5, "Ines"), ("miriam", 1, 2, "Miriam")],
)
def test_the_other_still_answers_once(leaver: str, at: int, said: int, by: str) -> None:
    talked, miriam, ines = talk(10, **{leaver: at})
    assert len(lines(talked)) == said
    assert lines(talked)[-1].who != by
    assert lines(talked)[-2].who == by
    assert ended(talked) == ConversationEnded(
        chat=STARTED.chat, cause="goodbye", by=by, messages=said, until=EIGHT + 5 * said
    )
    answering = ines if by == "Miriam" else miriam
    assert [view.parting for view in answering.views[:-1]] == [False] * (
        len(answering.views) - 2
    ) + [True]


@pytest.mark.parametrize(
    ("at", "said", "minutes"), [(2, 4, 20), (3, 6, 30), (4, 8, 50), (5, 10, 50)]
)
def test_a_talk_that_ends_in_its_last_quarter_ends_on_time(
    at: int, said: int, minutes: int
) -> None:
    talked, miriam, _ = talk(10, miriam=at)
    assert len(lines(talked)) == said
    assert ended(talked).until == EIGHT + minutes
    assert [view.clock.ended for view in miriam.views] == [None] * at + [EIGHT + minutes]


def test_leave_taken_with_the_last_line_that_is_allowed() -> None:
    talked, _, _ = talk(4, ines=2)
    assert len(lines(talked)) == 4
    assert (ended(talked).cause, ended(talked).by) == ("goodbye", "Ines")


def test_both_take_leave_the_first_counts() -> None:
    talked, _, _ = talk(10, miriam=2, ines=2)
    assert (len(lines(talked)), ended(talked).by) == (4, "Miriam")


@given(st.integers(2, 20), st.none() | st.integers(1, 12), st.none() | st.integers(1, 12))
def test_always(max_turns: int, miriam: int | None, ines: int | None) -> None:
    talked, _, _ = talk(max_turns, miriam, ines)
    spoken = lines(talked)
    assert 2 <= len(spoken) <= max_turns
    assert [s.message for s in spoken] == list(range(1, len(spoken) + 1))
    assert all(a.who == b.to and a.to == b.who for a, b in pairwise(spoken))
    assert ended(talked).messages == len(spoken)
    assert (ended(talked).by is None) == (ended(talked).cause == "limit")
    if ended(talked).cause == "limit":
        assert len(spoken) == max_turns


def test_what_a_speaker_sees() -> None:
    _, miriam, ines = talk(6)
    assert [len(view.lines) for view in miriam.views] == [0, 2, 4, 6]
    assert [view.turns_left for view in ines.views[:-1]] == [5, 3, 1]
    assert [view.moves for view in miriam.views[:3]] == [(), ("move 1",), ("move 1", "move 2")]
    second = ines.views[0]
    assert (
        second.me,
        second.other,
        second.meeting.role,
        second.meeting.number,
        second.meeting.appointment,
    ) == ("Ines", "Miriam", "counselor", 1, True)
    assert second.heard is not None
    assert second.heard.text == "Miriam 1"
    assert miriam.views[0].heard is None
    assert (ines.views[1].emotion, second.emotion) == ("joy", "neutral")


def test_a_session_s_minutes_are_spread_over_its_lines() -> None:
    _, miriam, ines = talk(6)
    assert [view.clock.minutes_left for view in miriam.views[:3]] == [50, 34, 17]
    assert [view.own_lines_left for view in miriam.views[:3]] == [3, 2, 1]
    assert [view.own_lines_left for view in ines.views[:3]] == [3, 2, 1]
    assert replace(miriam.views[0], parting=True).own_lines_left == 1


def test_both_know_when_they_meet_next() -> None:
    miriam, ines = Speaker("Miriam", None), Speaker("Ines", None)
    dates = ((540, "Center", "Ines"), (4000, "Center", "Ines"), (1000, "Center", "Omar"))
    at = replace(scene(), minute=540, appointments=dates)
    sides = (Side(mind=s, scene=at, policy=Plain()) for s in (miriam, ines))  # type: ignore[arg-type]
    play(converse(next(sides), next(sides), STARTED, 4))
    assert {view.clock.next_meeting for view in miriam.views} == {4000}
    assert {view.clock.next_meeting for view in ines.views} == {None}


class Twice(Plain):
    """Its second move is another's decision."""

    def decide(self, view: TalkView) -> Ask[Decision]:
        decision = yield from super().decide(view)
        return replace(decision, policy="safety") if len(view.moves) == 1 else decision


def test_a_speaker_knows_whose_each_move_was() -> None:
    miriam, ines = Speaker("Miriam", None), Speaker("Ines", None)
    play(
        converse(
            Side(mind=miriam, scene=scene(), policy=Twice()),
            Side(mind=ines, scene=scene(), policy=Plain()),
            STARTED,
            6,  # type: ignore[arg-type]
        )
    )
    assert miriam.views[3].moves == ("move 1", "move 2", "move 3")
    assert miriam.views[3].guided == ("move 1", None, "move 3")
    assert ines.views[2].guided == ines.views[2].moves == ("move 1", "move 2")


@dataclass(frozen=True)
class Holder:
    """Listens, notes nothing, and holds the talk after its side's first line, or before its second."""

    before: bool

    def hear(self, view: TalkView, line: HeardLine) -> Ask[tuple[PracticeEvent, ...]]:
        assert view.lines[-1].text == line.said.text
        return ()
        yield

    def holds(self, view: TalkView) -> bool:
        heard = view.lines[-1].who != view.me
        return len(view.turns) == 1 and heard == self.before

    def left_open(self, view: TalkView) -> OpenDanger:
        return OpenDanger(level="low", kinds=("abuse",))


@pytest.mark.parametrize(("before", "lines"), [(False, 6), (True, 3)])
def test_a_listener_holds_the_talk(before: bool, lines: int) -> None:
    """After an own line six lines from there are said at least; after the other's, one's own."""
    miriam, ines = Speaker("Miriam"), Speaker("Ines", 1 if before else None)
    listener = Holder(before)
    sides = (
        Side(mind=miriam, scene=scene(), policy=Plain(), listeners=(listener,)),  # type: ignore[arg-type]
        Side(mind=ines, scene=scene(), policy=Plain()),  # type: ignore[arg-type]
    )
    talked = play(converse(*sides, STARTED, 2))
    (ended,) = (one for one in talked.events if isinstance(one, ConversationEnded))
    assert ended.messages == lines
    assert (ended.open_danger, ended.open_kinds) == ("low", ("abuse",))


def test_decision_goes_before_its_line() -> None:
    talked, _, _ = talk(4)
    kinds = [event.kind for event in talked.events]
    assert kinds == ["conversation_started", *["decided", "said"] * 4, "conversation_ended"]
    decided = [event for event in talked.events if isinstance(event, Decided)]
    assert [(d.who, d.policy, d.move) for d in decided] == [
        ("Miriam", "plain", "move 1"),
        ("Ines", "plain", "move 1"),
        ("Miriam", "plain", "move 2"),
        ("Ines", "plain", "move 2"),
    ]


def test_both_remember_every_line_and_their_own_summary() -> None:
    talked, _, _ = talk(4)
    assert set(talked.drafts) == {"Ines", "Miriam"}
    for name, other in (("Ines", "Miriam"), ("Miriam", "Ines")):
        *chat, summary = talked.drafts[name]
        assert [m.text for m in chat] == [
            f"{s.who} said to {s.to}: “{s.text}”" for s in lines(talked)
        ]
        assert [m.message for m in chat] == [1, 2, 3, 4]
        assert {(m.type, m.chat, m.present, m.place) for m in chat} == {
            ("chat", STARTED.chat, (other,), "Counseling Center")
        }
        assert summary.text == f"{name} remembers"
