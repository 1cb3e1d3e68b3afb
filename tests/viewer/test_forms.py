"""What a page may answer in a questionnaire, and how a scale of several blocks is one questionnaire."""

import asyncio
import time
from pathlib import Path
from threading import Thread
from typing import Any

from starlette.testclient import TestClient

from simcounsel.agents.facts import SelfReportFacts
from simcounsel.agents.questionnaire import FormItem
from simcounsel.instruments.scale import Scale, find_scale
from simcounsel.viewer.forms import FormLine, Forms, Given
from simcounsel.viewer.human import Board
from simcounsel.viewer.turns import seat_app, turn_routes
from tests.each import each
from tests.stage import begun

FORM = "/api/seat/form"


@each(
    ("body", "status", "why"),
    [
        ({"answers": {}}, 422, "'turn' is missing"),
        ({"turn": 2, "answers": {"a": 1, "b": None}}, 409, "this turn is over"),
        ({"turn": 1}, 422, "'answers' is missing"),
        ({"turn": 1, "answers": {"a": 1}}, 422, "no answer to 'Do you sleep?'"),
        ({"turn": 1, "answers": {"a": 4, "b": None}}, 422, "'4' is no answer to 'Are you well?'"),
        ({"turn": 1, "answers": {"a": 0.5, "b": None}}, 422, "'0.5' is no answer"),
        ({"turn": 1, "answers": {"a": True, "b": None}}, 422, "'True' is no answer"),
        ({"turn": 1, "answers": {"a": 10**400, "b": None}}, 422, "is no answer"),
        ({"turn": 1, "answers": {"a": "1", "b": None}}, 422, "'1' is no answer"),
        ({"turn": 1, "say": "Hello."}, 422, "'answers' is missing"),
        ({"turn": 1, "answers": {"a": 1, "b": None, "c": 7}}, 200, ""),
    ],
)
def test_what_a_page_may_answer(
    tmp_path: Path, body: dict[str, Any], status: int, why: str
) -> None:
    run = begun(tmp_path)
    board = Board(who="Ines", seconds=30)
    app = seat_app(run.folder, run.world, "Ines", turn_routes(board, run.world))
    client = TestClient(app, base_url="http://127.0.0.1")
    lines = tuple(
        FormLine(id=name, text=text, low=0, high=3, step=1)
        for name, text in (("a", "Are you well?"), ("b", "Do you sleep?"))
    )
    assert client.get(FORM).json() is None
    assert client.post(FORM, json={"turn": 1, "answers": {}}).status_code == 409
    given: list[Given | None] = []
    asked = Thread(
        target=lambda: given.append(asyncio.run(board.fill("own", "How is it?", lines))),
        daemon=True,
    )
    asked.start()
    while (form := board.form) is None:
        time.sleep(0.005)
    assert 59 < (form.seconds_left or 0) <= 60 and board.pending is None
    said = client.post("/api/seat/turn", json={"turn": 1, "say": "No line is asked for."})
    assert said.status_code == 409
    answer = client.post(FORM, json=body)
    assert answer.status_code == status and why in answer.text
    if status != 200:
        assert board.form is not None, "it waits on"
        board.answer(1, {"a": 1, "b": None})
    asked.join(5)
    assert given == [{"a": 1, "b": None}]


def test_what_was_answered_is_recorded_at_once() -> None:
    """The second block of a scale does not wait for another scale that came between."""
    survey, phq9 = find_scale("chatbot_survey"), find_scale("phq9")
    forms = Forms({one.id: one for one in (survey, phq9)}, "en")

    def block(scale: Scale, number: int) -> SelfReportFacts:
        items = [*scale.blocks()][number]
        asked = tuple(FormItem(id=one.id, text="", low=1, high=5, step=1) for one in items)
        more: dict[str, Any] = {"memories": (), "recent_feeling": "", "seed": 1}
        return SelfReportFacts(instrument=scale.id, items=asked, **more)

    async def put_up(instrument: str, instruction: str, lines: tuple[FormLine, ...]) -> Given:
        if instrument == "phq9":
            await asyncio.sleep(60)
        return {line.id: 4 for line in lines}

    async def asked() -> list[Given | None]:
        first = await forms.answers("a", block(survey, 0), put_up)
        waits = asyncio.ensure_future(forms.answers("b", block(phq9, 0), put_up))
        await asyncio.sleep(0)
        second = await forms.answers("c", block(survey, 1), put_up)
        waits.cancel()
        return [first, second]

    first, second = asyncio.run(asked())
    assert first is not None and (len(first), second) == (12, {"i13": 4})


def test_a_long_scale_is_a_number_to_be_written() -> None:
    line = FormLine(id="a", text="How bad is it?", low=0, high=100, step=1)
    assert not line.choices and line.allows(37) and line.allows(None) and not line.allows(101)
    short = FormLine(id="b", text="", low=0, high=1, step=0.5, labels={0.5: "half"})
    assert short.choices == ((0, ""), (0.5, "half"), (1, ""))
