"""Participants read the same in every language."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from simcounsel.packaged import packaged
from simcounsel.trial.plan import LANGUAGES
from tests.stage import ROOT

TEXTS = {code: packaged("simcounsel.trial", "texts", f"{code}.yaml") for code in LANGUAGES}
SPOKEN = {"text", "title", "instruction", "low_label", "high_label"}
SLOT = re.compile(r"\$\w+|\{\w+\}")


def shape(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each place with what must be the same there: slots of a text, or the value itself."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in SPOKEN:
                yield f"{path}.{key}", sorted(SLOT.findall(value))
            elif key == "choices":
                yield f"{path}.{key}", [value for value, _ in value]
            else:
                yield from shape(value, f"{path}.{key}")
    elif isinstance(data, list):
        for number, one in enumerate(data):
            if isinstance(one, list):
                yield f"{path}[{number}]", one[0]
            else:
                yield from shape(one, f"{path}[{number}]")
    elif isinstance(data, str) and (".surveys" not in path):
        yield path, sorted(SLOT.findall(data))
    else:
        yield path, data


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en"}))
def test_keys_slots_and_choices_are_the_same(language: str) -> None:
    assert dict(shape(TEXTS[language])) == dict(shape(TEXTS["en"]))


def test_every_text_that_the_pages_ask_for_is_there() -> None:
    static = ROOT / "simcounsel" / "trial" / "static"
    pages = "".join(file.read_text(encoding="utf-8") for file in static.glob("*.js"))
    asked = set(re.findall(r'\bt\(\s*"(\w+)"', pages))
    for file in (ROOT / "simcounsel" / "trial").glob("*.py"):
        text = file.read_text(encoding="utf-8")
        asked |= set(re.findall(r'said\(who, "(\w+)"\)', text))
        asked |= set(re.findall(r'(?:page_texts\([^)]*\)+|texts)\[["\'](\w+)["\']\]', text))
    assert len(asked) > 50
    assert asked <= set(TEXTS["en"]["pages"])
    unused = (
        set(TEXTS["en"]["pages"]) - asked - {"you", "other", "withdrawn_kept", "withdrawn_deleted"}
    )
    assert not unused, "take them out, in all languages"


def test_nobody_promises_what_a_program_cannot_do() -> None:
    for language, data in TEXTS.items():
        told = data["templates"]["information"] + data["templates"]["danger"]
        assert "$help" in told and "$watched" in told, language
