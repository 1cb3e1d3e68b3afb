"""What the commands take, in the words of their --help."""

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

Cut = Literal["days", "halves", "session", "meeting", "fork"]
CUTS: dict[str, Cut] = {name: name for name in get_args(Cut)}
Places = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUNS...",
        help="Folders of runs, or runs. An experiment.json among them brings the planned tests.",
    ),
]
Finished = Annotated[
    bool,
    typer.Option(
        "--finished-only", help="Leave out runs that did not reach their world's last tick."
    ),
]
Damaged = Annotated[
    bool,
    typer.Option(
        "--damaged", help="Count what can be read of damaged runs, and say so at the beginning."
    ),
]
PageOut = Annotated[
    Path,
    typer.Option(
        "--out", "-o", help="Folder for report.html, figures/ and tables/, or the page's own path."
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        help=(
            "Folder for report.html, report.md, figures/ and tables/; an earlier report there is"
            " replaced."
        ),
    ),
]
CutAt = Annotated[
    str,
    typer.Option(
        "--cut",
        help=(
            "What is before and what after: days (the first and last 24 hours), halves, session"
            " (the first with a counselor), meeting (the first with anybody), fork."
        ),
    ),
]
Clusters = Annotated[
    int | None,
    typer.Option(
        "--clusters", min=2, max=30, help="This number of activity clusters, not as many as agree."
    ),
]
Embedding = Annotated[
    str | None,
    typer.Option(
        "--embed",
        help=(
            "Model for vectors: embedded (MiniLM), scripted (hashed words), or one that `simcounsel"
            " models` lists. Default: embedded, unless all runs were scripted."
        ),
    ),
]
NameWith = Annotated[
    str | None,
    typer.Option(
        "--name-with",
        metavar="MODEL",
        help=(
            "Let this model name the clusters (one request each; a paid model costs money). "
            "Default: the most central activity is the name."
        ),
    ),
]
Ratings = Annotated[
    list[Path] | None,
    typer.Option(
        "--ratings",
        help=(
            "CSV of `simcounsel study rate-page --out STUDY --csv FILE`: adds what"
            " people said by condition, and how far raters agree; may be given again."
        ),
    ),
]

Corpora = Annotated[
    list[Path],
    typer.Argument(
        metavar="CORPUS...",
        help=(
            "Corpus files, runs, syntheses, folders of them, or `samples`. One with several"
            " conditions is split by them."
        ),
    ),
]
Rated = Annotated[
    list[Path] | None,
    typer.Option("--rated", help="A folder that `corpus rate --out` wrote; may be given again."),
]
Instruments = Annotated[
    list[str] | None,
    typer.Option(
        "--instrument",
        help=(
            "Only what was rated with it, by name or file; may be given again. All that were rated"
            " if not given."
        ),
    ),
]
Judge = Annotated[
    str | None, typer.Option("--judge", help="Only what this model rated; all judges if not given.")
]
