"""What ended on open danger comes first wherever a run is told: `show`, the screen of a run, the report, the page."""

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from simcounsel.events import ConversationEnded, ConversationStarted, Entry, Event, TickEnded
from simcounsel.llm.question import Question
from simcounsel.runs.as_text import conversation_lines
from simcounsel.runs.event_text import describe
from simcounsel.runs.folds import conversations_in
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.open_ends import OpenEnd, open_ends
from simcounsel.runs.run import Run
from simcounsel.runs.summary import summary_lines
from simcounsel.scripted import Scripted
from simcounsel.specs.vocabulary import RiskLevel
from simcounsel.viewer import parts
from simcounsel.viewer.row import row
from tests.danger.test_in_a_world import DANGER, lived, safety, says
from tests.instruments.stage import measured_world
from tests.stage import go_on, switchboard, tiny


def ends(*levels: tuple[str, RiskLevel]) -> tuple[OpenEnd, ...]:
    """Conversations of Ines with somebody, one a tick."""
    events: list[Event] = []
    for tick, (other, level) in enumerate(levels):
        chat = f"{tick}:Ines+{other}"
        events += [
            ConversationStarted(
                chat=chat,
                who=("Ines", other),
                place="Park",
                cause="draw",
                closeness=1,
                probability=1,
            ),
            ConversationEnded(
                chat=chat,
                cause="limit",
                by=None,
                messages=2,
                open_danger=level,
                open_kinds=("suicide",) if level != "none" else (),
            ),
            TickEnded(),
        ]
    return open_ends(
        conversations_in(Entry(at, at // 3, at // 3 * 15, one) for at, one in enumerate(events))
    )


def told(found: Iterable[OpenEnd]) -> list[tuple[int, int | None]]:
    return [(one.number, one.met_in) for one in found]


def test_what_nobody_came_back_to_comes_first() -> None:
    assert ends(("Miriam", "none"), ("Omar", "none")) == ()
    assert told(ends(("Miriam", "high"), ("Omar", "none"), ("Miriam", "none"))) == [(1, 3)]
    assert told(ends(("Miriam", "high"), ("Miriam", "none"), ("Omar", "low"))) == [
        (3, None),
        (1, 2),
    ]
    assert told(ends(("Miriam", "high"), ("Miriam", "high"), ("Omar", "none"))) == [
        (1, None),
        (2, None),
    ]
    (one,) = ends(("Omar", "imminent"))
    assert (one.danger, one.since, one.chat) == (
        "suicide (imminent)",
        "nobody has come back to it",
        "0:Ines+Omar",
    )


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run whose counselor has no protocol, and a client in danger."""
    world = safety(tiny(), counselors="assess", locale="en-GB")
    return lived(tmp_path_factory.mktemp("open"), world, says(DANGER))


def test_show_says_it_first(left: Run) -> None:
    first = next(iter(summary_lines(left)))
    assert first.startswith("open danger    Miriam and Ines, ")
    assert "suicide (imminent); nobody has come back to it" in first
    assert first.endswith(f"(show {left.folder} --conversation 1)")
    head = list(conversation_lines(left, 1))[:2]
    assert head[1] == "ended on open danger: suicide (imminent)"


def test_so_does_the_screen(left: Run) -> None:
    ended = next(one for one in left.entries() if isinstance(one.event, ConversationEnded))
    assert (describe(ended) or "").endswith("lines) on open danger: suicide (imminent)")


def test_and_the_page(left: Run) -> None:
    history = History.of(left)
    (one,) = parts.overview(history)["open_ends"]
    assert one["danger"] == "suicide (imminent)" and set(one["who"]) == {"Ines", "Miriam"}
    assert row(history)["danger"]["open"] == 1
    held = parts.conversation(history, one["chat"])
    assert held is not None and (held["open_danger"], held["open_kinds"]) == (
        "imminent",
        ["suicide"],
    )


def test_without_open_danger_nothing_is_said(tmp_path: Path) -> None:
    run = lived(tmp_path, safety(tiny(), locale="en-GB"), says(DANGER))
    assert next(iter(summary_lines(run))).startswith("run ")
    assert parts.overview(History(Log(run.folder)))["open_ends"] == []
    assert not any("open danger" in (describe(one) or "") for one in run.entries())


def test_a_questionnaire_after_the_last_session_is_named_too(tmp_path: Path) -> None:
    """As the first of a run tells danger: until a counselor has talked with them; then the conversation's end says what is open."""

    def sheet(request: Question, draw: Random) -> str:
        assert request.schema is not None
        return json.dumps(dict.fromkeys(request.schema.model_json_schema()["properties"], 2))

    run = lived(tmp_path, measured_world(), {"self_report": sheet}, ticks=1)
    (one,) = History.of(run).open_ends()
    assert (one.number, one.chat, one.who, one.level) == (None, None, ("Ines",), "high")
    assert next(iter(summary_lines(run))).endswith(
        "suicide, self harm (high); told in a questionnaire, and no counselor has talked with them since"
    )
    gone_on = go_on(run, models=switchboard(Scripted({"self_report": sheet})))
    assert {end.number for end in History.of(gone_on).open_ends()} <= {1}
