"""`python -m analysis`: what the runs say, with the uncertainty."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.errors import SimcounselError

app = typer.Typer(
    name="analysis", no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Claims from runs: tables, tests, figures and one report.\n\n"
    "Begin with:  python -m analysis report runs --out report\n\n"
    "then open report/report.html. Simulated outcomes are no evidence about people.",
)
Places = Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders of runs, or runs. An experiment.json among them brings the planned tests.")]
Finished = Annotated[bool, typer.Option("--finished-only", help="Leave out runs that did not reach their world's last tick.")]


@app.command()
def report(
    places: Places,
    out: Annotated[Path, typer.Option("--out", help="Folder for report.html, report.md, figures/ and tables/; files of an earlier report are replaced.")] = Path("report"),
    cut: Annotated[str | None, typer.Option("--cut", help="What is before and what is after: days (first and last 24 hours), halves, session (the first with a counselor), fork. Default: fork if all runs are forks, else days.")] = None,
    clusters: Annotated[int | None, typer.Option("--clusters", min=2, max=30, help="So many activity clusters, in place of the elbow.")] = None,
    embed: Annotated[str | None, typer.Option("--embed", help="Model for vectors: embedded (MiniLM), scripted (hashed words), or as `simcounsel models` lists. Default: embedded, unless all runs were scripted.")] = None,
    name_with: Annotated[str | None, typer.Option("--name-with", metavar="MODEL", help="Let this model name the clusters (a paid one costs a few requests); default: the most central activity is the name.")] = None,
    ratings: Annotated[Path | None, typer.Option("--ratings", help="CSV of `python -m simcounsel rate-page --out STUDY --csv FILE`: adds the agreement of raters.")] = None,
    finished_only: Finished = False,
    shuffles: Annotated[int, typer.Option("--shuffles", min=99, max=1_000_000, help="Of each permutation test.")] = 5000,
    stories: Annotated[int, typer.Option("--stories", min=0, max=200, help="At most so many client stories.")] = 12,
) -> None:
    """Write a report on runs: design, sample, planned and exploratory tests, activities, talk, stories, cost, limits."""
    from analysis.report import Options, make
    from analysis.writing import command_line, write

    if cut not in (None, "days", "halves", "session", "fork"):
        raise typer.BadParameter(f"{cut!r} is none of days, halves, session, fork", param_hint="--cut")
    options = Options(
        cut=cut, clusters=clusters, embed=embed, name_with=name_with, ratings=ratings, finished_only=finished_only, shuffles=shuffles, stories=stories,
    )
    made = make(places, options, lambda words: typer.echo(words, err=True))
    page = write(made, out, command_line())
    for one in made.sample.excluded:
        typer.echo(f"left out: {one.run}: {one.why}", err=True)
    typer.echo(f"report         {page}")
    typer.echo(f"as text        {page.with_suffix('.md')}")
    typer.echo(f"tables         {page.parent / 'tables'} ({len(made.tables)} CSV files)")


@app.command()
def tables(
    places: Places, out: Annotated[Path, typer.Option("--out", help="Folder for the CSV files.")] = Path("tables"), finished_only: Finished = False,
) -> None:
    """Write the tidy tables of runs as CSV and nothing else: activities, talk, measurements, relations, warnings, costs, personas."""
    from analysis import tables as read
    from analysis.report import READ
    from analysis.sample import find
    from analysis.writing import write_tables

    sample = find(places, finished_only=finished_only)
    write_tables({name: getattr(read, name)(sample.logs) for name in READ}, out)
    typer.echo(f"{len(READ)} tables of {len(sample.members)} runs in {out}")


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    try:
        app()
    except SimcounselError as error:
        typer.echo(f"analysis: {error}", err=True)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
