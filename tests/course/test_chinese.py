"""The prompts of a course in Chinese: the same slots as the English ones, and really sent."""

import re
from pathlib import Path

import pytest

from simcounsel.prompts import prompt_text
from tests.course.held import held, world
from tests.stage import ROOT, changed

FOLDER = ROOT / "simcounsel" / "prompts"
OURS = sorted(path.stem for path in FOLDER.glob("*.txt") if path.stem.startswith(("course_", "client_", "skipped_")))


@pytest.mark.parametrize("name", OURS)
def test_the_same_slots(name: str) -> None:
    chinese, english = prompt_text(name, "zh"), prompt_text(name)
    assert set(re.findall(r"\$\w+", chinese)) == set(re.findall(r"\$\w+", english))
    assert ("\n---\n" in chinese) == ("\n---\n" in english)
    assert re.search(r"[\u4e00-\u9fff]", chinese)


def test_they_are_sent(tmp_path: Path) -> None:
    _, requests = held(tmp_path, changed(world(5, lines=8), language="zh"))
    for purpose in ("course_objective", "course_reason", "course_review", "client_touched", "skipped_days"):
        prompt = next(request.prompt for request in requests if request.purpose == purpose)
        assert re.search(r"[\u4e00-\u9fff]", prompt), purpose
