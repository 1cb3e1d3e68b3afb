"""Tables 1 to 5 of Structure Matters, with these runs beside them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from analysis.replication.published import Published, PublishedTable
from analysis.replication.tables import (
    PaperRow,
    PaperTable,
    TableCell,
    anova_words,
    cell_of,
    means_of,
    p_words,
    scored,
    theirs,
)
from analysis.replication.themes import SentenceTheme, checked
from analysis.report import Report
from analysis.statistics import Contrast, client_anova, client_contrast, holm

SURVEY = "chatbot_survey"
ARMS = ("staged", "single", "unguided")
PAIRS = (("staged", "single"), ("staged", "unguided"), ("single", "unguided"))


def tables(
    report: Report, paper: Published, themes: Sequence[SentenceTheme], sheet: Path
) -> Iterator[PaperTable]:
    """In the paper's order."""
    yield survey(report.tables["outcomes"], paper.tables["table_2"], report.options.shuffles)
    yield survey_pairs(report.tables["outcomes"], paper.tables["table_2"])
    yield messages(report.tables["speakers"], paper.tables["table_3"])
    yield sentiments(report.tables["speakers"], paper.tables["table_4"])
    yield comments(paper.tables["table_5"], themes, sheet)


def survey(outcomes: pd.DataFrame, paper: PublishedTable, shuffles: int) -> PaperTable:
    """Tables 1 and 2: 13 items; permutation ANOVA over all arms, as the paper has it, and Holm's
    correction over the items, as it has not.
    """
    done = [
        client_anova(scored(outcomes, SURVEY, row), ARMS, permutation=True, shuffles=shuffles)
        for row in paper.rows
    ]
    corrected = holm([one.p for one in done])
    return PaperTable(
        id="table_2",
        title=paper.title,
        columns=ARMS,
        rows=tuple(
            PaperRow(
                label=paper.label(row),
                cells=tuple(
                    cell_of(paper, row, arm, means_of(outcomes, SURVEY, row, ARMS)[arm])
                    for arm in ARMS
                ),
                published_test=paper.tests[row],
                test=anova_words(one) + (f"; Holm {p_words(p)}" if p is not None else ""),
            )
            for row, one, p in zip(paper.rows, done, corrected, strict=True)
        ),
        source="the clients themselves, after the last meeting; one value a client",
        published_n=paper.n,
        notes=paper.notes,
    )


def survey_pairs(outcomes: pd.DataFrame, paper: PublishedTable) -> PaperTable:
    """The survey by pairs of arms, over clients; p by Holm over the three pairs of an item. The
    paper tests pairs in words alone; its differences are those of its means.
    """
    rows = []
    for row in paper.rows:
        values = scored(outcomes, SURVEY, row)
        done = [client_contrast(values, *pair) for pair in PAIRS]
        corrected = holm([one.p for one in done])
        rows.append(
            PaperRow(
                label=paper.label(row),
                cells=tuple(
                    TableCell(
                        published=_difference(paper, row, *pair),
                        ours=one.difference,
                        low=one.low,
                        high=one.high,
                    )
                    for pair, one in zip(PAIRS, done, strict=True)
                ),
                published_test=paper.pair_tests.get(row, ""),
                test=_holm_words(corrected, done),
            )
        )
    return PaperTable(
        id="table_2_pairs",
        title="Tables 1 and 2, pairs of arms",
        columns=tuple(f"{first} − {second}" for first, second in PAIRS),
        rows=tuple(rows),
        source="over clients; p by Holm over the three pairs of an item, in the order of the"
        " columns",
    )


def _difference(paper: PublishedTable, row: str, first: str, second: str) -> float | None:
    one, other = theirs(paper, row, first)[0], theirs(paper, row, second)[0]
    return None if one is None or other is None else one - other


def _holm_words(corrected: Sequence[float | None], done: Sequence[Contrast]) -> str:
    if all(p is None for p in corrected):
        return next((one.reason for one in done if one.reason), "not tested")
    return ", ".join("no p" if p is None else p_words(p) for p in corrected)


def messages(speakers: pd.DataFrame, paper: PublishedTable) -> PaperTable:
    """Table 3: how many messages, and how long; a row a client for ours, but sums for counts."""
    by_client = _by_client(speakers)
    rows = []
    for row in paper.rows:
        cells = []
        for arm in ARMS:
            own = by_client[by_client["arm"] == arm] if len(by_client) else by_client
            column = row.removesuffix("_each")
            values = own[column].dropna().tolist() if len(own) else []
            if row.endswith("messages"):
                published, _ = theirs(paper, row, arm)
                cells.append(
                    TableCell(
                        published=published, ours=sum(values) if values else None, n=len(values)
                    )
                )
            else:
                cells.append(cell_of(paper, row, arm, values))
        rows.append(PaperRow(label=paper.label(row), cells=tuple(cells)))
    return PaperTable(
        id="table_3",
        title=paper.title,
        columns=ARMS,
        rows=tuple(rows),
        source="counted from the lines; lengths and messages of each client are means over clients",
        published_n=paper.n,
        notes=paper.notes,
    )


def sentiments(speakers: pd.DataFrame, paper: PublishedTable) -> PaperTable:
    """Table 4: mean score in [-1, 1], and shares of messages above, at and below 0."""
    rows = []
    for row in paper.rows:
        role, what = row.split()
        column = "sentiment" if what == "mean" else what
        cells = []
        for arm in ARMS:
            own = (
                speakers[(speakers["arm"] == arm) & (speakers["role"] == role)]
                if len(speakers)
                else speakers
            )
            values = own[column].dropna().astype(float).tolist() if len(own) else []
            cells.append(cell_of(paper, row, arm, values, share=what != "mean"))
        rows.append(PaperRow(label=row, cells=tuple(cells)))
    return PaperTable(
        id="table_4",
        title=paper.title,
        columns=ARMS,
        rows=tuple(rows),
        source="words of the VADER lexicon, counted as the paper counts; means over runs",
    )


def comments(paper: PublishedTable, themes: Sequence[SentenceTheme], sheet: Path) -> PaperTable:
    """Table 5: the paper's themes were found by hand in people's comments; ours are below."""
    judged, agreed = checked(sheet)
    notes = [
        f"People have judged {judged} sentences and agreed with the theme of {agreed}."
        if judged
        else f"Nobody has checked these themes yet: fill in `agree` in {sheet.name}."
    ]
    rows = [
        PaperRow(
            label=f"paper: {row}",
            cells=tuple(TableCell(published=theirs(paper, row, arm)[0]) for arm in ARMS),
        )
        for row in paper.rows
    ]
    for theme in themes:
        quotes = " / ".join(f"“{quote}”" for quote in theme.quotes)
        rows.append(
            PaperRow(
                label=f"ours ({'+' if theme.positive else '−'}): {theme.name}",
                cells=tuple(TableCell(ours=float(theme.clients.get(arm, 0))) for arm in ARMS),
                test=quotes,
            )
        )
    return PaperTable(
        id="table_5",
        title=paper.title,
        columns=ARMS,
        rows=tuple(rows),
        source="each client's answer to one question after the last meeting; clients who said"
        " something of the theme",
        notes=tuple(notes),
        missing=None if themes else "too few sentences for themes",
    )


def _by_client(speakers: pd.DataFrame) -> pd.DataFrame:
    """One row a run: both sides' messages and lengths, and the ratio of lengths."""
    if not len(speakers):
        return speakers
    sides = {
        role: speakers[speakers["role"] == role].set_index("run")
        for role in ("counselor", "client")
    }
    found = pd.DataFrame(
        {
            "arm": sides["client"]["arm"],
            **{f"{role}_messages": side["messages"].astype(float) for role, side in sides.items()},
            **{
                f"{role}_characters": side["characters_per_message"].astype(float)
                for role, side in sides.items()
            },
        }
    )
    return found.assign(ratio=found["counselor_characters"] / found["client_characters"])
