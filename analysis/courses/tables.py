"""The tables of PsychEval (Tables 1, 2, 4 to 7) over these runs, its numbers beside ours."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.courses.battery import Column, battery, ten
from analysis.courses.counting import SAID, courses_of
from analysis.replication.tables import PaperRow, PaperTable, TableCell
from analysis.sample import Sample
from analysis.statistics import spread
from simcounsel.therapies.specs.therapy import COURSE_STAGES, find_therapy

PAPER = "PsychEval, published"
STATISTICS = (
    "samples",
    "sessions a case",
    "lines a session",
    "words a line",
    "words a line with thoughts",
    "most sessions",
    "meta skills",
    "atomic skills",
)
Value = Callable[["pd.Series[Any]"], float | None]
"""One number of a client's sessions, in their order."""
SESSION = ("thought", "session", "stage", "skilled")
"""What Table 2 looks at of a session."""
PLANS = ("sessions", "links", "material", "objectives")


@dataclass(frozen=True, kw_only=True)
class Played:
    """One therapy's runs."""

    therapy: str
    sample: Sample
    arms: tuple[str, ...]
    """Counselors, then corpora."""
    measurements: pd.DataFrame
    """With the column `arm`."""
    sessions: pd.DataFrame
    """One row a session, see `counting.sessions_of`."""


def tables(played: Sequence[Played]) -> Iterator[PaperTable]:
    """In the paper's order, then what the courses did."""
    sessions = {one.therapy: one.sessions for one in played}
    yield statistics(sessions)
    yield features(played)
    for one in played:
        yield levels(one, "counselor")
    for one in played:
        yield changes(one)
    yield plans(sessions)
    for one in played:
        yield levels(one, "client")
    for one in played:
        if len(one.arms) > 1:
            yield pairs(one)
        yield said(one)
        if one.sample.members:
            yield done(one)


def statistics(sessions: Mapping[str, pd.DataFrame]) -> PaperTable:
    """Table 1: how many and how long, by therapy."""
    rows = []
    for therapy, own in sessions.items():
        published = battery().statistics.get(therapy, (None,) * len(STATISTICS))
        rows.append(
            PaperRow(
                label=therapy.replace("_", " "),
                cells=tuple(
                    TableCell(published=theirs, ours=ours)
                    for theirs, ours in zip(published, _statistics(therapy, own), strict=True)
                ),
            )
        )
    return PaperTable(
        id="table_1",
        title="Table 1: size of the courses",
        columns=STATISTICS,
        rows=tuple(rows),
        source="counted from the logs, all counselors together; skills are those of the therapy's"
        " catalogue, words of Chinese are characters",
    )


def _statistics(therapy: str, own: pd.DataFrame) -> tuple[float | None, ...]:
    school = find_therapy(therapy)
    skills = (float(len(school.skills)), float(sum(len(meta.skills) for meta in school.skills)))
    if not len(own):
        return (*((None,) * 6), *skills)
    counts = own.groupby("run")["session"].max()
    lines, words = own["lines"].sum(), own["words"].sum()
    return (
        float(len(counts)),
        float(counts.mean()),
        float(own["lines"].mean()),
        float(words / lines),
        float((words + own["thought"].sum()) / lines),
        float(counts.max()),
        *skills,
    )


def features(played: Sequence[Played]) -> PaperTable:
    """Table 2: what the courses have; 1 is yes."""
    frames = [one.sessions for one in played if len(one.sessions)]
    whole = pd.concat(frames or [pd.DataFrame(columns=SESSION)], ignore_index=True)
    have = {
        "reasoning before each line": bool(whole["thought"].sum() > 0),
        "rated by a battery": any(len(one.measurements) > 0 for one in played),
        "several sessions": bool((whole["session"] > 1).any()),
        "several therapies": len(played) > 1,
        "an integrative therapy": any(one.therapy == "integrative" for one in played),
        "several stages": bool(whole["stage"].dropna().nunique() > 1),
        "skills by line": bool(whole["skilled"].sum() > 0),
    }
    return PaperTable(
        id="table_2",
        title="Table 2: what the courses have (1: yes)",
        columns=(PAPER, "these"),
        single=True,
        rows=tuple(
            PaperRow(label=name, cells=(TableCell(published=1.0), TableCell(ours=float(there))))
            for name, there in have.items()
        ),
        source="what is in at least one of the sessions",
    )


def levels(one: Played, level: str) -> PaperTable:
    """Tables 4 and 7: the mean level over a course on 0 to 10, one value a client."""
    columns = battery().counselor if level == "counselor" else battery().client
    number = 4 if level == "counselor" else 7
    return _by_counselor(
        one,
        columns,
        f"table_{number}_{one.therapy}",
        f"Table {number}: the {level}'s level, {one.therapy.replace('_', ' ')}",
        lambda column: column.published,
        lambda values: float(values.mean()),
        "mean over the sessions of a client, on 0 (the least a scale allows) to 10; 95 % over"
        " clients",
    )


def changes(one: Played) -> PaperTable:
    """Table 5: the mean change from one session to the next, and from the first to the last."""
    return _by_counselor(
        one,
        battery().client,
        f"table_5_{one.therapy}",
        f"Table 5: change from session to session, {one.therapy.replace('_', ' ')}",
        lambda column: column.change,
        lambda values: (
            float((values.iloc[-1] - values.iloc[0]) / (len(values) - 1))
            if len(values) > 1
            else None
        ),
        "the last session minus the first, divided by the steps between them, on 0 to 10; 95 %"
        " over clients. Of symptoms (SCL-90, BDI-II, IPO, STAI) less is better",
    )


def _by_counselor(
    one: Played,
    columns: Sequence[Column],
    id: str,
    title: str,
    theirs: Callable[[Column], float | None],
    value: Value,
    source: str,
) -> PaperTable:
    arms = one.arms
    rows = []
    for column in columns:
        if not column.fits(one.therapy):
            continue
        cells = [TableCell(published=theirs(column))]
        for arm in arms:
            whole = spread(arm, [n for _, n in of_clients(one.measurements, column, arm, value)])
            cells.append(TableCell(ours=whole.mean, low=whole.low, high=whole.high, n=whole.n))
        label = f"{column.paper}: {', '.join(column.scales).replace('_', ' ')}"
        rows.append(PaperRow(label=label, cells=tuple(cells)))
    return PaperTable(
        id=id, title=title, columns=(PAPER, *arms), rows=tuple(rows), source=source, single=True
    )


def of_clients(
    measurements: pd.DataFrame, column: Column, arm: str, value: Value
) -> Iterator[tuple[str, float]]:
    """One number a client of an arm, out of its sessions on 0 to 10: of several scales their mean
    at each session.
    """
    here = measurements[
        (measurements["arm"] == arm)
        & measurements["instrument"].isin(column.scales)
        & (measurements["score"] == column.score)
        & measurements["value"].notna()
    ]
    if not len(here):
        return
    scores = zip(here["instrument"].astype(str), here["value"].astype(float), strict=True)
    found = pd.Series([ten(name, score, column.score) for name, score in scores], here.index)
    scaled = here.assign(ten=found.astype(float)).dropna(subset=["ten"])
    for client, own in scaled.groupby("client", observed=True):
        number = value(own.groupby("tick")["ten"].mean().sort_index())
        if number is not None:
            yield str(client), number


def pairs(one: Played) -> PaperTable:
    """The first counselor beside each other one, with the same clients: differences of levels."""
    first, *others = one.arms
    rows = []
    for column in battery().of(one.therapy):
        level = [
            dict(of_clients(one.measurements, column, arm, lambda values: float(values.mean())))
            for arm in (first, *others)
        ]
        cells = []
        for other in level[1:]:
            both = sorted(level[0].keys() & other.keys())
            apart = spread("difference", [level[0][who] - other[who] for who in both])
            cells.append(TableCell(ours=apart.mean, low=apart.low, high=apart.high, n=apart.n))
        label = f"{column.paper}: {', '.join(column.scales).replace('_', ' ')}"
        rows.append(PaperRow(label=label, cells=tuple(cells)))
    return PaperTable(
        id=f"pairs_{one.therapy}",
        title=f"Differences between counselors, {one.therapy.replace('_', ' ')}",
        columns=tuple(f"{first} − {other}" for other in others),
        rows=tuple(rows),
        source="the same clients with both, paired; 95 % over clients, not corrected for the number"
        " of scales",
        single=True,
    )


def plans(sessions: Mapping[str, pd.DataFrame]) -> PaperTable:
    """Table 6: sessions of each stage, and what a session was planned with."""
    some = [one.assign(therapy=name) for name, one in sessions.items() if len(one)]
    whole = pd.concat(some or [pd.DataFrame()], ignore_index=True)
    own = whole[whole["objectives"].notna()] if "objectives" in whole else whole
    rows = []
    for stage in ("all stages", *COURSE_STAGES):
        here = own if stage == "all stages" else own[own["stage"] == stage] if len(own) else own
        cases = own.groupby(["therapy", "run"]).ngroups if len(own) else 0
        ours = (
            len(here) / cases if cases else None,
            *(float(here[key].mean()) if len(here) else None for key in PLANS[1:]),
        )
        rows.append(
            PaperRow(
                label=stage.replace("_", " "),
                cells=tuple(
                    TableCell(published=theirs, ours=mine)
                    for theirs, mine in zip(battery().plans[stage], ours, strict=True)
                ),
            )
        )
    return PaperTable(
        id="table_6",
        title="Table 6: plans, by stage",
        columns=PLANS,
        rows=tuple(rows),
        source="of counselors who follow a course: sessions a case, then means a session. Links and"
        " material are those that a case's plan had and that opened; courses without a case's plan"
        " have none",
    )


def said(one: Played) -> PaperTable:
    """What is counted in the lines, by counselor; no model has a part in it."""
    rows = []
    for key, label in SAID.items():
        cells = []
        for arm in one.arms:
            own = one.sessions[one.sessions["arm"] == arm].dropna(subset=[key])
            whole = spread(arm, own.groupby("client")[key].mean().tolist())
            cells.append(TableCell(ours=whole.mean, low=whole.low, high=whole.high, n=whole.n))
        rows.append(PaperRow(label=label, cells=tuple(cells)))
    return PaperTable(
        id=f"said_{one.therapy}",
        title=f"What was said, {one.therapy.replace('_', ' ')}",
        columns=one.arms,
        rows=tuple(rows),
        source="counted by rules in the lines of each session (`talk_measures`), mean over the"
        " sessions of a client; 95 % over clients",
        single=True,
    )


def done(one: Played) -> PaperTable:
    """What the courses reached and took, by counselor."""
    counted = courses_of(one.sample, find_therapy(one.therapy))
    arms = tuple(one.sample.arms)
    names = {
        "goals_met": "goals that were met, share",
        "fields_filled": "fields of the formulation that were filled, share",
        "facts_told": "facts of the case that the client told, share",
        "material_opened": "parts of the case's plan that opened, share",
        "safety_moves": "lines that the safety protocol decided, share",
        "open_danger": "sessions that ended with danger open, share",
        "questions_a_session": "questions to models a session",
        "cost_usd": "cost of a course, USD",
    }
    rows = []
    for key, label in names.items():
        cells = []
        for arm in arms:
            values = counted[counted["arm"] == arm].dropna(subset=[key])
            whole = spread(arm, values.groupby("client")[key].mean().tolist())
            cells.append(
                TableCell(
                    ours=whole.mean,
                    low=whole.low,
                    high=whole.high,
                    n=whole.n,
                    share=label.endswith(", share"),
                )
            )
        if any(cell.n for cell in cells):
            rows.append(PaperRow(label=label, cells=tuple(cells)))
    return PaperTable(
        id=f"done_{one.therapy}",
        title=f"What the courses came to, {one.therapy.replace('_', ' ')}",
        columns=arms,
        rows=tuple(rows),
        source="from the logs; goals and formulation are the counselor's own verdicts, with words"
        " of the talk as evidence. Only a course's counselor keeps them. Facts and parts are those"
        " of cases that are played by their plan",
        single=True,
    )
