"""What a run's summary tells of warnings."""

from pathlib import Path

import pytest

from simcounsel.errors import RunError
from simcounsel.events import ConversationStarted, Entry, TickEnded, Warned
from simcounsel.runs.as_text import day_lines
from simcounsel.runs.event_text import describe
from simcounsel.runs.summary import warning_lines
from tests.stage import begun, log, seal


def test_warnings_are_told_with_their_causes() -> None:
    lines = list(
        warning_lines(
            {"line_counselor": 3, "summarize": 2}, {"not JSON": 3, "no answer within 60 s": 2}
        )
    )
    assert lines == [
        "warnings       5 (3 line_counselor, 2 summarize): no usable answer came, and the fallback was taken",
        "               3 because of: not JSON",
        "               2 because of: no answer within 60 s",
    ]


def test_without_warnings_nothing_more_is_told() -> None:
    assert list(warning_lines({}, {})) == ["warnings       none"]


def test_many_or_long_causes_are_told_short() -> None:
    lines = list(
        warning_lines(
            {"line_client": 8},
            {f"cause {number} {'and more ' * 40}": number for number in (1, 2, 3, 4)},
        )
    )
    assert (
        len(lines) == 5
        and lines[1].startswith("               4 because of: cause 4")
        and all(len(line) < 150 for line in lines)
    )
    assert "and 1 other causes" in lines[-1]


def test_a_day_tells_what_went_wrong_in_it(tmp_path: Path) -> None:
    run = begun(tmp_path)
    events = (Warned(who="Ines", purpose="plan_day", cause="not JSON"), TickEnded())
    text = "".join(Entry(seq, 0, 480, event).line() for seq, event in enumerate(events))
    (run.folder / "events.jsonl").write_text(text, encoding="utf-8")
    seal(run.folder)
    assert list(day_lines(run, "Ines", 0)) == [
        "08:00  warning: Ines, plan_day: not JSON; the fallback was taken"
    ]
    assert list(day_lines(run, "Ines", 1)) == ["nothing on day 1 (the first day is 0)"]
    (run.folder / "events.jsonl").write_bytes(log(run).replace(b"plan_day", b'"'))
    with pytest.raises(RunError, match=r"events.jsonl:1: this line cannot be read as an event"):
        list(day_lines(run, "Ines", 0))


def test_who_meets_by_chance_is_told_so() -> None:
    """The log calls it a draw."""
    started = ConversationStarted(
        chat="2:Ines+Miriam",
        who=("Ines", "Miriam"),
        place="Park",
        cause="draw",
        closeness=4.0,
        probability=0.4,
    )
    told = describe(Entry(seq=1, tick=2, minute=600, event=started))
    assert told == "10:00  Ines and Miriam begin to talk (Park, chance)"
