"""Data files inside packages are read as PyYAML's plain reader reads them, and not as texts."""

from importlib.resources import files

import yaml

from simcounsel.packaged import packaged
from tests.each import each


@each("file", ["safety/help_lines.yaml", "specs/plain_days.yaml", "gallery/gallery.yaml"])
def test_it_reads_as_the_plain_reader(file: str) -> None:
    text = files("simcounsel").joinpath(file).read_text(encoding="utf-8")
    assert packaged("simcounsel", *file.split("/")) == yaml.safe_load(text)


def test_numbers_stay_numbers() -> None:
    measures = packaged("simcounsel.instruments", "scales", "phq9.yaml")
    assert measures["range"]["max"] == 3
