"""Replies of models on a bench, rated by people beside the bench's judge: means by model, and how
far both order replies and models alike (Spearman's rho).

People's scales begin with 1 and the judge's with 0; here all begin with 0. Means go from replies to
cases to all, as the bench's do. Intervals draw cases with all their replies; the models stay the
same.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement import agreements, read_ratings
from analysis.corpora.people import rank
from analysis.corpora.quality import interval_of
from analysis.errors import ReportError
from simcounsel.bench.judge import DIMENSIONS
from simcounsel.bench.result import read_result
from simcounsel.corpus.rated import label_of
from simcounsel.studies.from_benches import reply_rows

DRAWS = 2000
FEWEST_CASES = 6
"""With fewer rho has no interval: their samples are too much alike."""
KEYS = ["arm", "case", "turn", "score"]


def people_of(benches: Mapping[str, Path], files: Sequence[Path]) -> pd.DataFrame:
    """One row a rater, reply and scale: arm, case, turn, score, rater, value. A reply that several
    models gave word for word was rated once and counts for each. benches: by the model's name.
    ReportError where nobody rated these.
    """
    tables = [
        table.assign(rater=f"{at}-" + table["rater"], item=f"{at}-" + table["item"])
        for at, table in enumerate(map(read_ratings, files))  # each has a rater-01 and a T01
    ]
    ratings = pd.concat(tables, ignore_index=True)
    missing = [name for name in ("run", "chat", "model", "also_in") if name not in ratings]
    if missing:
        raise ReportError(
            f"{files[0]}: no column {', '.join(missing)}; name a CSV written by `simcounsel study"
            " rate-page --csv`"
        )
    known = ratings[ratings["question"].isin(DIMENSIONS)].dropna(subset=["value", "chat"])
    also = known["also_in"].astype("object").where(known["also_in"].notna(), "").astype(str)
    runs = [[run, *more.split()] for run, more in zip(known["run"], also, strict=True)]
    names = {label_of(path): name for name, path in benches.items()}
    each = known.assign(arm=pd.Series(runs, index=known.index, dtype="object")).explode("arm")
    each = each.assign(arm=each["arm"].map(names)).dropna(subset=["arm"])
    if each.empty:
        raise ReportError(
            f"{files[0]}: no rating of a reply in {', '.join(map(str, benches.values()))}; make the"
            " study with `simcounsel study rate-page BENCH... --instrument reply_quality`"
        )
    _check_models(each, benches)
    place = each["chat"].str.rpartition("/")
    return pd.DataFrame(
        {
            "arm": each["arm"],
            "case": place[0],
            "turn": place[2],
            "score": each["question"],
            "rater": each["rater"],
            "item": each["item"],
            "value": each["value"].astype(float) - 1,
        }
    )


def _check_models(each: pd.DataFrame, benches: Mapping[str, Path]) -> None:
    """ReportError where a bench of the same name is of another model than the one rated."""
    for name, path in benches.items():
        own = each[(each["arm"] == name) & (each["run"] == label_of(path))]
        rated, there = sorted(set(own["model"].astype(str))), read_result(path).model
        if rated and rated != [there]:
            raise ReportError(
                f"{label_of(path)} is of {', '.join(rated)} in the ratings, and of {there} in"
                f" {path}; name the benches that the study was made from"
            )


def judged_of(benches: Mapping[str, Path]) -> pd.DataFrame:
    """One row a reply and scale as the judge scored it: arm, case, turn, score, judge. ReportError
    where the benches have several judges.
    """
    judges = {name: read_result(path).judge for name, path in benches.items()}
    if len(set(judges.values())) > 1:
        raise ReportError(
            f"these benches have several judges ({', '.join(sorted(set(judges.values())))}); name"
            " benches that one judge scored"
        )
    rows = [
        {"arm": name, "case": row["case"], "turn": row["turn"], "score": score, "judge": row[score]}
        for name, path in benches.items()
        for row in reply_rows(path)
        for score in DIMENSIONS
        if row.get(score)
    ]
    return pd.DataFrame(rows, columns=[*KEYS, "judge"]).astype({"judge": "float64"})


def both_of(judged: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """All that the judge scored, with the mean of people's; NaN where people rated nothing."""
    means = people.groupby(KEYS)["value"].mean().rename("people")
    return judged.merge(means.reset_index(), on=KEYS, how="left")


def model_means(both: pd.DataFrame) -> pd.DataFrame:
    """One row a model and scale: people's mean with its interval over cases, and the judge's of the
    same replies.
    """
    rows: list[dict[str, Any]] = []
    known = both.dropna(subset=["people"])
    for (arm, score), part in known.groupby(["arm", "score"], sort=False):
        cases = part.groupby("case")[["people", "judge"]].mean()
        low, high, reason = interval_of(cases["people"].to_numpy(), cases.index.to_numpy(str))
        mean = cases.mean()
        rows.append(
            {"model": arm, "score": score, "people": mean["people"], "low": low, "high": high}
            | {"judge": mean["judge"], "replies": len(part), "cases": len(cases), "reason": reason}
        )
    return pd.DataFrame(rows)


def ranks(both: pd.DataFrame) -> pd.DataFrame:
    """Two rows a scale, Spearman's rho over replies and over models, with the interval over cases.

    p_exact: over all orders of the models. least_p: the least that so many models can reach, if
    both order them the same.
    """
    rows: list[dict[str, Any]] = []
    for score, part in both.dropna(subset=["people"]).groupby("score", sort=False):
        cases = part["case"].nunique()
        for over, some in (("replies", part), ("models", _by_model(part))):
            few = over == "models"
            found = rank(some["judge"].tolist(), some["people"].tolist(), exact=few)
            low, high, reason = None, None, found.reason
            if found.rho is not None:
                low, high, reason = _over_cases(part, few)
            rows.append(
                {"score": score, "over": over, "rho": found.rho, "low": low, "high": high}
                | {"p_exact": found.p_exact, "n": found.n, "cases": cases}
                | {"least_p": min(1.0, 2 / math.factorial(len(some))) if few else None}
                | {"reason": reason}
            )
    return pd.DataFrame(rows)


def _by_model(part: pd.DataFrame) -> pd.DataFrame:
    by_case = part.groupby(["arm", "case"], sort=False)[["judge", "people"]].mean()
    return by_case.groupby(level="arm", sort=False).mean()


def _over_cases(
    part: pd.DataFrame, of_models: bool
) -> tuple[float | None, float | None, str | None]:
    """From the 2.5th to the 97.5th percentile of rho in samples of cases; or why there are none."""
    from scipy import stats

    cases, place = np.unique(part["case"].to_numpy(str), return_inverse=True)
    if len(cases) < FEWEST_CASES:
        return None, None, f"{len(cases)} cases; an interval needs {FEWEST_CASES}"
    each = part[["judge", "people"]].to_numpy()
    own = [np.flatnonzero(place == at) for at in range(len(cases))]
    grid = part.pivot_table(index="case", columns="arm", values=["judge", "people"])
    means = grid.to_numpy().reshape(len(cases), 2, -1)  # judge and people of each model
    draw, found = np.random.default_rng(1), []
    for _ in range(DRAWS):
        drawn = draw.integers(0, len(cases), len(cases))
        if of_models:
            some = means[drawn][:, :, ~np.isnan(means[drawn]).all(axis=(0, 1))]
            pairs = np.nanmean(some, axis=0).T
        else:
            pairs = each[np.concatenate([own[at] for at in drawn])]
        if (np.ptp(pairs, axis=0) > 0).all():
            found.append(float(np.corrcoef(stats.rankdata(pairs, axis=0).T)[0, 1]))
    if len(found) < 0.95 * DRAWS:
        return None, None, "no interval: in many samples of cases one side gives the same to all"
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high), None


def in_words(ranked: pd.DataFrame) -> list[str]:
    """A sentence a scale and level."""
    said = []
    for row in ranked.to_dict("records"):
        named = f"{row['score']}, over {row['over']}"
        counted = f"{row['n']} {row['over']}, {row['cases']} cases"
        if pd.isna(row["rho"]):
            said.append(f"{named}: no rho ({row['reason']}; {counted}).")
            continue
        reach = f"[{row['low']:.2f}, {row['high']:.2f}]" if pd.notna(row["low"]) else "no interval"
        said.append(
            f"{row['score']}, over {row['over']}: rho {row['rho']:.2f} {reach} ({counted})."
        )
    return said


def limit_of(ranked: pd.DataFrame) -> str:
    """What so few models can show at most; '' where they are enough."""
    if ranked.empty:
        return "People rated none of the replies that the judge scored."
    models = ranked[ranked["over"] == "models"]
    least, most = float(models["least_p"].min()), int(models["n"].max())
    if least <= 0.05:
        return ""
    return (
        f"With {most} models p is at least {least:.2g}, even in the same order: they cannot show"
        " that people and judge agree on models."
    )


def raters_agree(people: pd.DataFrame) -> pd.DataFrame:
    """How far raters agree with each other, by scale, each reply once."""
    once = people.drop_duplicates(["rater", "item", "score"])
    return agreements(once.rename(columns={"score": "question"}))


def agreement_in_words(people: pd.DataFrame) -> str:
    """Krippendorff's alpha of the raters by scale, in a sentence."""
    found = raters_agree(people)
    alphas = found[found["what"].str.startswith("Krippendorff")].to_dict("records")
    said = ", ".join(
        f"{row['question']} {row['reason'] or format(row['value'], '.2f')}" for row in alphas
    )
    return f"Krippendorff's alpha (ordinal) of {people['rater'].nunique()} raters: {said}."
