"""What a client's line does, by the hand rules: each rule once, and what looks like it and is not."""

import json
from pathlib import Path

import pytest

from analysis.validity.talk.moves import moves_in
from analysis.validity.talk.sessions import ClientLine
from simcounsel.specs.vocabulary import Language
from tests.each import each

PROPOSES = "Could you try to write it down tonight?"
ENGLISH = [
    ("I want to stop drinking.", "", {"change"}),
    ("I think I could ask him.", "", {"change"}),
    ("I've started going to a group.", "", {"change"}),
    ("I'm not going to stop.", "", {"sustain"}),
    ("It doesn't help anyway.", "", {"sustain"}),
    ("I just can't sleep without it.", "", {"sustain"}),
    ("I couldn't believe it.", "", set()),
    ("Yes, but you don't know my mother.", "You could ring her.", {"resists"}),
    ("I don't know.", "What happened then?", {"resists"}),
    ("You don't understand.", "", {"resists"}),
    ("Exactly.", "It sounds heavy.", {"agrees"}),
    ("Yes.", "Do you live alone?", set()),
    ("Yes.", "That must have been hard.", {"agrees"}),
    ("Okay, I'll try that.", PROPOSES, {"takes_up", "agrees", "change"}),
    ("I'll keep my coat on.", "", set()),
    ("That helped.", "", {"improves"}),
    ("I slept a bit better.", "", {"improves"}),
    ("I wish I felt better.", "", set()),
    ("I feel so ashamed of it.", "", {"discloses"}),
    ("I've never told anybody.", "", {"discloses"}),
    ("We went to the sea on Sunday.", "", set()),
]
CHINESE = [
    ("我想改变这种状态。", "", {"change"}),
    ("我做不到，没用的。", "", {"sustain"}),
    ("是的，但是你不了解我妈。", "你可以给她打电话。", {"resists"}),
    ("您说得对。", "听起来很不容易。", {"agrees"}),
    ("好的，我今晚试试。", "要不要今晚试着写下来？", {"takes_up", "agrees"}),
    ("这几天好多了。", "", {"improves"}),
    ("我觉得很孤独。", "", {"discloses"}),
    ("昨天下雨了。", "", set()),
]


@each(("said", "before", "moves"), ENGLISH)
def test_english(said: str, before: str, moves: set[str]) -> None:
    found = moves_in(ClientLine(said=said, before=before))
    assert found >= moves and (moves or not found), found


@each(("said", "before", "moves"), CHINESE)
def test_chinese(said: str, before: str, moves: set[str]) -> None:
    found = moves_in(ClientLine(said=said, before=before), "zh")
    assert found >= moves and (moves or not found), found


def test_who_resists_does_not_agree() -> None:
    found = moves_in(ClientLine(said="You're right, but I don't think so.", before="It may help."))
    assert "resists" in found and "agrees" not in found


MEASURED = {
    "en": {
        "agrees": (0.70, 0.86),
        "takes_up": (0.47, 0.91),
        "discloses": (0.57, 0.71),
        "change": (0.33, 0.76),
    },
    "zh": {"agrees": (0.41, 0.83), "resists": (0.40, 0.80), "discloses": (0.40, 0.66)},
}
"""Recall and precision as docs/evidence.md says them."""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_how_good_the_rules_are_is_as_the_docs_say(language: Language) -> None:
    """On lines that nobody wrote rules by; they stay that way."""
    file = Path(__file__).parent / f"client_lines_{language}.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = [moves_in(ClientLine(said=row["said"], before=row["before"]), language) for row in rows]
    for move, (recall, precision) in MEASURED[language].items():
        both = sum(
            move in row["codes"] and move in one for row, one in zip(rows, found, strict=True)
        )
        assert both / sum(move in row["codes"] for row in rows) >= recall, move
        assert both / sum(move in one for one in found) >= precision, move
