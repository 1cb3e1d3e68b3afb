"""Nothing is lost, nothing is changed unseen, and what is deleted is gone."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from simcounsel.errors import StudyError
from simcounsel.trial.store import START, Known, Link, Store
from tests.stage import ROOT

WRITES = """
import sys
from pathlib import Path
from simcounsel.trial.store import Store
store = Store(Path(sys.argv[1]))
for number in range(100_000):
    store.write("P001", "said", text=f"line {number}")
    print(number, flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def changed(store: Store, statement: str) -> None:
    with closing(sqlite3.connect(store.folder / "trial.db", isolation_level=None)) as db:
        db.execute(statement)


def test_events_come_back_in_order_whoever_wrote_them(store: Store) -> None:
    def write(code: str) -> None:
        for number in range(40):
            store.write(code, "said", text=f"{code} {number}")

    threads = [threading.Thread(target=write, args=(f"P{n:03}",)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    events = list(store.events())
    assert [one.seq for one in events] == list(range(1, 321))
    for code in ("P000", "P007"):
        own = [one.data["text"] for one in events if one.person == code]
        assert own == [f"{code} {number}" for number in range(40)]
    assert store.damages() == []
    store.close()


def test_the_hash_is_over_the_one_before_by_hand(store: Store) -> None:
    import hashlib

    first = store.write("P001", "said", text="hello")
    second = store.write("", "paused_all", paused=True)
    with closing(store.connect()) as db:
        rows = db.execute("select seq, at, person, kind, digest, hash from chain").fetchall()
    before = START
    for row in rows:
        text = "\x1f".join((before, *map(str, row[:5])))
        assert hashlib.sha256(text.encode()).hexdigest() == row[5]
        before = row[5]
    assert [first.seq, second.seq] == [1, 2] and store.head == before
    store.close()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ('update body set json = \'{"text": "other"}\' where seq = 2', "event 2: what it says"),
        ("update chain set at = '2020-01-01' where seq = 2", "event 2: changed"),
        ("update chain set person = 'P009' where seq = 2", "event 2: changed"),
        ("delete from chain where seq = 2", "event 2: missing"),
        ("update chain set hash = 'x' where seq = 3", "event 3: changed"),
    ],
)
def test_what_was_changed_is_named(store: Store, statement: str, says: str) -> None:
    for number in range(4):
        store.write("P001", "said", text=f"line {number}")
    store.close()
    changed(store, statement)
    assert says in store.damages()[0]


def test_what_is_deleted_is_in_no_file_and_the_chain_holds(store: Store) -> None:
    store.add_person(Known(code="P001", contact="robin@example.org", token="a-secret-link"))
    store.add_person(Known(code="P002", contact="sam@example.org", token="another"))
    for code, text in (("P001", "unmistakable words"), ("P002", "words that stay")):
        store.write(code, "said", text=text)
        store.call(code, {"key": code, "reply": text, "purpose": "line"})
    store.write("P001", "withdrew", delete=True)
    store.delete("P001")
    left = b"".join(file.read_bytes() for file in store.folder.rglob("*") if file.is_file())
    for gone in (b"unmistakable", b"robin@", b"a-secret-link"):
        assert gone not in left
    assert b"words that stay" in left and b"sam@example.org" in left
    assert store.damages() == []
    mine = [one for one in store.events() if one.person == "P001"]
    assert [(one.kind, one.deleted) for one in mine] == [("said", True), ("withdrew", True)]
    assert [code for code, _ in store.calls()] == ["P002"]
    store.close()


def test_one_work_that_fails_takes_no_other_with_it(store: Store) -> None:
    good = store.do(lambda db: db.execute("insert into call(person, json) values('P1', '{}')"))
    bad = store.do(lambda db: db.execute("insert into nowhere values(1)"))
    also = store.do(lambda db: db.execute("insert into call(person, json) values('P2', '{}')"))
    good.result()
    also.result()
    with pytest.raises(sqlite3.OperationalError):
        bad.result()
    assert [code for code, _ in store.calls()] == ["P1", "P2"]
    store.close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "trial.db").mkdir()
    with pytest.raises(StudyError, match=r"trial\.db"):
        Store(tmp_path)


@pytest.mark.slow(3)
def test_what_was_kept_survives_a_kill(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    kept = -1
    for line in process.stdout:
        kept = int(line)
        if kept >= 200:
            break
    process.send_signal(signal.SIGKILL)
    kept = max([kept, *(int(line) for line in process.stdout if line.endswith("\n"))])
    process.wait()
    process.stdout.close()
    store = Store(tmp_path)
    texts = [one.data["text"] for one in store.events()]
    assert texts[: kept + 1] == [f"line {number}" for number in range(kept + 1)]
    assert store.damages() == []
    assert store.write("P001", "said", text="and on").seq == len(texts) + 1
    assert store.damages() == []
    store.close()


def test_a_link_is_hashed_with_what_comes_before() -> None:
    link = Link(seq=1, at="2026-01-01T00:00:00+00:00", person="P001", kind="said", digest="d")
    assert link.hash(START) != link.hash("1" * 64)
