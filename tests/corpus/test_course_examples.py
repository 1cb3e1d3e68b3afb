"""What the documentation shows of a course in each format is what is written."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simcounsel.cli import app
from simcounsel.corpus.formats import FORMATS
from tests.each import each
from tests.pages import blocks, commands

PAGE = "docs/course-formats.md"
SHOWN = {"openai": 1, "trl": 2, "sharegpt": 1, "alpaca": 1, "native": 1, "parquet": 1}
"""How many rows are shown in each format whose rows are JSON, in the page's order."""


def json_blocks() -> list[str]:
    """The course itself, then the rows, then a message of the whole course."""
    return [block.text for block in blocks("json") if block.page == PAGE]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the page begins with, and what its commands make of them."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "course.json").write_text(json_blocks()[0], encoding="utf-8")
    (folder / "system.txt").write_text("You are a counselor.\n", encoding="utf-8")
    typed = [one for one in commands()[PAGE] if " course.json " in one]
    assert len(typed) == len(SHOWN) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in [*typed, typed[0].replace("as-openai", "whole --course whole")]:
            done = CliRunner().invoke(app, shlex.split(command)[1:])
            assert done.exit_code == 0, done.output
    return folder


def rows(folder: Path, format: str) -> list[Any]:
    if format == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        found = parquet.read_table(folder / "as-parquet" / "train.parquet").to_pylist()
        return [{name: bare(one) for name, one in row.items() if bare(one)} for row in found]
    text = (folder / f"as-{format}" / "train.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def bare(value: Any) -> Any:
    """Without what is empty."""
    if isinstance(value, dict):
        kept = {name: bare(one) for name, one in value.items()}
        return {name: one for name, one in kept.items() if one not in (None, [], {}, "")}
    return [bare(one) for one in value] if isinstance(value, list) else value


@each(("number", "format"), list(enumerate(SHOWN, start=1)))
def test_a_row_of_a_course(number: int, format: str, place: Path) -> None:
    shown = json.loads(json_blocks()[number])
    found = rows(place, format)[-SHOWN[format] :]
    if format == "parquet":
        assert found[0].pop("messages")
    assert (shown if isinstance(shown, list) else [shown]) == found


def test_a_transcript_of_a_course(place: Path) -> None:
    whole = (place / "as-text" / "train.txt").read_text(encoding="utf-8")
    written = "\n".join(line.rstrip() for line in whole.splitlines())
    shown = [block.text.rstrip("\n") for block in blocks("text") if block.page == PAGE]
    assert any(one.startswith("System: ") and written.rstrip("\n").endswith(one) for one in shown)


def test_one_long_conversation_of_a_course(place: Path) -> None:
    (row,) = map(json.loads, (place / "whole" / "train.jsonl").read_text("utf-8").splitlines())
    assert json.loads(json_blocks()[-1]) in row["messages"]


def test_every_format_is_shown() -> None:
    assert {*SHOWN, "text"} == {name for name, form in FORMATS.items() if not form.paired}
