"""Danger in Farsi by words, on lines that were frozen before the list was written."""

from pathlib import Path

import yaml

from simcounsel.trial.words import plain, sounds_dangerous

LINES = yaml.safe_load((Path(__file__).parent / "farsi_lines.yaml").read_text(encoding="utf-8"))
RECALL, FALSE_ALARMS = 0.9, 0.1


def test_spelling_does_not_matter() -> None:
    assert plain("خودكشي‌ام!") == plain("خودکشی ام")
    for text in ("به خودکشی فکر می‌کنم", "به خودكشي فكر ميكنم", "KHODKOSHI"):
        assert sounds_dangerous(text), text


def test_what_only_sounds_so_is_left_out() -> None:
    assert not sounds_dangerous("از خنده مردم")
    assert sounds_dangerous("از خنده مردم ولی می‌خواهم خودم را بکشم")


def test_recall_and_false_alarms_are_what_they_were() -> None:
    heard = sum(map(sounds_dangerous, LINES["danger"])) / len(LINES["danger"])
    alarms = sum(map(sounds_dangerous, LINES["harmless"])) / len(LINES["harmless"])
    assert heard >= RECALL and alarms <= FALSE_ALARMS
