"""Files that break programs: each command says one thing, with file and remedy, and ends with 1 or 2."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simcounsel.runs.run import Run
from tests.commands import Command, Ended
from tests.each import each
from tests.screens import environment
from tests.stage import ROOT, TINY

DEEP = "[" * 200_000
DEEP_WHOLE = '{"a":' * 500 + "1" + "}" * 500
DIGITS = "7" * 5000
BOMBS = {"deep": DEEP, "deep and whole": DEEP_WHOLE, "digits": f'{{"schema_version": {DIGITS}}}', "list": "[]", "null": "null", "nothing": "", "bytes": "\x00\x01"}  # fmt: skip


def told(ended: Ended, *words: str) -> None:
    """It ended with an error of a few lines, not with a traceback."""
    said = ended.out + ended.err
    assert ended.code in (1, 2), said[-2000:]
    assert "Traceback" not in said, said[-2000:]
    assert len(said) < 4000, said[:4000]
    for one in words:
        assert one in said, said


@pytest.fixture
def run(tmp_path: Path, lived: Run) -> Path:
    """A copy that may be damaged."""
    return Path(shutil.copytree(lived.folder, tmp_path / "run"))


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_manifest(simcounsel: Command, run: Path, bomb: str) -> None:
    (run / "manifest.json").write_text(BOMBS[bomb], encoding="utf-8")
    told(simcounsel("show", run), "manifest.json: damaged")
    told(simcounsel("resume", run), "manifest.json: damaged")
    told(simcounsel("fork", run, "--at", 3), "manifest.json: damaged")
    told(simcounsel("talk", run, "--who", "Ines"), "manifest.json: damaged")
    told(simcounsel("rate", run, "--instrument", "insomnia_severity", "--at", "end"))
    told(simcounsel("export", run, "--format", "sharegpt", "-o", run.parent / "out"))
    shown = simcounsel("view", run, "--html", run.parent / "page.html")
    assert "Traceback" not in shown.err and "manifest.json" in shown.err


def test_a_manifest_that_is_no_file(simcounsel: Command, run: Path) -> None:
    (run / "manifest.json").unlink()
    (run / "manifest.json").symlink_to("/dev/zero")
    told(simcounsel("show", run), "no run there")
    (run / "manifest.json").unlink()
    (run / "manifest.json").mkdir()
    told(simcounsel("show", run), "no run there")


@pytest.mark.parametrize("line", [DEEP, DEEP_WHOLE, f'{{"seq": {DIGITS}}}', "[]", "7", '{"seq":4}'])
def test_a_line_of_the_log(simcounsel: Command, run: Path, line: str) -> None:
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    lines[4] = line.encode() + b"\n"
    (run / "events.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    seen = simcounsel("show", run)
    assert "events.jsonl:5: " in seen.out + seen.err and "Traceback" not in seen.err
    told(simcounsel("resume", run), "events.jsonl")
    told(simcounsel("fork", run, "--at", 1), "events.jsonl")
    shown = simcounsel("view", run, "--html", run.parent / "page.html")
    assert "Traceback" not in shown.err


def test_a_call_that_is_nested_deeply(simcounsel: Command, run: Path) -> None:
    """A damaged line of the recording is left out, as one that was cut short."""
    for name in ("calls.jsonl", "ratings.jsonl"):
        with (run / name).open("a", encoding="utf-8") as file:
            file.write(f"{DEEP}\n{DEEP_WHOLE}\n")
    assert simcounsel("show", run).code == 0
    assert simcounsel("view", run, "--html", run.parent / "page.html").code == 0


def test_a_lock_that_is_a_folder(simcounsel: Command, run: Path) -> None:
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    (run / "events.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    (run / "run.lock").unlink(missing_ok=True)
    (run / "run.lock").mkdir()
    told(
        simcounsel("resume", run),
        "run.lock: a folder stands where the lock is to be; remove that folder",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        ("mount -o remount,ro DISK", "cannot be written (Read-only file system); copy it to where you may write"),
        ("head -c 100M /dev/zero > DISK/filling 2> /dev/null", "cannot be written (No space left on device)"),
    ],
    ids=["read-only", "full"],
)  # fmt: skip
def test_a_disk(tmp_path: Path, run: Path, prepare: str, words: str) -> None:
    """A small disk of our own, in a namespace in which we may mount one."""
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    (run / "events.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    (tmp_path / "disk").mkdir()
    script = f"mount -t tmpfs -o size=1m none DISK && cp -r {run} DISK/run && ({prepare} || true) && {sys.executable} -m simcounsel resume DISK/run"
    ended = subprocess.run(
        ["unshare", "-Urm", "bash", "-c", script.replace("DISK", str(tmp_path / "disk"))],
        capture_output=True, text=True, env=environment(), cwd=tmp_path, check=False,
    )  # fmt: skip
    if "unshare" in ended.stderr or "mount:" in ended.stderr:
        pytest.skip("no namespaces here")
    told(Ended(ended.returncode, "", ended.stderr), words)


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.json"])
@pytest.mark.parametrize("row", [f'{{"turns": [{DIGITS}]}}', DEEP, DEEP_WHOLE, f"[{DIGITS}]"])  # fmt: skip
def test_a_corpus(simcounsel: Command, tmp_path: Path, name: str, row: str) -> None:
    (tmp_path / name).write_text(row, encoding="utf-8")
    told(simcounsel("corpus", "check", name), name)
    told(simcounsel("export", name, "--format", "trl", "-o", "out"), name)


def world(folder: Path, persona: str, **changes: str) -> Path:
    text = TINY.read_text(encoding="utf-8").replace("../personas/ines.yaml", persona)
    text = text.replace("../personas", str(ROOT / "personas"))
    for old, new in changes.items():
        assert f"{old}: " in text
        text = "\n".join(
            f"{old}: {new}" if line.startswith(f"{old}: ") else line for line in text.split("\n")
        )
    (folder / "world.yaml").write_text(text, encoding="utf-8")
    return folder / "world.yaml"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty", "fifo"])
def test_a_persona_that_is_no_plain_file(simcounsel: Command, tmp_path: Path, device: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    told(simcounsel("check", world(tmp_path, device)), "it is a pipe or a device, not a plain file")
    told(simcounsel("run", world(tmp_path, device)), "it is a pipe or a device, not a plain file")


@each("command", [["check"], ["run"], ["sweep"], ["synthesize"], ["corpus", "check"], ["library", "personas", "import"], ["library", "skills", "import"], ["library", "course", "plan"], ["clinic"]])  # fmt: skip
def test_a_file_without_end(simcounsel: Command, command: list[str]) -> None:
    told(simcounsel(*command, "/dev/zero"))


def test_a_file_that_is_too_large(simcounsel: Command, tmp_path: Path) -> None:
    with (tmp_path / "large.yaml").open("wb") as file:
        file.truncate(9 * 2**20)
    told(simcounsel("check", "large.yaml"), "large.yaml: cannot be read (it is larger than 8 MB)")
