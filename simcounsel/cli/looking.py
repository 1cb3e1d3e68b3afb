"""`show`, `view`, `talk`: what happened in a run; `verify`: whether it is as it was written."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli import app, completing
from simcounsel.cli.asking import asks_models
from simcounsel.cli.going_on import of_any_kind, say_damages
from simcounsel.cli.options import BudgetCalls, BudgetUsd, Damaged, PricesFile, RunFolder
from simcounsel.cli.weights import console_of, fetch_weights, price_table

RUNS = Path("runs")
"""Where runs are written and looked for."""


@app.command()
@of_any_kind
def show(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="A run's folder, or gallery:NAME; with --search also a folder of runs.",
            autocompletion=completing.runs,
        ),
    ],
    who: Annotated[
        str | None,
        typer.Option(
            "--who", help="A resident: one day of theirs; with --search, what they remember."
        ),
    ] = None,
    day: Annotated[
        int, typer.Option("--day", min=0, help="Which day, for --who; the first is 0.")
    ] = 0,
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation", metavar="N", help="A conversation, by number from 1 or by id."
        ),
    ] = None,
    recall: Annotated[
        str | None,
        typer.Option("--recall", metavar="NAME", help="What came to somebody's mind, and why."),
    ] = None,
    tick: Annotated[
        int | None,
        typer.Option(
            "--tick", min=0, help="Which tick, for --recall; the last recall if not given."
        ),
    ] = None,
    doubts: Annotated[
        bool,
        typer.Option(
            "--doubts",
            help="With --conversation: also where words might have meant danger and were judged not"
            " to.",
        ),
    ] = False,
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="WORDS",
            help="The memories nearest in meaning to these words, of one run or a folder of runs."
            " The first search makes an index beside the run.",
        ),
    ] = None,
    strategies: Annotated[
        bool,
        typer.Option(
            "--strategies",
            help="Of a synthesis: what its supporter learned, and when; with --tick as of before"
            " that wave.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="With --strategies: a file for `synthesize`."
        ),
    ] = None,
) -> None:
    """Show a run in the terminal: its summary, a day, a talk, a recall, a search.

    Of a damaged run it shows what can be read, and says so.
    """
    if strategies or out is not None:
        raise typer.BadParameter(
            f"{run} is a run of a world; a synthesis has strategies", param_hint="--strategies"
        )
    if search is not None:
        from simcounsel.cli.searching import nearest_lines

        for line in nearest_lines(run, search, who):
            typer.echo(line)
        return
    from simcounsel.instruments.safety_moves import dangers_in_files, files_text
    from simcounsel.runs import as_text
    from simcounsel.runs.summary import summary_lines
    from simcounsel.runs.verifying import open_checked

    opened = open_checked(run, damaged=True)
    say_damages(opened)
    if conversation is not None:
        lines = as_text.conversation_lines(opened, conversation, doubts=doubts)
    elif recall is not None:
        lines = as_text.recall_lines(opened, recall, tick)
    elif who is not None:
        lines = as_text.day_lines(opened, who, day)
    else:
        lines = summary_lines(opened, lambda world: files_text(dangers_in_files(world)))
    for line in lines:
        typer.echo(line)


@app.command()
@asks_models
def view(
    runs: Annotated[
        Path,
        typer.Argument(
            metavar="RUNS",
            help="A run's folder, a folder of runs, or gallery:NAME.",
            autocompletion=completing.runs,
        ),
    ] = RUNS,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write the run into one file, to be opened without a server.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="Any other address than this machine's own demands a token, which is printed.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")
    ] = 8765,
) -> None:
    """Look at runs in a browser: talks, days, scores, memories, prompts.

    Follows a run that is still being written. Ctrl-C stops.
    Example: simcounsel view runs/RUN --html day.html
    """
    from simcounsel.viewer.interviews import interview_routes
    from simcounsel.viewer.run_list import RunList
    from simcounsel.viewer.serve import serve

    run_list = RunList(runs, may_lack=runs == RUNS)
    if html is not None:
        from simcounsel.viewer.bundle import write_bundle

        if run_list.only is None:
            raise typer.BadParameter(
                f"{runs} is a folder of runs; name one of them", param_hint="--html"
            )
        for left_out in write_bundle(run_list.log(run_list.only), html):
            typer.echo(f"left out: {left_out}", err=True)
        for problem in run_list.log(run_list.only).problems():
            typer.echo(problem, err=True)
        typer.echo(f"wrote {html} ({html.stat().st_size / 1e6:.1f} MB)")
        return
    if not run_list.names():
        typer.echo(f"no runs in {runs} yet; the page shows the gallery")
    serve(
        run_list,
        host=host,
        port=port,
        path=f"/run/{run_list.only}" if run_list.only else "/",
        more=interview_routes(run_list),
        say=lambda address: typer.echo(f"open {address}   (Ctrl-C stops)"),
    )


@app.command()
def demo(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 0,
    browser: Annotated[
        bool, typer.Option(help="Open the page in the browser of this machine.")
    ] = True,
) -> None:
    """Look at a finished run in the browser, with a tour of four steps.

    Needs no model and no network.

    Ctrl-C stops. Example: simcounsel demo
    """
    import webbrowser
    from threading import Thread

    from simcounsel.viewer.interviews import interview_routes
    from simcounsel.viewer.run_list import RunList
    from simcounsel.viewer.serve import serve

    def opened(address: str) -> None:
        typer.echo(f"open {address}   (Ctrl-C stops)")
        typer.echo("next, a run of your own: simcounsel run insomnia --ticks 24")
        if browser:
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    run_list = RunList(RUNS, may_lack=True)
    path = "/run/gallery:first-days#tour=1"
    serve(
        run_list,
        host="127.0.0.1",
        port=port,
        path=path,
        more=interview_routes(run_list),
        say=opened,
    )


@app.command()
@asks_models
def talk(
    run: RunFolder,
    who: Annotated[str, typer.Option("--who", metavar="NAME", help="The resident to ask.")],
    at: Annotated[
        int | None,
        typer.Option(
            "--at",
            metavar="TICK",
            help="As of the end of this tick; the last complete one if not given.",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Who answers, in place of the run's own model.")
    ] = None,
    damaged: Damaged = False,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
) -> None:
    """Interview somebody in a run, as of a moment of it.

    An empty line or Ctrl-D ends. Questions may come through a pipe, one a line. The interview is
    kept in RUN/interviews and changes nothing else. A budget is for all interviews of this run
    together.
    """
    from simcounsel.llm.budget import budget_of
    from simcounsel.measuring import interview
    from simcounsel.measuring.interview_files import earlier_calls
    from simcounsel.measuring.models import open_models, roles
    from simcounsel.policies.listening import word_to_human
    from simcounsel.runs.verifying import open_checked
    from simcounsel.safety.help import notice

    opened = open_checked(run, damaged=damaged)
    say_damages(opened)
    sitting = interview.Interview.begin(opened, who, at, model)
    fetch_weights(roles(opened, sitting.head["model"]), console_of(), quiet=True)
    settings = opened.world.language, opened.world.safety.locale
    for line in interview.introduction(sitting):
        typer.echo(line)
    typer.echo(f"\n{notice('before', *settings)}\n")
    models = open_models(opened, sitting.head["model"], price_table(prices))
    budget = budget_of(usd=budget_usd, calls=budget_calls)
    models.limit(budget, earlier_calls(opened.folder))
    try:
        for question in _questions():
            if word := word_to_human(question, "", *settings):
                typer.echo(f"\n{word}\n")
            try:
                answered = sitting.ask(question, models)
            except ValueError as error:
                typer.echo(f"({error})", err=True)
                continue
            typer.echo(f"{sitting.head['who']}: {answered['answer']}")
            if answered["problem"]:
                typer.echo(
                    f"(the model gave no usable answer: {answered['problem']}; this line is in"
                    " for one)",
                    err=True,
                )
    except KeyboardInterrupt:
        typer.echo("")
    finally:
        models.close()
    typer.echo(f"kept in {sitting.file}" if sitting.file else "nothing was asked; nothing is kept")


def _questions() -> Iterator[str]:
    """What is typed, up to an empty line or Ctrl-D; or the lines of a pipe."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if line.strip():
                typer.echo(f"you: {line.strip()}")
                yield line
        return
    import contextlib

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (line editing and history in `input`)
    with contextlib.suppress(EOFError):
        while question := input("you: ").strip():
            yield question
    typer.echo("")


@app.command()
def verify(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Runs' folders, folders of runs, as of a sweep, or CORPUS.ratings.",
        ),
    ],
) -> None:
    """Check that runs are as they were written, and name file and line where not.

    Each tick's end carries a hash over its lines and the tick before; the first begins from the
    world, its people, seed and prompts. The rest of the manifest has a digest. Calls and vectors
    that events rest on must be there. Calls and what was measured afterwards carry digests. A tick
    or a rating that was not finished is no damage. Nothing is changed. Exit code 1 if any run is
    damaged or of another log version.
    """
    from simcounsel.runs.verifying import verdicts_in

    damaged = 0
    for verdict in (verdict for place in runs for verdict in verdicts_in(place)):
        damaged += bool(verdict.damages)
        for line in verdict.lines():
            typer.echo(line)
    if damaged:
        raise typer.Exit(1)
