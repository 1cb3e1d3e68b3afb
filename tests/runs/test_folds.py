"""A running world and a reader see the same conversations; activities are told with what was felt."""

from pathlib import Path

from simcounsel.events import Acted, Entry, Said, TickEnded
from simcounsel.instruments.record import ObserverRecord
from simcounsel.runs.folds import Conversations
from simcounsel.runs.history import History
from tests.stage import happened, live, three


def test_an_observer_is_shown_what_a_reader_reads(tmp_path: Path) -> None:
    run = live(tmp_path, three(), ticks=12)
    record = ObserverRecord(run.world)
    for entry in run.entries():
        record.observe(entry)
    read = list(History.of(run).conversations())
    assert read and list(record.talks) == [one.id for one in read]
    for one in read:
        talk = record.talks[one.id]
        assert (talk.tick, talk.who, talk.cause) == (one.tick, one.who, one.started.cause)
        assert talk.lines == tuple((line.who, line.text) for line in one.lines)
        assert record.last_talk(one.who[0]) is not None


def test_a_conversation_is_complete_when_its_tick_is(tmp_path: Path) -> None:
    run = live(tmp_path, three(), ticks=12)
    fold, complete, lines = Conversations(), [], 0
    for entry in run.entries():
        complete += fold.observe(entry)
        lines = 0 if isinstance(entry.event, TickEnded) else lines + isinstance(entry.event, Said)
        assert sum(len(one.lines) for one in fold.under_way()) == lines
    assert complete == list(History.of(run).conversations())


def test_an_activity_has_the_feeling_in_which_its_tick_ended(tmp_path: Path) -> None:
    run = live(tmp_path, three(), ticks=12)
    told = list(History.of(run).activities())
    assert [one.activity for one in told] == [acted.activity for acted in happened(run, Acted)]
    for one in told:
        felt = [
            (entry.event.emotion, entry.event.intensity)
            for entry in run.entries(until_tick=one.tick + 1)
            if _felt_by(entry, one.who)
        ]
        assert (one.feeling[1:] if one.feeling else None) == (felt[-1] if felt else None)


def _felt_by(entry: Entry, who: str) -> bool:
    return entry.event.kind in ("said", "appraised") and entry.event.who == who
