"""Many rows in one test: each that fails is named, and no other."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.each import each


class Named:
    """Stands in for pytest's subtests: which rows were reported, and what went wrong in them."""

    def __init__(self) -> None:
        self.faults: list[tuple[dict[str, object], str]] = []

    @contextmanager
    def test(self, **row: object) -> Iterator[None]:
        try:
            yield
        except BaseException as fault:
            self.faults.append((row, type(fault).__name__))


def test_every_row_that_fails_is_named() -> None:
    @each("number, bound", [(1, 2), (3, 2), (5, 2)])
    def below(number: int, bound: int) -> None:
        assert number < bound

    below(subtests=(named := Named()))
    wrong = [{"number": 3, "bound": 2}, {"number": 5, "bound": 2}]
    assert named.faults == [(row, "AssertionError") for row in wrong]


def test_no_error_where_one_must_be_and_another_error_count_as_well() -> None:
    @each("text", ["1", "x", None])
    def refused(text: str) -> None:
        with pytest.raises(ValueError):
            int(text)

    refused(subtests=(named := Named()))
    assert named.faults == [({"text": "1"}, "Failed"), ({"text": None}, "TypeError")]


@each("a", [1, 2])
@each("b, c", [(1, 2), (3, 4)])
def test_all_combinations_with_a_folder_each(a: int, b: int, c: int, tmp_path: Path) -> None:
    assert c == b + 1
    assert not [*tmp_path.iterdir()]
    (tmp_path / "file").touch()
    assert len([*tmp_path.parent.glob("*/file")]) == 2 * a - (b == 1)


def test_no_rows_are_no_test() -> None:
    with pytest.raises(AssertionError, match="no rows"):
        each("a", [])
