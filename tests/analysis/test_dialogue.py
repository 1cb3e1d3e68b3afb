"""How people talk, by hand; sentiment as paper 002 defines it."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.dialogue import (
    conversations,
    distinct,
    drift,
    lexicon,
    ratio,
    repetition,
    sentiment,
    speakers,
    words_of,
)
from analysis.rows import written_beforehand
from simcounsel.llm.embeddings import HashEmbeddings

LINES = [
    ("Miriam", "counselor", "How are you? Are you well?"),
    ("Ines", "client", "Bad."),
    ("Miriam", "counselor", "That sounds terrible."),
    ("Ines", "client", "Bad."),
    ("Ines", "client", "I am happy, not sad, thanks to the good tea."),
]


def talk() -> pd.DataFrame:
    rows = []
    for number, (who, role, text) in enumerate(LINES, 1):
        other, other_role = ("Ines", "client") if who == "Miriam" else ("Miriam", "counselor")
        rows.append(
            {
                "run": "r",
                "chat": "2:Ines+Miriam",
                "cause": "draw",
                "minute": 60,
                "message": number,
                "speaker": who,
                "role": role,
                "other": other,
                "other_role": other_role,
                "text": text,
                "characters": len(text),
                "source": "chosen" if number == 2 else "generated",
            }
        )
    return pd.DataFrame(rows)


def test_sentiment_is_the_papers_formula() -> None:
    """(#pos - #neg) / (#pos + #neg); 0 when no word is known."""
    assert sentiment("happy, glad and sad") == pytest.approx(1 / 3)
    assert sentiment("terrible") == -1
    assert sentiment("the table") == 0 == sentiment("")
    assert len(lexicon()) > 7000 and lexicon()["happy"] == 1 and lexicon()["sad"] == -1


@given(st.text())
def test_sentiment_lies_between_its_ends(text: str) -> None:
    assert -1 <= sentiment(text) <= 1


def test_lines_that_were_written_beforehand_are_counted_for_the_report() -> None:
    table = speakers(talk())
    lines = talk()
    assert written_beforehand(table) == int(lines["source"].isin(["chosen", "fallback"]).sum()) > 0


def test_speakers_by_hand() -> None:
    table = speakers(talk()).set_index("speaker")
    ines, miriam = table.loc["Ines"], table.loc["Miriam"]
    assert (ines["messages"], miriam["messages"]) == (3, 2)
    assert ines["characters"] == 4 + 4 + len(LINES[4][2])
    assert miriam["questions_per_message"] == 1 and ines["questions_per_message"] == 0
    assert ines["sentiment"] == pytest.approx((-1 - 1 + sentiment(LINES[4][2])) / 3)
    assert ines["negative"] == pytest.approx(2 / 3)
    assert ines["repetition"] == pytest.approx(1 / 3)
    assert ines["chosen"] == pytest.approx(1 / 3)


def test_conversations_by_hand() -> None:
    row = conversations(talk(), HashEmbeddings().embed_now).iloc[0]
    assert (row["client"], row["partner"], row["partner_role"], row["messages"]) == (
        "Ines",
        "Miriam",
        "counselor",
        5,
    )
    mine, theirs = [4, 4, len(LINES[4][2])], [len(LINES[0][2]), len(LINES[2][2])]
    assert row["length_ratio"] == pytest.approx((sum(theirs) / 2) / (sum(mine) / 3))
    assert row["alternation"] == pytest.approx(3 / 4)
    assert row["drift"] is None or row["drift"] != row["drift"]


def test_distinct_and_repetition() -> None:
    assert distinct(["a b a"], 1) == pytest.approx(2 / 3)
    assert distinct(["a b", "a b"], 2) == pytest.approx(1 / 2)
    assert distinct([], 1) is None and distinct(["a"], 2) is None
    assert repetition([]) is None and repetition(["Yes.", "yes", "no"]) == pytest.approx(1 / 3)
    assert words_of("It’s 3 o'clock") == ["it's", "o'clock"]


def test_drift() -> None:
    embed = HashEmbeddings().embed_now
    assert drift(["tea"] * 6, embed) == pytest.approx(0, abs=1e-6)
    moved = drift(["tea kettle"] * 2 + ["x"] * 2 + ["winter train"] * 2, embed)
    assert moved is not None and moved > 0.5
    assert drift(["tea"] * 5, embed) is None


def test_nobody_talked() -> None:
    none = talk().iloc[0:0]
    assert len(speakers(none)) == 0 and len(conversations(none)) == 0
    assert ratio([], [1]) is None and ratio([1], [0]) is None
