"""Where a trial keeps what happens: SQLite, one writer, a chain of hashes.

trial.db    `chain`: for each event a line that stays for ever: number, time, whose, kind, a digest
            of its body, and a hash over all of that and the hash before. `body`: what it says, with
            a salt. `call`: what was asked of models. Deletion takes bodies and calls away; the
            chain still holds, and shows that something was there.
people.db   who they are: the hash of their link, an address, a panel's id. Under `private/`, so
            that it can be kept elsewhere; no other file names anybody.
"""

import hashlib
import json
import queue
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from simcounsel.errors import StudyError

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], Any]
MOST_AT_ONCE = 256
"""So much work is written in one transaction."""
START = "0" * 64
_TABLES = """
create table if not exists chain (seq integer primary key, at text not null, person text not null,
  kind text not null, digest text not null, hash text not null);
create table if not exists body (seq integer primary key, person text not null, salt text not null,
  json text not null);
create index if not exists body_person on body(person);
create table if not exists call (id integer primary key, person text not null, json text not null);
create index if not exists call_person on call(person);
create table if not exists people.known (code text primary key, link text unique, token text,
  contact text, panel text);
create table if not exists people.session (hash text primary key, code text not null,
  at text not null);
"""


@dataclass(frozen=True, kw_only=True)
class Happened:
    """An event of a trial."""

    seq: int
    at: datetime
    """In UTC."""
    person: str
    """The code; '' where it is of the whole trial."""
    kind: str
    data: dict[str, Any]
    deleted: bool = False
    """Whether what it said was deleted; `data` is {} then."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of somebody, apart from the data."""

    code: str
    contact: str | None = None
    token: str | None = None
    """The secret of their link, for whoever sends it."""
    panel: dict[str, str] | None = None
    """A panel's parameters, such as PROLIFIC_PID."""


def hash_of(secret: str) -> str:
    """What is kept of a secret that has enough chance in it."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Store:
    """A trial's databases. Everything is written by one thread, many at once in a transaction, and
    is on the disk when `write` returns.
    """

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)):
        """StudyError when the databases cannot be opened."""
        self.folder, self._now = folder, now
        (folder / "private").mkdir(parents=True, exist_ok=True, mode=0o700)
        self._work: queue.SimpleQueue[tuple[Work, Future[Any]] | None] = queue.SimpleQueue()
        try:
            with closing(self.connect()) as db:
                db.executescript(_TABLES)
        except sqlite3.Error as error:
            raise StudyError(f"{folder / 'trial.db'}: cannot be opened ({error})") from None
        self._thread = threading.Thread(target=self._writing, name="trial-store", daemon=True)
        self._thread.start()

    def connect(self) -> sqlite3.Connection:
        """A connection to both databases."""
        db = sqlite3.connect(self.folder / "trial.db", isolation_level=None)
        db.execute("attach ? as people", (str(self.folder / "private" / "people.db"),))
        for name in ("main", "people"):
            db.execute(f"pragma {name}.journal_mode=wal")
            db.execute(f"pragma {name}.synchronous=full")
            db.execute(f"pragma {name}.secure_delete=on")
        db.execute("pragma busy_timeout=10000")
        return db

    # writing

    def write(self, person: str, kind: str, /, **data: Any) -> Happened:
        """An event, on the disk when this returns."""
        found: Happened = self.do(lambda db: self._append(db, person, kind, data)).result()
        return found

    def call(self, person: str, line: dict[str, Any]) -> None:
        """A model's call; it is on the disk before whatever is written after it."""
        text = json.dumps(line, ensure_ascii=False)
        self.do(
            lambda db: db.execute("insert into call(person, json) values(?, ?)", (person, text))
        )

    def do(self, work: Work) -> "Future[Any]":
        """Something to be done by the writer; its result once it is on the disk."""
        future: Future[Any] = Future()
        self._work.put((work, future))
        return future

    def _append(
        self, db: sqlite3.Connection, person: str, kind: str, data: dict[str, Any]
    ) -> Happened:
        at = self._now()
        text, salt = json.dumps(data, ensure_ascii=False), secrets.token_hex(16)
        last = db.execute("select seq, hash from chain order by seq desc limit 1").fetchone()
        seq, before = (last[0] + 1, last[1]) if last else (1, START)
        link = Link(
            seq=seq, at=at.isoformat(), person=person, kind=kind, digest=_digest(salt, text)
        )
        db.execute(
            "insert into chain values(?, ?, ?, ?, ?, ?)",
            (seq, link.at, person, kind, link.digest, link.hash(before)),
        )
        db.execute("insert into body values(?, ?, ?, ?)", (seq, person, salt, text))
        return Happened(seq=seq, at=at, person=person, kind=kind, data=data)

    def _writing(self) -> None:
        db = self.connect()
        ended = False
        while not ended:
            some = [self._work.get()]
            while len(some) < MOST_AT_ONCE and not self._work.empty():
                some.append(self._work.get_nowait())
            ended = None in some
            self._transact(db, [one for one in some if one is not None])
        db.close()

    def _transact(self, db: sqlite3.Connection, some: list[tuple[Work, Future[Any]]]) -> None:
        """All in one transaction; where one of them fails, it alone is undone."""
        done: list[tuple[Future[Any], Any]] = []
        try:
            db.execute("begin immediate")
            for work, future in some:
                db.execute("savepoint one")
                try:
                    done.append((future, work(db)))
                    db.execute("release one")
                except Exception as error:
                    db.execute("rollback to one")
                    db.execute("release one")
                    future.set_exception(error)
            db.execute("commit")
        except sqlite3.Error as error:
            if db.in_transaction:
                db.execute("rollback")
            for _, future in some:
                if not future.done():
                    future.set_exception(
                        StudyError(f"{self.folder / 'trial.db'}: cannot be written ({error})")
                    )
            return
        for future, value in done:
            future.set_result(value)

    def delete(self, person: str) -> None:
        """All that somebody said, answered, and was answered, and who they are."""

        def work(db: sqlite3.Connection) -> None:
            for table in ("body", "call"):
                db.execute(f"delete from {table} where person = ?", (person,))
            for table in ("known", "session"):
                db.execute(f"delete from people.{table} where code = ?", (person,))

        self.do(work).result()
        with closing(self.connect()) as db:
            for name in ("main", "people"):
                db.execute(f"pragma {name}.wal_checkpoint(truncate)")
                db.execute(f"vacuum {name}")
                db.execute(f"pragma {name}.wal_checkpoint(truncate)")

    def close(self) -> None:
        """Write what is left, and end."""
        self._work.put(None)
        self._thread.join(timeout=30)

    # reading

    def events(self, after: int = 0) -> Iterator[Happened]:
        """All events in order, those that were deleted without what they said."""
        with closing(self.connect()) as db:
            rows = db.execute(
                "select chain.seq, at, chain.person, kind, json from chain left join body"
                " on chain.seq = body.seq where chain.seq > ? order by chain.seq",
                (after,),
            )
            for seq, at, person, kind, text in rows:
                yield Happened(
                    seq=seq,
                    at=datetime.fromisoformat(at),
                    person=person,
                    kind=kind,
                    data=json.loads(text) if text else {},
                    deleted=text is None,
                )

    def calls(self, person: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Whose call, and the call; of somebody, or of all."""
        with closing(self.connect()) as db:
            where = "" if person is None else " where person = ?"
            rows = db.execute(
                f"select person, json from call{where} order by id",
                () if person is None else (person,),
            )
            for code, text in rows:
                yield code, json.loads(text)

    def damages(self) -> list[str]:
        """Where the chain or a body is not as it was written, in words; [] where nothing is."""
        found, before, wanted = [], START, 1
        with closing(self.connect()) as db:
            rows = db.execute(
                "select chain.seq, at, chain.person, kind, digest, hash, salt, json from chain"
                " left join body on chain.seq = body.seq order by chain.seq"
            )
            for seq, at, person, kind, digest, own, salt, text in rows:
                link = Link(seq=seq, at=at, person=person, kind=kind, digest=digest)
                if seq != wanted:
                    found.append(f"event {wanted}: missing")
                if own != link.hash(before):
                    found.append(f"event {seq}: changed, or the one before it was")
                if text is not None and _digest(salt, text) != digest:
                    found.append(f"event {seq}: what it says was changed")
                before, wanted = own, seq + 1
        return found

    @property
    def head(self) -> str:
        """The hash of the last event: whoever has it can prove later that nothing was changed."""
        with closing(self.connect()) as db:
            last = db.execute("select hash from chain order by seq desc limit 1").fetchone()
        return last[0] if last else START

    # people

    def add_person(self, known: Known) -> None:
        """Somebody new. StudyError when the code is taken."""
        panel = json.dumps(known.panel) if known.panel else None
        link = hash_of(known.token) if known.token else None
        row = (known.code, link, known.token, known.contact, panel)
        work = "insert into people.known values(?, ?, ?, ?, ?)"
        self.do(lambda db: db.execute(work, row)).result()

    def people(self) -> Iterator[Known]:
        """All, with what is known of them."""
        with closing(self.connect()) as db:
            rows = db.execute("select code, token, contact, panel from people.known order by code")
            for code, token, contact, panel in rows:
                known = json.loads(panel) if panel else None
                yield Known(code=code, token=token, contact=contact, panel=known)

    def begin_session(self, code: str) -> str:
        """The secret of a new session of a browser."""
        secret = secrets.token_urlsafe(24)
        row = (hash_of(secret), code, self._now().isoformat())
        self.do(lambda db: db.execute("insert into people.session values(?, ?, ?)", row)).result()
        return secret

    def end_session(self, secret: str) -> None:
        """The session is over."""
        work = "delete from people.session where hash = ?"
        self.do(lambda db: db.execute(work, (hash_of(secret),))).result()

    def sessions(self) -> dict[str, str]:
        """Codes by the hash of a session's secret."""
        with closing(self.connect()) as db:
            return dict(db.execute("select hash, code from people.session").fetchall())


@dataclass(frozen=True, kw_only=True)
class Link:
    """What stays of an event for ever."""

    seq: int
    at: str
    person: str
    kind: str
    digest: str

    def hash(self, before: str) -> str:
        """Over it and the hash before."""
        parts = (before, str(self.seq), self.at, self.person, self.kind, self.digest)
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def _digest(salt: str, text: str) -> str:
    return hashlib.sha256(f"{salt}\x1f{text}".encode()).hexdigest()
