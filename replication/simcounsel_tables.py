"""Tables 5, 6 and 7 and Figures 5, 6 and 7 of SimCounsel, with these runs beside them."""

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.report import Report
from analysis.results import share_changes
from analysis.statistics import Contrast, client_anova, client_contrast, holm, tukey
from replication.published import Published, PublishedTable
from replication.tables import (
    Cell,
    Row,
    Table,
    anova_words,
    cell_of,
    contrast_words,
    means_of,
    p_words,
    scored,
    theirs,
)

ALLIANCE, CHANGE = "session_alliance_observed", "persona_change"
ARMS = ("alone", "friend", "counselor")
Rated = Mapping[str, pd.DataFrame]
"""By study of people (see `asking.STUDIES`): its answers."""


def tables(report: Report, paper: Published, rated: Rated) -> Iterator[Table]:
    """In the paper's order."""
    outcomes = report.tables["outcomes"]
    yield alliance(outcomes, paper.tables["table_5"])
    yield recall(paper.tables["table_6"], rated["recall"])
    yield change(outcomes, paper.tables["table_7"])
    yield people_on_change(paper.tables["table_7"], rated["change"], rated["realism"])
    yield consistency(paper.tables["figure_6"], rated["consistency"])
    yield activities(report, paper.tables["figure_5"])


def alliance(outcomes: pd.DataFrame, paper: PublishedTable) -> Table:
    """Table 5: four areas by an observer, counselor against friend; p by Holm over the four."""
    arms = ("counselor", "friend")
    done: list[Contrast] = [
        client_contrast(scored(outcomes, ALLIANCE, row), *arms) for row in paper.rows
    ]
    corrected = holm([one.p for one in done])
    return Table(
        id="table_5",
        title=paper.title,
        columns=arms,
        rows=tuple(
            Row(
                label=paper.label(row),
                cells=tuple(
                    cell_of(paper, row, arm, means_of(outcomes, ALLIANCE, row, arms)[arm])
                    for arm in arms
                ),
                published_test=paper.tests.get(row, ""),
                test=contrast_words(contrast, p),
            )
            for row, contrast, p in zip(paper.rows, done, corrected, strict=True)
        ),
        source="a model rated each conversation after it was held; a client's mean over its"
        " conversations and seeds",
        notes=("Both scales run from 1 to 10.",),
    )


def change(outcomes: pd.DataFrame, paper: PublishedTable) -> Table:
    """Table 7, first part: change of the persona by a model that is not told the order."""
    rows = scored(outcomes, CHANGE, "total")
    whole = client_anova(rows, ARMS)
    pairs = [client_contrast(rows, pair.first, pair.second) for pair in paper.pairs]
    corrected = holm([one.p for one in pairs])
    means = means_of(outcomes, CHANGE, "total", ARMS)
    return Table(
        id="table_7_model",
        title=f"{paper.title}, by an observer",
        columns=ARMS,
        rows=(
            Row(
                label=paper.label("change"),
                cells=tuple(cell_of(paper, "change", arm, means[arm]) for arm in ARMS),
                published_test=paper.tests["change"],
                test=anova_words(whole),
            ),
            *(
                Row(
                    label=f"{pair.first} − {pair.second}",
                    cells=(Cell(), Cell(), Cell(published=pair.difference, ours=done.difference)),
                    published_test=f"q = {pair.q:.2f}, p {pair.p}",
                    test=contrast_words(done, p),
                )
                for pair, done, p in zip(paper.pairs, pairs, corrected, strict=True)
            ),
        ),
        source="a model compared both personas in random order; 3 is no change",
        notes=paper.notes,
    )


def people_on_change(paper: PublishedTable, hidden: pd.DataFrame, told: pd.DataFrame) -> Table:
    """Table 7 and Figure 7: change and its realism by people; over clients, Tukey's q beside."""
    rows = []
    for row, table in (("change", _toward_better(hidden)), ("realistic", _of(told, "realistic"))):
        by_arm = {arm: _by_client(table, arm) for arm in ARMS}
        rows.append(
            Row(
                label=paper.label(row),
                cells=tuple(cell_of(paper, row, arm, by_arm[arm]) for arm in ARMS),
                published_test=paper.tests.get(row, ""),
                test=_tukey_words(by_arm),
            )
        )
    return Table(
        id="table_7_people",
        title=f"{paper.title}, rated by people",
        columns=ARMS,
        rows=tuple(rows),
        source="people, in studies without names and condition; a client's mean over raters; for"
        " each client, as the paper has it, in the report",
        missing=_missing(hidden, "change") or _missing(told, "realism"),
    )


def recall(paper: PublishedTable, rated: pd.DataFrame) -> Table:
    """Table 6: two recalls of the same moment, rated by people; over clients, each with both."""
    ways = ("emotion_aware", "generative_agents")
    rows = []
    for row in paper.rows:
        own = _of(rated, row)
        table = own.assign(client=own.get("person"), arm=own.get("way")) if len(own) else own
        done = client_contrast(table, *ways) if len(own) else None
        by_way = {way: _by_client(table, way) for way in ways}
        rows.append(
            Row(
                label=paper.label(row),
                cells=tuple(cell_of(paper, row, way, by_way[way]) for way in ways),
                published_test=paper.tests[row],
                test=contrast_words(done, done.p) if done else "",
            )
        )
    return Table(
        id="table_6",
        title=paper.title,
        columns=ways,
        rows=tuple(rows),
        source="people; both recalls were computed from the same memories at the same moment, sides"
        " drawn",
        notes=paper.notes,
        missing=_missing(rated, "recall"),
    )


def consistency(paper: PublishedTable, rated: pd.DataFrame) -> Table:
    """Figure 6: four areas by people."""
    return Table(
        id="figure_6",
        title=paper.title,
        columns=("all",),
        rows=tuple(
            Row(
                label=paper.label(row),
                cells=(cell_of(paper, row, "all", _by_client(_of(rated, row), None)),),
            )
            for row in paper.rows
        ),
        source="people; a client's mean over raters and conversations",
        missing=_missing(rated, "consistency"),
    )


def activities(report: Report, paper: PublishedTable) -> Table:
    """Figure 5: shares of the time before and after, by cluster; clusters are not the paper's, so
    theirs stand below ours.
    """
    columns = tuple(f"{arm}, {when}" for arm in ARMS for when in ("before", "after"))
    rows = []
    if not report.patterns.reason:
        found = share_changes(report.patterns, report.tables["shares"], ARMS)
        for cluster in report.patterns.clusters:
            own = {row["arm"]: row for row in found if row["cluster"].number == cluster.number}
            rows.append(
                Row(
                    label=f"ours: C{cluster.number} {cluster.name}",
                    cells=tuple(
                        Cell(ours=own[arm][when], share=True, n=own[arm]["change"].n)
                        for arm in ARMS
                        for when in ("before", "after")
                    ),
                )
            )
    for row in paper.rows:
        cells = [Cell(share=True)] * 4 + [
            Cell(published=theirs(paper, row, when)[0], share=True) for when in ("before", "after")
        ]
        rows.append(Row(label=f"paper, all conditions: {row}", cells=tuple(cells)))
    return Table(
        id="figure_5",
        title=paper.title,
        columns=columns,
        rows=tuple(rows),
        source="the first and the last 24 hours of each run; mean over clients",
        missing=report.patterns.reason,
    )


def _of(rated: pd.DataFrame, question: str) -> pd.DataFrame:
    return rated[rated["question"] == question] if len(rated) else rated


def _toward_better(hidden: pd.DataFrame) -> pd.DataFrame:
    """The comparisons of the hidden study, turned toward the later persona, as one value."""
    if not len(hidden) or "toward_later" not in hidden:
        return hidden.iloc[0:0]
    turned = hidden.dropna(subset=["toward_later"])
    return turned.assign(value=turned["toward_later"].astype(float))


def _by_client(table: pd.DataFrame, arm: str | None) -> list[float]:
    """Each client's mean over raters and items."""
    if not len(table):
        return []
    rows = table if arm is None else table[table["arm"] == arm]
    return rows["value"].astype(float).groupby(rows["person"]).mean().tolist()


def _tukey_words(by_arm: Mapping[str, list[float]]) -> str:
    present = {arm: values for arm, values in by_arm.items() if len(values) > 1}
    if len(present) < 2:
        return ""
    pairs = tukey(present).pairs
    return "; ".join(
        f"{one.first} − {one.second} {one.difference:.2f}, q = {one.q:.2f}, {p_words(one.p)}"
        for one in pairs
        if one.q is not None and one.p is not None and one.difference is not None
    )


def _missing(rated: pd.DataFrame, name: str) -> str | None:
    return (
        None
        if len(rated)
        else f"nobody has rated yet: people/{name} holds the study; `replicate` again takes the"
        " answers in"
    )
