"""`bench`: counselors compared on cases that are the same for all; the detector of danger measured on labelled lines."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.cli import app
from simcounsel.cli.options import InFlight, PricesFile, Quiet
from simcounsel.cli.weights import console_of, fetch_weights, price_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcounsel.bench.folder import Manifest

bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Compare counselors on cases that are the same for all.")
app.add_typer(bench, name="bench")


@bench.command("cpsycoune")
def cpsycoune(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The cases, JSON: a list of topic, case, turns (role, content).")],
    model: Annotated[str, typer.Option("--model", help="Who answers; `simcounsel models` lists the forms.")],
    judge: Annotated[str | None, typer.Option("--judge", help="Who judges; MODEL itself if not given, and models favour themselves.")] = None,
    sample: Annotated[int | None, typer.Option("--sample", min=1, help="So many cases, by topic; a later call may take more.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws the sample and the intervals, and is sent to the models.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="Folder; benches/cpsycoune-MODEL if not given. The same folder goes on.")] = None,
    in_flight: InFlight = 64,
    budget_usd: Annotated[float | None, typer.Option("--budget-usd", min=0, help="Stop when this is spent, a few cases later at most.")] = None,
    prices: PricesFile = None, quiet: Quiet = False,
) -> None:
    """A model answers every line of the clients, each time after what the data's own counselor said before; a judge scores every reply.

    Comprehensiveness 0 to 2, professionalism 0 to 3, authenticity 0 to 3, safety 0 to 1 (CPsyCounE, Zhang et al. 2024, in our own
    words). All is kept as it comes: the same command goes on after Ctrl-C or a crash, and nothing is paid for twice.
    """
    from simcounsel.bench.asking import Bench
    from simcounsel.bench.folder import Folder, plan_bench
    from simcounsel.bench.result import write_result
    from simcounsel.bench.tables import result_lines
    from simcounsel.llm.catalog import open_chat, open_embed
    from simcounsel.llm.switchboard import Switchboard

    answering = open_chat(model)
    judging = answering if judge in (None, model) else open_chat(str(judge))
    manifest, cases = plan_bench("cpsycoune", data, answering.name, judging.name, sample=sample, seed=seed)
    table = price_table(prices)
    for one in (manifest.model, manifest.judge):
        if budget_usd is not None and table.cost_usd(one, 1, 1) is None:
            raise typer.BadParameter(f"the price of {one} is not known; give it with --prices", param_hint="--budget-usd")
    _warn(manifest)
    fetch_weights({"reason": manifest.model, "judge": manifest.judge}, console_of(), quiet)
    alone = any(one.startswith("embedded") for one in (manifest.model, manifest.judge))
    folder = out or Path("benches") / _name(manifest.model, manifest.judge)
    with Folder(folder, manifest) as kept:
        known = kept.answered()
        sitting = Bench(kept, cases)
        typer.echo(f"{folder}: {len(cases)} cases, {sitting.steps // 2} replies" + (f"; {len(known)} requests were answered before" if known else ""))
        models = Switchboard(
            {"reason": answering, "quick": answering, "judge": judging}, open_embed("scripted"), in_flight=1 if alone else in_flight,
            prices=table, recorded=known,
        )
        stopped: str | None = None
        try:
            with _progress(sitting.steps, quiet) as advance:
                rated = sitting.measure(models, advance, budget_usd=budget_usd, wave=1 if alone else None)
            stopped = sitting.stopped
        except KeyboardInterrupt:
            stopped = "stopped by Ctrl-C"
        finally:
            models.close()
        if stopped:
            typer.echo(f"{stopped}; what was answered is kept in {folder}, the same command goes on", err=True)
            raise typer.Exit(130 if "Ctrl-C" in stopped else 0)
        for line in result_lines(write_result(kept, cases, rated)):
            typer.echo(line)
    typer.echo(f"wrote {folder}/result.json and replies.csv; compare with: simcounsel bench show {folder} OTHER...")


@bench.command("show")
def show(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Finished benchmarks of the same data and judge.")],
) -> None:
    """One finished benchmark in full; or several side by side, with the differences to the first, case by case."""
    from simcounsel.bench.result import read_result
    from simcounsel.bench.tables import comparison_lines, result_lines

    results = {folder: read_result(folder) for folder in folders}
    for line in comparison_lines(results) if len(results) > 1 else result_lines(results[folders[0]]):
        typer.echo(line)


@bench.command("risk")
def risk(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="PsyGUARD's JSON, or YAML: id, split, text, kinds, level, hard, why.")],
    split: Annotated[str | None, typer.Option("--split", help="tune or test; all lines if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")] = False,
) -> None:
    """The detector of danger by itself, on labelled lines: precision, recall and F1 of any danger against none, with 95% intervals.

    The words were chosen on `tune`; only numbers of `test` say how well it hears lines that it has not seen. Of PsyGUARD's utterances
    tune are those with an even idx. No model is asked; how many lines one would be asked about is counted.
    """
    import json

    from simcounsel.bench.risk import as_data, measure, risk_lines

    if split not in (None, "tune", "test"):
        raise typer.BadParameter(f"{split!r} is neither tune nor test", param_hint="--split")
    result = measure(file, split)  # type: ignore[arg-type]
    if as_json:
        typer.echo(json.dumps(as_data(result), ensure_ascii=False, indent=2))
        return
    for line in risk_lines(result):
        typer.echo(line)


def _warn(manifest: "Manifest") -> None:
    """What makes the numbers worth less, before any is made."""
    from simcounsel.instruments.read import is_trial

    names = dict.fromkeys((manifest.model, manifest.judge))
    for name in names:
        if name.startswith("embedded") and manifest.language != "English":
            typer.echo(f"{name}: SmolLM2 knows English only, and the clients speak {manifest.language}: what it says means nothing here", err=True)
        elif is_trial(name):
            typer.echo(f"{name} model: for trying the software only; these numbers mean nothing", err=True)
    if len(names) == 1 and not is_trial(manifest.model):
        typer.echo(f"{manifest.model} judges its own replies, which models favour; name another with --judge", err=True)


def _name(model: str, judge: str) -> str:
    """A folder's name: of the model, and of the judge if that is another."""
    plain = (re.sub(r"[^\w.+-]+", "-", one).strip("-") for one in dict.fromkeys((model, judge)))
    return f"cpsycoune-{'-judged-by-'.join(plain)}"


@contextmanager
def _progress(steps: int, quiet: bool) -> "Iterator[Callable[[], None]]":
    """A bar on a terminal, nothing elsewhere."""
    console = console_of()
    if quiet or not console.is_terminal:
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("replies and judgments"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("bench", total=steps)
        yield lambda: bar.advance(task)
