"""`synthesize`: six roles write a new corpus. And what `resume`, `fork` and `show` do with a
synthesis.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simcounsel.cli import app
from simcounsel.cli.asking import asks_models
from simcounsel.cli.dry import say_run
from simcounsel.cli.going_on import make_ready
from simcounsel.cli.options import (
    BudgetCalls,
    BudgetUsd,
    DryRun,
    InFlight,
    Model,
    Out,
    PricesFile,
    Quiet,
    RunFolder,
    changes_of,
)
from simcounsel.cli.synthesis_run import write
from simcounsel.cli.weights import console_of, price_table

if TYPE_CHECKING:
    from simcounsel.runs.run import SynthesisRun


@app.command()
@asks_models
def synthesize(
    seeds: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SEEDS]...",
            help=(
                "Situations: .txt (one a line), .md (one a file), .jsonl, a folder; or one .yaml"
                " with all settings. "
                "None: those that come with simcounsel."
            ),
        ),
    ] = None,
    out: Out = Path("runs"),
    model: Model = None,
    roles: Annotated[
        list[str] | None,
        typer.Option(
            "--role",
            metavar="ROLE=MODEL",
            help="A model for one role, e.g. evaluator=openai:gpt-4o; may be given again.",
        ),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option(
            "--models",
            metavar="FILE",
            help="YAML with a model for each role (default, extractor, seeker, ...).",
        ),
    ] = None,
    sessions: Annotated[
        int | None,
        typer.Option(
            "--sessions",
            min=1,
            help="So many dialogues, themes by turns; one of each situation if not given.",
        ),
    ] = None,
    wave: Annotated[
        int | None,
        typer.Option(
            "--wave",
            min=1,
            help="So many sessions at once; what they teach serves the next wave. 1: one by one.",
        ),
    ] = None,
    turns: Annotated[
        int | None,
        typer.Option(
            "--turns", min=2, max=60, help="At most so many lines of the supporter in a session."
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="ROLE",
            help="Leave out evaluator, corrector or manager; may be given again.",
        ),
    ] = None,
    themes: Annotated[
        list[str] | None,
        typer.Option("--theme", help="Only situations on this theme; may be given again."),
    ] = None,
    strategies: Annotated[
        Path | None,
        typer.Option(
            "--strategies",
            metavar="FILE",
            help=(
                "What the supporter knows from the beginning; `strategies RUN` writes such a file."
            ),
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of all draws.")] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            help="In which all is written, as an English word such as German; prompts are"
            " Chinese for Chinese, else English.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change the settings, e.g. fewest_turns=3; may be given again.",
        ),
    ] = None,
    quiet: Quiet = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    dry_run: DryRun = False,
) -> None:
    """Write a new corpus of dialogues out of situations, by six roles.

    An extractor makes a file of each situation; a seeker opens up stage by stage; a supporter
    answers; an evaluator judges each answer by nine qualities, a corrector revises it, and a
    manager keeps what was learned as strategies.

    Begin with:  simcounsel synthesize --sessions 4

    Your own:    simcounsel synthesize my-situations.txt --model http://localhost:11434/v1/llama3.1

    Then:        simcounsel view runs/RUN      (the drafts, critiques and revisions)

                 simcounsel export runs/RUN --format trl -o corpus

    Ctrl-C loses nothing: `resume` goes on, and replies that came are used again.
    """
    from simcounsel.corpus.synthesis.languages import language_doubt
    from simcounsel.engine.opening import begin_run
    from simcounsel.specs.synthesis_file import settings_from

    changes = changes_of(sets, such_as="fewest_turns=3")
    asked = {"sessions": sessions, "wave": wave, "turns": turns, "seed": seed, "language": language}
    changes |= {key: value for key, value in asked.items() if value is not None}
    settings = settings_from(
        seeds or [],
        changes,
        model=model,
        roles=changes_of(roles, "--role", "evaluator=openai:gpt-4o"),
        models=models,
        themes=themes,
        without=without,
        strategies=strategies,
    )
    of, count = len(settings.situations), settings.count
    typer.echo(
        f"{of} situation{'' if of == 1 else 's'}, {count} session{'' if count == 1 else 's'}"
    )
    doubt = language_doubt(settings)
    if doubt:
        typer.echo(doubt, err=True)
    table = price_table(prices)
    if dry_run:
        say_run(settings, None, out, table)
        return
    make_ready(
        settings, quiet=quiet, budget_usd=budget_usd, budget_calls=budget_calls, prices=table
    )
    run = begin_run(settings, out)
    write(run, None, quiet, in_flight, budget_usd, budget_calls, table, console_of())


@app.command()
def strategies(
    run: RunFolder,
    wave: Annotated[
        int | None,
        typer.Option(
            "--wave",
            min=0,
            help="As they were before this wave (the first is 0); at the end if not given.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write those that are carried, for `synthesize --strategies`.",
        ),
    ] = None,
) -> None:
    """What the supporter of a synthesis has learned, and when; written to a file it can be edited
    and used again.

    To live on from a wave without one of them:  simcounsel fork RUN --at WAVE --set dropped=[K003]
    """
    from simcounsel.corpus.synthesis.strategies_text import strategies_yaml, strategy_lines
    from simcounsel.disk import write_text
    from simcounsel.errors import CorpusError
    from simcounsel.runs.run import Run

    opened = Run.open(run)
    if out is None:
        for line in strategy_lines(opened, wave):
            typer.echo(line)
        return
    try:
        write_text(out, strategies_yaml(opened, wave))
    except OSError as error:
        raise CorpusError(f"{out}: cannot be written ({error.strerror})") from None
    typer.echo(f"wrote {out}")


def show_lines(run: "SynthesisRun", which: str | None, **asked: Any) -> Iterator[str]:
    """`show` of a synthesis."""
    from simcounsel.corpus.synthesis.account_text import account_lines, session_lines

    for option, value in asked.items():
        if value is not None:
            raise typer.BadParameter(
                "nobody lives in a synthesis; use --conversation N", param_hint=f"--{option}"
            )
    return account_lines(run) if which is None else session_lines(run, which)
