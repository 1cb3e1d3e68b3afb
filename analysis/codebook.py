"""What each column of the tidy tables means, and the tables as CSV, Parquet and SPSS files."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pandas as pd

from analysis.experiment import ReportError
from analysis.page import csv_of, write_tables
from simcounsel.disk import write_data, write_whole
from simcounsel.secret import scrub

Form = Literal["csv", "parquet", "sav"]
MEANINGS = {
    "run": "Name of the run's folder; the key of all tables",
    "world": "Name of the world",
    "condition": "Condition of the world: who is present",
    "arm": "Condition of the experiment; without one, of the world",
    "seed": "Seed of the run; runs of a client with other seeds are its repeated measurements",
    "parent": "Run that this one was forked from; empty for none",
    "pair": "Runs with the same value are counterparts in other arms",
    "shared_past": "Whether the runs of a pair are forks of one past",
    "client": "The client; the unit of inference",
    "role": "Part in the world: client, counselor, layperson (a friend or neighbor)",
    "tick": "Number of the tick, from 0",
    "minute": "Minutes since midnight of the world's first day",
    "day": "Day of the world, from 0",
    "activity": "What was done in this tick, in words",
    "kind": "Kind of the activity; of outcomes: change or level",
    "place": "Where",
    "emotion": "Emotion in which the tick ended, or of the line",
    "intensity": "Its strength, 1 to 10",
    "reason": "Why a value is missing; empty where none is",
    "chat": "Number of the conversation in the run",
    "cause": "Why it began: an appointment, or a meeting; of warnings: what went wrong",
    "message": "Number of the line in the conversation, from 0",
    "speaker": "Who said the line",
    "other": "To whom, or about whom",
    "other_role": "The part of the other",
    "text": "The line",
    "characters": "Its length in characters",
    "source": "Where it comes from: generated, chosen, a fallback; of scores: log, or rated later",
    "move": "What the speaker's policy had decided to do",
    "instrument": "Identifier of the scale",
    "version": "Version of the scale; of personas: number of the version",
    "score": "Name of the score; total is the whole scale",
    "point": "When it was asked: baseline, end, after session 2, ...",
    "value": "The score; of outcomes the change since the first point, or the level; of steps, too",
    "band": "Band of severity, where the scale has any",
    "items_used": "Items that were answered",
    "items": "Items that were asked",
    "items_not_applicable": "Items that do not apply, as the scale allows",
    "items_missing": "Items without a usable answer",
    "made": "complete, partial (prorated), incomplete, or not applicable",
    "respondent": "Who answered: self (simulated), human (a person in the seat), observer, ...",
    "judge": "Model that answered",
    "trial": "Number of the retest, from 1",
    "damaged": "Whether the run is damaged and this is what could be read",
    "who": "Whom the row is about",
    "before": "Closeness before, 0 to 10",
    "after": "Closeness after, 0 to 10",
    "why": "Why it changed, in words",
    "purpose": "What the model was asked for",
    "model": "Model that was asked",
    "calls": "Requests",
    "tokens_in": "Tokens sent",
    "tokens_out": "Tokens received",
    "cost_usd": "US dollars; empty where a price is not known",
    "latency_s": "Seconds that answers took, in sum",
    "fallbacks": "Answers that could not be used and were replaced by a fallback",
    "background": "Who the person is, at that time",
    "characteristic": "How the person comes across, at that time",
    "recent_feeling": "How it has felt of late, at that time",
    "baseline": "The score at the first point",
    "last": "The score at the last point",
    "step": "Of a change: adjacent (from one point to the next) or whole (first to last)",
    "origin": "The point from which a change is counted",
    "times": "Measurements averaged into one point, at most",
}
"""By column, whatever the table; at most 255 characters, as SPSS has it."""


def codebook(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row a table and column: its meaning, type, and for words that repeat the values."""
    rows = []
    for name, table in tables.items():
        for column in table:
            values = table[column].dropna()
            words = sorted({str(value) for value in values.unique()}) if len(values) else []
            number = pd.api.types.is_numeric_dtype(table[column])
            rows.append(
                {
                    "table": name,
                    "column": column,
                    "meaning": MEANINGS.get(str(column), ""),
                    "type": "number" if number else "text",
                    "missing": int(table[column].isna().sum()),
                    "range": f"{values.min():g} to {values.max():g}"
                    if number and len(values)
                    else "",
                    "values": "; ".join(words) if not number and len(words) <= 20 else "",
                }
            )
    return pd.DataFrame(rows)


def write_tidy(tables: Mapping[str, pd.DataFrame], out: Path, forms: Iterable[Form]) -> None:
    """NAME.csv, NAME.parquet, NAME.sav (SPSS), and codebook.csv. ReportError when a file cannot be
    written or a package is missing.
    """
    book = codebook(tables)
    for form in forms:
        try:
            if form == "csv":
                write_tables(tables, out)
            else:
                out.mkdir(parents=True, exist_ok=True)
                for name, table in tables.items():
                    _write(table, out / f"{name}.{form}", form)
        except ImportError as error:
            raise ReportError(
                f"--format {form} needs the package {error.name}; pip install {error.name}"
            ) from None
        except OSError as error:
            raise ReportError(f"{out}: cannot be written ({error}); choose another --out") from None
    write_whole(out / "codebook.csv", csv_of(book))


def _text(value: object) -> str | None:
    """Without keys, and without half characters, which neither Parquet nor SPSS can hold."""
    return None if value is None else scrub(str(value)).encode("utf-8", "replace").decode("utf-8")


def _write(table: pd.DataFrame, file: Path, form: Form) -> None:
    plain = table.copy()
    for column in plain:
        if not pd.api.types.is_numeric_dtype(plain[column]):
            plain[column] = plain[column].astype("object").where(plain[column].notna(), None)
            plain[column] = plain[column].map(_text)
    if form == "parquet":
        write_data(file, plain.to_parquet(index=False))
        return
    import pyreadstat

    labels: dict[str, str | None] = {
        str(column): MEANINGS.get(str(column), "")[:255] for column in plain
    }
    for column in plain:  # a column without any value has no type that SPSS knows
        if plain[column].isna().all():
            plain[column] = plain[column].astype("object").map(lambda _: "")
    with TemporaryDirectory() as folder:  # it writes to a path alone
        made = Path(folder) / file.name
        pyreadstat.write_sav(plain, str(made), column_labels=labels, file_label="simcounsel")
        write_data(file, made.read_bytes())
