"""Commands that packages bring: listed without being imported, run, and named when they are broken."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from simcounsel.cli.packages import OURS
from simcounsel.errors import PluginError
from simcounsel.registry import Plugin, Registry
from tests.commands import Command
from tests.open.installed import distribution

ROOT = Path(__file__).parents[2]
HELLO = '''
def hello(name: str, times: int = 1) -> None:
    """Say hello."""
    print(" ".join([f"hello {name}"] * times))
'''


@pytest.fixture
def greeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "installed"
    monkeypatch.syspath_prepend(folder)
    points = {"hello": "greeting_commands:hello", "torn": "torn_commands:app"}
    distribution(
        folder,
        "greeting",
        {"simcounsel.commands": points},
        greeting_commands=HELLO,
        torn_commands="import no_such_package",
    )


@pytest.mark.usefixtures("greeting")
def test_a_packages_command(simcounsel: Command) -> None:
    ended = simcounsel("--help")
    assert ended.code == 0 and "greeting_commands" not in sys.modules
    assert "hello" in ended.out and "from greeting" in ended.out
    assert simcounsel("hello", "Ines", "--times", 2).out == "hello Ines hello Ines\n"
    assert "Say hello." in simcounsel("hello", "--help").out
    torn = simcounsel("torn")
    assert torn.code == 1 and "no_such_package" in torn.err and "(greeting)" in torn.err
    assert simcounsel("nothing").code == 2


def own() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points: dict[str, str] = project["entry-points"]["simcounsel.commands"]
    return points


def test_our_own_packages_register_theirs() -> None:
    commands = Registry("simcounsel.commands", "a command", object, {})
    assert set(own()) == set(OURS)
    for name, value in own().items():
        plugin = Plugin(name=name, value=value, distribution="simcounsel")
        assert isinstance(commands.load(plugin), typer.Typer) or callable(commands.load(plugin))


def test_a_package_of_the_same_name_is_named_as_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "__init__.py").write_text("")
    for name in [name for name in sys.modules if name.split(".")[0] == "training"]:
        monkeypatch.delitem(sys.modules, name)
    plugin = Plugin(name="train", value=own()["train"], distribution="simcounsel")
    with pytest.raises(PluginError) as caught:
        Registry("simcounsel.commands", "a command", object, {}).load(plugin)
    assert f"training was found in {tmp_path / 'training' / '__init__.py'}" in str(caught.value)
    monkeypatch.delitem(sys.modules, "training")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, contextlib, simcounsel.cli as cli; sys.argv = ['simcounsel', '--help']\n"
        "with contextlib.suppress(SystemExit): cli.main()\n"
        "heavy = {'torch', 'pandas', 'transformers', 'matplotlib', 'training', 'analysis'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
