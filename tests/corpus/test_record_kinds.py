"""What kind of run it is, is decided where it is opened; tables and counts tell what the log holds."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from simcounsel.clock import day_of
from simcounsel.corpus.synthesis.kind import SYNTHESIS
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.sessions import Sessions
from simcounsel.engine.forking import fork
from simcounsel.errors import RunError
from simcounsel.events import (
    Acted,
    Decided,
    Measured,
    PersonaChanged,
    Planned,
    Recalled,
    Reflected,
    Remembered,
    Said,
)
from simcounsel.record_kinds import WORLD, kind_of
from simcounsel.runs import frames
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.record import open_record
from simcounsel.runs.run import Run
from simcounsel.runs.summary import summarize
from simcounsel.specs.measurement import MeasurementSpec
from tests.corpus.written import written
from tests.stage import changed, happened, live, three


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three people, two conversations, two days."""
    spec = MeasurementSpec(instrument="phq9", when="end")
    world = changed(three(), measurements=(spec,), ticks=100, tick_minutes=15)
    return live(tmp_path_factory.mktemp("three"), world, ticks=100)


def test_a_record_is_of_the_kind_that_its_folder_says(run: Run, tmp_path: Path) -> None:
    corpus = written(tmp_path, 1)
    for made, kind in ((run, Run), (corpus, SynthesisRecord)):
        opened = open_record(made.folder)
        assert type(opened) is kind and opened.about == made.about
        assert kind_of(made.folder) is Log(made.folder).kind is kind.kind
    with pytest.raises(RunError, match="a synthesis of dialogues, .*`simcounsel export"):
        Run.open(corpus.folder)
    with pytest.raises(RunError, match="a run of a world; look at it with"):
        SynthesisRecord.open(run.folder)


def test_without_its_manifest_a_log_tells_its_kind_by_what_happened(
    run: Run, tmp_path: Path
) -> None:
    for made, kind, read in (
        (run, WORLD, lambda history: history.conversations()),
        (written(tmp_path / "a"), SYNTHESIS, lambda history: Sessions(history).all()),
    ):
        bare = shutil.copytree(made.folder, tmp_path / kind.about)
        kind.manifest_in(bare).unlink()
        log = Log(bare)
        log.refresh()
        assert log.kind is kind
        assert len(list(read(History(log)))) == len(list(read(History.of(made)))) > 0


def test_lines_are_those_of_the_log_with_the_moves_before_them(run: Run) -> None:
    decided, rows = {}, []
    for entry in run.entries():
        event = entry.event
        if isinstance(event, Decided):
            decided[event.chat, event.who] = event.move
        elif isinstance(event, Said):
            move = decided.pop((event.chat, event.who), None)
            rows.append((entry.tick, entry.minute, event.chat, event.message, event.text, move))
    names = ("tick", "minute", "chat", "message", "text", "move")
    told = [tuple(row[name] for name in names) for row in frames.lines(History.of(run))]
    assert told == rows and len({row[2] for row in rows}) > 1


def test_days_are_counted_from_the_log(run: Run) -> None:
    days: dict[tuple[str, int], Counter[str]] = {}
    plans, doing = {}, {}
    for entry in run.entries():
        event = entry.event
        if not isinstance(event, Planned | Acted | Said | Remembered):
            continue
        day = event.day if isinstance(event, Planned) else day_of(entry.minute)
        counts = days.setdefault((event.who, day), Counter())
        match event:
            case Planned():
                plans[event.who, day] = "; ".join(f"{one.at} {one.do}" for one in event.strokes)
            case Acted():
                counts["activities"] += doing.get(event.who) != event.activity
                doing[event.who] = event.activity
            case Said():
                counts["lines"] += 1
            case Remembered():
                counts["memories"] += 1
    rows = list(frames.days(History.of(run)))
    assert [(row["who"], row["day"]) for row in rows] == sorted(days) and len(rows) > 3
    for row in rows:
        key = row["who"], row["day"]
        assert row["plan"] == plans.get(key)
        for name in ("activities", "lines", "memories"):
            assert row[name] == days[key][name], (key, name)


def test_recalls_and_measurements_are_those_of_the_log(run: Run) -> None:
    texts = {event.memory.id: event.memory.text for event in happened(run, Remembered)}
    hits = [(one.who, hit.id) for one in happened(run, Recalled) for hit in one.hits]
    rows = list(frames.recalls(History.of(run)))
    assert [(row["who"], row["memory"]) for row in rows] == hits and hits
    assert all(row["text"] == texts[row["memory"]] for row in rows)
    scores = [score.value for one in happened(run, Measured) for score in one.scores]
    assert [row["value"] for row in frames.measurements(History.of(run))] == scores and scores


def test_a_summary_counts_what_is_in_the_log(run: Run) -> None:
    found = summarize(run)
    sources = Counter(line.source for line in found.counts.lines)
    assert sources == Counter(line.source for line in happened(run, Said))
    assert found.authors == {"random": sources.total()}
    assert found.counts.conversations == len({line.chat for line in happened(run, Said)})
    assert found.counts.reflections == len(happened(run, Reflected))
    later = [one for one in happened(run, PersonaChanged) if one.version]
    assert found.counts.persona_changes == len(later)
    assert found.measurements == Counter(one.instrument for one in happened(run, Measured))
    assert found.counts.last_minute == max(entry.minute for entry in run.entries())
    assert History.of(run).kinds() == Counter(entry.event.kind for entry in run.entries())


def test_nothing_is_forked_behind_the_end_of_what_is_changed(run: Run, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="all 5 ticks are before --at 8, so nothing would be run"):
        fork(run, 8, {"ticks": 5}, tmp_path)
    assert not list(tmp_path.iterdir())
