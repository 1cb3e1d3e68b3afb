"""Client lines coded by a model: what is asked, what comes of it, what is kept."""

from pathlib import Path

import pytest

from analysis.errors import ReportError
from analysis.validity.talk.coding import AT_A_TIME, Coder, coded
from analysis.validity.talk.sessions import ClientLine, TalkSession, TalkSessions
from simcounsel.instruments.coding import CodedTurns, TurnCodes
from simcounsel.llm.question import Question, Reply
from tests.prompts.test_golden import compare, shown


def session(count: int, id: str = "a") -> TalkSession:
    lines = tuple(
        ClientLine(said=f"Line {at}.", before=f"Question {at}?") for at in range(1, count + 1)
    )
    return TalkSession(
        id=id, client=id, client_lines=lines, counselor_lines=tuple(line.before for line in lines)
    )


def answered(one: TalkSession, *replies: CodedTurns | None) -> tuple[object, list[Question]]:
    """What comes of these replies, and what was asked."""
    asking, asked, given = coded(one), [], list(replies)
    try:
        wanted = next(asking)
        while True:
            asked.append(wanted)
            wanted = asking.send(Reply(value=given.pop(0)))
    except StopIteration as done:
        return done.value, asked


def turns(**codes: list[str]) -> CodedTurns:
    return CodedTurns(turns=[TurnCodes(turn=int(n[1:]), codes=found) for n, found in codes.items()])


def test_the_prompt() -> None:
    lines = (
        ClientLine(said="I don't know why I'm here.", before=""),
        ClientLine(said="My sister said I should.", before="What brought you?"),
        ClientLine(said="Fine, I can try that.", before="Could you write down when it happens?"),
    )
    one = TalkSession(id="a", client="a", client_lines=lines, counselor_lines=())
    _, (asked,) = answered(one, turns(t1=[], t2=[], t3=[]))
    compare("client_codes", shown(asked.system, asked.prompt))
    assert asked.tier == "judge" and asked.temperature == 0


def test_each_line_has_the_codes_that_are_known() -> None:
    found, _ = answered(
        session(3), turns(t1=["change", "nonsense"], t2=[], t3=["agrees", "resists"])
    )
    assert found == (frozenset({"change"}), frozenset(), frozenset({"agrees", "resists"}))


def test_a_long_session_is_asked_about_in_parts_with_all_that_came_before() -> None:
    long = session(AT_A_TIME + 5)
    first = CodedTurns(turns=[TurnCodes(turn=n, codes=[]) for n in range(1, AT_A_TIME + 1)])
    rest = CodedTurns(
        turns=[TurnCodes(turn=n, codes=["change"]) for n in range(AT_A_TIME + 1, AT_A_TIME + 6)]
    )
    found, asked = answered(long, first, rest)
    assert isinstance(found, tuple) and len(found) == AT_A_TIME + 5
    assert found[-1] == frozenset({"change"}) and found[0] == frozenset()
    assert "Line 1." in asked[1].prompt and f"Line {AT_A_TIME + 5}." not in asked[0].prompt


def test_a_session_with_too_many_lines_left_out_has_no_codes() -> None:
    assert answered(session(9), turns(t1=["change"]))[0] is None
    assert answered(session(9), None)[0] is None
    nearly = CodedTurns(turns=[TurnCodes(turn=n, codes=[]) for n in range(1, 19)])
    assert answered(session(20), nearly)[0] is not None


def test_what_is_coded_is_kept_and_asked_once(tmp_path: Path) -> None:
    file = tmp_path / "codes.jsonl"
    every = [session(6, "a"), session(8, "b")]
    said: list[str] = []
    coder = Coder("scripted", file)
    coder.code(every, said.append)
    assert [len(coder.codes(one)) for one in every] == [6, 8] and len(said) == 1
    again = Coder("scripted", file)
    again.code(every, said.append)
    assert len(said) == 1 and again.codes(every[0]) == coder.codes(every[0])
    assert Coder("embedded", file).codes(every[0]) == (), "another model has said nothing yet"


def test_a_coder_that_could_code_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="none of 1 sessions"):
        Coder("scripted", tmp_path / "none.jsonl").coded_of(TalkSessions(found=(session(6),)))
