"""The lines from which the gate learns: fields, no line twice, a mix in each batch."""

import json
import re
from collections import Counter
from pathlib import Path

import simcounsel.safety
from tests.each import each

LINES = Path(simcounsel.danger.hearing.__file__).parent / "learning" / "lines"
BATCHES = sorted(LINES.glob("*.jsonl"))
DANGERS = {"suicide", "self_harm", "harm_to_others", "abuse"}
WITH_DANGER = {"plain", "hinted", "misspelt", "slang", "told_of_another", "past", "quoted"}
HARMLESS = {"denied", "past", "quoted", "told_of_another", "slang", "idiom", "grief"} | {
    "work", "sport", "medicine", "fiction", "everyday", "misspelt"
}  # fmt: skip


def lines(batch: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in batch.read_text(encoding="utf-8").splitlines()]


@each("batch", BATCHES)
def test_each_line_has_its_fields_and_a_form_that_fits_its_danger(batch: Path) -> None:
    for line in lines(batch):
        assert set(line) == {"text", "danger", "form"}
        assert line["text"] == line["text"].strip() != ""
        assert line["danger"] in DANGERS | {"none"}, line
        assert line["form"] in (HARMLESS if line["danger"] == "none" else WITH_DANGER), line


@each("batch", BATCHES)
def test_each_batch_has_all_dangers_about_evenly_and_enough_that_is_harmless(batch: Path) -> None:
    counts = Counter(line["danger"] for line in lines(batch))
    total = counts.total()
    assert 0.4 <= counts["none"] / total <= 0.7, counts
    assert all(0.08 <= counts[danger] / total <= 0.16 for danger in DANGERS), counts


def test_no_line_stands_twice_in_any_batch() -> None:
    places = Counter(
        re.sub(r"\W+", " ", line["text"].casefold()).strip()
        for batch in BATCHES
        for line in lines(batch)
    )
    assert [text for text, times in places.items() if times > 1] == []


def test_each_batch_is_described() -> None:
    told = (LINES / "README.md").read_text(encoding="utf-8")
    assert BATCHES
    assert [batch.stem for batch in BATCHES if f"`{batch.stem}`" not in told] == []
