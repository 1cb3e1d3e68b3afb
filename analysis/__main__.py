"""`python -m analysis`: what runs and corpora say, with the uncertainty."""

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from simcounsel.argument_help import Explaining
from simcounsel.entry import start

app = typer.Typer(
    name="analysis",
    cls=Explaining,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Claims from runs: tables, tests, figures and one report.\n\nBegin with:  python -m"
        " analysis report runs --out report\n\nthen open report/report.html; or, for training data:"
        "  python -m analysis corpus samples --out quality\n\nSimulated outcomes are no evidence"
        " about people."
    ),
)
Cut = Literal["days", "halves", "session", "fork"]
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
            " (the first with a counselor), fork."
        ),
    ),
]
Clusters = Annotated[
    int | None,
    typer.Option(
        "--clusters", min=2, max=30, help="This number of activity clusters, not the elbow."
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
            "CSV of `python -m simcounsel rate-page --out STUDY --csv FILE`: adds what people said"
            " by condition, and how far raters agree; may be given again."
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
Judge = Annotated[
    str | None, typer.Option("--judge", help="Only what this model rated; all judges if not given.")
]


@app.callback()
def _begin() -> None:
    """Several commands, so that `report` is a word to be typed."""


@app.command()
def report(
    places: Places,
    out: Out = Path("report"),
    cut: CutAt = "days",
    clusters: Clusters = None,
    embed: Embedding = None,
    name_with: NameWith = None,
    ratings: Ratings = None,
    finished_only: Finished = False,
    damaged: Damaged = False,
    shuffles: Annotated[
        int,
        typer.Option(
            "--shuffles", min=99, max=1_000_000, help="Of each exploratory permutation test."
        ),
    ] = 5000,
    stories: Annotated[
        int, typer.Option("--stories", min=0, max=200, help="The largest number of client stories.")
    ] = 12,
) -> None:
    """Write a report on runs: design, sample, planned and exploratory tests, activities, talk,
    stories, cost, limits.
    """
    if cut not in CUTS:
        raise typer.BadParameter(f"{cut!r} is none of {', '.join(CUTS)}", param_hint="--cut")
    from analysis.page import command_line
    from analysis.report import Options, make
    from analysis.writing import write

    options = Options(
        cut=CUTS[cut],
        clusters=clusters,
        embed=embed,
        name_with=name_with,
        ratings=tuple(ratings or ()),
        finished_only=finished_only,
        damaged=damaged,
        shuffles=shuffles,
        stories=stories,
    )
    made = make(places, options, lambda words: typer.echo(words, err=True))
    page = write(made, out, command_line())
    for one in made.sample.excluded:
        typer.echo(f"left out: {one.run}: {one.why}", err=True)
    typer.echo(f"report         {page}")
    typer.echo(f"as text        {page.with_suffix('.md')}")
    typer.echo(f"tables         {page.parent / 'tables'} ({len(made.tables)} CSV files)")


@app.command()
def corpus(
    corpora: Corpora,
    out: PageOut = Path("quality"),
    ratings: Annotated[
        Path | None,
        typer.Option(
            "--ratings",
            help=(
                "CSV of `python -m simcounsel rate-page --out STUDY --csv FILE`: what people said"
                " of them."
            ),
        ),
    ] = None,
    rated: Rated = None,
    judge: Judge = None,
    embed: Annotated[
        str | None,
        typer.Option("--embed", help="Model for the spread of embeddings, such as `embedded`."),
    ] = None,
) -> None:
    """Compare corpora: five dimensions by judge and people, how far these agree, and what can be
    counted.
    """
    from analysis.corpora.comparison import Options, make
    from analysis.corpora.writing import write
    from analysis.page import command_line

    made = make(
        corpora,
        Options(ratings=ratings, rated=tuple(rated or ()), judge=judge, embed=embed),
        lambda words: typer.echo(words, err=True),
    )
    page = write(made, out, command_line())
    for note in made.notes:
        typer.echo(note, err=True)
    typer.echo(f"report         {page}")
    typer.echo(f"tables         {page.parent / 'tables'} ({len(made.tables)} CSV files)")


@app.command()
def tables(
    places: Places,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Folder for the CSV files; CSV files that are there are replaced."
        ),
    ] = Path("tables"),
    finished_only: Finished = False,
    damaged: Damaged = False,
) -> None:
    """Write the tidy tables of runs as CSV and nothing else: activities, talk, measurements,
    relations, warnings, costs, personas.
    """
    from analysis import tables as read
    from analysis.finding import find
    from analysis.page import write_tables
    from analysis.report import READ

    sample = find(places, finished_only=finished_only, damaged=damaged)
    write_tables({name: getattr(read, name)(sample.logs) for name in READ}, out)
    typer.echo(f"{len(READ)} tables of {len(sample.members)} runs in {out}")


@app.command()
def privacy(
    trainings: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUNS...",
            help="Folders of trainings, or folders of them, such as trainings/privacy.",
        ),
    ],
    out: PageOut = Path("report"),
) -> None:
    """Show what trainings are worth against what they cost in privacy, and what more sessions or
    more themes bring.
    """
    from analysis.page import command_line
    from analysis.trainings.comparison import make, write

    made = make(trainings)
    page = write(made, out, command_line())
    for words in made.doubts:
        typer.echo(words, err=True)
    typer.echo(f"report         {page}")
    typer.echo(
        f"figures        {page.parent / 'figures'} ({', '.join(made.pictures) or 'none'}; SVG and"
        " PNG)"
    )


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    start("analysis", lambda: app(), lambda _: "pip install -e '.[analysis]'")


if __name__ == "__main__":
    main()
