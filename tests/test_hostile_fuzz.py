"""Any file that is damaged in any way, given to any command: an error in words, or none; never a traceback."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcounsel.runs.run import Run
from tests.commands import Command
from tests.stage import ROOT, TINY

ODD = st.sampled_from(
    [None, True, -1, 0, 0.5, 1e308, 10**30, "", "\x1b[2J\u202e", "7" * 300, "/dev/zero", "Ines", [], {}, [[]], [None], {"a": 1}, {"": None}]
)  # fmt: skip
PIECES = st.sampled_from(
    ["\x00", "\u202e", "- ", "{", "}", "[", "]", ": ", "&a ", "*a ", "!!python/name:os.system ", "~", "null", "true", "-1", "1e999", "9" * 30, "\t", "\n", ".nan", "..", "/dev/zero", "<<: *a", "\x1b[2J"]
)  # fmt: skip


def changed(data: Any, draw: Callable[[Any], Any]) -> Any:
    """The data of a JSON text with one spot of it taken out, doubled, or made into something odd."""
    if not isinstance(data, (dict, list)) or not data or draw(st.integers(0, 6)) == 0:
        return draw(ODD)
    at = draw(st.sampled_from(sorted(data) if isinstance(data, dict) else range(len(data))))
    data = data.copy()
    match draw(st.integers(0, 9)):
        case 0:
            del data[at]
        case 1 if isinstance(data, list):
            data.insert(at, data[at])
        case _:
            data[at] = changed(data[at], draw)
    return data


def damaged(text: str, draw: Callable[[Any], Any]) -> str:
    """The text with one or two pieces put in, over what was there."""
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECES) + text[at + draw(st.integers(0, 12)) :]
    return text


def damaged_lines(text: str, draw: Callable[[Any], Any]) -> str:
    """The text with one line lost, doubled, or damaged as JSON or as text."""
    lines = text.split("\n")
    at = draw(st.integers(0, max(0, len(lines) - 2)))
    match draw(st.integers(0, 9)):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2 | 3:
            lines[at] = damaged(lines[at], draw)
        case _:
            lines[at] = json.dumps(changed(json.loads(lines[at]), draw), ensure_ascii=False)
    return "\n".join(lines)


def no_traceback(simcounsel: Command, *arguments: object) -> None:
    ended = simcounsel(*arguments)
    assert "Traceback" not in ended.err, (arguments, ended.err[-1500:])
    assert ended.code in (0, 1, 2, 3), arguments
    if ended.code == 2 or (ended.code == 1 and arguments[0] != "check"):
        assert ended.err.strip() or ended.out.strip(), arguments


ON_RUNS: list[list[object]] = [
    ["show", "RUN"], ["show", "RUN", "--conversation", 1], ["show", "RUN", "--who", "Ines"], ["show", "RUN", "--recall", "Ines"],
    ["view", "RUN", "--html", "page.html"], ["resume", "RUN"], ["fork", "RUN", "--at", 2, "--out", "out"],
    ["rate", "RUN", "--instrument", "working_alliance", "--model", "scripted"], ["export", "RUN", "--format", "trl", "-o", "out"],
    ["corpus", "check", "RUN"], ["study", "rate-page", "RUN", "--out", "out"], ["show", "RUN", "--strategies"],
    ["run", TINY, "--model", "recorded:RUN", "--out", "out"],
]  # fmt: skip
ON_CORPORA: list[list[object]] = [
    ["corpus", "check", "FILE", "--html", "page.html"], ["export", "FILE", "--format", "trl", "-o", "out"],
    ["corpus", "rate", "FILE", "--model", "scripted", "--out", "out"], ["study", "rate-page", "FILE", "--out", "out"],
    ["study", "judge", "--data", "FILE", "--model", "scripted", "--out", "out"], ["library", "personas", "import", "FILE", "--out", "out"],
    ["synthesize", "FILE", "--model", "scripted", "--sessions", 1, "--out", "out"],
]  # fmt: skip
ON_YAML: list[list[object]] = [
    ["check", "FILE"], ["run", "FILE", "--model", "scripted", "--ticks", 1, "--out", "out"], ["sweep", "FILE", "--dry-run"],
    ["clinic", "--world", "FILE"], ["library", "course", "plan", "FILE"], ["train", "account", "FILE", "--no-table"],
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_run(simcounsel: Command, tmp_path: Path, lived: Run, data: st.DataObject) -> None:
    run = tmp_path / "run"
    shutil.rmtree(run, ignore_errors=True)
    shutil.rmtree("out", ignore_errors=True)
    shutil.copytree(lived.folder, run)
    file = run / data.draw(st.sampled_from(["events.jsonl", "calls.jsonl", "manifest.json"]))
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        text = json.dumps(changed(json.loads(text), data.draw))
    else:
        text = damaged_lines(text, data.draw)
    file.write_text(text, encoding="utf-8")
    for command in data.draw(st.lists(st.sampled_from(ON_RUNS), min_size=2, max_size=2)):
        no_traceback(simcounsel, *(str(part).replace("RUN", "run") for part in command))


@pytest.mark.slow
@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_corpus(simcounsel: Command, tmp_path: Path, data: st.DataObject) -> None:
    shutil.rmtree("out", ignore_errors=True)
    talk = [
        {"role": role, "content": f"Line {at}."}
        for at in range(3)
        for role in ("client", "counselor")
    ]
    rows = [{"id": f"d{at}", "client": "Ann", "turns": talk} for at in range(3)]
    text = "\n".join(json.dumps(row) for row in rows) + "\n"
    (tmp_path / "c.jsonl").write_text(damaged_lines(text, data.draw), encoding="utf-8")
    for command in data.draw(st.lists(st.sampled_from(ON_CORPORA), min_size=2, max_size=2)):
        no_traceback(simcounsel, *(str(part).replace("FILE", "c.jsonl") for part in command))


@pytest.mark.slow
@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_file_that_people_write(simcounsel: Command, tmp_path: Path, data: st.DataObject) -> None:
    shutil.rmtree("out", ignore_errors=True)
    named = [
        "worlds/tiny.yaml",
        "personas/ines.yaml",
        "experiments/quick.yaml",
        "training/configs/smoke.yaml",
    ]
    source = ROOT / data.draw(st.sampled_from(named))
    text = damaged(source.read_text(encoding="utf-8").replace("../", f"{ROOT}/"), data.draw)
    (tmp_path / "f.yaml").write_text(text, encoding="utf-8")
    for command in data.draw(st.lists(st.sampled_from(ON_YAML), min_size=2, max_size=2)):
        no_traceback(simcounsel, *(str(part).replace("FILE", "f.yaml") for part in command))
