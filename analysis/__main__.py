"""`python -m analysis`: what runs and corpora say, with the uncertainty."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from analysis.options import (
    CUTS,
    Clusters,
    Corpora,
    CutAt,
    Damaged,
    Embedding,
    Finished,
    Instruments,
    Judge,
    NameWith,
    Out,
    PageOut,
    Places,
    Rated,
    Ratings,
)
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
        "  simcounsel study corpus samples --out quality\n\nSimulated outcomes are no evidence"
        " about people."
    ),
)


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
    pdf: Annotated[
        bool,
        typer.Option("--pdf", help="Figures as PDF as well, 85 and 180 mm wide, as journals have."),
    ] = False,
    word: Annotated[
        bool, typer.Option("--word", help="Also report.docx, a Word file to write on in.")
    ] = False,
    notebook: Annotated[
        bool, typer.Option("--notebook", help="Also report.ipynb, a notebook over the tables.")
    ] = False,
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
    from analysis.report import ReportOptions, make
    from analysis.writing import write

    options = ReportOptions(
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
    page = write(made, out, command_line(), pdf=pdf, word=word, notebook=notebook)
    for one in made.sample.excluded:
        typer.echo(f"left out: {one.run}: {one.why}", err=True)
    typer.echo(f"report         {page}")
    typer.echo(f"as text        {page.with_suffix('.md')}")
    if word:
        typer.echo(f"in Word        {page.with_suffix('.docx')}")
    if notebook:
        typer.echo(f"as a notebook  {page.with_suffix('.ipynb')}")
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
                "CSV of `simcounsel study rate-page --out STUDY --csv FILE`: what"
                " people said of them."
            ),
        ),
    ] = None,
    rated: Rated = None,
    judge: Judge = None,
    instruments: Instruments = None,
    embed: Annotated[
        str | None,
        typer.Option("--embed", help="Model for the spread of embeddings, such as `embedded`."),
    ] = None,
) -> None:
    """Compare corpora: what judges and people said of them, with any instruments, how far these
    agree, and what can be counted.
    """
    from analysis.corpora.comparison import CorporaOptions, make
    from analysis.corpora.writing import write
    from analysis.page import command_line

    made = make(
        corpora,
        CorporaOptions(
            ratings=ratings,
            rated=tuple(rated or ()),
            judge=judge,
            instruments=tuple(instruments or ()),
            embed=embed,
        ),
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
            "--out", "-o", help="Folder for the files; CSV files that are there are replaced."
        ),
    ] = Path("tables"),
    forms: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help=(
                "csv, parquet, or sav (SPSS, with labels; pip install pyreadstat). May be given"
                " again; csv if not given."
            ),
        ),
    ] = None,
    finished_only: Finished = False,
    damaged: Damaged = False,
) -> None:
    """Write the tidy tables of runs and nothing else, with a codebook: outcomes, steps,
    measurements, activities, talk, relations, warnings, costs, personas. For R, SPSS, a notebook.

    Example: simcounsel study tables sweeps/counseling_effect --format csv --format parquet
    """
    from analysis.codebook import Form, write_tidy
    from analysis.reading import tidy

    wanted = forms or ["csv"]
    known: dict[str, Form] = {form: form for form in get_args(Form)}
    for form in wanted:
        if form not in known:
            raise typer.BadParameter(
                f"{form!r} is none of {', '.join(known)}", param_hint="--format"
            )
    sample, made = tidy(places, finished_only=finished_only, damaged=damaged)
    write_tidy(made, out, [known[form] for form in wanted])
    typer.echo(
        f"{len(made)} tables of {len(sample.members)} runs in {out}; codebook.csv explains them"
    )


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
