"""`corpus rate`: a judge rates a sample of a corpus, with any scale that fits a conversation."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel import interrupts
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import (
    BudgetCalls,
    BudgetUsd,
    Fallbacks,
    InFlight,
    Judge,
    PricesFile,
    Quiet,
    Samples,
)
from simcounsel.cli.weights import console_of, fetch_weights, price_table
from simcounsel.corpus.commands import corpus

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcounsel.corpus.rating import Plan
    from simcounsel.events import Measured
    from simcounsel.llm.prices import Prices
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.specs.world_settings import FallbackLimits


@corpus.command("rate")
@asks_models
def rate(
    corpora: Annotated[
        list[Path],
        typer.Argument(
            metavar="CORPUS...", help="Corpus files, runs, written corpora, or the word `samples`."
        ),
    ],
    model: Judge,
    sample: Annotated[
        int,
        typer.Option(
            "--sample",
            min=0,
            help="So many dialogues of each corpus and condition, by theme; 0 for all.",
        ),
    ] = 50,
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            min=0,
            help="Draws the sample; a larger one with the same seed holds the smaller.",
        ),
    ] = 0,
    samples: Samples = 1,
    instrument: Annotated[
        str,
        typer.Option(
            "--instrument",
            help=(
                "A scale by name or file: an observer's, or a client's questionnaire, which the"
                " judge then answers for the client (kept apart as NAME_from_transcript). Several"
                " with commas, or the battery of a therapy, such as `cbt`."
            ),
        ),
    ] = "dialogue_quality",
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Rate once more what is rated already: a retest of the judge."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the ratings; CORPUS.ratings if not given. For one corpus only.",
        ),
    ] = None,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    fallbacks: Fallbacks = None,
    quiet: Quiet = False,
) -> None:
    """A judge rates dialogues, if nothing else is named from 1 to 10: professionalism, helpfulness,
    guidance; the client's emotion and trust.

    It sees the lines alone, at temperature 0: no names, models or conditions; of a Chinese
    dialogue it is asked in Chinese. What is rated is kept beside the corpus and not asked again, so
    that the same command goes on after Ctrl-C. Compare with: simcounsel study corpus CORPUS...
    --out report
    """
    from simcounsel.corpus.rated import calls_in
    from simcounsel.corpus.rating import plan_rating
    from simcounsel.corpus.reading import read_dialogues
    from simcounsel.instruments.sets import instruments_of
    from simcounsel.llm.budget import budget_in, check_budget

    if out is not None and len(corpora) > 1:
        raise typer.BadParameter(
            "is for one corpus; leave it out, and each gets a folder beside it", param_hint="--out"
        )
    plans = [
        plan_rating(
            one,
            read_dialogues(one),
            model,
            instrument=scale,
            size=sample or None,
            seed=seed,
            samples=samples,
            again=again,
            folder=out,
        )
        for one in corpora
        for scale in instruments_of(instrument)
    ]
    table = price_table(prices)
    check_budget(budget_usd, budget_calls, [model], table)
    models = _open_judge(model, plans, in_flight, table, quiet)
    earlier = (call for plan in plans for call in calls_in(plan.folder))
    wave = 1 if model.startswith("embedded") else None
    with _alone(plans):
        budget = budget_in(plans[0].folder, usd=budget_usd, calls=budget_calls)
        models.limit(budget, earlier)
        _rate_all(plans, models, wave, fallbacks, quiet)
    elsewhere = f" --rated {out}" if out else ""
    typer.echo(
        f"compare and draw: simcounsel study corpus {' '.join(map(str, corpora))}{elsewhere}"
        " --out report"
    )


@contextmanager
def _alone(plans: "list[Plan]") -> "Iterator[None]":
    """Nobody else rates these corpora meanwhile, or counts on their budget."""
    from simcounsel.errors import CorpusError
    from simcounsel.locks import taken

    busy = "another process rates this corpus; wait for it, or stop it first"
    with ExitStack() as held:
        for folder in dict.fromkeys(plan.folder for plan in plans):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise CorpusError(
                    f"{folder}: cannot be written ({error.strerror}); name another with --out"
                ) from None
            lock = taken(folder / "rate.lock", busy, CorpusError, "name another with --out")
            held.callback(lock.release)
        yield


def _open_judge(
    model: str, plans: "list[Plan]", in_flight: int, prices: "Prices", quiet: bool
) -> "Switchboard":
    """The judge, who is not asked again what it answered before; says so of one that is for trying
    only.
    """
    from simcounsel.corpus.rated import answered_calls
    from simcounsel.llm.catalog import open_chat, open_embed
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.runs.measurements import is_trial

    if is_trial(model):
        typer.echo(
            f"{model} model: for trying the software only; these ratings mean nothing", err=True
        )
    fetch_weights({"judge": model}, console_of(), quiet)
    chat = open_chat(model)
    return Switchboard(
        {"reason": chat, "quick": chat, "judge": chat},
        open_embed("scripted"),
        in_flight=in_flight,
        prices=prices,
        recorded={key: call for plan in plans for key, call in answered_calls(plan.folder).items()},
    )


def _rate_all(
    plans: "list[Plan]",
    models: "Switchboard",
    wave: int | None,
    fallbacks: "FallbackLimits | None",
    quiet: bool,
) -> None:
    """Rate and say the results, corpus by corpus; leaves the program where Ctrl-C stops it."""
    from simcounsel.corpus.rated import read_rated
    from simcounsel.corpus.rating import CorpusRating, result_lines
    from simcounsel.instruments.clinicians import clinicians_said

    try:
        for plan in plans:
            _announce(plan)
            rating = CorpusRating(plan)
            with _progress(plan, quiet) as advance:
                rating.measure(models, advance, wave=wave, fallbacks=fallbacks)
            for line in result_lines(plan, read_rated(plan.folder)):
                typer.echo(f"  {line}")
            typer.echo(f"  {clinicians_said(plan.scale.id, plan.judge)}")
            if rating.file:
                typer.echo(f"  kept in {rating.file}")
    except KeyboardInterrupt:
        typer.echo(
            f"stopped by {interrupts.cause()}; what was rated is kept, the same command goes on",
            err=True,
        )
        raise typer.Exit(130) from None
    finally:
        models.close()
        typer.echo(models.usage.line())


def _announce(plan: "Plan") -> None:
    from simcounsel.corpus.rated import damaged_ratings
    from simcounsel.instruments.from_transcript import is_from_transcript

    drawn = plan.drawn
    themes = ", ".join(
        f"{theme} {some} of {every}" for theme, (some, every) in drawn.themes.items()
    )
    again = f", round {plan.round + 1}" if plan.round else ""
    typer.echo(
        f"{plan.name}: {len(drawn.dialogues)} dialogues drawn, {len(plan.todo)} to rate by"
        f" {plan.judge}{again} ({themes})"
    )
    if is_from_transcript(plan.scale.id):
        typer.echo(f"  {plan.scale.id}: an observer answers for the client; no self-report")
    if drawn.left_out:
        typer.echo(
            f"  no place for {', '.join(drawn.left_out)}: --sample {len(drawn.themes)} or more"
            " reaches every theme",
            err=True,
        )
    for damage in damaged_ratings(plan.folder):
        typer.echo(f"  damaged: {damage}", err=True)
    if not plan.todo:
        typer.echo("  all of them are rated; --again rates them once more, a retest")


@contextmanager
def _progress(plan: "Plan", quiet: bool) -> "Iterator[Callable[[Measured], None]]":
    """A bar on a terminal, nothing elsewhere."""
    console = console_of()
    if quiet or not console.is_terminal or not plan.todo:
        yield lambda measured: None
        return
    from simcounsel.terminal import counting_bar

    with counting_bar(console) as bar:
        task = bar.add_task("rating", total=len(plan.todo))
        yield lambda measured: bar.advance(task)
