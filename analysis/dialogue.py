"""How people talk: messages, lengths, turn-taking, questions, sentiment, variety, repetition,
drift.

The tables are those of `analysis.tables.talk`. Volume, length ratio and sentiment are those of
"Structure Matters" (paper 002), appendix D; its own Persian and English lexicon is not published,
so the words of the VADER lexicon (Hutto and Gilbert 2014, MIT licence) stand in for it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd

from analysis.patterns import Embed

SPEAKERS = tuple(
    (
        "run speaker role other_role conversations messages characters characters_per_message"
        " questions_per_message sentiment positive neutral negative distinct_1 distinct_2"
        " repetition chosen fallbacks"
    ).split()
)
CONVERSATIONS = tuple(
    (
        "run chat minute cause client partner partner_role messages length_ratio"
        " partner_share alternation drift"
    ).split()
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def words_of(text: str) -> list[str]:
    """Lowercase words, without digits and punctuation; an apostrophe inside stays."""
    return [word.replace("’", "'").lower() for word in _WORD.findall(text)]


@cache
def lexicon() -> dict[str, int]:
    """1 for a word that VADER rates positive, -1 for a negative one; words that it does not hold
    say nothing.
    """
    lines = (
        files("vaderSentiment")
        .joinpath("vader_lexicon.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    parts = [line.split("\t") for line in lines if line.count("\t") >= 2]
    return {part[0]: 1 if float(part[1]) > 0 else -1 for part in parts if float(part[1])}


def sentiment(text: str) -> float:
    """(positive - negative) / (positive + negative) words, in [-1, 1]; 0 when none is in the
    lexicon (paper 002, D.2).

    Words are counted as they are: "not good" counts as positive.
    """
    signs = [sign for word in words_of(text) if (sign := lexicon().get(word))]
    return sum(signs) / len(signs) if signs else 0.0


def distinct(texts: Sequence[str], n: int) -> float | None:
    """Distinct-n (Li et al. 2016): different word n-grams over all n-grams, in (0, 1]; None when
    there are none.

    It falls as texts grow, so compare only amounts of talk that are alike.
    """
    grams = [
        tuple(words[i : i + n]) for words in map(words_of, texts) for i in range(len(words) - n + 1)
    ]
    return len(set(grams)) / len(grams) if grams else None


def repetition(texts: Sequence[str]) -> float | None:
    """Share of lines that say, word for word, what an earlier line of the same texts said; None
    without lines.
    """
    if not texts:
        return None
    counted = Counter(" ".join(words_of(text)) for text in texts)
    return 1 - len(counted) / len(texts)


def drift(texts: Sequence[str], embed: Embed) -> float | None:
    """How far a conversation moves from its beginning: 1 - cosine between the mean vectors of its
    first and last third of lines, in [0, 2]; None for fewer than 6 lines.
    """
    if len(texts) < 6:
        return None
    vectors = np.asarray(embed(list(texts)), dtype=np.float64)
    third = len(texts) // 3
    a, b = vectors[:third].mean(axis=0), vectors[-third:].mean(axis=0)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return 1 - float(a @ b) / lengths if lengths else None


def speakers(talk: pd.DataFrame) -> pd.DataFrame:
    """One row a run, speaker and partner's role: messages, characters, questions a message,
    sentiment and its three classes, variety.

    fallbacks, chosen: shares of lines that are a fallback, or were chosen from lines written by
    hand.
    """
    rows = []
    for (run, who, role, other), lines in talk.groupby(
        ["run", "speaker", "role", "other_role"], observed=True, dropna=False
    ):
        texts = lines["text"].tolist()
        scores = np.array([sentiment(text) for text in texts])
        rows.append(
            {
                "run": run,
                "speaker": who,
                "role": role,
                "other_role": other,
                "conversations": lines["chat"].nunique(),
                "messages": len(texts),
                "characters": int(lines["characters"].sum()),
                "characters_per_message": float(lines["characters"].mean()),
                "questions_per_message": float(np.mean([text.count("?") for text in texts])),
                "sentiment": float(scores.mean()),
                "positive": float((scores > 0).mean()),
                "neutral": float((scores == 0).mean()),
                "negative": float((scores < 0).mean()),
                "distinct_1": distinct(texts, 1),
                "distinct_2": distinct(texts, 2),
                "repetition": repetition(texts),
                "chosen": float((lines["source"] == "chosen").mean()),
                "fallbacks": float((lines["source"] == "fallback").mean()),
            }
        )
    return pd.DataFrame(rows, columns=list(SPEAKERS))


def conversations(talk: pd.DataFrame, embed: Embed | None = None) -> pd.DataFrame:
    """One row a conversation of a client with somebody: lines, who held the floor, how long the
    lines were, drift.

    length_ratio: mean characters of the partner's messages over the client's (paper 002, table 3);
    None when the client said nothing. alternation: share of lines whose speaker is not the speaker
    before; None for a single line.
    """
    rows = []
    ordered = talk.sort_values(["run", "chat", "message"])
    for (run, chat), lines in ordered.groupby(["run", "chat"], observed=True):
        client = _client_of(lines)
        if client is None:
            continue
        mine, theirs = lines[lines["speaker"] == client], lines[lines["speaker"] != client]
        partner = theirs.iloc[0] if len(theirs) else None
        said = lines["speaker"].astype(str).to_numpy()
        rows.append(
            {
                "run": run,
                "chat": chat,
                "minute": int(lines["minute"].min()),
                "cause": lines["cause"].iloc[0],
                "client": client,
                "partner": partner["speaker"] if partner is not None else lines["other"].iloc[0],
                "partner_role": (
                    partner["role"] if partner is not None else lines["other_role"].iloc[0]
                ),
                "messages": len(lines),
                "length_ratio": ratio(theirs["characters"].tolist(), mine["characters"].tolist()),
                "partner_share": (
                    float(theirs["characters"].sum() / lines["characters"].sum())
                    if lines["characters"].sum()
                    else None
                ),
                "alternation": float((said[1:] != said[:-1]).mean()) if len(said) > 1 else None,
                "drift": drift(lines["text"].tolist(), embed) if embed else None,
            }
        )
    return pd.DataFrame(rows, columns=list(CONVERSATIONS))


def _client_of(lines: pd.DataFrame) -> str | None:
    """The client of a conversation, who spoke, or was spoken to; None without one."""
    for name, role in (("speaker", "role"), ("other", "other_role")):
        for who, whose in zip(lines[name], lines[role], strict=True):
            if whose == "client":
                return str(who)
    return None


def ratio(theirs: Sequence[float], mine: Sequence[float]) -> float | None:
    """Mean length of theirs over mine; None when either is empty or mine is 0."""
    if not len(theirs) or not len(mine) or not np.mean(mine):
        return None
    return float(np.mean(theirs) / np.mean(mine))
