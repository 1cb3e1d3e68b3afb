"""Files of JSON lines, written on."""

from pathlib import Path

from simcounsel.runs.jsonl import append_line, json_lines


def test_line_after_one_that_a_crash_cut_short_stands_on_its_own(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    append_line(file, {"reply": "第三次"})
    with file.open("ab") as out:
        out.write(b'{"reply": "half')
    append_line(file, {"reply": "half a character: \ud83d"})
    assert file.read_bytes().count(b"\n") == 3
    assert "第三次".encode() in file.read_bytes()
    assert next(json_lines(file)) == {"reply": "第三次"}


def test_file_that_is_not_there_begins_with_the_first_line(tmp_path: Path) -> None:
    append_line(tmp_path / "new.jsonl", {"kind": "call"})
    assert (tmp_path / "new.jsonl").read_bytes() == b'{"kind": "call"}\n'
