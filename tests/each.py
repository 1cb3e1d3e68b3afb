"""A test of many rows that names every row that fails: `@each("text, level", ROWS)`.

`pytest.mark.parametrize` makes a test of each row. That is right where a row takes long or where the
test changes a fixture. For a table of lines, numbers or files it costs more than what it tests.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]
FAULTS = (Exception, pytest.fail.Exception)


def each(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Runs the test for each row, whose values are the arguments that are named. Stacked, it takes every
    combination.

    Fixtures are made once for all rows, but each row has an empty `tmp_path`.
    """
    columns = [n.strip() for n in names.split(",")] if isinstance(names, str) else [*names]
    table = [dict(zip(columns, row if len(columns) > 1 else (row,), strict=True)) for row in rows]
    assert table, "no rows"

    def decorate(test: Test) -> Test:
        inner: list[dict[str, Any]] = getattr(test, "rows", [{}])
        body: Test = getattr(test, "body", test)

        @functools.wraps(test)
        def run(*self: object, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for number, row in enumerate(run.rows):
                if folder := fixtures.get("tmp_path"):
                    own = folder / f"row{number}"
                    own.mkdir()
                try:
                    body(*self, **row, **fixtures | ({"tmp_path": own} if folder else {}))
                except FAULTS as fault:
                    with subtests.test(**row):
                        raise fault

        run.rows = [outer | row for outer in table for row in inner]
        run.body = body
        run.__signature__ = _signature(body, run.rows[0])
        return run

    return decorate


def _signature(body: Test, given: Iterable[str]) -> inspect.Signature:
    """What pytest still has to hand over."""
    left = [p for name, p in inspect.signature(body).parameters.items() if name not in given]
    return inspect.Signature([*left, inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)])
