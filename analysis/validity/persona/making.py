"""The part of the page on personas: fidelity over conversations, retest, and what the judge can
tell.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.areas import auc, auc_interval
from analysis.errors import ReportError
from analysis.page import any_text, counted, interval, num
from analysis.reading import tidy
from analysis.statistics import Spread
from analysis.style import Look, Picture, picture
from analysis.validity.part import (
    Claim,
    ClaimVerdict,
    PartTable,
    ValidityPart,
    shown,
    sources,
    table_of,
)
from analysis.validity.persona.controls import INSTRUMENT
from analysis.validity.persona.drifting import FEWEST_CLIENTS, Drift, Retest, drifts, retest
from analysis.validity.runs import said_of

NO_DRIFT = 0.5
"""Points, of 1 to 5, over all conversations of a client, that are no drift."""
TELLS = 0.8
"""An AUC above this: the judge can tell a client's own file from another's."""
STABLE = 0.7
"""An ICC above this is a stable self-report."""


@any_text
def make(
    places: Sequence[Path], self_report: str, controls: Sequence[float], command: str
) -> tuple[ValidityPart, list[Picture]]:
    """The part and its picture, of runs that were rated before. controls: what the judge said of
    conversations beside another client's file. ReportError when nothing was rated.
    """
    _, read = tidy(list(places))
    measured = read["measurements"]
    observed = _latest(measured[measured["instrument"] == INSTRUMENT])
    own = measured[measured["instrument"] == self_report]
    if not len(observed) and not len(own):
        raise ReportError(
            f"{places[0]}: nothing was rated with {INSTRUMENT} or {self_report}; name a --judge, or"
            f" begin with `simcounsel rate {places[0]} --instrument {INSTRUMENT}`"
        )
    found = drifts(observed)
    again, over_time = retest(own, over_time=False), retest(own, over_time=True)
    total = observed[observed["score"] == "total"].dropna(subset=["value"])
    drawn = [_course(total)] if len(total) else []
    said = said_of(places)
    judges = sorted(set(observed["judge"].astype(str)))
    part = ValidityPart(
        id="persona",
        title="Do the clients stay the persons that were written?",
        lead=(
            f"{counted(len(total), 'conversation')} of"
            f" {counted(total['client'].nunique(), 'client')} were read beside the client's file by"
            f" {' and '.join(judges) or 'nobody'}; {counted(len(controls), 'of them', 'of them')}"
            " also beside another client's file. Clients described themselves"
            f" {counted(_times(own), 'time')} ({self_report}).",
        ),
        claims=(
            _tells(total, controls),
            _stays(found),
            _stable("when they are asked again at once", again),
            _stable("from the first conversation to the last", over_time),
        ),
        tables=_tables(found, again, over_time),
        figures=shown(drawn),
        notes=said.notes,
        labels=said.labels,
        toys=said.toys,
        sources=sources("persona"),
        command=command,
    )
    return part, drawn


def _tables(
    found: Sequence[Drift], again: Sequence[Retest], over_time: Sequence[Retest]
) -> tuple[PartTable, ...]:
    return (
        table_of(
            "persona_drift",
            "As an observer sees it",
            pd.DataFrame([_drift_row(one) for one in found]),
            note="1 to 5. Drift: change from the first to the last conversation along the line"
            " that fits best, with 95% over clients; below zero the persona fades.",
        ),
        table_of(
            "persona_retest",
            "As clients describe themselves",
            pd.DataFrame(
                [
                    *(_retest_row("again at once", one) for one in again),
                    *(_retest_row("first to last", one) for one in over_time),
                ]
            ),
            note="ICC of absolute agreement, single answers, 95%: 1, every client gives the"
            " same answer again; 0, clients cannot be told apart by their answers.",
        ),
    )


def _latest(rows: pd.DataFrame) -> pd.DataFrame:
    """Of several ratings of one conversation by one judge the first; a retest is another matter."""
    keys = ["run", "client", "minute", "score", "judge"]
    ordered = rows.assign(source=rows["source"].astype(str)).sort_values("source", kind="stable")
    return ordered.drop_duplicates(keys)


def _times(own: pd.DataFrame) -> int:
    return len(own.drop_duplicates(["run", "client", "minute", "source"]))


def _tells(total: pd.DataFrame, controls: Sequence[float]) -> Claim:
    statement = "The judge can tell a client's own file from another's"
    own = total["value"].to_numpy(dtype=float)
    if len(controls) < FEWEST_CLIENTS or len(own) < FEWEST_CLIENTS:
        return Claim(
            statement=statement,
            verdict="undecided",
            because=f"{len(own)} conversations beside the own file, {len(controls)} beside another"
            f" (--controls); {FEWEST_CLIENTS} of each are needed",
        )
    label = np.array([0] * len(controls) + [1] * len(own))
    value = np.concatenate([np.array(controls), own])
    group = np.array(
        [f"other {at}" for at in range(len(controls))]
        + [f"own {client}" for client in total["client"].astype(str)]
    )
    area = auc(own, np.array(controls))
    low, high = auc_interval(label, value, group, "persona")
    verdict: ClaimVerdict = "undecided"
    if low > TELLS:
        verdict = "holds"
    elif high < TELLS:
        verdict = "does not hold"
    return Claim(
        statement=statement,
        verdict=verdict,
        because=f"AUC {area:.2f} {interval(low, high)}; own file {num(float(own.mean()))},"
        f" another's {num(float(np.mean(controls)))}",
    )


def _stays(found: Sequence[Drift]) -> Claim:
    statement = "The clients stay the persons that were written"
    if not found:
        return Claim(statement=statement, verdict="undecided", because="no conversation was rated")
    one = found[0].drift
    if one.n < FEWEST_CLIENTS or one.mean is None or one.low is None or one.high is None:
        return Claim(
            statement=statement,
            verdict="undecided",
            because=f"{counted(one.n, 'client')} with two conversations;"
            f" {FEWEST_CLIENTS} are needed",
        )
    verdict: ClaimVerdict = "undecided"
    if one.high < 0 and one.mean <= -NO_DRIFT / 2:
        verdict = "does not hold"
    elif one.low > -NO_DRIFT:
        verdict = "holds"
    worse = "; changes of scores over time may be the fading of the persona"
    return Claim(
        statement=statement,
        verdict=verdict,
        because=f"fidelity {num(found[0].first.mean)} at first, {num(found[0].last.mean)} at last;"
        f" drift {num(one.mean)} {interval(one.low, one.high)}"
        + (worse if verdict == "does not hold" else ""),
    )


def _stable(when: str, found: Sequence[Retest]) -> Claim:
    statement = f"What the clients say of themselves is stable {when}"
    known = [one for one in found if one.score != "total"] or list(found)
    worst = min(
        (one for one in known if one.icc is not None), key=lambda one: one.icc or 0, default=None
    )
    if worst is None or worst.low is None or worst.high is None:
        reason = next((one.reason for one in known if one.reason), "it was not asked")
        return Claim(statement=statement, verdict="undecided", because=reason)
    verdict: ClaimVerdict = "undecided"
    if worst.low > STABLE:
        verdict = "holds"
    elif worst.high < STABLE:
        verdict = "does not hold"
    return Claim(
        statement=statement,
        verdict=verdict,
        because=f"the least stable, {worst.score.replace('_', ' ')}: ICC {num(worst.icc)}"
        f" {interval(worst.low, worst.high)}",
    )


def _drift_row(one: Drift) -> dict[str, object]:
    return {
        "score": one.score,
        "at first": one.first.mean,
        "at last": one.last.mean,
        "drift": one.drift.mean,
        "low": _enough(one.drift, one.drift.low),
        "high": _enough(one.drift, one.drift.high),
        "clients": one.drift.n,
        "conversations": one.conversations,
    }


def _enough(one: Spread, value: float | None) -> float | None:
    return value if one.n >= FEWEST_CLIENTS else None


def _retest_row(when: str, one: Retest) -> dict[str, object]:
    return {
        "score": one.score,
        "asked": when,
        "ICC": one.icc,
        "low": one.low,
        "high": one.high,
        "mean change": one.change,
        "clients": one.clients,
        "reason": one.reason,
    }


def _course(total: pd.DataFrame) -> Picture:
    """Fidelity by conversation, a thin line a client and run, and the mean."""
    rows = total.assign(run=total["run"].astype(str)).sort_values("minute", kind="stable")
    courses = [
        own["value"].to_numpy(dtype=float)
        for _, own in rows.groupby(["client", "run"], sort=True, observed=True)
    ]
    longest = max(map(len, courses))
    means = [np.mean([one[at] for one in courses if len(one) > at]) for at in range(longest)]

    def draw(look: Look) -> Figure:
        figure = Figure(figsize=(look.width, 2.8), layout="constrained")
        axes = figure.subplots()
        for one in courses:
            axes.plot(range(1, len(one) + 1), one, color=look.color(0), alpha=0.3, linewidth=1)
        axes.plot(range(1, longest + 1), means, "o-", color=look.color(1), markersize=5)
        axes.set_ylim(0.8, 5.2)
        axes.set_xlabel("conversation of the client")
        axes.set_ylabel("fidelity, 1 to 5")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return figure

    return picture(
        "persona_fidelity",
        "Fidelity to the persona, conversation by conversation",
        f"A thin line for each of {len(courses)} clients' runs; dots are the mean of those that had"
        " so many conversations",
        draw,
    )
