"""What people said of the same dialogues on the rating pages, and how far a judge's ratings follow
theirs.

At the level of dialogues: over all dialogues that both rated. At the level of corpora: over the
corpora's means, as in Xue et al. 2026, Table IV; a handful of means can agree or disagree by
chance, which the interval and the exact p show.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement import agreements, read_ratings
from analysis.corpora.scores import dimensions
from analysis.corpora.sources import Sources
from analysis.errors import ReportError
from simcounsel.corpus.rated import text_hash
from simcounsel.instruments.scoring import score
from simcounsel.specs.scale import Scale

FEWEST_CORPORA = 4
MOST_EXACT = 8
"""The largest number of corpora whose orders are all counted (8! = 40,320)."""
DRAWS = 5000


@dataclass(frozen=True, kw_only=True)
class Rank:
    """Spearman's rho between judge and people."""

    rho: float | None = None
    low: float | None = None
    """`low`, `high`: 95%."""
    high: float | None = None
    p: float | None = None
    """By Student's t, two-sided."""
    p_exact: float | None = None
    """Over all orders, where they can be counted."""
    n: int = 0
    """Of dialogues or corpora."""
    reason: str | None = None
    """Why something is None."""


def answered_with(file: Path, scales: Sequence[Scale]) -> Scale:
    """The scale whose questions people answered: the first of which all were asked; the first of
    all, if there is none such. ReportError when the file cannot be read.
    """
    asked = set(read_ratings(file)["question"])
    return next((one for one in scales if {item.id for item in one.items} <= asked), scales[0])


def people_table(file: Path, sources: Sources, scale: Scale) -> pd.DataFrame:
    """One row a rater, dialogue and dimension, from the CSV of `rate-page --csv`. ReportError when
    no row belongs to these corpora.
    """
    ratings = read_ratings(file)
    missing = [name for name in ("run", "chat") if name not in ratings]
    if missing:
        raise ReportError(
            f"{file}: no column {', '.join(missing)}; name a CSV written by `simcounsel study"
            " rate-page --csv`"
        )
    asked = {item.id for item in scale.items}
    places = _places(sources)
    rows: list[dict[str, Any]] = []
    for (rater, _, run, chat), part in ratings[ratings["question"].isin(asked)].groupby(
        ["rater", "item", "run", "chat"], sort=True
    ):
        given = {
            str(q): None if pd.isna(v) else float(v)
            for q, v in zip(part["question"], part["value"], strict=True)
        }
        scores = {one.name: one.value for one in score(scale, given)}
        for name, text, client, theme in places.get(
            (str(run), str(chat)), places.get(("", str(chat)), [])
        ):
            rows += [
                {
                    "corpus": name,
                    "text": text,
                    "client": client,
                    "theme": theme,
                    "rater": rater,
                    "dimension": dimension,
                    "value": scores[dimension],
                }
                for dimension, _ in dimensions(scale)
            ]
    if not rows:
        raise ReportError(
            f"{file}: no answer to the questions of {scale.id} about a dialogue of these corpora;"
            f" make the study with `simcounsel study rate-page CORPUS --instrument"
            f" {scale.id}` from the same files"
        )
    return pd.DataFrame(rows).astype({"value": "float64"})


Place = tuple[str, str, str, str | None]


def _places(sources: Sources) -> dict[tuple[str, str], list[Place]]:
    """Each dialogue's group and text by (corpus, id), and by id alone where no other has it. A text
    that is in several groups was rated once and counts for each.
    """
    texts = sources.texts()
    found: dict[tuple[str, str], list[Place]] = {}
    count: dict[str, int] = {}
    for group in sources.groups:
        for dialogue in group.dialogues:
            text = text_hash(dialogue)
            found[group.source, dialogue.id] = [
                (other.name, text, one.client, one.theme) for other, one in texts[text]
            ]
            count[dialogue.id] = count.get(dialogue.id, 0) + 1
    alone = {("", id): places for (_, id), places in found.items() if count[id] == 1}
    return {**alone, **found}


def by_people(people: pd.DataFrame) -> pd.DataFrame:
    """One row a dialogue and dimension: the mean over raters; in the shape of
    `quality.by_dialogue`.
    """
    keys = ["corpus", "text", "client", "theme", "dimension"]
    found: pd.DataFrame = (
        people.groupby(keys, dropna=False, sort=False)["value"].mean().reset_index()
    )
    return found.assign(dialogue=found["text"])


def raters_agree(people: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """How far raters agree with each other, by dimension: ICC and Krippendorff's alpha (see
    `analysis.agreement`). Kappas are for categories.
    """
    once = people.drop_duplicates(["rater", "text", "dimension"])
    table = agreements(once.rename(columns={"text": "item", "dimension": "question"}))
    table = table[~table["what"].str.contains("kappa")]
    order = {name: place for place, (name, _) in enumerate(dimensions(scale))}
    return table.sort_values("question", key=lambda names: names.map(order), kind="stable").rename(
        columns={"question": "dimension"}
    )


def both(judged: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Dialogues that judge and people rated: one row a text and dimension with `judge` and
    `people`.
    """
    judge, human = (
        table.dropna(subset=["value"])
        .groupby(["corpus", "text", "dimension"], sort=True)["value"]
        .mean()
        .rename(name)
        for table, name in ((judged, "judge"), (people, "people"))
    )
    return pd.concat([judge, human], axis=1, join="inner").reset_index()


def agreement_by_dialogue(pairs: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """One row a dimension: Spearman over dialogues, each text once."""
    once = pairs.drop_duplicates(["text", "dimension"])
    rows = []
    for name, _ in dimensions(scale):
        own = once[once["dimension"] == name]
        rows.append(
            {
                "level": "dialogues",
                "dimension": name,
                **vars(rank(own["judge"].tolist(), own["people"].tolist(), exact=False)),
            }
        )
    return pd.DataFrame(rows)


def agreement_by_corpus(judged: pd.DataFrame, people: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """One row a dimension: Spearman over the means of corpora (Xue et al. 2026, Table IV). None
    with fewer than four corpora.
    """
    rows = []
    for name, _ in dimensions(scale):
        judge, human = (
            table[table["dimension"] == name].groupby("corpus")["value"].mean()
            for table in (judged, people)
        )
        means = pd.concat(
            [judge.rename("judge"), human.rename("people")], axis=1, join="inner"
        ).dropna()
        if len(means) < FEWEST_CORPORA:
            found = Rank(
                n=len(means),
                reason=f"{len(means)} corpora rated by both; {FEWEST_CORPORA} are needed",
            )
        else:
            found = rank(means["judge"].tolist(), means["people"].tolist(), exact=True)
        rows.append({"level": "corpora", "dimension": name, **vars(found)})
    return pd.DataFrame(rows)


def rank(judge: Sequence[float], people: Sequence[float], *, exact: bool) -> Rank:
    """Spearman's rho with p and a 95% interval.

    exact: few values, such as means of corpora: p over all orders (up to 8 values) and the interval
    of Bonett and Wright (2000). Else the interval is the percentiles of 5,000 bootstrap samples.
    """
    from scipy import stats

    a, b = np.asarray(judge, dtype=float), np.asarray(people, dtype=float)
    if len(a) < 3:
        return Rank(n=len(a), reason=f"{len(a)} rated by both; three are needed")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return Rank(n=len(a), reason="one side gives the same rating to all")
    done = stats.spearmanr(a, b)
    rho = max(-1.0, min(1.0, float(done.statistic)))
    p_exact = (
        _p_exact(stats.rankdata(a), stats.rankdata(b)) if exact and len(a) <= MOST_EXACT else None
    )
    if abs(rho) > 1 - 1e-9:
        return Rank(
            rho=rho,
            p_exact=p_exact,
            n=len(a),
            reason="one and the same order; no interval, and no p by t",
        )
    low, high = (
        _bonett_wright(rho, len(a)) if exact else _percentiles(stats.rankdata(a), stats.rankdata(b))
    )
    reason = None if low is not None else "too few for an interval"
    return Rank(
        rho=rho, low=low, high=high, p=float(done.pvalue), p_exact=p_exact, n=len(a), reason=reason
    )


def _bonett_wright(rho: float, n: int) -> tuple[float | None, float | None]:
    """Fisher's z with the standard error sqrt((1 + rho^2 / 2) / (n - 3)) (Bonett and Wright 2000,
    eq. 5).
    """
    if n < 4:
        return None, None
    z, half = math.atanh(rho), 1.959964 * math.sqrt((1 + rho * rho / 2) / (n - 3))
    return math.tanh(z - half), math.tanh(z + half)


def _percentiles(
    a: "np.ndarray[Any, Any]", b: "np.ndarray[Any, Any]", seed: int = 1
) -> tuple[float | None, float | None]:
    """Of rho over samples of dialogues, drawn with replacement and ranked again."""
    from scipy import stats

    if len(a) < 5:
        return None, None
    draws = np.random.default_rng(seed).integers(0, len(a), size=(DRAWS, len(a)))
    x, y = stats.rankdata(a[draws], axis=1), stats.rankdata(b[draws], axis=1)
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        many = (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    kept = many[np.isfinite(many)]
    if len(kept) < 0.95 * DRAWS:
        return None, None
    low, high = np.quantile(kept, [0.025, 0.975])
    return float(low), float(high)


def _p_exact(a: "np.ndarray[Any, Any]", b: "np.ndarray[Any, Any]") -> float:
    """Share of all orders of one side whose rho is at least as far from 0."""
    orders = np.array(list(itertools.permutations(b - b.mean())))
    seen = abs(float((a - a.mean()) @ (b - b.mean())))
    return float((np.abs(orders @ (a - a.mean())) >= seen * (1 - 1e-12)).mean())
