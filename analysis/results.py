"""What was computed, as tables: one row a run, a planned test, an outcome and arm, a pair of arms,
a cluster and arm.
"""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from analysis.agreement import Agreement, spearman
from analysis.exploring import Explored
from analysis.patterns import ActivityPatterns
from analysis.planned import Tested
from analysis.sample import Sample
from analysis.statistics import holm, spread


def share_changes(
    patterns: ActivityPatterns, shares: pd.DataFrame, arms: Iterable[str]
) -> list[dict[str, Any]]:
    """One row a cluster and arm: mean share before and after over clients, and the mean change with
    its interval.
    """
    rows = []
    for cluster in patterns.clusters:
        for arm in arms:
            here = shares[(shares["arm"] == arm) & (shares["cluster"] == cluster.number)]
            wide = here.pivot_table(
                index=["run", "client"], columns="period", values="share", observed=True
            )
            both = wide.reindex(columns=["before", "after"]).dropna()
            by_client = both.groupby(level="client", observed=True).mean()
            change = spread(arm, (by_client["after"] - by_client["before"]).tolist())
            runs = (
                sorted({str(run) for run in both.index.get_level_values("run")})
                if len(both)
                else []
            )
            mean = {
                which: float(by_client[which].mean()) if len(both) else None
                for which in ("before", "after")
            }
            rows.append(
                {
                    "cluster": cluster,
                    "arm": arm,
                    "before": mean["before"],
                    "after": mean["after"],
                    "change": change,
                    "runs": runs,
                }
            )
    return rows


def runs_table(sample: Sample) -> pd.DataFrame:
    """One row a run of the sample: where it comes from, what it is, how far it got."""
    rows = [
        {
            "run": m.name,
            "arm": m.arm,
            "clients": " ".join(m.clients),
            "seed": m.seed,
            "pair": m.pair,
            "shared_past": m.shared_past,
            "world": m.manifest["world"].get("name"),
            "condition": m.manifest["world"].get("condition"),
            "ticks": m.ticks,
            "planned_ticks": m.planned_ticks,
            "created": m.manifest.get("created"),
            "simcounsel": m.manifest.get("versions", {}).get("simcounsel"),
            **{f"model_{role}": model for role, model in sorted(m.models.items())},
            "note": m.note,
        }
        for m in sample.members
    ]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["run", "arm"])


def planned_table(planned: Iterable[Tested]) -> pd.DataFrame:
    """One row a planned test."""
    rows = []
    for one in planned:
        h = one.hypothesis
        rows.append(
            {
                "id": h.id,
                "instrument": h.instrument,
                "score": h.score,
                "kind": one.kind,
                "judged": one.judged,
                "family": h.family,
                "contrast": " against ".join(h.contrast),
                "test": h.test,
                "direction": h.direction,
                "alpha": h.alpha,
                "estimate": one.estimate,
                "low": one.low,
                "high": one.high,
                "statistic": one.statistic,
                "p": one.p,
                "p_holm": one.p_holm,
                "effect_name": one.effect_name,
                "effect": one.effect,
                "effect_low": one.effect_low,
                "effect_high": one.effect_high,
                "n": "; ".join(f"{k} {v}" for k, v in one.n.items()),
                "verdict": one.verdict,
                "power_at_g_0.5": one.power.power if one.power else None,
                "smallest_g_at_80": one.power.smallest if one.power else None,
                "clients_for_g_0.5_at_80": one.power.needed if one.power else None,
                "assumes": one.assumes,
                "reason": one.reason,
                "runs": " ".join(one.runs),
                "left_out": "; ".join(f"{run}: {why}" for run, why in one.left_out),
            }
        )
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["id"])


def explored_table(explored: Iterable[Explored]) -> pd.DataFrame:
    """One row an outcome and arm."""
    rows = []
    for one in explored:
        for s in one.spreads:
            rows.append(
                {
                    "instrument": one.instrument,
                    "score": one.score,
                    "respondent": one.respondent,
                    "judge": one.judge,
                    "kind": one.kind,
                    "arm": s.name,
                    "n": s.n,
                    "mean": s.mean,
                    "sd": s.sd,
                    "low": s.low,
                    "high": s.high,
                    "reason": s.reason,
                    "f": one.fisher.f,
                    "p_anova": one.fisher.p,
                    "p_permutation": one.permuted.p,
                    "p_holm": one.p_holm,
                    "eta_squared": one.permuted.eta_squared,
                    "reason_tests": one.permuted.reason or one.fisher.reason,
                    "runs": " ".join(one.runs[s.name]),
                }
            )
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["instrument"])


def pairs_table(explored: Iterable[Explored]) -> pd.DataFrame:
    """One row an outcome and pair of arms, over clients; Holm's correction is over the pairs of one
    outcome.
    """
    rows = []
    for one in explored:
        corrected = holm([c.p for c in one.contrasts])
        for c, p_holm in zip(one.contrasts, corrected, strict=True):
            rows.append(
                {
                    "outcome": one.title,
                    "instrument": one.instrument,
                    "score": one.score,
                    "respondent": one.respondent,
                    "judge": one.judge,
                    "first": c.first,
                    "second": c.second,
                    "test": c.test,
                    "difference": c.difference,
                    "low": c.low,
                    "high": c.high,
                    "t": c.statistic,
                    "df": c.df,
                    "p": c.p,
                    "g": c.g,
                    "g_low": c.g_low,
                    "g_high": c.g_high,
                    "p_holm": p_holm,
                    "n": "; ".join(f"{k} {v}" for k, v in c.n.items()),
                    "assumes": c.assumes,
                    "reason": c.reason,
                    "runs": " ".join(sorted({*one.runs[c.first], *one.runs[c.second]})),
                }
            )
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["outcome"])


def model_and_people(ratings: pd.DataFrame, measurements: pd.DataFrame) -> pd.DataFrame:
    """Spearman between scores and people's answers, where a question has the name of a score or an
    instrument; matched by run and person.
    """
    rows = []
    if {"run", "person"} <= set(ratings.columns):
        keyed = measurements.assign(
            at=measurements["run"].astype(str) + " " + measurements["client"].astype(str)
        )
        for question, part in ratings.dropna(subset=["value"]).groupby("question"):
            turned = (
                part["toward_later"]
                if "toward_later" in part and part["toward_later"].notna().all()
                else part["value"]
            )
            people = pd.Series(
                turned.astype(float).to_numpy(),
                index=(part["run"] + " " + part["person"]).to_numpy(),
            )
            instrument_, score_ = keyed["instrument"].astype(str), keyed["score"].astype(str)
            same = keyed[(score_ == question) | ((instrument_ == question) & (score_ == "total"))]
            for (instrument, score, judge), own in same.groupby(
                ["instrument", "score", "judge"], observed=True
            ):
                found = spearman(own.groupby("at")["value"].mean(), people)
                rows.append(
                    {
                        "question": question,
                        "instrument": instrument,
                        "score": score,
                        "judge": judge,
                        **vars(found),
                    }
                )
    return pd.DataFrame(
        rows, columns=["question", "instrument", "score", "judge", *Agreement.__dataclass_fields__]
    )
