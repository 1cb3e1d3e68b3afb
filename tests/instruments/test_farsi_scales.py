"""The Farsi texts of the scales that participants of a trial answer."""

import re
from pathlib import Path
from typing import Any

import yaml

from simcounsel.instruments import scale as scale_module
from simcounsel.instruments.scale import shipped
from simcounsel.instruments.wording import worded
from tests.each import each

FOLDER = Path(str(scale_module.__file__)).parent / "scales" / "fa"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@each("name", NAMES)
def test_they_mirror_the_english_ones(name: str) -> None:
    english = shipped(name)
    texts: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    assert texts["id"] == name
    assert list(texts["labels"]) == list(english.labels)
    assert [one["id"] for one in texts["items"]] == [item.id for item in english.items]
    said = [texts["name"], texts["instruction"], *texts["labels"].values()]
    said += [one["text"] for one in texts["items"]]
    assert [one for one in said if re.search("[A-Za-z]", one) or not re.search("[آ-ی]", one)] == []


@each("name", NAMES)
def test_participants_read_them(name: str) -> None:
    farsi = worded(shipped(name), "fa")
    assert farsi.items[0].text != shipped(name).items[0].text
    assert farsi.range == shipped(name).range
