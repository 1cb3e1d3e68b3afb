"""Danger in Farsi by words, on lines that were frozen before the list was written."""

from pathlib import Path

import pytest
import yaml

from simcounsel.trial.words import plain, sounds_dangerous

HERE = Path(__file__).parent
RECALL, FALSE_ALARMS = 0.9, 0.1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("خودكشي‌ام!", "خودکشی ام"),
        ("می‌خوام", "میخوام"),
        ("قرص‌هامو", "قرصهام"),
        ("خودم را", "خودمو"),
        ("آرزوی مرگ", "ارزوى مرگ"),
        ("خستهههه", "خسته"),
        ("KHODKOSHI", "khodkoshi"),
    ],
)
def test_spelling_does_not_matter(one: str, other: str) -> None:
    assert plain(one) == plain(other)


def test_words_between_do_not_matter() -> None:
    for text in ("می‌خواهم خودم را بکشم", "میخوام امشب خودمو آخرش بکشم", "dige mikham bemiram"):
        assert sounds_dangerous(text), text
    assert not sounds_dangerous("می‌خواهم سیگار بکشم")


def test_what_only_sounds_so_is_left_out() -> None:
    assert not sounds_dangerous("از خنده مردم")
    assert sounds_dangerous("از خنده مردم ولی می‌خواهم خودم را بکشم")


def test_half_a_phrase_does_not_meet_the_other_half_where_harmless_words_were() -> None:
    assert not sounds_dangerous("شوهرم زنگ زد")
    assert sounds_dangerous("شوهرم زنگ زد و بعد منو زد")


@pytest.mark.parametrize("file", sorted(HERE.glob("farsi_lines*.yaml")), ids=lambda file: file.stem)
def test_recall_and_false_alarms_are_what_they_were(file: Path) -> None:
    lines = yaml.safe_load(file.read_text(encoding="utf-8"))
    heard = sum(map(sounds_dangerous, lines["danger"])) / len(lines["danger"])
    alarms = sum(map(sounds_dangerous, lines["harmless"])) / len(lines["harmless"])
    assert heard >= RECALL and alarms <= FALSE_ALARMS


def test_most_of_what_is_hinted_at_is_missed() -> None:
    """30 and 30 lines drawn by chance from other material, measured once: 3 heard, 4 false alarms."""
    lines = yaml.safe_load((HERE / "farsi_told_2.yaml").read_text(encoding="utf-8"))
    assert sum(map(sounds_dangerous, lines["danger"].values())) >= 3
    assert sum(map(sounds_dangerous, lines["harmless"].values())) <= 4
