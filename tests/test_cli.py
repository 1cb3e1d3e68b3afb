"""The command line: what it takes, prints and returns."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import click
import pytest
import typer

from docs.generating.commands import all_commands
from simcounsel import __version__, cli
from simcounsel.cli import reaching
from simcounsel.cli.packages import BEGIN, SECTIONS, first_sentence
from simcounsel.cli.starter import FILES, themes
from simcounsel.engine.simulation import Simulation
from simcounsel.entry import install_of
from simcounsel.events import SCHEMA_VERSION, Recalled
from simcounsel.runs.run import Run
from simcounsel.specs import shipped
from simcounsel.specs.world_file import load_world
from tests.commands import Command, only_run
from tests.each import each
from tests.llm.server import FaultServer
from tests.specs.files import world_file
from tests.specs.test_patient_psi import four, saved
from tests.stage import ROOT, TINY, live, log, three, tiny

INSOMNIA = ROOT / "worlds" / "insomnia.yaml"


COMMANDS = (
    """
demo, run, view, show, init, check, sweep, report, export, doctor, resume, fork, talk, clinic, list, rate, verify, synthesize,
help, library, library course, library course plan, library import, library pack, library personas, library personas draw,
library personas import, library skills, library skills list, library skills show, library skills import,
study, study bench, study bench cpsycoune, study bench show, study bench risk, study bench protocol, study corpus, study courses,
study judge, study pack, study pack clinicians, study privacy, study rate-page, study replicate, study tables, study validity,
practice, practice start, practice new, practice serve, practice record,
trial, trial new, trial serve, trial status, trial links, trial remind, trial password, trial export,
corpus, corpus check, corpus rate, train, models, models allow
""".replace("\n", " ")
    .strip()
    .split(", ")
)


@each("command", ["", *COMMANDS])
def test_help(simcounsel: Command, command: str) -> None:
    ended = simcounsel(*command.split(), "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("Usage: ")
    assert len(re.findall("(?i)^.*arguments:$", ended.out, re.M)) <= 1, "arguments are listed once"
    assert "\\[" not in ended.out, "escapes that only Rich takes away"
    assert (command.split() or ["demo"])[-1] in ended.out


@pytest.mark.usefixtures("undrawn")
@each(
    ("command", "said"),
    [
        ("show gallery:synthesis --strategies", "K001  When somebody hints"),
        ("study corpus samples --out quality", "quality/report.html"),
        ("study validity page --out valid", "valid/validity.html"),
        ("train plant samples --out planted.jsonl", "wrote planted.jsonl: 111 sessions"),
        ("train sites samples -n 2 --out sites", "site-1: sites/site-1.jsonl"),
    ],
)
def test_once_in_small(simcounsel: Command, command: str, said: str) -> None:
    """What else only slow tests would type."""
    ended = simcounsel(*command.split())
    assert ended.code == 0 and said in ended.out, ended


SAME = (
    "--in-flight --budget-usd --budget-calls --prices --quiet --samples --wait-for-model --timeout"
).split()


def parameters(command: click.Command, path: str) -> Iterator[tuple[str, click.Parameter]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from parameters(inner, f"{path} {name}")
    yield from ((path, one) for one in command.params)


def test_every_option_and_argument_has_help() -> None:
    """Also where Typer and Click do not fit each other, and the help of arguments would be lost."""
    found = [one for path, command in all_commands() for one in parameters(command, path)]
    assert len(found) > 200
    assert [(path, one.name) for path, one in found if not getattr(one, "help", None)] == []


def test_an_option_is_the_same_wherever_it_is() -> None:
    """Short name everywhere; of those that mean the same in all commands also range and help."""
    meanings: dict[str, set[object]] = {name: set() for name in SAME}
    for typed, command in all_commands():
        if "replicate" in typed or "validity" in typed:
            continue
        for path, one in parameters(command, typed):
            assert ("--out" in one.opts) == ("-o" in one.opts), f"{path}: {one.opts}"
            for name in meanings.keys() & set(one.opts):
                kind = getattr(one, "type", one)  # the newest Typer has no type apart
                bounds = (getattr(kind, end, None) for end in ("min", "max"))
                meanings[name].add((*one.opts, kind.name, *bounds, getattr(one, "help", None)))
    assert {name: len(found) for name, found in meanings.items()} == dict.fromkeys(SAME, 1)


def test_every_command_is_listed(simcounsel: Command) -> None:
    """Ten in `--help`, all in `help all`, each with a whole sentence; those of groups below them."""
    ten = simcounsel("--help").out.split("Commands:")[1].split("Commands of packages:")[0]
    assert re.findall(r"^  ([\w-]+)  +\S", ten, re.MULTILINE) == BEGIN.split()
    assert "All commands: simcounsel help all" in ten
    own = simcounsel("help", "all").out.split("Commands of packages:")[0]
    listed = re.findall(r"^  +([\w-]+(?: [\w-]+)?)  +\S", own, re.MULTILINE)
    assert {" ".join(command.split()[:2]) for command in COMMANDS} <= {
        *listed,
        *(
            command
            for command in COMMANDS
            if command.split()[0] in {"corpus", "models", "practice", "trial"}
        ),
    }
    assert [name for name in listed if " " not in name] == " ".join(SECTIONS.values()).split()
    assert set(typer.main.get_command(cli.app).commands) <= set(listed)  # type: ignore[attr-defined]
    assert "..." not in ten + own, "sentences are whole"
    assert simcounsel("help", "study", "bench").out.startswith("Usage: simcounsel study bench")


def test_a_help_is_told_as_far_as_its_first_sentence() -> None:
    assert first_sentence("Is it any good? AUC.") == "Is it any good?"
    assert first_sentence("Look at\n  runs; and more.\n\nMore.") == "Look at runs"
    assert first_sentence("Done.") == "Done" and first_sentence("") == ""


def test_as_a_module_in_its_own_process(tmp_path: Path) -> None:
    ended = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-W",
            "ignore:'click.:DeprecationWarning",
            "-m",
            "simcounsel",
            "check",
            str(TINY),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{TINY}: ok\n", "")


def test_bad_usage(simcounsel: Command) -> None:
    assert simcounsel("fly").code == 2
    assert "No such command 'fly'" in simcounsel("fly").err
    assert simcounsel("run").code == 2
    assert simcounsel("run", TINY, "--ticks", 0).code == 2
    assert simcounsel("run", TINY, "--ticks", "many").code == 2
    assert simcounsel("run", TINY, "--seed", -1).code == 2
    assert "'seed' is not KEY=VALUE" in simcounsel("run", TINY, "--set", "seed").err


# run


def test_run(simcounsel: Command, tmp_path: Path) -> None:
    ended = simcounsel("run", TINY, "--model", "scripted", "--out", "out")
    assert (ended.code, ended.err) == (0, "")
    run = only_run(tmp_path / "out")
    assert run.ticks_done() == 12
    assert run.world.models.reason == "scripted"
    for text in (
        "Miriam and Ines begin to talk (Counseling Center, appointment)",
        "ran            12 of 12 ticks",
        f"run            out/{run.name}",
        "warnings       none",
        f"look at it in your browser: simcounsel view out/{run.name}",
    ):
        assert text in ended.out
    assert ended.out.count("simcounsel ") == 1, "one next step, the best"
    assert "\x1b" not in ended.out


def test_the_display_counts_to_where_it_was_told_to_stop(simcounsel: Command) -> None:
    ended = simcounsel("run", TINY, "--model", "scripted", "--ticks", 3, "--out", "out")
    assert "  tick 2 (3 of 3)  " in ended.out and "ran            3 of 12 ticks" in ended.out
    run = only_run(Path("out"))
    assert "  tick 4 (5 of 5)  " in simcounsel("resume", run.folder, "--ticks", 2).out


def test_run_with_other_settings(simcounsel: Command, tmp_path: Path) -> None:
    ended = simcounsel(
        "run",
        TINY,
        "--model",
        "scripted",
        "--ticks",
        2,
        "--seed",
        7,
        "--condition",
        "client_only",
        "--set",
        "memory.top_k=2",
        "--set",
        "appointments.0.at=15:00",
        "--in-flight",
        1,
        "-q",
        "--out",
        tmp_path,
    )
    assert ended.code == 0
    run = only_run(tmp_path)
    assert (run.ticks_done(), run.world.seed, run.world.condition, run.world.memory.top_k) == (
        2,
        7,
        "client_only",
        2,
    )
    assert run.world.appointments[0].at == "15:00"
    assert f"simcounsel view {run.folder}" in ended.out


def test_second_run_gets_another_folder(simcounsel: Command, tmp_path: Path) -> None:
    for _ in range(3):
        assert (
            simcounsel("run", TINY, "--model", "scripted", "--ticks", 1, "--out", "out").code == 0
        )
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_default_folder_is_runs(simcounsel: Command, tmp_path: Path) -> None:
    simcounsel("run", TINY, "--model", "scripted", "--ticks", 1)
    assert only_run(tmp_path / "runs").ticks_done() == 1


@each(
    ("arguments", "what"),
    [
        (("nowhere.yaml",), "nowhere.yaml: no such file"),
        (
            (TINY, "--model", "gpt"),
            "no model 'gpt'; there are bot:SPEC, embedded, embedded+adapter=PATH, local:qwen2.5-0.5b",
        ),
        (
            (TINY, "--model", "openai:gpt-4o"),
            "openai:gpt-4o: no API key; set OPENAI_API_KEY, or use --model embedded",
        ),
        ((TINY, "--model", "http://localhost:1"), "the address ends in /v1/MODEL"),
        ((TINY, "--model", "recorded:nothing"), "nothing: no run there (no manifest.json)"),
        ((TINY, "--condition", "nobody"), "'nobody' is not one of client_only"),
        ((TINY, "--set", "sede=1"), "sede: unknown key; did you mean 'seed'?"),
        ((TINY, "--set", "residents.Inez.home=x"), "nothing named 'Inez' there"),
        (
            (TINY, "--model", "scripted", "--out", TINY),
            "a file, not a folder; choose another --out",
        ),
        ((TINY, "--model", "scripted", "--prices", "none.yaml"), "none.yaml: no such file"),
    ],
)
def test_run_that_cannot_be(simcounsel: Command, arguments: tuple[object, ...], what: str) -> None:
    ended = simcounsel("run", *arguments)
    assert ended.code == 1
    assert what in ended.err
    assert ended.err.startswith("simcounsel: ")
    assert "Traceback" not in ended.err
    assert ended.out == ""
    assert not Path("runs").exists(), "no folder is left behind"


def test_money_is_not_spent_unasked(
    simcounsel: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert load_world(TINY).models.reason == "embedded"
    simcounsel("run", TINY, "--model", "scripted", "--ticks", 1)
    assert set(only_run(tmp_path / "runs").manifest.models.values()) == {"scripted"}


def test_budget(simcounsel: Command, tmp_path: Path) -> None:
    ended = simcounsel("run", TINY, "--model", "scripted", "--budget-calls", 12)
    run = only_run(tmp_path / "runs")
    assert (ended.code, run.ticks_done() < 12) == (3, True)
    assert "the budget of 12 calls is used up (12 requests sent); go on with" in ended.err
    (command,) = re.findall(r"go on with `simcounsel (resume .*)`", ended.err)
    assert command.split()[2:] == ["--budget-calls", "24"]
    again = simcounsel(*command.split())
    assert again.code == 3
    assert sum(call["tries"] for call in run.calls()) == 24


def test_a_run_remembers_its_budget_until_it_is_lifted(
    simcounsel: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def again(*given: object) -> tuple[int, int, str]:
        caplog.clear()
        code = simcounsel("resume", run.folder, "-q", *given).code
        return code, len(server.bodies), caplog.text

    with FaultServer() as server:
        models = ("--model", f"{server.url}/m", "--set", "models.embed=scripted")
        given = ("--out", tmp_path, "-q", "--budget-calls", 20)
        assert simcounsel("run", TINY, *models, *given).code == 3
        run = only_run(tmp_path)
        code, sent, said = again()
        assert (code, sent) == (3, 20)
        assert (
            "the budget of 20 calls that was given before still holds; --budget-calls none lifts it"
            in said
        )
        assert again("--budget-calls", 25) == (3, 25, "")
        assert again()[:2] == (3, 25)
        code, sent, said = again("--budget-calls", "none", "--ticks", 1)
        assert (code, sent > 25, said) == (0, True, "")
        assert again("--ticks", 1)[::2] == (0, "")


@each(
    ("option", "value", "said"),
    [
        ("--budget-usd", "nan", "nan is no amount; give a number from 0 on"),
        ("--budget-usd", "inf", "inf is no amount"),
        ("--budget-usd", "-1", "-1 is no amount"),
        ("--budget-calls", "0", "0 is no number of requests; give one from 1 on"),
    ],
)
def test_what_is_no_budget(simcounsel: Command, option: str, value: str, said: str) -> None:
    ended = simcounsel("run", TINY, "--model", "scripted", option, value)
    assert (ended.code, said in " ".join(ended.err.split())) == (2, True), ended.err
    assert not Path("runs").exists()


def test_a_budget_in_money_needs_a_price_before_anything_is_made(
    simcounsel: Command, tmp_path: Path
) -> None:
    ended = simcounsel("run", TINY, "--model", "https://far.example.com/v1/x", "--budget-usd", 1)
    assert ended.code == 1
    assert "price of https://far.example.com/v1/x is not known" in ended.err
    assert "--prices FILE, or use --budget-calls" in ended.err
    assert not (tmp_path / "runs").exists()


# resume


def test_resume(simcounsel: Command, tmp_path: Path, lived: Run) -> None:
    simcounsel("run", TINY, "--model", "scripted", "--ticks", 3, "--out", tmp_path)
    run = only_run(tmp_path)
    assert simcounsel("resume", run.folder, "--ticks", 2).code == 0
    assert run.ticks_done() == 5
    assert simcounsel("resume", run.folder).code == 0
    assert log(run) == log(lived)
    ended = simcounsel("resume", run.folder)
    assert ended.code == 0
    assert (
        f"{run.folder} is complete (12 ticks); `simcounsel fork {run.folder} --at TICK` goes on from any tick"
        in ended.out
    )
    assert log(run) == log(lived)


def test_resume_says_what_was_dropped(simcounsel: Command, tmp_path: Path, lived: Run) -> None:
    run = live(tmp_path, ticks=3)
    (run.folder / "events.jsonl").write_bytes(log(run)[:-1])
    ended = simcounsel("resume", run.folder)
    assert (
        "bytes of an unfinished tick were dropped from events.jsonl; tick 2 is run again"
        in ended.err
    )
    assert log(run) == log(lived)


@pytest.mark.parametrize("command", [("resume",), ("fork", "--at", "1"), ("show",)])
def test_no_run_there(simcounsel: Command, tmp_path: Path, command: tuple[str, ...]) -> None:
    ended = simcounsel(command[0], "runs/none", *command[1:])
    assert (ended.code, ended.out) == (1, "")
    assert (
        "runs/none: no run there (no manifest.json); `simcounsel run WORLD` makes one" in ended.err
    )
    live(tmp_path / "runs", ticks=1)
    (name,) = os.listdir(tmp_path / "runs")
    assert f"; there is runs/{name}" in simcounsel(command[0], "runs/none", *command[1:]).err
    assert (
        f"it holds runs, name one of them: {name}"
        in simcounsel(command[0], "runs", *command[1:]).err
    )


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda text: text[:200], "manifest.json: damaged"),
        (lambda text: "[]", "manifest.json: damaged"),
        (
            lambda text: text.replace(
                f'"schema_version": {SCHEMA_VERSION}', '"schema_version": 99'
            ),
            "written with log version 99, this simcounsel reads",
        ),
        (lambda text: text.replace('"ticks"', '"tocks"'), "manifest.json: damaged"),
    ],
)
def test_damaged_manifest(
    simcounsel: Command, tmp_path: Path, spoil: Callable[[str], str], what: str
) -> None:
    run = live(tmp_path, ticks=1)
    file = run.folder / "manifest.json"
    file.write_text(spoil(file.read_text(encoding="utf-8")), encoding="utf-8")
    ended = simcounsel("show", run.folder)
    assert ended.code == 1
    assert what in ended.err


def test_damaged_log_names_the_line(simcounsel: Command, tmp_path: Path) -> None:
    run = live(tmp_path, ticks=1)
    lines = log(run).splitlines(keepends=True)
    (run.folder / "events.jsonl").write_bytes(
        b"".join([*lines[:4], b'{"seq":4,"kind":"danced"}\n', *lines[5:]])
    )
    ended = simcounsel("show", run.folder)
    assert ended.code == 0 and "joined" not in ended.err
    assert "events.jsonl:5: this line cannot be read as an event" in ended.err
    ended = simcounsel("resume", run.folder)
    assert ended.code == 1
    assert "events.jsonl:5: this line cannot be read as an event" in ended.err


@pytest.mark.slow
def test_a_second_process_is_refused(tmp_path: Path) -> None:
    with Simulation(tiny(), out=tmp_path) as simulation:
        simulation.step()
        ended = subprocess.run(
            [sys.executable, "-m", "simcounsel", "resume", str(simulation.record.folder)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            check=False,
        )
        simulation.step()
    assert ended.returncode == 1
    assert (
        "another process is writing this run; wait for it, or stop it first"
        in ended.stdout + ended.stderr
    )
    assert "Traceback" not in ended.stderr
    assert simulation.record.ticks_done() == 2


def heeds_ctrl_c() -> None:
    """A shell's background jobs, and what they start, ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_ctrl_c_loses_nothing(simcounsel: Command, tmp_path: Path, lived: Run) -> None:
    script = (
        "import asyncio, sys\nfrom simcounsel.scripted import Scripted\nfast = Scripted.complete\n"
        "async def slow(self, request, complaint):\n    await asyncio.sleep(0.05)\n    return await fast(self, request, complaint)\n"
        "Scripted.complete = slow\nfrom simcounsel.cli import main\nmain()\n"
    )
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            script,
            "run",
            str(TINY),
            "--model",
            "scripted",
            "--out",
            str(tmp_path / "out"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=heeds_ctrl_c,
    )
    deadline = time.monotonic() + 60
    while (
        not list(tmp_path.glob("out/*/events.jsonl")) or only_run(tmp_path / "out").ticks_done() < 2
    ):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    run = only_run(tmp_path / "out")
    assert "stopped by Ctrl-C; the unfinished tick is run again on resume" in out
    assert f"simcounsel resume {run.folder}" in out
    assert process.returncode == 130 and "Traceback" not in err
    assert 2 <= run.ticks_done() < 12
    assert simcounsel("resume", run.folder).code == 0
    assert log(run) == log(lived)


def test_a_role_of_its_own_beside_a_model_for_all(simcounsel: Command, tmp_path: Path) -> None:
    """What is said of one role prevails, in whichever order."""
    for before, after in (("http://localhost:1/v1/m", "scripted"), ("scripted", "scripted")):
        more = ("--set", "models.embed=scripted", "--set", f"models.reason={after}")
        out = tmp_path / before.partition(":")[0]
        ended = simcounsel("run", TINY, *more, "--model", before, "--ticks", 1, "--out", out)
        assert ended.code == 0, ended.err
        assert only_run(out).manifest.models["embed"] == "scripted"
        assert only_run(out).manifest.models["reason"] == after
    both = simcounsel("run", TINY, "--model", "scripted", "--set", "models={reason: scripted}")
    assert both.code == 2
    assert "leave one of the two out" in both.err


# fork


def test_fork(simcounsel: Command, tmp_path: Path, lived: Run) -> None:
    ended = simcounsel(
        "fork",
        lived.folder,
        "--at",
        6,
        "--set",
        "condition=client_only",
        "--out",
        tmp_path / "forks",
    )
    assert ended.code == 0
    new = only_run(tmp_path / "forks")
    assert (new.ticks_done(), new.world.condition) == (12, "client_only")
    assert f"forked         from {lived.name} before tick 6; changed: condition=" in ended.out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--at", 99), "--at 99 is not between 1 and 12, the ticks that were run"),
        (
            ("--at", 3, "--set", "tick_minutes=15"),
            "--set tick_minutes: the past was run with another 'tick_minutes'",
        ),
        (("--at", 3, "--set", "sede=1"), "--set sede: unknown key; did you mean 'seed'?"),
    ],
)
def test_fork_that_cannot_be(
    simcounsel: Command, lived: Run, arguments: tuple[object, ...], what: str, tmp_path: Path
) -> None:
    ended = simcounsel("fork", lived.folder, *arguments)
    assert ended.code == 1
    assert what in ended.err
    assert not (tmp_path / "runs").exists()
    assert simcounsel("fork", lived.folder).code == 2
    assert simcounsel("fork", lived.folder, "--at", 0).code == 2


# check, models, init, personas


def test_check(simcounsel: Command, tmp_path: Path) -> None:
    assert (
        simcounsel("check", TINY, INSOMNIA, ROOT / "personas" / "ines.yaml").out.count(": ok\n")
        == 3
    )
    bad = world_file(tmp_path, "seed: 1", "seeed: 1\nticks_: 1")
    ended = simcounsel("check", TINY, bad, "qqq/none.yaml")
    assert ended.code == 1
    assert ended.out.splitlines() == [
        f"{TINY}: ok",
        f"{bad}:6: seeed: unknown key; did you mean 'seed'?",
        f"{bad}:7: ticks_: unknown key; did you mean 'ticks'?",
        "qqq/none.yaml: no such file",
    ]


def test_check_of_a_folder(simcounsel: Command, tmp_path: Path) -> None:
    """What `init` writes, with a run, a hidden file and a file of something else beside it."""
    study = tmp_path / "my-study"
    assert simcounsel("init", study).code == 0
    for name, text in (
        ("runs/r1/manifest.json", "{}"),
        ("runs/r1/world.yaml", "nothing: 1\n"),
        (".hidden.yaml", "nothing: 1\n"),
        ("other.yaml", "jobs: []\n"),
        ("more/broken.yml", "role: client\n  name: [\n"),
    ):
        (study / name).parent.mkdir(parents=True, exist_ok=True)
        (study / name).write_text(text, encoding="utf-8")
    ended = simcounsel("check", study)
    assert ended.code == 1, "one of them is broken"
    told = ended.out.splitlines()
    assert told[0] == f"{study}/client.yaml: ok" and f"{study}/world.yaml: ok" in told
    assert sum(one.startswith(f"{study}/more/broken.yml:2: ") for one in told) == 1
    assert told[-1] == f"{study}/other.yaml: left out, no file of simcounsel's by its keys"
    assert len(told) == len(FILES) + 2, told
    (study / "more" / "broken.yml").unlink()
    assert simcounsel("check", study).code == 0
    ended = simcounsel("check", study / "more")
    assert (ended.code, "a folder without a file to check" in ended.err) == (1, True)


MISTAKES = (
    ("client.yaml", "gender:", "gendr:", "gendr: unknown key; did you mean 'gender'?"),
    ("client.yaml", "strength: 75}", "strength: 175}", "core_beliefs.0.strength: 175: input"),
    ("world.yaml", "seed: 1 ", "seeed: 1 ", "seeed: unknown key; did you mean 'seed'?"),
    (
        "world.yaml",
        "place: Willow Park, max",
        "place: Wilow Park, max",
        "appointments.1.place: no place 'Wilow Park' in this world; did you mean",
    ),
    (
        "experiment.yaml",
        "after every session",
        "each session",
        "measurements.2.when: 'each session' is not a time to measure",
    ),
    (
        "experiment.yaml",
        "insomnia_severity, when: start",
        "insomnia_severty, when: start",
        "measurements.0.instrument: no instrument 'insomnia_severty'; did you mean",
    ),
    ("experiment.yaml", "client_only", "client_onli", "condition: 'client_onli' is not one of"),
    (
        "experiment.yaml",
        "client_counselor}",
        "client_counselor, residents.counselor.policy: socratc}",
        "residents.counselor.policy: no policy 'socratc'; there are",
    ),
    (
        "experiment.yaml",
        "client_layperson}",
        "client_layperson, residents.Oma.home: x}",
        "--set residents.Oma.home: nothing named 'Oma' there",
    ),
    ("experiment.yaml", "contrast: [counselor", "contrast: [counsellor", "no condition"),
)
"""File, text, another in its place, what is said of it."""


def test_all_problems_of_a_study_at_once_each_once_where_it_is(
    simcounsel: Command, tmp_path: Path
) -> None:
    study = tmp_path / "study"
    assert simcounsel("init", study, "--theme", "insomnia").code == 0
    for name, old, new, _ in MISTAKES:
        file = study / name
        text = file.read_text("utf-8")
        assert old in text, (name, old)
        file.write_text(text.replace(old, new, 1), "utf-8")
    ended = simcounsel("check", study)
    told = [one for one in ended.out.splitlines() if not one.endswith(": ok")]
    wanted = [*MISTAKES, ("client.yaml", "", "role: client", "gender: missing; add")]
    for name, _, new, what in wanted:
        lines = (study / name).read_text("utf-8").splitlines()
        at = next(number for number, line in enumerate(lines, 1) if new in line)
        (one,) = (one for one in told if what in one)
        assert one.startswith(f"{study / name}:{at}: "), one
    assert (ended.code, len(told)) == (1, len(wanted)), ended.out
    planned = simcounsel("sweep", study / "experiment.yaml", "--dry-run")
    assert planned.code == 1 and "measured " not in planned.out


def test_a_file_that_waits_for_another(simcounsel: Command, tmp_path: Path) -> None:
    study = tmp_path / "study"
    assert simcounsel("init", study, "--theme", "insomnia").code == 0
    client, experiment = study / "client.yaml", study / "experiment.yaml"
    client.write_text(client.read_text("utf-8").replace("gender:", "gendr:"), "utf-8")
    told = simcounsel("check", study).out.splitlines()
    assert sum("gendr: unknown" in one for one in told) == 1
    for waits in (study / "world.yaml", experiment):
        assert f"{waits}: ok once study/client.yaml is corrected" in told
    friend = study / "friend.yaml"
    friend.write_text(friend.read_text("utf-8").replace("age:", "agee:"), "utf-8")
    both = f"{study / 'world.yaml'}: ok once study/client.yaml and study/friend.yaml are corrected"
    assert both in simcounsel("check", study).out.splitlines()
    friend.write_text(friend.read_text("utf-8").replace("agee:", "age:"), "utf-8")
    client.write_text(client.read_text("utf-8").replace("gendr:", "gender:"), "utf-8")
    experiment.write_text(
        experiment.read_text("utf-8").replace("severity, when", "severty, when"), "utf-8"
    )
    told = simcounsel("check", study).out.splitlines()
    misspelt = [one for one in told if "no instrument 'insomnia_severty'" in one]
    assert len(misspelt) == 2 and all(one.startswith(f"{experiment}:") for one in misspelt)
    assert any("'insomnia_severity' is never measured" in one for one in told)


@pytest.mark.parametrize(
    ("text", "named"),
    [("role: cleint\nname: Ines Duarte\n", True), ("role: [\n", False), ("", False), (None, False)],
)
def test_a_persona_that_cannot_be_read_hides_no_mistake_of_its_world(
    simcounsel: Command, tmp_path: Path, text: str | None, named: bool
) -> None:
    """named: its file says its name; else no name of the world is called unknown."""
    study = tmp_path / "study"
    assert simcounsel("init", study, "--theme", "insomnia").code == 0
    world, client = study / "world.yaml", study / "client.yaml"
    wrong = world.read_text("utf-8").replace("place: Counseling Center}", "place: Center}")
    world.write_text(wrong.replace("who: [Ines, Omar]", "who: [Ines, Oma]"), "utf-8")
    if text is None:
        client.unlink()
    else:
        client.write_text(text, "utf-8")
    told = simcounsel("check", world).out.splitlines()
    assert sum("appointments.0.place: no place 'Center'" in one for one in told) == 1
    assert sum("no resident 'Oma'" in one for one in told) == named
    assert not any("no resident 'Ines'" in one or one.endswith("corrected") for one in told)


def test_half_characters_can_be_printed(simcounsel: Command, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"name": "\\ud800"}', encoding="utf-8")
    ended = simcounsel("library", "personas", "import", "p.json")
    assert (ended.code, "record 1 (\\ud800): the field 'id' is missing" in ended.err) == (1, True)
    ended = simcounsel("run", TINY, "--model", "embedded+adapter=~nosuch/x")
    assert (ended.code, ended.err.startswith("simcounsel: ")) == (1, True)


def test_a_drawing_that_cannot_be_written(simcounsel: Command, tmp_path: Path) -> None:
    manual = next((ROOT / "simcounsel" / "therapies" / "manuals" / "en").glob("*.yaml"))
    (tmp_path / "file").write_text("", encoding="utf-8")
    for graph, why in ((tmp_path, "Is a directory"), (tmp_path / "file" / "m.svg", "")):
        ended = simcounsel("check", manual, "--graph", graph)
        assert (
            ended.code,
            ended.err.startswith(f"simcounsel: {graph}: cannot be written ({why}"),
            "choose another file" in ended.err,
        ) == (1, True, True)
    assert simcounsel("check", manual, "--graph", "new/m.svg").code == 0
    assert (tmp_path / "new" / "m.svg").is_file()


def test_models(simcounsel: Command) -> None:
    ended = simcounsel("models")
    assert ended.code == 0
    for name in (
        "embedded",
        "openai:gpt-4o",
        "needs OPENAI_API_KEY",
        "http://HOST:PORT/v1/MODEL",
        "langchain:",
        "scripted",
        "recorded:RUN",
    ):
        assert name in ended.out


@pytest.mark.parametrize("theme", [None, *themes()])
def test_init(theme: str | None, simcounsel: Command, tmp_path: Path) -> None:
    ended = simcounsel("init", "mine", *(("--theme", theme) if theme else ()))
    assert ended.code == 0
    assert {path.name for path in (tmp_path / "mine").iterdir()} == set(FILES)
    assert all(f"wrote mine/{name}" in ended.out for name in FILES)
    assert simcounsel("check", "mine").code == 0
    world = load_world(tmp_path / "mine" / "world.yaml")
    assert {one.role for one in world.residents} == {"client", "counselor", "layperson"}
    if theme:
        (client,) = [one for one in world.residents if one.role == "client"]
        assert client.persona.theme == theme and client.persona.voice
        assert not re.search(
            r"\b(Ada|Cleo)\b",
            "".join(one.read_text("utf-8") for one in (tmp_path / "mine").iterdir()),
        )
    assert simcounsel("run", "mine/world.yaml", "--model", "scripted", "--ticks", 2).code == 0
    assert simcounsel("sweep", "mine/experiment.yaml", "--dry-run").code == 0
    again = simcounsel("init", "mine")
    assert again.code == 1
    assert "mine: exists and is not an empty folder; choose another DIR" in again.err


def test_init_with_a_theme_that_nobody_has(simcounsel: Command, tmp_path: Path) -> None:
    ended = simcounsel("init", "mine", "--theme", "greif")
    assert (ended.code, "'greif'" in ended.err and "'grief'" in ended.err) == (1, True)
    assert not (tmp_path / "mine").exists()


def test_what_comes_along_goes_by_its_name_unless_a_file_is_there(
    simcounsel: Command, tmp_path: Path
) -> None:
    for kind in ("worlds", "experiments", "personas"):
        assert shipped.names(kind)
        for file in shipped.files(kind):
            assert shipped.found(kind, Path(file.stem)) == file
    assert shipped.found("worlds", Path("insomnia.yaml")) == Path("insomnia.yaml")
    assert shipped.found("worlds", Path("mine/insomnia")) == Path("mine/insomnia")
    (tmp_path / "insomnia").mkdir()
    assert shipped.found("worlds", Path("insomnia")) == Path("insomnia")
    ended = simcounsel("run", "insomnia")
    assert (ended.code, "a folder, not a file" in ended.err) == (1, True)
    ended = simcounsel("check", "grief", "quick", "ines")
    assert (ended.code, ended.out.count(": ok\n")) == (0, 3)


def test_worlds_and_doctor(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = simcounsel("list").out
    assert all(f"  {name} " in told for name in [*shipped.names("worlds"), "quick"])
    assert all(len(line) > 30 for line in told.splitlines())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    told = simcounsel("doctor").out
    assert "sk-secret" not in told and "OPENAI_API_KEY: set" in told
    assert "PROBLEM  OpenAI: 127.0.0.1:9 cannot be reached" in told and "-> look at" in told
    monkeypatch.setenv("SIMCOUNSEL_CACHE", str(tmp_path / "new"))
    found = {one["subject"]: one for one in json.loads(simcounsel("doctor", "--json").out)}
    assert found["embedded model"]["remedy"] == "simcounsel models --pull"
    assert not (tmp_path / "new").exists(), "nothing is made"
    assert found["simcounsel"]["says"].startswith(__version__)


def test_the_doctor_finds_a_server_of_models(
    simcounsel: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/v1/models" and "Authorization" not in self.headers
            self.send_response(200)
            self.end_headers()
            self.wfile.write(
                b'{"data": [{"id": "nomic-embed"}, {"id": "qwen3:8b"}, {"id": "other"}]}'
            )

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(reaching, "LOCAL", {"Ollama": server.server_port, "none": 9})
        told = simcounsel("doctor").out
        auto = simcounsel("run", "tiny", "--model", "auto", "--dry-run")
        server.shutdown()
    name = f"http://localhost:{server.server_port}/v1/qwen3:8b"
    assert "answers as Ollama does, with nomic-embed, qwen3:8b, other" in told
    assert f"-> --model {name}" in told
    assert f"model          {name}\n" in auto.out, "one that talks, not one for vectors"
    monkeypatch.setattr(reaching, "LOCAL", {"none": 9})
    refused = simcounsel("run", "tiny", "--model", "auto", "--dry-run")
    assert refused.code == 2 and "no server of this machine offers a model" in refused.err


def test_init_into_a_file(simcounsel: Command, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("", encoding="utf-8")
    assert simcounsel("init", "f").code == 1
    (tmp_path / "empty").mkdir()
    assert simcounsel("init", "empty").code == 0


def test_personas_import(simcounsel: Command, tmp_path: Path) -> None:
    records = saved(tmp_path, four())
    ended = simcounsel("library", "personas", "import", records, "--out", "people")
    assert (ended.code, ended.out) == (
        0,
        "wrote people/alex_1.yaml\npeople: 1, out of records: 4\n",
    )
    assert simcounsel("check", "people/alex_1.yaml").code == 0
    again = simcounsel("library", "personas", "import", records, "--out", "people")
    assert again.code == 1
    assert "people/alex_1.yaml: exists already" in again.err


# show


def test_show(simcounsel: Command, lived: Run) -> None:
    out = simcounsel("show", lived.folder).out
    assert "ran            12 of 12 ticks of 30 minutes, until Monday 2 March, 14:00" in out
    assert f"run            {lived.folder}" in out
    talks = simcounsel("show", lived.folder, "--conversation", 1).out
    assert talks.startswith(
        "Miriam and Ines, Monday 2 March, 09:00, Counseling Center (appointment) [2:Ines+Miriam]\nMiriam (greet; "
    )
    assert "takes away: " in talks
    assert simcounsel("show", lived.folder, "--conversation", "2:Ines+Miriam").out == talks
    day = simcounsel("show", lived.folder, "--who", "Ines").out
    assert "08:00  plans (a new day): " in day
    assert "09:00  meets Miriam as agreed (Counseling Center)" in day
    assert (
        "nothing on day 5 (the first day is 0)"
        in simcounsel("show", lived.folder, "--who", "Ines", "--day", 5).out
    )


def test_show_recall(simcounsel: Command, lived: Run) -> None:
    out = simcounsel("show", lived.folder, "--recall", "Ines", "--tick", 2).out
    assert "  score  recency  poignancy  emotion  nearness  relevance" in out
    row = next(line for line in out.splitlines() if re.match(r"  0\.\d{3}  ", line)).split()
    score, *terms = map(float, row[:6])
    assert score == pytest.approx(
        sum(w * t for w, t in zip((0.10, 0.40, 0.15, 0.10, 0.25), terms, strict=True)), abs=2e-3
    )
    assert simcounsel("show", lived.folder, "--recall", "Ines").out.count("score  recency") == 1
    quiet = min(
        set(range(12))
        - {
            e.tick
            for e in lived.entries()
            if isinstance(e.event, Recalled) and e.event.who == "Ines"
        }
    )
    assert (
        f"Ines recalled nothing in tick {quiet}"
        in simcounsel("show", lived.folder, "--recall", "Ines", "--tick", quiet).out
    )


@each(
    ("arguments", "what"),
    [
        (("--who", "Inez"), "no resident 'Inez'; there are Ines, Miriam"),
        (("--recall", "Bob"), "no resident 'Bob'"),
        (("--conversation", 99), "no conversation '99'; there are 1 to 1"),
        (("--conversation", 0), "no conversation '0'"),
    ],
)
def test_show_what_is_not_there(
    simcounsel: Command, lived: Run, arguments: tuple[object, ...], what: str
) -> None:
    ended = simcounsel("show", lived.folder, *arguments)
    assert (ended.code, ended.out) == (1, "")
    assert what in ended.err


def test_show_a_run_not_begun(simcounsel: Command, tmp_path: Path) -> None:
    with Simulation(three(), out=tmp_path) as simulation:
        pass
    folder = simulation.record.folder
    assert "ran            0 of 12 ticks of 30 minutes" in simcounsel("show", folder).out
    assert simcounsel("show", folder, "--conversation", 1).out == "no conversation in this run\n"


def test_errors_go_to_stderr_and_are_one_line(simcounsel: Command, tmp_path: Path) -> None:
    ended = simcounsel("run", world_file(tmp_path, "seed: 1", "seeed: 1"))
    assert re.fullmatch(
        r"simcounsel: .*world\.yaml:6: seeed: unknown key; did you mean 'seed'\?\n", ended.err
    )


def test_manifest_can_be_read_by_anybody(simcounsel: Command, tmp_path: Path) -> None:
    simcounsel("run", TINY, "--model", "scripted", "--ticks", 1, "--out", tmp_path)
    manifest = json.loads((only_run(tmp_path).folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["run"] == only_run(tmp_path).folder.name
    assert manifest["world"]["name"] == "Tiny"


def test_view_writes_one_file(simcounsel: Command, tmp_path: Path, lived: Run) -> None:
    done = simcounsel("view", lived.folder, "--html", tmp_path / "day.html")
    assert done.code == 0, done.err
    assert "wrote" in done.out
    assert (tmp_path / "day.html").stat().st_size > 50_000


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("nowhere",), "nowhere: no such folder; `simcounsel run WORLD` makes a run"),
        ((".", "--html", "x.html"), "is a folder of runs; name one of them"),
    ],
)
def test_view_that_cannot_be(simcounsel: Command, arguments: tuple[str, ...], what: str) -> None:
    done = simcounsel("view", *arguments)
    assert done.code != 0
    assert what in " ".join(done.err.replace("│", " ").split())


def test_view_on_a_taken_port(simcounsel: Command, lived: Run) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = simcounsel("view", lived.folder, "--port", str(taken.getsockname()[1]))
    assert done.code == 1
    assert "choose another --port" in done.err


def test_a_reader_that_goes_away() -> None:
    """`simcounsel ... | head -c 1`: no traceback, no word on stderr, and the exit code of a broken pipe."""
    code = "import sys; from simcounsel import cli\ncli.app = lambda **_: [print('x' * 70_000) for _ in range(9)]\ncli.main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), err) == (141, b"")


def test_a_broken_pipe_within_a_process_closes_nothing(
    simcounsel: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(cli, "app", broken)
    assert simcounsel().code == 141
    assert not sys.stderr.closed and not sys.stdout.closed


def test_a_log_line_that_is_no_object(simcounsel: Command, tmp_path: Path, lived: Run) -> None:
    import shutil

    folder = Path(shutil.copytree(lived.folder, tmp_path / "run"))
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"null\n" + b"".join(lines[1:]))
    done = simcounsel("show", folder)
    assert (done.code, "events.jsonl:1: this line cannot be" in done.err) == (0, True)


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("personas/ines.yaml", "not a world but a persona; a world names it under `residents:`"),
        (
            "experiments/quick.yaml",
            "not a world but an experiment; live it with `simcounsel sweep`",
        ),
        (
            "experiments/privacy.yaml",
            "not a world but a sweep of trainings: simcounsel train sweep",
        ),
    ],
)
def test_run_of_what_is_no_world(simcounsel: Command, file: str, what: str) -> None:
    done = simcounsel("run", ROOT / file)
    assert done.code == 1
    assert what in done.err


def test_a_policy_of_ones_own_is_named_by_its_module(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_policy_here.py").write_text(
        "from simcounsel import Decision, NoSettings, PolicyKind\n"
        "class Waiting:\n"
        "    name = 'waiting'\n"
        "    def decide(self, view):\n"
        "        return Decision(move='wait', options=('wait',), reason='always', aim='Wait.')\n"
        "        yield\n"
        "POLICY = PolicyKind(make=lambda settings, language: Waiting(), settings=NoSettings)\n"
        "NONE = 3\n",
        encoding="utf-8",
    )
    named = "residents.Miriam.policy=own_policy_here:"
    done = simcounsel("run", TINY, "--model", "scripted", "--quiet", "--set", f"{named}POLICY")
    assert done.code == 0, done.err
    (run,) = (tmp_path / "runs").iterdir()
    decided = [
        one.event.reason
        for one in Run.open(run).entries()
        if one.event.kind == "decided" and one.event.who == "Miriam"
    ]
    assert decided and set(decided) == {"always"}
    for wrong, told in (("NONE", "is int, and a policy is"), ("GONE", "cannot be imported")):
        refused = simcounsel("run", TINY, "--model", "scripted", "--set", named + wrong)
        assert refused.code == 1 and told in refused.err
        text = TINY.read_text(encoding="utf-8").replace("../personas", str(ROOT / "personas"))
        place = next(line for line in text.splitlines() if "miriam.yaml" in line)
        (tmp_path / "w.yaml").write_text(
            text.replace(place, f"{place[:-1]}, policy: own_policy_here:{wrong}}}"),
            encoding="utf-8",
        )
        allowed = simcounsel("run", "w.yaml", "--model", "scripted", "--allow-code")
        assert allowed.code == 1 and told in allowed.err


def test_a_missing_package_is_named_with_the_smallest_extra() -> None:
    assert install_of("jinja2") == "pip install 'simcounsel[analysis]'"
    assert install_of("pyarrow") == "pip install 'simcounsel[corpus]'"
    assert install_of("opentelemetry_sdk") == "pip install 'simcounsel[otel]'"
    assert install_of("nobody") == "pip install 'simcounsel[all]'"
