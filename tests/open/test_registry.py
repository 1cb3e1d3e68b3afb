"""What is built in and what installed packages bring goes by name; every mistake is one error."""

from pathlib import Path

import pytest

from simcounsel.errors import ModelError, PluginError
from simcounsel.llm.catalog import model_lines, open_chat, open_embed
from simcounsel.registry import Registry
from tests.open.installed import distribution

BUILTIN = {"path": "pathlib:Path", "tuple": "builtins:tuple"}


@pytest.fixture
def things() -> Registry[type]:
    return Registry("test.things", "a thing", type, BUILTIN)


def test_built_in_and_installed(
    things: Registry[type], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    distribution(
        tmp_path,
        "many-things",
        {"test.things": {"odd": "odd_thing:Odd"}},
        odd_thing="class Odd: ...",
    )
    assert things.names() == ("odd", "path", "tuple") and "odd" in things and "even" not in things
    assert things.known() == "path, tuple; odd (from many-things)"
    found = things.get("odd")
    assert things.get("path") is Path and things.get("even") is None
    assert found is not None and found.__name__ == "Odd"


def test_what_cannot_be_imported_is_named_with_its_cause(
    things: Registry[type], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    points = {
        "torn": "torn_thing:Torn",
        "gone": "no_such_package:X",
        "lost": "odd_things:Lost",
        "number": "odd_things:NUMBER",
    }
    distribution(
        tmp_path, "bad-things", {"test.things": points}, torn_thing="1 / 0", odd_things="NUMBER = 3"
    )
    for name, cause in (
        ("torn", "ZeroDivisionError: division by zero"),
        ("gone", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("lost", f"no attribute 'Lost'); odd_things was found in {tmp_path / 'odd_things.py'}"),
    ):
        with pytest.raises(PluginError, match="cannot be imported") as caught:
            things.get(name)
        assert f"test.things: {name} = {points[name]} (bad-things)" in str(caught.value)
        assert cause in str(caught.value)
    with pytest.raises(PluginError, match=r"number .* is int, and a thing is builtins\.type"):
        things.get("number")


def test_two_of_one_name_are_refused(
    things: Registry[type], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    distribution(tmp_path, "other-paths", {"test.things": {"path": "other:Path"}})
    with pytest.raises(PluginError) as caught:
        things.get("tuple")
    assert "'path': pathlib:Path (built in) and other:Path (other-paths)" in str(caught.value)


PROVIDER = """
from simcounsel.llm.models import Provider
from simcounsel.scripted import Scripted

def chat(name):
    model = Scripted()
    model.name = name
    return model

PROVIDER = Provider(chat=chat, forms={"mything:SIZE": "things of any size"}, state=lambda: "ready")
"""


def test_a_provider_opens_the_models_of_its_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    distribution(
        tmp_path,
        "my-things",
        {"simcounsel.providers": {"mything": "my_things:PROVIDER", "torn": "torn_things:P"}},
        my_things=PROVIDER,
        torn_things="import no_such_package",
    )
    assert open_chat("mything:large").name == "mything:large"
    with pytest.raises(ModelError, match="mything:large: this provider makes no vectors"):
        open_embed("mything:large")
    with pytest.raises(
        ModelError, match=r"there are bot:SPEC, embedded, .*, mything:SIZE, torn:\.\.\.$"
    ):
        open_chat("nothing:large")
    with pytest.raises(PluginError, match=r"torn = torn_things:P \(my-things\)"):
        open_chat("torn:large")
    lines = list(model_lines())
    assert "mything:SIZE              things of any size; ready; from my-things" in lines
    assert any(line.startswith("torn:...") and "no_such_package" in line for line in lines)
