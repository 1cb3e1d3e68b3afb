"""Commands whose model does not answer: given up, nothing written, exit code 3, and how to go on."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from simcounsel.llm.asking import Asking, asked
from simcounsel.llm.catalog import open_chat, open_chats
from simcounsel.llm.models import Timed
from simcounsel.specs.timeouts import Timeouts
from simcounsel.specs.world_file import load_world
from tests.commands import Command, only_run
from tests.each import each
from tests.llm.server import FaultServer
from tests.stage import TINY, live, log

AT_ONCE = ("--wait-for-model", "0")


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as serving:
        yield serving


def dead(server: FaultServer) -> str:
    server.faults = lambda index: "503"
    return f"{server.url}/m"


def test_run_stops_and_resume_goes_on(
    simcounsel: Command, tmp_path: Path, server: FaultServer
) -> None:
    server.faults = lambda index: "503" if index >= 2 else None
    scripted = ("--model", f"{server.url}/m", "--set", "models.embed=scripted")
    ended = simcounsel("run", TINY, "--out", tmp_path, "-q", "--ticks", 2, *scripted, *AT_ONCE)
    run = only_run(tmp_path)
    assert (ended.code, log(run), run.ticks_done()) == (3, b"", 0)
    assert ended.err.startswith(f"simcounsel: no answer from {server.url}/m (HTTP 503")
    assert ended.err.endswith(f"; go on with `simcounsel resume {run.folder}`\n")
    asked_before = len(server.bodies)
    assert simcounsel("resume", run.folder, "-q", *AT_ONCE).code == 3
    server.faults = lambda index: None
    assert simcounsel("resume", run.folder, "-q", "--ticks", 2).code == 0
    assert run.ticks_done() == 2
    assert len(server.bodies) > asked_before


def test_a_wrong_name_of_a_model(
    simcounsel: Command, tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server says what it has; going on would ask the same wrong name again."""
    server.faults, server.models = (lambda index: "404"), ["small:1b", "large:8b"]
    given = ("--model", f"{server.url}/m", "--set", "models.embed=scripted", *AT_ONCE)
    ended = simcounsel("run", TINY, "--out", tmp_path, "-q", "--ticks", 2, *given)
    assert ended.code == 3 and "this server has small:1b, large:8b: begin again" in ended.err
    assert "resume" not in ended.out + ended.err and ended.err.count("this server has") == 1
    lived = simcounsel(
        "run", TINY, "--out", tmp_path / "c", "-q", "--ticks", 2, "--model", "scripted"
    )
    assert lived.code == 0
    monkeypatch.setattr("sys.stdin", StringIO("How are you?\n"))
    asked = (only_run(tmp_path / "c").folder, "--model", f"{server.url}/m", *AT_ONCE)
    ended = simcounsel("talk", asked[0], "--who", "Ines", *asked[1:])
    assert ended.code == 3 and "this server has small:1b, large:8b: begin again" in ended.err
    ended = simcounsel("rate", asked[0], "--instrument", "phq9", *asked[1:])
    assert ended.code == 3 and "this server has small:1b" in ended.err and "go on" not in ended.err
    server.models = []
    ended = simcounsel("run", TINY, "--out", tmp_path / "b", "-q", "--ticks", 2, *given)
    assert ended.code == 3 and "simcounsel resume" in ended.err


def test_a_measurement_is_given_up(
    simcounsel: Command, tmp_path: Path, server: FaultServer
) -> None:
    run = live(tmp_path)
    ended = simcounsel(
        "rate", run.folder, "--instrument", "empathy", "--model", dead(server), *AT_ONCE
    )
    assert ended.code == 3
    assert "what was measured and answered is kept in" in ended.err
    (file,) = (run.folder / "measurements").glob("*.jsonl")
    assert b'"kind":"measured"' not in file.read_bytes().replace(b" ", b"")


@each(
    ("given", "told"),
    [
        (("--wait-for-model", "soon"), "'soon' is no number of seconds, and not `forever`"),
        (("--wait-for-model", "nan"), "'nan' is no number of seconds"),
        (("--timeout", "0"), "'0' is neither READ nor CONNECT,READ in seconds"),
        (("--timeout", "5,"), "'5,' is neither READ nor CONNECT,READ"),
    ],
)
def test_what_is_no_time_is_refused(simcounsel: Command, given: tuple[str, ...], told: str) -> None:
    ended = simcounsel("run", TINY, *given)
    assert ended.code == 2 and told in " ".join(ended.err.split())


def test_timeouts_of_the_command_line_come_before_the_worlds() -> None:
    world = load_world(
        TINY,
        **{
            "models.reason": "http://localhost:9/v1/slow",
            "models.timeouts": {"http": {"read_s": 1800}, "openai:o3": {"connect_s": 3}},
        },
    )
    roles, own = {"reason": world.models.reason}, world.models.timeouts
    (slow,) = open_chats(roles, own).values()
    assert isinstance(slow, Timed) and slow.timeouts == Timeouts(connect_s=10, read_s=1800)
    with asked(Asking(timeouts=Timeouts(connect_s=1, read_s=2))):
        (quick,) = open_chats(roles, own).values()
    assert isinstance(quick, Timed) and quick.timeouts == Timeouts(connect_s=1, read_s=2)
    other = open_chat("http://localhost:9/v1/other")
    assert isinstance(other, Timed) and other.timeouts == Timeouts(connect_s=10, read_s=600)


@pytest.mark.slow(5)
def test_a_sweep_goes_on_with_its_other_runs(
    simcounsel: Command, tmp_path: Path, server: FaultServer
) -> None:
    experiment = tmp_path / "e.yaml"
    experiment.write_text(
        f"name: Outage\nworlds: [{TINY}]\nseeds: [1]\nconditions:\n"
        f"  - {{name: dead, set: {{models.reason: {dead(server)}, models.embed: scripted}}}}\n"
        "  - {name: alive, set: {models.reason: scripted, models.embed: scripted}}\n",
        encoding="utf-8",
    )
    arguments = ("sweep", experiment, "--out", tmp_path / "out", "-q", *AT_ONCE)
    ended = simcounsel(*arguments)
    assert ended.code == 3
    states = [line.split()[0:2] for line in ended.out.splitlines() if "of 12 ticks" in line]
    assert sorted(state[0] for state in states) == ["done", "given"]
    assert "what was given up goes on with the same command" in ended.out
    server.faults = lambda index: None
    assert simcounsel(*arguments).code == 0
