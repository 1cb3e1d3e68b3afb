"""The pages of the reference that are made out of the code: nothing is missing in them, and everything has a meaning."""

import json
import re

import yaml

import simcounsel
from docs.generating import PAGES
from docs.generating.api import methods, public
from docs.generating.commands import all_commands, options
from docs.generating.events import examples, kinds
from docs.generating.fields import MEANINGS, documented, keys, plain
from docs.generating.files import KINDS, by_file
from docs.generating.outcomes import errors
from docs.generating.scales import shipped
from simcounsel.instruments.scale import shipped_names
from simcounsel.specs.world import World
from tests.each import each

TEXTS = {name: text() for name, text in PAGES.items()}


@each("typed", [typed for typed, _ in all_commands()])
def test_each_command_and_option_is_told(typed: str) -> None:
    command = dict(all_commands())[typed]
    assert f"## `{typed}`\n" in TEXTS["commands"] and command.help
    part = TEXTS["commands"].split(f"## `{typed}`\n")[1].split("\n## ")[0]
    for written, _, _, told in options(command):
        assert written.replace("|", "\\|") in part and told.strip(), f"{typed} {written}"


@each("title", KINDS)
def test_each_key_of_a_file_has_a_meaning(title: str) -> None:
    for model in by_file()[title]:
        assert f"### {model.__name__}\n" in TEXTS["files"] and model.__doc__
        assert not [key.name for key in keys(model) if not key.meaning or not key.takes], (
            model.__name__
        )


def test_keys_are_told_with_type_default_and_bounds() -> None:
    told = {key.name: key for key in keys(World)}
    assert told["ticks"].takes == "whole number (at least 1, at most 1000000)"
    assert (told["ticks"].default, told["tick_minutes"].default) == ("needed", "`15`")
    assert told["name"].takes == "text (not empty, at most 60 characters)"
    assert told["residents"].takes.startswith("list of: [ResidentSpec](#residentspec)")
    assert plain(int | None) == "whole number, or nothing"
    assert "Half-life of a feeling" in told["feelings_fade_minutes"].meaning


@each("kind", kinds())
def test_each_kind_of_event_has_its_fields_and_a_true_example(kind: str) -> None:
    assert not [key.name for key in keys(kinds()[kind]) if not key.meaning and key.name != "kind"]
    part = TEXTS["events"].split(f"\n## {kind}\n")[1].split("\n## ")[0]
    shown = json.loads(re.search(r"```json\n(.*?)\n```", part, re.DOTALL)[1])  # type: ignore[index]
    assert shown["kind"] == kind
    assert examples()[kind][1] in part
    if "..." not in json.dumps(shown):
        kinds()[kind].model_validate(shown)


def test_each_scale_is_told_with_its_items_and_what_it_is_not() -> None:
    assert set(shipped()) <= set(shipped_names()) and len(shipped()) > 20
    for name, scale in shipped().items():
        part = TEXTS["scales"].split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert all(f"| `{item.id}` |" in part for item in scale.items), name
        assert (
            str(scale.source).split(";")[0] in part.replace("\\|", "|")
            and str(scale.licence) in part
        )
        assert scale.stands_in_for is None or scale.stands_in_for.instrument in part


def test_each_public_name_has_a_meaning() -> None:
    for name, one in public().items():
        assert f"\n## simcounsel.{name}\n" in TEXTS["api"]
        for inner, method in methods(one).items():
            assert (method.fget if isinstance(method, property) else getattr(one, inner)).__doc__, (
                f"{name}.{inner}"
            )
    assert {name for name in simcounsel.__all__ if not name.startswith("__")} <= set(public())


def test_each_error_has_its_exit_code() -> None:
    assert all(f"| `{one.__name__}` |" in TEXTS["outcomes"] and one.__doc__ for one in errors())


def test_no_meaning_is_left_over() -> None:
    """Of a class that is gone, or of a key that says it itself."""
    told = yaml.safe_load(MEANINGS.read_text(encoding="utf-8"))
    models: dict[str, list[type]] = {}
    for one in [*kinds().values(), *(model for listed in by_file().values() for model in listed)]:
        for base in one.__mro__:
            models.setdefault(base.__name__, []).append(base)
    for name, fields in told.items():
        if name in ("files", "events"):
            continue
        known = {key for one in models[name] for key in getattr(one, "model_fields", {})}
        assert set(fields) <= known, f"{name}: {set(fields) - known}"
        said = [set(documented(one)) for one in models[name]]
        assert not set(fields) & set.intersection(*said), name
