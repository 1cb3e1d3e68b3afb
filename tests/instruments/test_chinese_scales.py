"""The Chinese texts of the scales that come with simcounsel."""

import re
from pathlib import Path
from typing import Any

import yaml

from simcounsel.instruments import scale as scale_module
from simcounsel.instruments.scale import shipped, shipped_names
from tests.each import each

FOLDER = Path(str(scale_module.__file__)).parent / "scales" / "zh"


def chinese(name: str) -> dict[str, Any]:
    """A mirror as it is written."""
    read: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return read


def test_every_scale_has_its_chinese_texts_and_no_other() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(shipped_names())


@each("name", shipped_names())
def test_they_mirror_the_english_ones(name: str) -> None:
    english, texts = shipped(name), chinese(name)
    assert texts["id"] == name
    parts = {part.id: list(part.anchors) for part in english.subscales if part.anchors}
    wanted = {"id", "name", "instruction", "labels", "items"}
    wanted |= {name for name, one in (("anchors", english.anchors), ("subscales", parts)) if one}
    assert set(texts) == wanted
    assert list(texts.get("anchors", {})) == list(english.anchors)
    assert {one["id"]: list(one["anchors"]) for one in texts.get("subscales", ())} == parts
    assert list(texts["labels"]) == list(english.labels)
    assert [(one["id"], "not_applicable" in one) for one in texts["items"]] == [
        (item.id, item.not_applicable is not None) for item in english.items
    ]


@each("name", shipped_names())
def test_they_are_chinese(name: str) -> None:
    texts = chinese(name)
    parts = [one for item in texts["items"] for key, one in item.items() if key != "id"]
    anchors = [texts.get("anchors", {}), *(one["anchors"] for one in texts.get("subscales", ()))]
    parts += [line for one in anchors for line in one.values()]
    said = [texts["name"], texts["instruction"], *texts["labels"].values(), *parts]
    assert [one for one in said if re.search("[A-Za-z]", one)] == []
    assert [one for one in said if not re.search(r"[\u4e00-\u9fff]", one)] == []
    asked = [item["text"] for item in texts["items"]]
    assert len(set(asked)) == len(asked)
