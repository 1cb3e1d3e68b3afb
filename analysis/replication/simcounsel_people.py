"""Tables 6 and 7 and Figure 6 of SimCounsel by people: from the ratings that the report counts."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from analysis.page import counted
from analysis.raters.comparing import ALL, compared
from analysis.replication.asking import STUDIES
from analysis.replication.published import Published, PublishedTable
from analysis.replication.tables import PaperRow, PaperTable, TableCell, cell_of, p_words
from analysis.report import Report
from analysis.sample import Sample
from simcounsel.studies.instrument import load_instrument

ARMS = ("alone", "friend", "counselor")
WAYS = ("emotion_aware", "generative_agents")
Compared = Mapping[str, pd.DataFrame]
"""`people_means`, `people_anova` and `people_pairs` of one question."""


def tables(report: Report, paper: Published) -> Iterator[PaperTable]:
    """In the paper's order."""
    rated = report.tables.get("people_ratings", pd.DataFrame())
    change, realistic = _change(rated), _asked(rated, "realism", "realistic")
    yield recall(paper.tables["table_6"], rated)
    yield consistency(paper.tables["figure_6"], rated)
    yield on_change(paper.tables["table_7"], change, realistic, report.sample)
    done = compared(change, ARMS)
    yield pairs(paper.tables["table_7"], done)
    yield each_client(paper.tables["table_7"], done)


def recall(paper: PublishedTable, rated: pd.DataFrame) -> PaperTable:
    """Table 6: two recalls of the same moment; over clients, each with both."""
    rows = []
    for row in paper.rows:
        own = _asked(rated, "recall", row)
        pair = _pair(compared(own, WAYS), ALL, *WAYS)
        rows.append(
            PaperRow(
                label=paper.label(row),
                cells=tuple(cell_of(paper, row, way, by_client(own, way)) for way in WAYS),
                published_test=paper.tests[row],
                test=_over_clients(pair),
            )
        )
    return PaperTable(
        id="table_6",
        title=paper.title,
        columns=WAYS,
        rows=tuple(rows),
        source="people; both recalls were computed from the same memories at the same moment, sides"
        " drawn",
        notes=paper.notes,
        missing=_missing(rated, "recall"),
    )


def consistency(paper: PublishedTable, rated: pd.DataFrame) -> PaperTable:
    """Figure 6: four areas."""
    return PaperTable(
        id="figure_6",
        title=paper.title,
        columns=("all",),
        rows=tuple(
            PaperRow(
                label=paper.label(row),
                cells=(
                    cell_of(paper, row, "all", by_client(_asked(rated, "consistency", row), None)),
                ),
            )
            for row in paper.rows
        ),
        source="people; a client's mean over raters and conversations",
        missing=_missing(rated, "consistency"),
    )


def on_change(
    paper: PublishedTable, change: pd.DataFrame, realistic: pd.DataFrame, sample: Sample
) -> PaperTable:
    """Table 7 and Figure 7: means by arm, and F over clients and over single ratings."""
    asked = {"change": change, "realistic": realistic}
    return PaperTable(
        id="table_7_people",
        title=f"{paper.title}, rated by people",
        columns=ARMS,
        rows=tuple(
            PaperRow(
                label=paper.label(row),
                cells=tuple(cell_of(paper, row, arm, by_client(own, arm)) for arm in ARMS),
                published_test=paper.tests.get(row, ""),
                test=_f_words(compared(own, ARMS), ALL),
            )
            for row, own in asked.items()
        ),
        source="people, in studies without names and condition; a client's mean over raters. An"
        " equal text counts in every arm in which it occurs",
        notes=_unchanged(change, sample),
        missing=_missing(change, "change") or _missing(realistic, "realism"),
    )


def pairs(paper: PublishedTable, done: Compared) -> PaperTable:
    """Table 7, all clients: each pair of arms, its difference and Tukey's q over single ratings."""
    rows = []
    for pair in paper.pairs:
        own = _pair(done, ALL, pair.first, pair.second)
        rows.append(
            PaperRow(
                label=f"{pair.first} − {pair.second}",
                cells=_difference_and_q(own, pair.difference, pair.q),
                published_test=f"p {pair.p}",
                test=_tukey_p(own) + (f"; {words}" if (words := _over_clients(own)) else ""),
            )
        )
    return PaperTable(
        id="table_7_people_pairs",
        title="Table 7, pairs of arms: change of the persona, rated by people",
        columns=("difference", "q"),
        rows=tuple(rows),
        source="Tukey's q counts single ratings, as the paper does; p over clients beside it",
    )


def each_client(paper: PublishedTable, done: Compared) -> PaperTable:
    """Table 7 for each client: the paper's clients first, then ours; they are other people."""
    rows = [
        PaperRow(
            label=f"paper, {client.name}: {pair.first} − {pair.second}",
            cells=(TableCell(published=pair.difference), TableCell(published=pair.q)),
            published_test=(f"{client.test}; " if at == 0 else "") + f"p {pair.p}",
        )
        for client in paper.clients
        for at, pair in enumerate(client.pairs)
    ]
    ours = done["people_pairs"]
    for client in dict.fromkeys(one for one in ours["of"] if one != ALL):
        for at, pair in enumerate(paper.pairs):
            own = _pair(done, client, pair.first, pair.second)
            first = _f_words(done, client) if at == 0 else ""
            rows.append(
                PaperRow(
                    label=f"here, {client}: {pair.first} − {pair.second}",
                    cells=_difference_and_q(own, None, None),
                    test="; ".join(part for part in (first, _tukey_p(own)) if part),
                )
            )
    return PaperTable(
        id="table_7_clients",
        title="Table 7 for each client: change of the persona, rated by people",
        columns=("difference", "q"),
        rows=tuple(rows),
        source="F and Tukey's q over single ratings, as the paper has them",
        notes=paper.notes,
        missing=None if len(ours) else "no ratings of our clients yet",
    )


def by_client(rated: pd.DataFrame, arm: str | None) -> list[float]:
    """Each client's mean over raters and items."""
    if not len(rated):
        return []
    rows = rated if arm is None else rated[rated["arm"] == arm]
    return rows["value"].astype(float).groupby(rows["client"]).mean().dropna().tolist()


def _asked(rated: pd.DataFrame, study: str, question: str) -> pd.DataFrame:
    """The ratings of one question of a study."""
    columns = ["study", "question", "rater", "item", "client", "arm", "value"]
    if not len(rated):
        return pd.DataFrame(columns=columns)
    title = load_instrument(STUDIES[study]).title
    return rated[(rated["study"] == title) & (rated["question"] == question)]


def _change(rated: pd.DataFrame) -> pd.DataFrame:
    """One value for each rater and item of the hidden study: the mean of its comparisons, turned
    toward the later persona.
    """
    compares = [one.id for one in load_instrument(STUDIES["change"]).items if one.compares]
    parts = [_asked(rated, "change", question) for question in compares]
    every = pd.concat(parts, ignore_index=True)
    keys = ["study", "rater", "item", "client", "arm"]
    means = every.dropna(subset=["value"]).groupby(keys, sort=False)["value"].mean().reset_index()
    return means.assign(question="change")


def _pair(done: Compared, of: str, first: str, second: str) -> dict[str, float | None]:
    """The row of two arms, turned so that it is first minus second; {} without one."""
    table = done["people_pairs"]
    for a, b, sign in ((first, second, 1), (second, first, -1)):
        found = table[(table["of"] == of) & (table["first"] == a) & (table["second"] == b)]
        if len(found):
            row: dict[Any, Any] = {
                key: None if value != value else value for key, value in found.iloc[0].items()
            }
            turned = {
                key: sign * row[key]
                for key in ("difference", "tukey_difference")
                if row[key] is not None
            }
            return {str(key): value for key, value in (row | turned).items()}
    return {}


def _difference_and_q(
    pair: Mapping[str, float | None], difference: float | None, q: float | None
) -> tuple[TableCell, TableCell]:
    here, ours = pair.get("tukey_q"), pair.get("tukey_difference")
    return (
        TableCell(published=difference, ours=pair.get("difference") if ours is None else ours),
        TableCell(published=q, ours=None if here is None else abs(here)),
    )


def _tukey_p(pair: Mapping[str, float | None]) -> str:
    p = pair.get("tukey_p")
    return "" if p is None else p_words(p)


def _over_clients(pair: Mapping[str, float | None]) -> str:
    p = pair.get("p")
    if not pair:
        return ""
    return f"over clients {p_words(p)}" if p is not None else f"over clients: {pair['reason']}"


def _f_words(done: Compared, of: str) -> str:
    """F over single ratings as the paper has it, then F over clients, or why there is none."""
    table = done["people_anova"]
    found = table[table["of"] == of]
    if not len(found):
        return ""
    row: dict[Any, Any] = {
        key: None if value != value else value for key, value in found.iloc[0].items()
    }
    said = []
    if row["f_ratings"] is not None:
        degrees = f"({row['df_between_ratings']:g}, {row['df_within_ratings']:g})"
        said.append(f"F{degrees} = {row['f_ratings']:.2f}, {p_words(row['p_ratings'])}")
    if of == ALL and row["p"] is not None:
        degrees = f"({row['df_between']:.3g}, {row['df_within']:.3g})"
        said.append(f"over clients F{degrees} = {row['f']:.2f}, {p_words(row['p'])}")
    elif of == ALL and row["reason"]:
        said.append(f"over clients: {row['reason']}")
    return "; ".join(said)


def _unchanged(change: pd.DataFrame, sample: Sample) -> tuple[str, ...]:
    """How many clients of each arm have no pair of texts in the hidden study, since nothing
    changed; () while nobody has rated.
    """
    if not len(change):
        return ()
    lacking = []
    for arm in ARMS:
        rated = set(change.loc[change["arm"] == arm, "client"])
        there = {one for m in sample.members if m.arm == arm for one in m.clients}
        if there - rated:
            lacking.append(f"{arm} {len(there - rated)} of {counted(len(there), 'client')}")
    if not lacking:
        return ()
    return (
        "Change is rated where the persona's text changed; left out, as unchanged or not drawn:"
        f" {', '.join(lacking)}.",
    )


def _missing(rated: pd.DataFrame, name: str) -> str | None:
    title = load_instrument(STUDIES[name]).title
    if len(rated) and (rated["study"] == title).any():
        return None
    return (
        f"nobody has rated yet: people/{name} holds the study; `replicate` again takes the answers"
        " in"
    )
