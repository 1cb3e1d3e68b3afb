"""Every command in the README runs, and every command is in the README."""

import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.main import get_command

from simcounsel.cli import app
from simcounsel.envs import CounselingEnv

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```\w*\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = sorted(
    {
        line.split("#")[0].strip()
        for block in [*BLOCKS, *re.findall(r"`(python -m simcounsel [^`]*)`", README)]
        for line in block.splitlines()
        if line.strip().startswith("python -m simcounsel")
    }
)
SKIPPED_WORDS = ("COMMAND --help", "--ray auto")


def simcounsel(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "simcounsel", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder that looks like a checkout, and a run in it, made with the scripted model."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("worlds", "personas", "tests"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "experiments", folder / "experiments")
    quick = folder / "experiments" / "quick.yaml"
    text = (
        quick.read_text(encoding="utf-8")
        .replace("ticks: 72", "ticks: 10")
        .replace("seeds: [1, 2]", "seeds: [1]")
    )
    quick.write_text(text + "models: {reason: scripted, embed: scripted}\n", encoding="utf-8")
    ablation = folder / "experiments" / "corpus_ablation.yaml"
    ablation.write_text(
        ablation.read_text(encoding="utf-8")
        .replace("sessions: 50", "sessions: 4")
        .replace("embedded}", "scripted}"),
        encoding="utf-8",
    )
    shutil.copy(
        ROOT / "simcounsel" / "policies" / "manuals" / "en" / "motivational.yaml",
        folder / "mine.yaml",
    )
    (folder / "seeds.txt").write_text(
        "I drive a bus at night and I cannot sleep by day.\nMy brother left and I am angry with everyone.\n",
        encoding="utf-8",
    )
    env = CounselingEnv(
        folder / "worlds" / "insomnia.yaml",
        model="scripted",
        sessions=1,
        max_turns=4,
        out=folder / "episodes",
    )
    env.reset(seed=1)
    while not env.step("What was that like?")[2]:
        pass
    env.close()
    done = simcounsel(
        "run", "worlds/insomnia.yaml", "--model", "scripted", "--ticks", "40", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return folder, next((folder / "runs").iterdir())


@pytest.mark.parametrize("command", COMMANDS)
def test_command_of_the_readme_runs(command: str, place: tuple[Path, Path]) -> None:
    """As written, but with the scripted model in place of the embedded one, and few ticks."""
    folder, run = place
    if any(word in command for word in SKIPPED_WORDS):
        assert "--help" in command or "--ray" in command
        return
    written = shlex.split(
        command.replace("RUN", str(run)).replace("embedded+adapter=trainings/smoke", "scripted")
    )[3:]
    words = [
        one
        for word in written
        for one in (sorted(map(str, folder.glob(word))) if "*" in word else [word])
    ]
    if words[0] == "init":
        words[1] = str(folder / "my-study")
    if words[0] in ("run", "resume", "fork", "clinic"):
        words += ["--ticks", "2"] if "--ticks" not in words else []
        words += (
            ["--model", "scripted"]
            if words[0] != "resume" and words[0] != "fork" and "--model" not in words
            else []
        )
    if words[0] == "rate-page":
        words = _about_a_study(words, folder)
    if words[0] == "view" and "--html" not in words:
        _seen(words, folder)
        return
    done = simcounsel(*words, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def _seen(words: list[str], folder: Path) -> None:
    """The site answers at the address that is printed, until it is stopped."""
    with subprocess.Popen(
        [sys.executable, "-m", "simcounsel", *words, "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as site:
        assert site.stdout is not None
        try:
            address = site.stdout.readline().split()[1]
            with urllib.request.urlopen(address, timeout=20) as answer:
                assert b"simcounsel" in answer.read()
        finally:
            site.terminate()


def _about_a_study(words: list[str], folder: Path) -> list[str]:
    """A study is there when it is asked about and not when it is made; nothing is served."""
    study = folder / "study"
    if words[1] != "--out":
        shutil.rmtree(study, ignore_errors=True)
    elif not study.exists():
        made = simcounsel(
            "rate-page",
            "runs",
            "--instrument",
            "transcript_quality",
            "--out",
            str(study),
            cwd=folder,
        )
        assert made.returncode == 0, made.stderr
    return [word for word in words if word != "--serve"]


def test_every_command_is_in_the_readme() -> None:
    """And in the table of all commands."""
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        for full in [f"{name} {sub}" for sub in inner] if inner else [name]:
            assert f"| `{full}" in README, f"{full} is not in the README's table"


def test_every_option_of_run_is_in_the_readme() -> None:
    options = {
        o for p in get_command(app).commands["run"].params for o in p.opts if o.startswith("--")
    }  # type: ignore[attr-defined]
    assert not {o for o in options if f"`{o}" not in README and f"{o}" not in README}


def test_the_library_is_three_lines(
    place: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python in the README, with the scripted model and two ticks."""
    folder, _ = place
    monkeypatch.chdir(folder)
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code is not None
    text = (
        code.group(1)
        .replace('condition="client_only")', 'condition="client_only", ticks=2)')
        .replace("Simulation(world)", "Simulation(world, model='scripted')")
    )
    found: dict[str, object] = {}
    exec(text, found)
    assert (found["run"].folder / "events.jsonl").stat().st_size > 0  # type: ignore[attr-defined]
