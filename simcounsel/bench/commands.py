"""`bench`: counselors compared on cases that are the same for all."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel import interrupts
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetCalls, BudgetUsd, Fallbacks, InFlight, PricesFile, Quiet
from simcounsel.cli.weights import console_of, fetch_weights, price_table
from simcounsel.specs import shipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcounsel.bench.averages import Rated
    from simcounsel.bench.benchmark import Bench
    from simcounsel.bench.folder import Manifest
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.specs.world_settings import FallbackLimits

bench = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Compare counselors on cases that are the same for all.",
)


@bench.command("cpsycoune")
@asks_models
def cpsycoune(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help=(
                "The cases, JSON: a list of topic, case, turns (role, content); `samples`: five"
                " invented ones that are included."
            ),
            callback=lambda path: shipped.of_folder(shipped.PACKAGE / "bench", path, ".json"),
        ),
    ],
    model: Annotated[
        str, typer.Option("--model", help="Who answers; `simcounsel models` lists the forms.")
    ],
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge", help="Who judges; MODEL itself if not given, and models favour themselves."
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            help=(
                "A counselor that follows it answers, and MODEL words it: socratic, supportive,"
                " unguided, single:MANUAL, staged:MANUAL, "
                "course:THERAPY (a name or a .yaml file). Without it MODEL answers alone."
            ),
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", min=1, help="So many cases, by topic; a later call may take more."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, help="Draws the sample and the intervals, and is sent to the models."
        ),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder; benches/cpsycoune-[POLICY-]MODEL if not given. The same folder goes on.",
        ),
    ] = None,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    fallbacks: Fallbacks = None,
    quiet: Quiet = False,
) -> None:
    """A model answers every line of the clients, each time after what the data's own counselor said
    before; a judge scores every reply.

    With --policy a counselor's policy decides what each reply is to do, from all that was said and
    from what it made of it, and the model words it; the safety protocol is before it. English
    and Chinese.

    Comprehensiveness 0 to 2, professionalism 0 to 3, authenticity 0 to 3, safety 0 to 1 (CPsyCounE,
    Zhang et al. 2024, in our own words). All is kept as it comes: the same command goes on after
    Ctrl-C or a crash, and nothing is paid for twice.
    """
    from simcounsel.bench.benchmark import Bench
    from simcounsel.bench.folder import Folder, calls_of, plan_bench
    from simcounsel.bench.following import following
    from simcounsel.bench.result import write_result
    from simcounsel.bench.tables import result_lines
    from simcounsel.llm.budget import budget_in, check_budget
    from simcounsel.llm.catalog import open_chat, open_embed
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.specs.policy_file import policy_named

    answering = open_chat(model)
    judging = answering if judge in (None, model) else open_chat(str(judge))
    manifest, cases = plan_bench(
        "cpsycoune", data, answering.name, judging.name, policy=policy, sample=sample, seed=seed
    )
    counselor = following(policy_named(policy), manifest.language, seed) if policy else None
    table = price_table(prices)
    check_budget(budget_usd, budget_calls, (manifest.model, manifest.judge), table)
    _warn(manifest)
    fetch_weights({"reason": manifest.model, "judge": manifest.judge}, console_of(), quiet)
    alone = any(one.startswith("embedded") for one in (manifest.model, manifest.judge))
    folder = out or Path("benches") / _name(manifest)
    with Folder(folder, manifest) as kept:
        known = kept.answered()
        sitting = Bench(kept, cases, counselor)
        typer.echo(
            f"{folder}: {len(cases)} cases, {sitting.steps // 2} replies"
            + (f"; {len(known)} requests were answered before" if known else "")
        )
        models = Switchboard(
            {"reason": answering, "quick": answering, "judge": judging},
            open_embed("scripted"),
            in_flight=1 if alone else in_flight,
            prices=table,
            recorded=known,
        )
        models.limit(budget_in(folder, usd=budget_usd, calls=budget_calls), calls_of(folder))
        rated = _sit(sitting, models, 1 if alone else None, fallbacks, quiet)
        for line in result_lines(write_result(kept, cases, rated)):
            typer.echo(line)
    typer.echo(
        f"wrote {folder}/result.json and replies.csv; compare with: simcounsel study bench"
        f" show {folder} OTHER..."
    )


def _sit(
    sitting: "Bench",
    models: "Switchboard",
    wave: int | None,
    fallbacks: "FallbackLimits | None",
    quiet: bool,
) -> "tuple[Rated, ...]":
    """All replies and judgments; leaves the program where it was stopped before the end."""
    try:
        with counting("replies and judgments", sitting.steps, quiet) as advance:
            return sitting.measure(models, advance, wave=wave, fallbacks=fallbacks)
    except KeyboardInterrupt:
        typer.echo(
            f"stopped by {interrupts.cause()}; what was answered is kept in {sitting.folder.path},"
            " the same command goes on",
            err=True,
        )
        raise typer.Exit(130) from None
    finally:
        models.close()


@bench.command("show")
def show(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER...", help="Finished benchmarks of the same data and judge."),
    ],
) -> None:
    """One finished benchmark in full; or several side by side, with the differences to the first,
    case by case.
    """
    from simcounsel.bench.folder import read_manifest
    from simcounsel.bench.protocol.comparing import comparison_lines as compared
    from simcounsel.bench.protocol.planning import BENCHMARK
    from simcounsel.bench.protocol.results import protocol_lines, read_protocol
    from simcounsel.bench.result import read_result
    from simcounsel.bench.tables import comparison_lines, result_lines
    from simcounsel.errors import BenchError

    kinds = dict.fromkeys(read_manifest(folder).benchmark for folder in folders)
    if len(kinds) > 1:
        raise BenchError(
            f"{' and '.join(kinds)}: two benchmarks; show the folders of one at a time"
        )
    if BENCHMARK in kinds:
        played = {folder: read_protocol(folder) for folder in folders}
        for line in compared(played) if len(played) > 1 else protocol_lines(played[folders[0]]):
            typer.echo(line)
        return
    results = {folder: read_result(folder) for folder in folders}
    for line in (
        comparison_lines(results) if len(results) > 1 else result_lines(results[folders[0]])
    ):
        typer.echo(line)


def _warn(manifest: "Manifest") -> None:
    """What makes the numbers worth less, before any is made."""
    from simcounsel.runs.measurements import is_trial

    names = dict.fromkeys((manifest.model, manifest.judge))
    for name in names:
        if name.startswith("embedded") and manifest.language != "English":
            typer.echo(
                f"{name}: SmolLM2 knows English only, and the clients speak {manifest.language}:"
                " what it says means nothing here",
                err=True,
            )
        elif is_trial(name):
            typer.echo(
                f"{name} model: for trying the software only; these numbers mean nothing", err=True
            )
    if len(names) == 1 and not is_trial(manifest.model):
        typer.echo(
            f"{manifest.model} judges its own replies, which models favour; name another with"
            " --judge",
            err=True,
        )


def _name(manifest: "Manifest") -> str:
    """A folder's name: of the model, of the judge if that is another, of the policy if there is
    one.
    """
    plain = [
        re.sub(r"[^\w.+-]+", "-", one).strip("-")
        for one in dict.fromkeys((manifest.model, manifest.judge))
    ]
    named = re.sub(r"[^\w.+-]+", "-", manifest.policy).strip("-") if manifest.policy else ""
    return f"cpsycoune-{f'{named}-' if named else ''}{'-judged-by-'.join(plain)}"


@contextmanager
def counting(what: str, steps: int, quiet: bool) -> "Iterator[Callable[[int], None]]":
    """A bar on a terminal, nothing elsewhere."""
    console = console_of()
    if quiet or not console.is_terminal:
        yield lambda steps: None
        return
    from simcounsel.terminal import counting_bar

    with counting_bar(console) as bar:
        task = bar.add_task(what, total=steps)
        yield lambda steps: bar.advance(task, steps)


# in this order --help lists them
from simcounsel.bench import risk_command  # noqa: E402, F401
from simcounsel.bench.protocol import command  # noqa: E402, F401
