"""Personas of VERA-MH as safety clients: a TSV of descriptions without lines, for a model to play.

VERA-MH (github.com/SpringCare/VERA-MH) describes each persona in one row. Three forms of its file
are read, told apart by the column that says how near the danger is: `data/SI/personas.tsv` since
1.1, `data/personas.tsv` of 1.0, and `data/HFO/personas_HFO.tsv`. Columns as stored at commits
00aa336 (2.0: which files there are), dc9780e of a fork (SI), e84caba (1.0) and 07b5e6a (HFO);
nothing of their texts is here.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from simcounsel.bots.clients.client import Helper, Life, Risk, SafetyClient, Stage
from simcounsel.errors import SpecError
from simcounsel.specs.file_text import read_text
from simcounsel.specs.load import parse_spec

LEVELS: Mapping[str, Risk] = {
    "Short Current Suicide Risk Level": "suicide",
    "Current Risk Level": "suicide",
    "Harm imminence": "abuse",
}
"""Which column says how near it is, and of what."""
NONE, BETWEEN, NEAREST = ("none", "n/a"), ("low", "high", "non-imminent"), ("immediate", "imminent")
"""How a cell of such a column begins where there is no danger, where there is, where it is nearest.
"""
HELPS: Mapping[Risk, tuple[Helper, ...]] = {"suicide": ("line", "doctor"), "abuse": ("line",)}
"""Whose help is right, by our reading; the emergency number beside them where it is nearest."""
SHOWN_ELSEWHERE = ("Name", "Short Current Suicide Risk Level")
GENDERS = {"woman": "woman", "man": "man", "she/her": "woman", "he/him": "man"}
SEEDS = {"Sample Prompts", "Final Seed Phrase"}
"""What such a person might write: to be taken as a manner, never word for word."""


class DescribedClient(SafetyClient):
    """A safety client of whom there is a description and no lines: only a model can play one. What
    a line gives away is not known, so that no check that goes by it applies.
    """

    described: ClassVar[bool] = True
    persona: Annotated[str, Field(min_length=1, max_length=8000)]
    """The whole description, one trait a line."""
    listed: str
    """The name in the file."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        return self  # no stages, and without risks there is nobody whom it is like

    def check_player(self, by_model: bool) -> None:
        """SpecError where no model plays."""
        if not by_model:
            raise SpecError(
                [
                    f"{self.id}: {self.listed!r} is a description without lines, which a file"
                    " cannot play; name a model that plays the clients: --client-model MODEL"
                ]
            )


def read_personas(file: Path) -> Iterator[DescribedClient]:
    """The personas of a TSV of VERA-MH, in its order. SpecError names every problem."""
    problems: list[str] = []
    for at, (line, row) in enumerate(tsv_rows(file, ("Name", "Age"))):
        column = next((one for one in LEVELS if one in row), None)
        if column is None:
            known = "; ".join(LEVELS)
            raise SpecError([f"{file}:1: no column says how near the danger is; known: {known}"])
        if not row[column].casefold().startswith(begins := (*NONE, *BETWEEN, *NEAREST)):
            begun = f"{row[column][:40]!r}; it begins with one of {', '.join(begins)}"
            problems.append(f"{file}:{line}: {row['Name']}: {column}: {begun}")
            continue
        try:
            yield parse_spec(_client(row, column), DescribedClient, file, {(at,): line}, at)
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)


def tsv_rows(file: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a TSV with a head, cells by column, each with the line on which it begins.
    SpecError where a needed column is missing, a row has more cells than columns, or it is empty.
    """
    reader = csv.reader(io.StringIO(read_text(file), newline=""), delimiter="\t")
    heads = [one.strip() for one in next(reader, [])]
    if missing := [one for one in needed if one not in heads]:
        said = ", ".join(filter(None, heads))[:200] or "nothing"
        raise SpecError([f"{file}:1: no column {missing[0]!r}; is it a TSV? There is: {said}"])
    begins = reader.line_num + 1
    count = 0
    for cells in reader:
        line, begins = begins, reader.line_num + 1
        if any(cell.strip() for cell in cells[len(heads) :]):
            found = f"{len(cells)} cells under {len(heads)} columns"
            raise SpecError([f"{file}:{line}: {found}; take the tabs out of its texts"])
        if any(cell.strip() for cell in cells):
            count += 1
            padded = [*(cell.strip() for cell in cells), *[""] * len(heads)]
            yield line, {head: cell for head, cell in zip(heads, padded, strict=False) if head}
    if not count:
        raise SpecError([f"{file}:2: no row below the columns; is it the right file?"])


def _client(row: Mapping[str, str], column: str) -> dict[str, Any]:
    level, risk, name = row[column].casefold(), LEVELS[column], row["Name"]
    risks = () if level.startswith(NONE) else (risk,)
    near: tuple[Helper, ...] = ("emergency",) if level.startswith(NEAREST) else ()
    called = name if name[:1].isalpha() else f"Person {name}"
    friend = "Robin" if called == "Sam" else "Sam"  # the file names nobody
    return {
        "id": f"vera-{re.sub(r'[^a-z0-9]+', '-', name.casefold()).strip('-')}",
        "listed": name,
        "name": called,
        "age": _age(row["Age"]),
        "gender": _gender(row),
        "language": "en",
        "locale": "en-US",  # the help lines that its rubrics name
        "risks": risks,
        "persona": _described(row),
        "life": Life(work="work", friend=friend, friend_is="a friend"),
        "helps": (*near, *HELPS[risk]) if risks else (),
        "stages": (_stage(),),
        "eased": ("Things are a bit better.", "I talked with somebody."),
        "good": "What VERA-MH's rubric asks of a chat bot; read it there.",
        "faults": ("What VERA-MH's rubric counts as harm; read it there.",),
    }


def _stage() -> Stage:
    """Words that give nothing away: of one played by a model nobody hears them."""
    return Stage(
        level="none",
        opens=("I would like to write to somebody.",),
        says=("I am not sure how to put it.", "I do not know what else to say."),
    )


def _described(row: Mapping[str, str]) -> str:
    lines = [
        f"{head}{' (a manner, not to be repeated)' if head in SEEDS else ''}: {cell}"
        for head, cell in row.items()
        if cell and head not in SHOWN_ELSEWHERE
    ]
    return "\n".join(lines)


def _age(cell: str) -> int | str:
    """The middle of a band in years, such as 18-29; its beginning where it is open."""
    years = [int(one) for one in re.findall(r"\d+", cell)]
    return sum(years) // len(years) if years else cell


def _gender(row: Mapping[str, str]) -> str:
    told = row.get("Gender") or row.get("Pronouns") or ""
    words = re.findall(r"[a-z/]+", told.casefold())
    return next((GENDERS[one] for one in words if one in GENDERS), "not told")
