"""What is built can be installed and used where no checkout is: the two archives, their contents, a run in an empty
folder; and the command line under each Typer that the bounds allow.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from docs.generating.commands import commands
from simcounsel import __version__
from tests.open.installed import distribution
from tests.stage import ROOT

SHIPPED = {
    f"simcounsel/shipped/{kind}/{file.name}"
    for kind in ("worlds", "personas", "experiments")
    for file in (ROOT / kind).glob("*.yaml")
}
NEVER = re.compile(
    r"^(runs|sweeps|trainings|site|dist)/|(^|/)(__pycache__|\.venv|\.env|\.git)(/|$)|\.(pyc|gguf|onnx|key)$"
)
"""What somebody made, and what no archive should hold."""


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built out of it."""
    pytest.importorskip("build", reason="pip install -e '.[test-all]'")
    folder = tmp_path_factory.mktemp("dist")
    done(sys.executable, "-m", "build", "--no-isolation", "-o", folder, ROOT, at=folder)
    return folder


@pytest.fixture(scope="module")
def installed(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A virtual environment with the wheel alone in it; what it needs is read from the one that the tests run in,
    whose checkout is not on the path there. And an empty folder.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", symlinks=os.name != "nt")
    paths = sysconfig.get_paths(
        "venv", {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
    )
    (wheel,) = archives.glob("*.whl")
    place = Path(paths["purelib"])
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    (place / "needs.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    empty = folder / "empty"
    empty.mkdir()
    python = Path(paths["scripts"]) / Path(sys.executable).name
    return SimpleNamespace(
        python=python if python.exists() else Path(paths["scripts"]) / "python",
        place=place,
        empty=empty,
    )


def done(*command: object, at: Path, code: int = 0, path: str = "") -> str:
    """What a process prints, which must end with that code."""
    own = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }
    own |= {"COLUMNS": "100"} | ({"PYTHONPATH": path} if path else {})
    ended = subprocess.run(
        list(map(str, command)),
        cwd=at,
        env=own,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert ended.returncode == code, (
        f"{command}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
    )
    return ended.stdout + ended.stderr


def installed_apart(folder: Path, *wanted: str) -> str:
    """Packages in a folder of their own, whose path is given back."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--no-warn-conflicts",
    ]
    done(*pip, "--target", folder, *wanted, at=folder)
    return str(folder)


def names_in(archives: Path) -> tuple[list[str], list[str]]:
    """Files of the wheel, and of the sdist without its top folder."""
    (wheel,), (sdist,) = archives.glob("*.whl"), archives.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = archive.namelist()
    with tarfile.open(sdist) as packed:
        in_sdist = [name.partition("/")[2] for name in packed.getnames()]
    return in_wheel, in_sdist


@pytest.mark.slow(6)
def test_the_archives_hold_what_they_must_and_nothing_else(archives: Path) -> None:
    wheel, sdist = names_in(archives)
    assert not SHIPPED - set(wheel)
    code = {
        str(file.relative_to(ROOT))
        for package in ("simcounsel", "training", "analysis")
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert not code - set(wheel), "of the packages every file"
    assert {name.split("/")[0] for name in wheel} == {
        "simcounsel", "training", "analysis", f"simcounsel-{__version__}.dist-info",
    }  # fmt: skip
    for name in (
        "README.md",
        "LICENSE",
        "CITATION.cff",
        "CHANGELOG.md",
        "tests/test_package.py",
        "worlds/insomnia.yaml",
    ):
        assert name in sdist
    assert not [name for name in [*wheel, *sdist] if NEVER.search(name)]


@pytest.mark.slow(12)
def test_a_package_index_would_take_them(archives: Path, tmp_path: Path) -> None:
    """Twine apart from the rest: Flower holds back what it reads metadata with."""
    there = installed_apart(tmp_path, "twine")
    said = done(
        sys.executable,
        "-m",
        "twine",
        "check",
        "--strict",
        *archives.iterdir(),
        at=tmp_path,
        path=there,
    )
    assert said.count("PASSED") == 2


@pytest.mark.slow(20)
def test_the_wheel_works_in_an_empty_folder(installed: SimpleNamespace) -> None:
    def simcounsel(*words: object, code: int = 0) -> str:
        return done(installed.python, "-m", "simcounsel", *words, at=installed.empty, code=code)

    where = done(
        installed.python,
        "-c",
        "import simcounsel, analysis; print(simcounsel.__file__, analysis.__file__)",
        at=installed.empty,
    )
    assert [Path(one).parents[1] for one in where.split()] == [installed.place] * 2, (
        "not the checkout"
    )
    assert simcounsel("--version") == f"simcounsel {__version__}\n"
    listed = simcounsel("list")
    assert "insomnia " in listed and "quick " in listed and "privacy" not in listed
    assert (
        "wrote" not in listed
        and str(installed.place / "simcounsel" / "shipped" / "worlds") in listed
    )
    simcounsel("run", "insomnia", "--model", "scripted", "--ticks", 4, "--quiet")
    (run,) = (installed.empty / "runs").iterdir()
    simcounsel("resume", run, "--ticks", 2, "--quiet")
    simcounsel("verify", "runs")
    simcounsel("view", "gallery:first-days", "--html", "days.html")
    assert (installed.empty / "days.html").stat().st_size > 100_000
    said = simcounsel("run", "worlds/insomnia.yaml", code=1)
    assert "worlds/insomnia.yaml: no such file; did you mean insomnia?" in said
    simcounsel("init", "mine", "--theme", "grief")
    simcounsel("check", "mine")
    simcounsel("run", "mine/world.yaml", "--model", "scripted", "--ticks", 14, "--quiet", "-o", "m")
    assert "alone" in simcounsel("sweep", "quick", "--dry-run")
    found = json.loads(simcounsel("doctor", "--json"))
    assert {one["part"] for one in found} == {
        "python",
        "packages",
        "weights",
        "disk",
        "keys",
        "models",
        "browser",
    }


def oldest(name: str) -> str:
    """The lowest version that the bounds allow."""
    bounds = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "dependencies"
    ]
    (found,) = (
        re.search(rf"^{name}>=([\d.]+)", one) for one in bounds if one.startswith(f"{name}>=")
    )
    assert found
    return f"{name}=={found[1]}"


CLICKED = """
import click

@click.command()
@click.argument("number", type=int)
def clicked(number):
    "Click's own."
    print("Click's own.", number)
"""


TYPED = """
import contextlib, io, json, sys
from simcounsel.cli import main
ended = []
for words in json.loads(sys.argv[1]):
    sys.argv, out = ["simcounsel", *words], io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = main()
        except SystemExit as end:
            code = end.code
    ended.append((code or 0, out.getvalue()))
print(json.dumps(ended))
"""


@pytest.mark.slow(6)
def test_help_lists_everything_once_under_the_oldest_typer(tmp_path: Path) -> None:
    installed_apart(tmp_path, oldest("typer"), "click<8.2")
    points = {"simcounsel.commands": {"clicked": "clicking:clicked"}}
    distribution(tmp_path, "clicking", points, clicking=CLICKED)
    path = os.pathsep.join((str(tmp_path), str(ROOT)))

    def typed(*commands: tuple[str, ...]) -> list[tuple[int, str]]:
        """How each ended and what it printed, one after the other in one process."""
        out = done(sys.executable, "-c", TYPED, json.dumps(commands), at=tmp_path, path=path)
        return [(code, text) for code, text in json.loads(out)]

    used = done(sys.executable, "-c", "import typer; print(typer.__file__)", at=tmp_path, path=path)
    assert used.startswith(str(tmp_path)), "that Typer, and not the one installed"
    *sound, wrong = typed(
        ("run", "--help"), ("--version",), ("--help",), ("train", "--help"), ("list",),
        ("clicked", "3"), ("clicked", "--help"), ("clicked", "x"),
    )  # fmt: skip
    assert {code for code, _ in sound} == {0} and all(text for _, text in sound)
    run, version, whole, _, _, *clicked = (text for _, text in sound)
    assert len(re.findall(r"A world file, or the name of one", run)) == 1
    assert len(re.findall(r"^(?:Positional )?[Aa]rguments:$", run, re.MULTILINE)) == 1
    assert "\\[" not in run and "[default: runs]" in run
    assert version == f"simcounsel {__version__}\n"
    assert len(re.findall(r"^  run  ", whole, re.MULTILINE)) == 1
    assert all("Click's own." in text for text in clicked)
    page = "from docs.generating.commands import commands; print(commands())"
    assert done(sys.executable, "-c", page, at=tmp_path, path=path) == f"{commands()}\n"
    code, told = wrong
    assert code == 2
    assert "Usage: " in told and "clicked" in told and "'x' is not a valid integer" in told


@pytest.mark.slow
def test_a_shell_completes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SIMCOUNSEL_COMPLETE", "complete_bash")
    start = "import sys; sys.argv = ['simcounsel']; from simcounsel.cli import main; main()"
    for typed, offered in {
        "simcounsel run ins": ["insomnia"],
        "simcounsel show gallery:st": ["gallery:staged"],
        "simcounsel study re": ["replicate"],
    }.items():
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
        said = done(sys.executable, "-c", start, at=tmp_path, path=str(ROOT))
        assert sorted(said.split()) == offered


def test_versions_agree() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]
    cited = re.search(
        r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert cited and declared == __version__ == cited[1]
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
