"""Records that other packages keep: found by their folders, and handed to whoever keeps them."""

import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from simcounsel.record_kinds import WORLD, kind_of
from simcounsel.runs.record import open_record
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.commands import Command
from tests.open.installed import distribution
from tests.stage import live, tiny

DIARY = '''
from pathlib import Path

from pydantic import BaseModel

from simcounsel.events import Entry, TickEnded, as_event
from simcounsel.events.data import Data
from simcounsel.record_kinds import RecordKind
from simcounsel.runs.manifest import Manifest
from simcounsel.runs.record import Record
from simcounsel.viewer.pages import RecordPage

HERE = Path(__file__).parent
DIARY = RecordKind(
    noun="diary", nouns="diaries", about="diary", file="diary.json", unit="day", done="kept",
    again="keeps", otherwise="by somebody else", lost=("", ""), key="pages",
    says="a diary; read it with `simcounsel show {folder}`",
    parts={
        "record": "diaries:DiaryRecord", "show": "diaries:show", "page": "diaries:PAGE",
        "check": "diaries:check",
    },
)


class Diary(BaseModel):
    name: str
    condition: str = "alone"
    seed: int = 1


class DiaryManifest(Manifest):
    diary: Diary


class DiaryRecord(Record[DiaryManifest]):
    kind = DIARY
    manifest_class = DiaryManifest
    about = property(lambda self: self.manifest.diary)
    length = 2


class Noticed(Data):
    kind: str = "diaries.noticed"
    text: str


def keep(folder, texts):
    about = Diary(name="mine")
    record = DiaryRecord.create(
        about, folder.parent, models={}, prompts={}, versions={}, name=folder.name
    )
    record.begin_writing()
    for day, text in enumerate(texts):
        entries = [as_event(Noticed(text=text)), TickEnded()]
        record.append([Entry(2 * day + at, day, 0, one) for at, one in enumerate(entries)])
    record.end_writing()
    return record


def show(run, *, conversation, **asked):
    for entry in DiaryRecord.open(run).entries():
        print(getattr(entry.event, "text", "--"))


def check(path):
    """Any pages will do."""


PAGE = RecordPage(
    name="diary", static=HERE,
    summed=lambda log: {"name": log.name, "ticks": log.ticks, "problems": log.problems()},
    everything=lambda history, most: ({}, []),
    answers={"days": lambda request, history: history.log.ticks},
    apart="of one person: there is nothing to compare.",
)
'''


@pytest.fixture
def diary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "installed"
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "diaries", raising=False)
    points = {"simcounsel.records": {"diary": "diaries:DIARY"}}
    distribution(folder, "diaries", points, diaries=DIARY)
    (folder / "diary.html").write_text("<p>a diary</p>")
    from diaries import keep  # type: ignore[import-not-found]

    (tmp_path / "runs").mkdir()
    kept: Path = keep(tmp_path / "runs" / "one", ["rain", "sun"]).folder
    return kept


def test_the_core_s_commands_take_a_stranger_s_record(simcounsel: Command, diary: Path) -> None:
    assert kind_of(diary).noun == "diary" and open_record(diary).ticks_done() == 2
    assert "holds: 2 ticks, 4 events" in simcounsel("verify", diary).out
    assert simcounsel("show", diary).out == "rain\n--\nsun\n--\n"
    for command in (("resume",), ("fork", "--at", 1), ("talk", "--who", "Ines")):
        ended = simcounsel(command[0], diary, *command[1:])
        assert ended.code == 1 and "a diary; read it with `simcounsel show" in ended.err
    (diary.parent / "own.yaml").write_text("pages: 3\n")
    assert "ok" in simcounsel("check", diary.parent / "own.yaml").out
    (diary.parent / "other.yaml").write_text("leaves: 3\n")
    assert "nor a diary (no `pages:`)" in simcounsel("check", diary.parent / "other.yaml").out
    ended = simcounsel("export", diary, "-o", "out", "--format", "openai")
    assert ended.code == 1 and "a diary, which holds no dialogues" in ended.err


def test_its_page_is_shown_beside_those_of_runs(diary: Path) -> None:
    lived = live(diary.parent, tiny(), 1)
    site = TestClient(make_app(RunList(diary.parent)), base_url="http://127.0.0.1:8765")
    assert site.get("/run/one").text == "<p>a diary</p>"
    assert site.get("/api/runs/one/days").json() == 2
    assert {one["name"] for one in site.get("/api/runs").json()} == {"one", lived.name}
    told = site.get(f"/api/compare?a=one&b={lived.name}")
    assert (told.status_code, told.text) == (
        422,
        "one is a diary of one person: there is nothing to compare.",
    )


def test_a_kind_that_cannot_be_imported_stops_nobody(
    diary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.syspath_prepend(tmp_path / "torn")
    points = {"simcounsel.records": {"torn": "torn_records:TORN"}}
    distribution(tmp_path / "torn", "torn", points, torn_records="import no_such_package")
    assert kind_of(diary).noun == "diary" and kind_of(tmp_path) is WORLD
    assert "no_such_package" in caplog.text and "(torn)" in caplog.text
