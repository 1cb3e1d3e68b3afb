"""Themes of comments: sentences that are alike, each theme with quotes and how many clients it is
from; found by vectors, named by a model or by its most central sentence, and to be checked by
people.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.clustering import fitted, grouped, number_of_clusters
from analysis.dialogue import sentiment
from analysis.naming import name_clusters
from analysis.patterns import ActivityPatterns, Cluster, Embed
from simcounsel.disk import csv_text, write_whole
from simcounsel.llm.switchboard import Switchboard

SENTENCE = re.compile(r"(?<=[.!?。！？])\s*")
COLUMNS = ("sentence", "client", "arm", "theme", "agree", "other theme")
FEWEST = 8
"""With fewer sentences there are no themes."""
QUOTES = 3


@dataclass(frozen=True, kw_only=True)
class SentenceTheme:
    """Sentences that are alike."""

    name: str
    named_by: str
    quotes: tuple[str, ...]
    positive: bool
    """Whether more of its words are positive than negative."""
    clients: Mapping[str, int]
    """By arm: how many clients said something of it."""


def sentences(comments: pd.DataFrame) -> pd.DataFrame:
    """One row a sentence of two words or more."""
    rows = [
        {"run": row.run, "arm": row.arm, "client": row.client, "sentence": one.strip()}
        for row in comments.itertuples()
        for one in SENTENCE.split(str(row.comment))
        if len(one.split()) > 1 or len(one) > 5
    ]
    return pd.DataFrame(rows, columns=["run", "arm", "client", "sentence"])


def find_themes(
    comments: pd.DataFrame, embed: Embed, models: Switchboard | None = None
) -> tuple[list[SentenceTheme], pd.DataFrame]:
    """The themes, largest first, and the sentences with the column `theme`; none where there are
    too few sentences.
    """
    said = sentences(comments)
    texts = sorted(set(said["sentence"]))
    if len(texts) < FEWEST:
        return [], said.assign(theme="")
    vectors = np.asarray(embed(texts), dtype=np.float64)
    counted = said["sentence"].value_counts()
    weights = np.array([float(counted[text]) for text in texts])
    fits = fitted(vectors, weights, 1)
    label, centers = grouped(vectors, weights, number_of_clusters(fits), 1)
    clusters = []
    for number, center in enumerate(centers):
        inside = np.flatnonzero(label == number)
        near = inside[np.argsort(np.linalg.norm(vectors[inside] - center, axis=1), kind="stable")]
        members = tuple(texts[at] for at in near[:8])
        size = int(weights[inside].sum())
        clusters.append(
            Cluster(number=number, name=members[0], medoid=members[0], members=members, size=size)
        )
    if models is not None:
        named, _ = name_clusters(
            ActivityPatterns(k=len(clusters), clusters=tuple(clusters)), models, "name_themes"
        )
        clusters = list(named.clusters)
    names = {text: clusters[number].name for text, number in zip(texts, label, strict=True)}
    said = said.assign(theme=said["sentence"].map(names))
    themes = [_theme(cluster, said) for cluster in clusters]
    return sorted(themes, key=lambda one: -sum(one.clients.values())), said


def _theme(cluster: Cluster, said: pd.DataFrame) -> SentenceTheme:
    own = said[said["theme"] == cluster.name]
    clients = own.groupby("arm", observed=True)["client"].nunique()
    return SentenceTheme(
        name=cluster.name,
        named_by=cluster.named_by,
        quotes=cluster.members[:QUOTES],
        positive=sum(sentiment(text) for text in own["sentence"]) >= 0,
        clients={str(arm): int(count) for arm, count in clients.items()},
    )


def write_sheet(said: pd.DataFrame, file: Path) -> None:
    """A CSV for people: for each sentence they fill in `agree` (yes or no) or another theme. One
    that is there, and perhaps filled in, stays.
    """
    if file.exists() or not len(said):
        return
    rows = ([row.sentence, row.client, row.arm, row.theme, "", ""] for row in said.itertuples())
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, csv_text(COLUMNS, rows))


def checked(file: Path) -> tuple[int, int]:
    """How many sentences people have judged, and to how many of these they agreed."""
    if not file.is_file():
        return 0, 0
    table = pd.read_csv(file, dtype=str).fillna("")
    answers = table["agree"].str.strip().str.lower()
    judged = answers.isin(["yes", "no", "y", "n"]) | (table["other theme"].str.strip() != "")
    return int(judged.sum()), int(answers.isin(["yes", "y"]).sum())
