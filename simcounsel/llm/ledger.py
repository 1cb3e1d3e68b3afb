"""What is spent of a budget and what may still come of the requests in flight, in a file that many
processes share, or in the memory of one.

A claim belongs to one question. It holds what its requests took so far and the most that the one
in flight can take, and is closed when the question's line is in the recording. So a process that
is killed loses no count: its claims are still there, and are at their most.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from simcounsel.errors import ModelError

FILE = "budget.sqlite3"
_WAIT_S = 60.0
"""For another process that writes; each holds the file for less than a millisecond."""
_TABLES = """
CREATE TABLE IF NOT EXISTS claims
    (id INTEGER PRIMARY KEY, owner TEXT,
     calls INTEGER, usd REAL, most_calls INTEGER, most_usd REAL);
CREATE TABLE IF NOT EXISTS spent (what TEXT PRIMARY KEY, calls INTEGER, usd REAL);
CREATE TABLE IF NOT EXISTS limits (what TEXT PRIMARY KEY, most REAL);
"""
_MOVE = """
INSERT INTO spent SELECT ?, calls + most_calls, usd + most_usd FROM claims WHERE {0}
    ON CONFLICT(what) DO UPDATE SET calls = calls + excluded.calls, usd = usd + excluded.usd
"""

_LOST = """
INSERT INTO spent SELECT 'lost', MAX(calls - ?, 0), MAX(usd - ?, 0) FROM spent
    WHERE what = 'recorded'
    ON CONFLICT(what) DO UPDATE SET calls = calls + excluded.calls, usd = usd + excluded.usd
"""


@dataclass(frozen=True, kw_only=True)
class Amount:
    """What requests take."""

    calls: int = 0
    """Requests on the wire."""
    usd: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(calls=self.calls + other.calls, usd=self.usd + other.usd)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How a budget stands."""

    spent: Amount
    """What is known to be spent, or was lost in flight."""
    in_flight: Amount
    """The most that the requests in flight can take."""


class Ledger:
    """The account of one budget.

    file: None keeps it in memory. owner: whose claims are made here, a run's name where several
    share the file. ModelError when the file cannot be used.
    """

    def __init__(self, file: Path | None = None, owner: str = "") -> None:
        self.file = file
        self.owner = owner
        self.shared = file is not None
        with self._readable():
            self._table = sqlite3.connect(
                file or ":memory:", timeout=_WAIT_S, isolation_level=None, check_same_thread=False
            )
            if file is not None:
                self._table.execute("PRAGMA journal_mode=WAL")
                self._table.execute("PRAGMA synchronous=NORMAL")
            self._table.executescript(_TABLES)

    def begin(self, spent: Amount) -> None:
        """Nobody else is at work: what the recordings say is spent, and what is still claimed was
        lost with its process. So was what was recorded and is in no recording any more, as of a
        run whose node was lost.
        """
        with self._writing() as table:
            table.execute(_MOVE.format("true"), ("lost",))
            table.execute("DELETE FROM claims")
            table.execute(_LOST, (spent.calls, spent.usd))
            table.execute("DELETE FROM spent WHERE what != 'lost'")
            table.execute("INSERT INTO spent VALUES ('recorded', ?, ?)", (spent.calls, spent.usd))

    def limits(self) -> dict[str, float]:
        """What was remembered, by `calls` and `usd`; what has no limit is left out."""
        with self._readable():
            return dict(self._table.execute("SELECT what, most FROM limits").fetchall())

    def remember(self, limits: Mapping[str, float]) -> None:
        """Keep these limits, in place of those before, for whoever goes on without naming one."""
        with self._writing() as table:
            table.execute("DELETE FROM limits")
            table.executemany("INSERT INTO limits VALUES (?, ?)", limits.items())

    def lose(self, owner: str) -> None:
        """A process has ended: what it still claims stays counted, and nobody waits for it."""
        with self._writing() as table:
            table.execute(_MOVE.format("owner = ?"), ("lost", owner))
            table.execute("DELETE FROM claims WHERE owner = ?", (owner,))

    def claim(
        self, ticket: int | None, most: Amount, calls: int | None, usd: float | None
    ) -> int | Standing:
        """Claim the most that a request can take; the ticket of the claim, or how things stand
        where it does not fit into so many calls and USD (None: no limit). ticket: of the question's
        earlier requests.
        """
        with self._writing() as table:
            now = _standing(table)
            after = now.spent + now.in_flight + most
            if (calls is not None and most.calls and after.calls > calls) or (
                usd is not None and most.usd and after.usd > usd
            ):
                return now
            if ticket is None:
                values = (self.owner, most.calls, most.usd)
                found = table.execute("INSERT INTO claims VALUES (NULL, ?, 0, 0, ?, ?)", values)
                assert found.lastrowid is not None
                return found.lastrowid
            table.execute(
                "UPDATE claims SET most_calls = ?, most_usd = ? WHERE id = ?",
                (most.calls, most.usd, ticket),
            )
            return ticket

    def settle(self, ticket: int, real: Amount) -> None:
        """The request in flight is over, and took this."""
        with self._writing() as table:
            table.execute(
                "UPDATE claims SET calls = calls + ?, usd = usd + ?, most_calls = 0, most_usd = 0"
                " WHERE id = ?",
                (real.calls, real.usd, ticket),
            )

    def close(self, ticket: int) -> None:
        """The question is over, and what it took is recorded."""
        with self._writing() as table:
            table.execute(_MOVE.format("id = ?"), ("recorded", ticket))
            table.execute("DELETE FROM claims WHERE id = ?", (ticket,))

    def standing(self) -> Standing:
        """How the budget stands now."""
        with self._readable():
            return _standing(self._table)

    def end(self) -> None:
        """Let go of the file."""
        self._table.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing, and nobody else meanwhile."""
        with self._readable():
            self._table.execute("BEGIN IMMEDIATE")
            try:
                yield self._table
            except BaseException:
                self._table.execute("ROLLBACK")
                raise
            self._table.execute("COMMIT")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise ModelError(
                f"{self.file}: the account of the budget cannot be kept ({error}); free some space,"
                " or remove this file if it is damaged: what the recordings say is counted again"
            ) from None


def _standing(table: sqlite3.Connection) -> Standing:
    spent = table.execute("SELECT TOTAL(calls), TOTAL(usd) FROM spent").fetchone()
    row = table.execute(
        "SELECT TOTAL(calls), TOTAL(usd), TOTAL(most_calls), TOTAL(most_usd) FROM claims"
    ).fetchone()
    return Standing(
        spent=Amount(calls=int(spent[0] + row[0]), usd=spent[1] + row[1]),
        in_flight=Amount(calls=int(row[2]), usd=row[3]),
    )
