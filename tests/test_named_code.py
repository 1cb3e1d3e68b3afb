"""A stranger's file runs nothing: code that it names is imported only where the user named or allowed it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simcounsel import Run, Simulation, allow_code, load_world
from simcounsel.agents.mind import maker_of
from simcounsel.envs.baseline import PolicyAgent
from simcounsel.envs.counseling import CounselingEnv
from simcounsel.envs.preparing import EnvSettings
from simcounsel.errors import PluginError
from simcounsel.lab.sweep import Sweep
from simcounsel.measuring.interview import Interview
from simcounsel.named_code import VARIABLE, code_file, file_of
from simcounsel.policies import kind_of
from tests.commands import Command, only_run
from tests.each import each
from tests.stage import ROOT, TINY

MODULE = """
from pathlib import Path
from simcounsel import Decision, NoSettings, Person, PolicyKind

Path(__file__).with_name("IMPORTED").write_text("")


class Waiting:
    name = "waiting"

    def decide(self, view):
        return Decision(move="wait", options=("wait",), reason="always", aim="Wait.")
        yield


class Tired(Person):
    pass


POLICY = PolicyKind(make=lambda settings, language: Waiting(), settings=NoSettings)
"""
NAMED = "strangers_helper:POLICY"
WORDS = "is code; it lies in"


@pytest.fixture
def code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The folder of a module that leaves a file when it is imported; nothing is allowed yet."""
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "strangers_helper.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv(VARIABLE, "")
    sys.modules.pop("strangers_helper", None)
    yield folder
    sys.modules.pop("strangers_helper", None)


def imported(folder: Path) -> bool:
    """Whether it was imported since this was last asked."""
    mark = folder / "IMPORTED"
    there = mark.exists()
    mark.unlink(missing_ok=True)
    sys.modules.pop("strangers_helper", None)
    return there


def world_file(folder: Path, policy: str = "", mind: str = "") -> Path:
    """The tiny world; the counselor's policy and the client's mind are code."""
    text = TINY.read_text(encoding="utf-8").replace("../personas", str(ROOT / "personas"))
    for who, said in (
        ("miriam", f", policy: '{policy}'" * bool(policy)),
        ("ines", f", mind: '{mind}'" * bool(mind)),
    ):
        line = next(line for line in text.splitlines() if f"{who}.yaml" in line)
        text = text.replace(line, f"{line[:-1]}{said}}}")
    file = folder / "world.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def experiment_file(folder: Path) -> Path:
    file = folder / "experiment.yaml"
    file.write_text(
        f"name: theirs\nworlds: [{TINY}]\nseeds: [1]\nticks: 4\nmodels: {{reason: scripted, embed: scripted}}\n"
        f"conditions:\n  - {{name: a, set: {{residents.Miriam.policy: '{NAMED}'}}}}\n"
        "  - {name: b, set: {residents.Miriam.policy: socratic}}\n",
        encoding="utf-8",
    )
    return file


def own_run(simcounsel: Command, tmp_path: Path, *more: str) -> Run:
    """A run whose manifest names the code, as its user had it."""
    ended = simcounsel(
        "run", TINY, "--model", "scripted", "--quiet", "--ticks", "4", "--out", tmp_path / "theirs",
        *(more or ("--set", f"residents.Miriam.policy={NAMED}")),
    )  # fmt: skip
    assert ended.code == 0, ended.err
    return only_run(tmp_path / "theirs")


def test_check_says_what_would_be_imported_and_imports_nothing(
    simcounsel: Command, tmp_path: Path, code: Path
) -> None:
    for file in (world_file(tmp_path, NAMED), experiment_file(tmp_path)):
        checked = simcounsel("check", file)
        assert checked.code == 0 and not imported(code), checked
        line = 1 + next(
            number
            for number, words in enumerate(file.read_text(encoding="utf-8").splitlines())
            if NAMED in words
        )
        assert f"{file}:{line}: {NAMED} {WORDS} {code / 'strangers_helper.py'}" in checked.out
    assert (
        "strangers_helper:Tired"
        in simcounsel("check", world_file(tmp_path, "", "strangers_helper:Tired")).out
    )
    gone = simcounsel("check", world_file(tmp_path, "no_such_module:POLICY"))
    assert gone.code == 1 and "no file of a module 'no_such_module'" in gone.out
    nobody = simcounsel("check", world_file(tmp_path, "", "antigravity:geohash"))
    assert "antigravity" in nobody.out and "antigravity" not in sys.modules
    assert not imported(code)


@pytest.mark.parametrize("allowed", [(), ("--allow-code",)])
def test_code_that_is_not_here(simcounsel: Command, tmp_path: Path, allowed: tuple[str]) -> None:
    """Where it was looked for, allowed or not: no package is blamed, and none is to be trusted."""
    for told in (
        (world_file(tmp_path, "no_such_module:POLICY"),),
        (TINY, "--set", "residents.Miriam.policy=no_such_module:POLICY"),
        (world_file(tmp_path, "", "no_such_module:MIND"),),
    ):
        ended = simcounsel("run", *told, "--model", "scripted", "--quiet", *allowed)
        assert ended.code == 1 and f"is found from {Path.cwd()}; start" in ended.err, ended
        assert "uninstall" not in ended.err and "trust" not in ended.err


def test_run_resume_fork_and_sweep_import_nothing_that_only_a_file_names(
    simcounsel: Command, tmp_path: Path, code: Path
) -> None:
    run = own_run(simcounsel, tmp_path)
    assert imported(code), "the user named it"
    world = world_file(tmp_path, NAMED)
    (tmp_path / "tired").mkdir()
    tired = world_file(tmp_path / "tired", mind="strangers_helper:Tired")
    for typed in (
        ("run", world, "--model", "scripted"),
        ("resume", run.folder),
        ("fork", run.folder, "--at", "2"),
        ("fork", run.folder, "--at", "2", "--set", "conversation.max_turns=4"),
        ("sweep", experiment_file(tmp_path)),
        ("clinic", tired, "--model", "scripted"),
    ):
        refused = simcounsel(*typed, "--quiet")
        assert refused.code == 1 and not imported(code), typed
        assert WORDS in refused.err and "--allow-code" in refused.err, refused
        assert (
            f"simcounsel models allow code {code}" in refused.err and "Traceback" not in refused.err
        )
    assert len(list((tmp_path / "theirs").iterdir())) == 1


def test_once_and_for_good(simcounsel: Command, tmp_path: Path, code: Path) -> None:
    run = own_run(simcounsel, tmp_path)
    assert imported(code)
    once = simcounsel("resume", run.folder, "--ticks", "1", "--quiet", "--allow-code")
    assert once.code == 0 and imported(code), once
    assert simcounsel("resume", run.folder, "--quiet").code == 1, "it was for once"

    other = tmp_path / "other"
    other.mkdir()
    assert simcounsel("models", "allow", "code").out.startswith("no folder (")
    assert simcounsel("models", "allow", "code", other).code == 0
    assert simcounsel("resume", run.folder, "--quiet").code == 1, "it lies elsewhere"
    allowed = simcounsel("models", "allow", "code", code)
    assert str(code) in allowed.out and str(code_file()) in allowed.out
    assert simcounsel("models", "allow", "code").out == f"{other}, {code} ({code_file()})\n"
    assert simcounsel("resume", run.folder, "--quiet").code == 0 and imported(code)
    refused = simcounsel("models", "allow", "code", tmp_path / "none")
    assert refused.code == 1 and "no folder" in refused.err
    assert (
        simcounsel(
            "run", world_file(tmp_path, "", "antigravity:geohash"), "--model", "scripted"
        ).code
        == 1
    )
    assert "antigravity" not in sys.modules, "other code than that in the folder stays forbidden"


def test_what_goes_on_says_what_it_needs(simcounsel: Command, tmp_path: Path, code: Path) -> None:
    typed = (
        "run",
        TINY,
        "--model",
        "scripted",
        "--quiet",
        "--set",
        f"residents.Miriam.policy={NAMED}",
    )
    stopped = simcounsel(*typed, "--budget-calls", "1", "--out", tmp_path / "a")
    assert stopped.code == 3 and "--allow-code" in stopped.err, stopped
    assert simcounsel("models", "allow", "code", code).code == 0
    stopped = simcounsel(*typed, "--budget-calls", "1", "--out", tmp_path / "b")
    assert stopped.code == 3 and "--allow-code" not in stopped.err


def test_talk_interviews_and_self_reports_of_a_strangers_run(
    simcounsel: Command, tmp_path: Path, code: Path
) -> None:
    run = own_run(simcounsel, tmp_path, "--set", "residents.Ines.mind=strangers_helper:Tired")
    assert imported(code)
    rated = simcounsel(
        "rate", run.folder, "--instrument", "phq9", "--model", "scripted", "--at", "2"
    )
    assert rated.code == 1 and "--allow-code" in rated.err and not imported(code)
    with pytest.raises(PluginError, match="--allow-code"):
        maker_of(run.world.residents[0].mind)
    sitting = Interview.begin(run, "Ines", None, "scripted")
    assert not imported(code) and sitting
    rated = simcounsel(
        "rate",
        run.folder,
        "--instrument",
        "phq9",
        "--model",
        "scripted",
        "--at",
        "2",
        "--allow-code",
    )
    assert rated.code == 0 and imported(code), rated
    for looked in (
        ("show", run.folder),
        ("verify", run.folder),
        ("view", run.folder, "--html", tmp_path / "p.html"),
    ):
        assert simcounsel(*looked).code == 0 and not imported(code), looked


def test_processes_of_a_sweep_know_what_is_allowed(
    simcounsel: Command, tmp_path: Path, code: Path
) -> None:
    swept = simcounsel(
        "sweep", experiment_file(tmp_path), "--out", tmp_path / "s", "--quiet", "--allow-code"
    )
    assert swept.code == 0 and imported(code), swept
    for name in ("a", "b"):
        run = Run.open(next((tmp_path / "s").glob(f"*-{name}")))
        assert run.ticks_done() == 4
    running = Sweep.of(experiment_file(tmp_path), tmp_path / "t", processes=1)
    assert not running.run() and not imported(code)
    (refused,) = (one.cause for one in running.progress.values() if one.cause)
    assert "Only a file names it" in refused


def test_in_python_what_the_user_names_is_theirs_and_what_a_file_names_is_not(
    tmp_path: Path, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_file(tmp_path, NAMED)
    with pytest.raises(PluginError, match="simcounsel.allow_code"):
        Simulation(world, model="scripted", out=tmp_path / "r")
    env = CounselingEnv(EnvSettings(world=world, model="scripted"))
    assert not imported(code)
    assert PolicyAgent(NAMED, env) and imported(code), "the user's words"

    monkeypatch.setenv(VARIABLE, "")
    mine = load_world(TINY, **{"residents.Miriam.policy": NAMED})  # type: ignore[arg-type]
    assert Simulation(mine, model="scripted", out=tmp_path / "r").run(2) and imported(code)
    monkeypatch.setenv(VARIABLE, "")
    allow_code("others:POLICY")
    with pytest.raises(PluginError):
        Simulation(world, model="scripted", out=tmp_path / "r")
    allow_code(NAMED)
    assert Simulation(world, model="scripted", out=tmp_path / "r").run(1) and imported(code)
    monkeypatch.setenv(VARIABLE, "")
    allow_code()
    assert kind_of(NAMED) and imported(code)


@each("name", ["builtins:print", "sys:exit", "..a:b", ":b", "a..b:c", "__main__:X"])
def test_names_without_a_file_are_not_run(code: Path, name: str) -> None:
    assert file_of(name) is None or name.startswith("__main__")
    with pytest.raises(PluginError, match="--allow-code|no file of a module"):
        maker_of(name)


def test_code_in_the_folder_is_found_by_the_installed_command(tmp_path: Path) -> None:
    """`simcounsel`, unlike `python -m simcounsel`, does not have the folder on its path."""
    (tmp_path / "mine.py").write_text(MODULE, encoding="utf-8")
    script = (
        "import sys; sys.path.remove(''); sys.argv[0] = 'simcounsel'\n"
        "from simcounsel.cli import main; main()"
    )
    words = ["run", "tiny", "--model", "scripted", "--ticks", "4", "--quiet"]
    words += ["--set", "residents.Miriam.policy=mine:POLICY"]
    ended = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert (tmp_path / "IMPORTED").is_file() and "mine:POLICY" in (
        run / "manifest.json"
    ).read_text()
