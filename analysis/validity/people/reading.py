"""Units that a model rated, some of them by people too: from a CSV, or from runs and the CSV of a
rating study.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.agreement import read_ratings
from analysis.errors import ReportError
from analysis.page import any_text
from analysis.reading import tidy
from analysis.validity.people.estimating import Units

NEEDED = ("client", "model", "people")
COLUMNS = ("score", "arm", "client", "model", "people")


@any_text
def from_csv(file: Path) -> pd.DataFrame:
    """Columns: client, model, people (empty where people rated nothing), and where there are
    several, score and arm. ReportError names what is wrong, with its line.
    """
    try:
        table = pd.read_csv(file, dtype={"client": str, "score": str, "arm": str}, index_col=False)
    except (OSError, ValueError) as error:
        raise ReportError(
            f"{file}: cannot be read ({str(error).splitlines()[0]}); a CSV with the columns"
            f" {', '.join(NEEDED)} is wanted"
        ) from None
    missing = [name for name in NEEDED if name not in table]
    if missing:
        raise ReportError(
            f"{file}:1: no column {', '.join(missing)}; there are"
            f" {', '.join(map(str, table.columns))}"
        )
    for name in ("model", "people"):
        numbers = pd.to_numeric(table[name], errors="coerce")
        wrong = table[name].notna() & numbers.isna()
        if wrong.any():
            at = int(wrong.to_numpy().argmax())
            raise ReportError(f"{file}:{at + 2}: {name} {table[name].iloc[at]!r} is no number")
        table[name] = numbers
    for name in ("client", "model"):
        if table[name].isna().any():
            at = int(table[name].isna().to_numpy().argmax())
            raise ReportError(f"{file}:{at + 2}: no {name}; only people may be left empty")
    for name in ("score", "arm"):
        table[name] = table[name].fillna("").astype(str) if name in table else ""
    return _counted(table[list(COLUMNS)], str(file))


@any_text
def from_runs(places: Sequence[Path], ratings: Sequence[Path]) -> pd.DataFrame:
    """One row a run, client and score that a model rated; people's mean where they answered a
    question of the same name about that run and client. score: 'SCORE by JUDGE'.
    """
    _, read = tidy(list(places))
    measured = read["measurements"].dropna(subset=["value"])
    by_people = pd.concat([read_ratings(file) for file in ratings], ignore_index=True)
    if not {"run", "person"} <= set(by_people.columns):
        raise ReportError(
            f"{ratings[0]}: it does not say of which runs the ratings are; write the CSV again"
        )
    keys = ["run", "person", "question"]
    means = by_people.dropna(subset=["value"]).groupby(keys)["value"].mean()
    rows = []
    for (run, client, instrument, score, judge), part in measured.groupby(
        ["run", "client", "instrument", "score", "judge"], observed=True
    ):
        for question in (str(score), str(instrument) if score == "total" else None):
            if question is not None and question in means.index.get_level_values("question"):
                rows.append(
                    {
                        "score": f"{question} by {judge}",
                        "arm": str(part["arm"].iloc[0]),
                        "client": str(client),
                        "model": float(part["value"].mean()),
                        "people": means.get((str(run), str(client), question)),
                    }
                )
    if not rows:
        asked = ", ".join(sorted(set(by_people["question"].astype(str))))
        raise ReportError(
            f"{places[0]}: no score that models rated has the name of a question that people"
            f" answered ({asked}); rate the runs with the same instrument first"
        )
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table["people"] = pd.to_numeric(table["people"], errors="coerce")
    return _counted(table, str(places[0]))


def units_of(rows: pd.DataFrame) -> Units:
    """Of the rows of one score, and of one arm."""
    return Units(
        model=rows["model"].to_numpy(dtype=float),
        people=rows["people"].to_numpy(dtype=float),
        clients=tuple(rows["client"].astype(str)),
    )


def _counted(table: pd.DataFrame, where: str) -> pd.DataFrame:
    if not table["people"].notna().any():
        raise ReportError(f"{where}: people rated nothing in it; there is nothing to go by")
    return table
