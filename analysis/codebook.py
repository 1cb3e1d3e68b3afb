"""What each column of the tidy tables means, and the tables as CSV, Parquet and SPSS files."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pandas as pd

from analysis.errors import ReportError
from analysis.page import csv_of, write_tables
from simcounsel.disk import write_data, write_whole
from simcounsel.packaged import packaged
from simcounsel.secret import scrub

Form = Literal["csv", "parquet", "sav"]
MEANINGS: dict[str, str] = packaged("analysis", "codebook.yaml")
"""By column, whatever the table."""


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
