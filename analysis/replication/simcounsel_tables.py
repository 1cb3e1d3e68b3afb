"""Tables 5 and 7 and Figures 5 and 6 of SimCounsel by models and counts, with these runs beside
them.
"""

from collections.abc import Iterator

import pandas as pd

from analysis.replication import simcounsel_people
from analysis.replication.published import Published, PublishedTable
from analysis.replication.tables import (
    PaperRow,
    PaperTable,
    TableCell,
    anova_words,
    cell_of,
    contrast_words,
    means_of,
    scored,
    theirs,
)
from analysis.report import Report
from analysis.statistics import Contrast, client_anova, client_contrast, holm, spread

ALLIANCE, CHANGE = "session_alliance_observed", "persona_change"
CONSISTENCY = "persona_consistency"
ARMS = ("alone", "friend", "counselor")
AREA, SUM = 9, 36
"""Below these an alliance may be poor (Duncan et al. 2003, as the paper cites it)."""


def tables(report: Report, paper: Published, figure: PaperTable) -> Iterator[PaperTable]:
    """What models and counts give, then what people say, each in the paper's order. figure: the
    table of Figure 5.
    """
    outcomes = report.tables["outcomes"]
    yield alliance(outcomes, paper.tables["table_5"])
    yield below(report.tables["measurements"])
    yield figure
    yield change(outcomes, paper.tables["table_7"])
    yield change_pairs(outcomes, paper.tables["table_7"])
    yield consistency(outcomes, paper.tables["figure_6"])
    yield from simcounsel_people.tables(report, paper)


def alliance(outcomes: pd.DataFrame, paper: PublishedTable) -> PaperTable:
    """Table 5: four areas by an observer, counselor against friend; p by Holm over the four."""
    arms = ("counselor", "friend")
    done: list[Contrast] = [
        client_contrast(scored(outcomes, ALLIANCE, row), *arms) for row in paper.rows
    ]
    corrected = holm([one.p for one in done])
    return PaperTable(
        id="table_5",
        title=paper.title,
        columns=arms,
        rows=tuple(
            PaperRow(
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


def below(measurements: pd.DataFrame) -> PaperTable:
    """Of Table 5, how many conversations lie below the cut-offs that the paper names."""
    arms = ("counselor", "friend")
    rated = measurements[measurements["instrument"] == ALLIANCE] if len(measurements) else None
    shares: dict[str, dict[str, TableCell]] = {}
    for arm in arms:
        own = None if rated is None else rated[rated["arm"] == arm].dropna(subset=["value"])
        if own is None or not len(own):
            continue
        keys = ["run", "client", "point"]
        areas = own[own["score"] != "total"].groupby(keys, observed=True)["value"]
        whole = own[own["score"] == "total"]["value"]
        for label, found in (("area", areas.min() < AREA), ("sum", whole < SUM)):
            cell = TableCell(ours=float(found.mean()), n=len(found), share=True)
            shares.setdefault(label, {})[arm] = cell
    labels = {"area": f"an area below {AREA}", "sum": f"a sum below {SUM}"}
    return PaperTable(
        id="table_5_below",
        title="Table 5: conversations below the cut-offs",
        columns=arms,
        rows=tuple(
            PaperRow(
                label=f"Conversations with {label}",
                cells=tuple(shares.get(key, {}).get(arm, TableCell(share=True)) for arm in arms),
                published_test="“some sessions” of the counselor; no number",
            )
            for key, label in labels.items()
        ),
        source="each conversation that was rated; n counts conversations",
        notes=(
            "The cut-offs are those of the Session Rating Scale. They were made for its own items"
            " and people, not for a model that reads other items.",
        ),
    )


def change(outcomes: pd.DataFrame, paper: PublishedTable) -> PaperTable:
    """Table 7, first part: change of the persona by a model that is not told the order."""
    means = means_of(outcomes, CHANGE, "total", ARMS)
    return PaperTable(
        id="table_7_model",
        title=f"{paper.title}, by an observer",
        columns=ARMS,
        rows=(
            PaperRow(
                label=paper.label("change"),
                cells=tuple(cell_of(paper, "change", arm, means[arm]) for arm in ARMS),
                published_test=paper.tests["change"],
                test=anova_words(client_anova(scored(outcomes, CHANGE, "total"), ARMS)),
            ),
        ),
        source="a model compared both personas in random order; 3 is no change",
    )


def change_pairs(outcomes: pd.DataFrame, paper: PublishedTable) -> PaperTable:
    """The same by pairs of arms, over clients; p by Holm over the three."""
    rows = scored(outcomes, CHANGE, "total")
    done = [client_contrast(rows, pair.first, pair.second) for pair in paper.pairs]
    corrected = holm([one.p for one in done])
    return PaperTable(
        id="table_7_model_pairs",
        title="Table 7, pairs of arms: change of the persona, by an observer",
        columns=("difference",),
        rows=tuple(
            PaperRow(
                label=f"{pair.first} − {pair.second}",
                cells=(
                    TableCell(
                        published=pair.difference, ours=one.difference, low=one.low, high=one.high
                    ),
                ),
                published_test=f"q = {pair.q:.2f}, p {pair.p}",
                test=contrast_words(one, p),
            )
            for pair, one, p in zip(paper.pairs, done, corrected, strict=True)
        ),
        source="over clients; the paper's q is of people's ratings",
    )


def consistency(outcomes: pd.DataFrame, paper: PublishedTable) -> PaperTable:
    """Figure 6 by the judge, who answers four questions in words of ours; a client's mean over arms
    and seeds.
    """
    rows = scored(outcomes, CONSISTENCY, "total")
    values = rows.groupby("client", observed=True)["value"].mean().tolist() if len(rows) else []
    printed = [theirs(paper, row, "all")[0] for row in paper.rows]
    known = [one for one in printed if one is not None]
    whole = spread("all", values)
    return PaperTable(
        id="figure_6_model",
        title=f"{paper.title.replace('rated by people', 'by an observer')}",
        columns=("all",),
        rows=(
            PaperRow(
                label="Mean of the four areas",
                cells=(
                    TableCell(
                        published=sum(known) / len(known),
                        ours=whole.mean,
                        low=whole.low,
                        high=whole.high,
                        n=whole.n,
                    ),
                ),
            ),
        ),
        source="a model read the client's file beside a conversation; one score for the four",
        notes=("The paper has people's ratings only.",),
    )
