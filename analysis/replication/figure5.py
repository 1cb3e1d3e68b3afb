"""Figure 5 of SimCounsel: what clients plan, or do, before and after their first meeting; grouped,
without the appointments that the design itself sets.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.clustering import ClusterFit, elbow
from analysis.cuts import cut_minutes
from analysis.naming import name_clusters
from analysis.pattern_plots import activity_shares, followed, how_many
from analysis.patterns import ActivityPatterns, Embed, find_patterns, periods, shares
from analysis.reading import with_arm
from analysis.replication.options import Choices
from analysis.replication.published import PublishedTable
from analysis.replication.tables import PaperRow, PaperTable, TableCell, theirs
from analysis.report import Report
from analysis.results import share_changes
from analysis.sample import Member
from analysis.style import Picture
from simcounsel.clock import MINUTES_PER_DAY, minutes_of_day
from simcounsel.engine.encounters import minutes_of
from simcounsel.errors import SimcounselError
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.history import History
from simcounsel.runs.run import Run

ARMS = ("alone", "friend", "counselor")
WHEN = ("before", "after")
PAPER = tuple(f"paper, {when}" for when in WHEN)
COLUMNS = ["run", "client", "tick", "minute", "activity"]


@dataclass(frozen=True, kw_only=True)
class Figure5:
    """What was grouped, and how."""

    patterns: ActivityPatterns
    agreed: pd.DataFrame
    """One row a run, client and period: the share of its 15 minutes that are appointments, which
    are not grouped.
    """
    changes: Sequence[Mapping[str, object]] = ()
    """Shares before and after by cluster and arm; see `share_changes`."""
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()


def figure_5(report: Report, wanted: Choices, embed: Embed, judge: Switchboard | None) -> Figure5:
    """Group what all clients planned, or did, in all arms together."""
    sample, activities = report.sample, report.tables["activities"]
    cut = cut_minutes(wanted.cut, sample, report.tables["talk"])
    if wanted.grouped == "acts":
        rows = activities[[*COLUMNS, "kind"]]
    else:
        parts = [pd.DataFrame(plan_steps(one, cut.get(one.name))) for one in sample.members]
        rows = pd.concat([one for one in parts if len(one)] or [pd.DataFrame(columns=COLUMNS)])
        rows = rows.reset_index(drop=True)
    if wanted.grouped == "plans" and wanted.cut == "meeting":
        period = rows["period"] if len(rows) else pd.Series(dtype=object)
    else:
        rows = rows[rows["last"]] if "last" in rows else rows
        period = periods(rows, wanted.cut, cut)
    held = _held(rows, sample.members)
    agreed = _agreed(rows, held, period)
    kept = rows[~held]
    notes: tuple[str, ...] = ()
    try:
        found = find_patterns(
            kept,
            period[~held],
            embed,
            embedding=str(report.options.embed),
            k=wanted.clusters,
            number=at_the_elbow,
        )
        if judge is not None and not found.reason:
            found, notes = name_clusters(found, judge)
    except SimcounselError as error:
        found = ActivityPatterns(reason=str(error))
    if found.reason:
        return Figure5(patterns=found, agreed=with_arm(agreed, sample))
    arm_of = {member.name: member.arm for member in sample.members}
    present = [arm for arm in ARMS if arm in arm_of.values()]
    return Figure5(
        patterns=found,
        agreed=with_arm(agreed, sample),
        changes=share_changes(found, with_arm(shares(found), sample), ARMS),
        pictures=(
            activity_shares(found, arm_of, present),
            followed(found, arm_of, present),
            how_many(found),
        ),
        notes=(_said_of_k(found, wanted), *notes),
    )


def at_the_elbow(fits: Sequence[ClusterFit]) -> int:
    """As the paper chooses the number of clusters."""
    return elbow([fit.inertia for fit in fits])


def plan_steps(member: Member, cut: int | None) -> Iterator[dict[str, object]]:
    """A client's plans in steps of a tick: of each day the last plan that was made before the cut,
    and the last of all. A stroke goes on until the next, the last one until midnight. period: of a
    plan made before the cut `before`, of a plan for a later day, made after it, `after`.
    """
    tick_minutes = int(member.manifest["world"]["tick_minutes"])
    versions: dict[tuple[str, int], list[tuple[int, object]]] = {}
    for plan in History(member.log).plans():
        if plan.event.who in member.clients:
            key = plan.event.who, plan.event.day
            versions.setdefault(key, []).append((plan.minute, plan.event.strokes))
    for (client, day), made in versions.items():
        early = [strokes for minute, strokes in made if cut is not None and minute < cut]
        chosen: dict[str | None, Any] = {"before": early[-1]} if early else {}
        if not early and cut is not None and day * MINUTES_PER_DAY > cut:
            chosen = {"after": made[-1][1]}
        last = made[-1][1]
        for period, strokes in (chosen or {None: last}).items():
            for minute, activity in _steps(strokes, tick_minutes):
                at = day * MINUTES_PER_DAY + minute
                yield {
                    "run": member.name,
                    "client": client,
                    "tick": at // tick_minutes,
                    "minute": at,
                    "activity": activity,
                    "period": period,
                    "last": strokes is last,
                }


def _steps(strokes: object, tick_minutes: int) -> Iterator[tuple[int, str]]:
    begun = sorted((minutes_of_day(one.at), one.do) for one in strokes)  # type: ignore[attr-defined]
    ends = [at for at, _ in begun[1:]] + [MINUTES_PER_DAY]
    for (begin, what), end in zip(begun, ends, strict=True):
        for minute in range(begin, end, tick_minutes):
            yield minute, what


def _held(rows: pd.DataFrame, members: Sequence[Member]) -> "pd.Series[bool]":
    """Which steps fall into an appointment of the client's."""
    taken: dict[tuple[str, str], set[int]] = {}
    for member in members:
        world = Run.open(member.log.folder).world
        roles = {one.name: one.role for one in world.residents}
        present = {one.name for one in world.present()}
        for agreed in world.appointments:
            if not present.issuperset(agreed.who):
                continue
            lasts = minutes_of(agreed, world, *(roles[who] for who in agreed.who))
            minutes = {
                minute
                for begin in agreed.begins()
                for minute in range(begin, begin + lasts, world.tick_minutes)
            }
            for who in agreed.who:
                taken.setdefault((member.name, who), set()).update(minutes)
    return pd.Series(
        [
            int(minute) in taken.get((str(run), str(client)), ())
            for run, client, minute in zip(rows["run"], rows["client"], rows["minute"], strict=True)
        ],
        index=rows.index,
        dtype=bool,
    )


def _agreed(rows: pd.DataFrame, held: "pd.Series[bool]", period: pd.Series) -> pd.DataFrame:
    table = rows[["run", "client"]].astype(str).assign(period=period, share=held.astype(float))
    return table.dropna(subset=["period"]).groupby(["run", "client", "period"]).mean().reset_index()


def _said_of_k(found: ActivityPatterns, wanted: Choices) -> str:
    at = at_the_elbow(found.fits)
    chosen = "as asked for" if wanted.clusters else "at the elbow of the inertia"
    most = max(fit.k for fit in found.fits)
    said = f"{found.k} clusters, {chosen}; of 1 to {most} clusters that were tried the elbow is at"
    agreement = "" if found.agreement is None else f", half samples agree by {found.agreement:.2f}"
    named = sorted({one.named_by for one in found.clusters})
    return f"{said} {at}{agreement}. Clusters are named by {' and '.join(named)}."


def table(made: Figure5, wanted: Choices, paper: PublishedTable) -> PaperTable:
    """The paper's shares, of all conditions, in columns of their own; then ours by arm."""
    blank = (TableCell(share=True),) * 2
    rows = [
        PaperRow(
            label=f"paper: {paper.label(row)}",
            cells=(
                *(TableCell(published=theirs(paper, row, when)[0], share=True) for when in WHEN),
                *(blank * len(ARMS)),
            ),
            published_test=paper.tests.get(row, ""),
        )
        for row in paper.rows
    ]
    for cluster in made.patterns.clusters:
        own = [one for one in made.changes if one["cluster"] is cluster]
        rows.append(_row(f"here: C{cluster.number} {cluster.name}", own, blank))
    if len(made.agreed):
        rows.append(_row("here: appointments, not grouped", list(_of_agreed(made.agreed)), blank))
    what = "the plans of each day" if wanted.grouped == "plans" else "what was done"
    return PaperTable(
        id="figure_5",
        title=paper.title,
        columns=(*PAPER, *(f"{arm}, {when}" for arm in ARMS for when in WHEN)),
        rows=tuple(rows),
        single=True,
        source=f"{what}, in steps of 15 minutes; mean over clients. {_cut_words(wanted)}",
        notes=(*made.notes, *paper.notes),
        missing=made.patterns.reason,
    )


def _row(label: str, own: Sequence[Mapping[str, object]], blank: tuple[TableCell, ...]) -> PaperRow:
    by_arm = {one["arm"]: one for one in own}
    cells = [
        TableCell(ours=by_arm.get(arm, {}).get(when), share=True)  # type: ignore[arg-type]
        for arm in ARMS
        for when in WHEN
    ]
    return PaperRow(label=label, cells=(*blank, *cells))


def _of_agreed(agreed: pd.DataFrame) -> Iterator[dict[str, object]]:
    for arm, part in agreed.groupby("arm"):
        by_client = part.groupby(["client", "period"])["share"].mean().groupby("period").mean()
        yield {"arm": arm, **{str(when): float(share) for when, share in by_client.items()}}


def _cut_words(wanted: Choices) -> str:
    first = {
        "meeting": "a client's first meeting",
        "session": "the first session with a counselor",
    }.get(wanted.cut)
    if first is None:
        return {
            "days": "Before and after: the first and the last 24 hours",
            "halves": "Before and after: the halves of a run",
        }[wanted.cut]
    if wanted.grouped == "plans" and wanted.cut == "meeting":
        return (
            f"Before: the plan that was made before {first}; after: the plans of later days. A"
            " client who meets nobody is cut where the others are"
        )
    return f"Before and after {first}; a client who has none is cut where the others are"
