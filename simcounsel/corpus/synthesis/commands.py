"""The command `synthesize`, and what `resume`, `fork` and `show` do with a
synthesis.
"""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simcounsel.cli.asking import asks_models
from simcounsel.cli.dry import say_run
from simcounsel.cli.going_on import (
    make_ready,
    next_step,
    rewound,
    say_damages,
    say_dropped,
    to_the_end,
)
from simcounsel.cli.options import (
    BudgetCalls,
    BudgetUsd,
    DryRun,
    InFlight,
    Model,
    Out,
    PricesFile,
    Quiet,
    changes_of,
)
from simcounsel.cli.weights import console_of, fetch_weights, price_table
from simcounsel.corpus.dialogues import LANGUAGES
from simcounsel.corpus.synthesis.kind import SYNTHESIS
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.settings import Synthesis
from simcounsel.corpus.synthesis.settings_file import settings_from

if TYPE_CHECKING:
    from rich.console import Console

    from simcounsel.llm.prices import Prices


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
                "What the supporter knows from the beginning; `show RUN --strategies --out FILE`"
                " writes such a file."
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

    An extractor makes a file of each situation. A seeker opens up stage by stage, and a supporter
    answers. An evaluator judges each answer by nine qualities, a corrector revises it, and a
    manager keeps what was learned.

    Begin with:  simcounsel synthesize --sessions 4

    Your own:    simcounsel synthesize my-situations.txt --model http://localhost:11434/v1/llama3.1

    Then:        simcounsel view runs/RUN      (the drafts, critiques and revisions)

                 simcounsel export runs/RUN --format trl -o corpus

    Ctrl-C loses nothing: `resume` goes on, and replies that came are used again.
    """
    from simcounsel.engine.opening import begin_record, check_roles

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
        say_run(settings, settings.waves, out, table, SYNTHESIS)
        return
    make_ready(
        settings,
        lambda ready: check_roles(ready.model_names()),
        quiet=quiet,
        budget_usd=budget_usd,
        budget_calls=budget_calls,
        prices=table,
    )
    record = begin_record(SynthesisRecord, settings, out)
    write(record, None, quiet, in_flight, budget_usd, budget_calls, table, console_of())


def resume(
    run: Path, *, again_from: int | None, ticks: int | None, human: list[str] | None, **more: Any
) -> None:
    """`resume` of a synthesis, after the last complete wave; ticks are waves."""
    _nobody_sits(run, human)
    record = SynthesisRecord.open(run)
    if rewound(record, again_from, ticks):
        _write_on(record, ticks, **more | {"prices": price_table(more["prices"])})


def fork(
    run: Path,
    *,
    at: int,
    sets: list[str] | None,
    out: Path,
    ticks: int | None,
    human: list[str] | None,
    **more: Any,
) -> None:
    """`fork` of a synthesis: the same waves before `at`, others from there on."""
    from simcounsel.corpus.synthesis.workshop import fork as fork_record

    more["prices"] = price_table(more["prices"])
    _nobody_sits(run, human)
    record = fork_record(SynthesisRecord.open(run), at, changes_of(sets), out)
    _write_on(record, ticks, **more)


def _nobody_sits(run: Path, human: list[str] | None) -> None:
    """BadParameter where a human is to take turns; nothing was made or moved then."""
    if human:
        raise typer.BadParameter(
            f"{run} is a synthesis: nobody lives in it whose turns a human could take; leave"
            " --human out, or take part in a world with `simcounsel run WORLD --human NAME`",
            param_hint="--human",
        )


def show(
    run: Path,
    *,
    conversation: str | None,
    strategies: bool,
    tick: int | None,
    out: Path | None,
    **asked: object,
) -> None:
    """`show` of a synthesis; ticks are waves."""
    from simcounsel.corpus.synthesis.account import account_lines, session_lines
    from simcounsel.runs.verifying import checked

    if strategies:
        _show_strategies(SynthesisRecord.open(run), tick, out)
        return
    for option in ("who", "recall", "tick", "search"):
        if (asked | {"tick": tick})[option] is not None:
            raise typer.BadParameter(
                "nobody lives in a synthesis; use --conversation N", param_hint=f"--{option}"
            )
    record = checked(SynthesisRecord.open(run, damaged=True))
    say_damages(record)
    lines = account_lines(record) if conversation is None else session_lines(record, conversation)
    for line in lines:
        typer.echo(line)


def _show_strategies(record: SynthesisRecord, wave: int | None, out: Path | None) -> None:
    """What the supporter has learned, and when; or a file of those that it carries."""
    from simcounsel.corpus.synthesis.strategies import strategies_yaml, strategy_lines
    from simcounsel.disk import write_text
    from simcounsel.errors import CorpusError

    if out is None:
        for line in strategy_lines(record, wave):
            typer.echo(line)
        return
    try:
        write_text(out, strategies_yaml(record, wave))
    except OSError as error:
        raise CorpusError(f"{out}: cannot be written ({error.strerror})") from None
    typer.echo(f"wrote {out}")


def _write_on(
    record: SynthesisRecord,
    waves: int | None,
    *,
    quiet: bool,
    in_flight: int,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: "Prices",
    **_: object,
) -> None:
    console = console_of()
    fetch_weights(record.manifest.models, console, quiet)
    write(record, waves, quiet, in_flight, budget_usd, budget_calls, prices, console)


def write(
    record: SynthesisRecord,
    waves: int | None,
    quiet: bool,
    in_flight: int,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: "Prices",
    console: "Console",
) -> None:
    """Write sessions at the terminal, then say what came of it and how to go on."""
    from simcounsel.corpus.synthesis.progress import progress
    from simcounsel.corpus.synthesis.workshop import Workshop
    from simcounsel.engine.opening import models_for

    plain = quiet or not console.is_terminal
    typer.echo(f"{record.folder}: Ctrl-C stops, `simcounsel resume` goes on")

    def going() -> str | None:
        with progress(console, record.settings, plain) as watching:
            workshop = Workshop(
                record,
                models=models_for(record, in_flight=in_flight, prices=prices),
                budget_usd=budget_usd,
                budget_calls=budget_calls,
                on_line=watching.on_line,
                on_wave=watching.on_wave,
            )
            watching.begin(workshop)
            say_dropped(record, plain, console)
            workshop.run(waves)
            return workshop.stopped_because

    unfinished = "the unfinished wave is written again on resume, from the replies that came"
    to_the_end(record, going, partial(_closing, record), unfinished)


def _closing(record: SynthesisRecord, stopped: str | None) -> None:
    """What came of it, and the commands to go on."""
    from simcounsel.corpus.synthesis.account import account_lines, checks_line

    for line in account_lines(record):
        typer.echo(line)
    if record.ticks_done():
        typer.echo(checks_line(record))
    if stopped:
        typer.echo(f"stopped        {stopped}")
    next_step(record, stopped)


def language_doubt(settings: Synthesis) -> str | None:
    """What does not fit where situations are in another language than is written, in words with the
    remedy; None when nothing is in doubt.
    """
    from simcounsel.corpus.checks.language import language_of

    wanted = LANGUAGES.get(settings.language.casefold())
    if wanted != "en" and "embedded" in settings.models.resolved().values():
        return (
            f"language {settings.language}: the embedded model writes English only; name another"
            " model, or expect a mixture"
        )
    seen = Counter(
        found for found in (language_of(one.text) for one in settings.situations) if found
    )
    if not seen or wanted is None:
        return None
    most, count = seen.most_common(1)[0]
    if most == wanted or count * 2 < len(settings.situations):
        return None
    names = {code: name.capitalize() for name, code in LANGUAGES.items()}
    return (
        f"{count} of {len(settings.situations)} situations look {names.get(most, most)}, and the"
        f" language is {settings.language}: the dialogues will be a mixture; --language"
        f" {names.get(most, most)}, with a model that writes it, avoids that"
    )
