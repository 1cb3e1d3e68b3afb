"""The parts that are there, as one page, as Markdown, and their tables as CSV."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import pandas as pd

from analysis.errors import ReportError
from analysis.page import write_page
from analysis.style import Picture
from analysis.validity.part import Claim, Id, ValidityPart, keep, kept

UNMEASURED: Mapping[Id, tuple[str, tuple[str, ...]]] = {
    "talk": (
        "simcounsel study validity talk RUNS --real FILE",
        (
            "The clients talk like real ones",
            "The clients agree, open up and improve no sooner than real ones",
        ),
    ),
    "persona": (
        "simcounsel study validity persona RUNS --judge MODEL",
        ("The clients stay the persons that were written",),
    ),
    "multiverse": (
        "simcounsel study validity multiverse EXPERIMENT",
        ("The effect does not hang on wording, model, temperature or seed",),
    ),
    "audit": (
        "simcounsel study audit EXPERIMENT",
        ("The experiment's claims hold however it could as well have been made",),
    ),
    "truth": (
        "simcounsel study validity truth STUDIES",
        ("Effects that real studies found come out of the simulation",),
    ),
    "fit": (
        "simcounsel study fit SESSIONS --beside RUNS",
        ("The clients open up as real ones do",),
    ),
    "simulators": (
        "simcounsel study simulators RUNS --real FILE",
        ("Among simulators of clients, one is nearest to real talk",),
    ),
    "people": (
        "simcounsel study validity people FILE",
        ("What the models rated is what people would have rated",),
    ),
}
"""Of each part the command that measures it, and what may not be claimed before."""
_VERDICT = {
    "holds": "borne",
    "does not hold": "not borne",
    "undecided": "undecided",
    "not measured": "not measured",
}


def add(part: ValidityPart, pictures: Sequence[Picture], out: Path) -> Path:
    """Keep a part and write the page again: OUT/validity.html, .md, figures/, tables/. The page's
    path. ReportError says what cannot be written or read.
    """
    try:
        keep(part, pictures, out)
    except OSError as error:
        raise ReportError(
            f"{error.filename or out}: cannot be written ({error.strerror}); choose another --out"
        ) from None
    return write(out)


def write(out: Path) -> Path:
    """The page of all parts that lie in OUT/parts."""
    found = {id: one for id in get_args(Id) if (one := kept(out, id)) is not None}
    parts = [part for part, _ in found.values()]
    drawn = {one.id: one for _, pictures in found.values() for one in pictures}
    context = {
        "parts": parts,
        "claims": claims(parts),
        "verdict": _VERDICT,
        "toys": sorted({toy for part in parts for toy in part.toys}),
        "labels": list(dict.fromkeys(label for part in parts for label in part.labels)),
    }
    return write_page(out / "validity.html", "validity", context, drawn, _tables(parts))


def claims(parts: Sequence[ValidityPart]) -> list[tuple[Id, Claim]]:
    """Every claim with its part: measured ones, and of parts that are not there what may not be
    claimed.
    """
    there = {part.id: part for part in parts}
    listed: list[tuple[Id, Claim]] = []
    for id in get_args(Id):
        command, statements = UNMEASURED[id]
        missing = (
            Claim(statement=one, verdict="not measured", because=command) for one in statements
        )
        listed += [(id, claim) for claim in (there[id].claims if id in there else missing)]
    return listed


def _tables(parts: Sequence[ValidityPart]) -> dict[str, pd.DataFrame]:
    listed = [
        {"part": id, "claim": one.statement, "verdict": one.verdict, "because": one.because}
        for id, one in claims(parts)
    ]
    return {"claims": pd.DataFrame(listed)} | {
        table.id: pd.DataFrame([dict(zip(table.columns, row, strict=True)) for row in table.rows])
        for part in parts
        for table in part.tables
    }
