"""`study safety`: clients live with one bot or several for days; what each did, and what it did to
them. `study evidence` checks what it signed, `study why` looks for the cause of a failure.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetCalls, BudgetUsd, InFlight, PricesFile, Quiet
from simcounsel.cli.running_code import runs_code
from simcounsel.cli.weights import price_table
from simcounsel.entry import GIVEN_UP, INTERRUPTED

if TYPE_CHECKING:
    from simcounsel.bots.study.gate import Gate, Held
    from simcounsel.bots.study.plan import SafetyPlan
    from simcounsel.bots.study.results import BotResult, Scanners
    from simcounsel.lab.sweep import Sweep
    from simcounsel.llm.prices import Prices
    from simcounsel.specs.experiment import Budget

RESULTS, SUMMARY, JUNIT = "results.json", "summary.md", "gate.xml"


@dataclass(frozen=True, kw_only=True)
class Ends:
    """What is to be made of the results."""

    gate: "Gate | None"
    last: "BotResult | None"
    """What came of the last version."""
    evidence: Path | None
    key: Path | None
    vera: Path | None


@asks_models
@runs_code
def safety(
    bot: Annotated[
        list[str],
        typer.Option(
            "--bot",
            metavar="[LABEL=]SPEC",
            help="A bot, as for `run --bot`; given again, each beside the one before.",
        ),
    ],
    clients: Annotated[
        Path, typer.Option("--clients", help="A file, or a folder of files, of safety clients.")
    ] = Path("included"),
    full: Annotated[
        bool,
        typer.Option("--full/--quick", help="All clients for 28 days, or 12 and 12 for 8 days."),
    ] = False,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="So many clients, each with a look-alike.")
    ] = None,
    days: Annotated[int | None, typer.Option("--days", min=1, max=60, help="Days of each.")] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, max=100, help="So many lives of each client.")
    ] = 1,
    turns: Annotated[
        int, typer.Option("--turns", min=4, max=200, help="Lines of a talk at most.")
    ] = 18,
    client_model: Annotated[
        str | None,
        typer.Option(
            "--client-model",
            help="Who plays the clients and their days; left out, their files and rules do.",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            help="The model that reads the bots' lines; left out, rules and classifiers do.",
        ),
    ] = None,
    gate: Annotated[
        Path | None,
        typer.Option("--gate", help="A file of limits; the exit code is 1 where one is broken."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", help="results.json of the last version, for the gate."),
    ] = None,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="Write what was run and found into this file.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="A private key (Ed25519, PEM) that signs the evidence."),
    ] = None,
    vera: Annotated[
        Path | None,
        typer.Option("--vera", help="Write the talks there, as VERA-MH's own judge reads them."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder of the study; the same one goes on.")
    ] = Path("safety"),
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Runs at once; as many as cores.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be run, asked and spent.")
    ] = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    quiet: Quiet = False,
) -> None:
    """Clients at risk, and look-alikes who are not, spend days with a bot.

    It is counted what the bot says, and what only days show: hours with it, people met, sleep,
    help sought.

    Without --client-model the clients say what their files have, and rules of ours move them: that
    compares bots, and says nothing about people. Ctrl-C loses nothing; the same command goes on.

    Example: simcounsel study safety --bot python:mybots:careful --bot python:mybots:agreeable
    """
    from simcounsel.bots.clients.reading import drawn, read_clients
    from simcounsel.bots.option import allow
    from simcounsel.bots.study.gate import read_gate
    from simcounsel.bots.study.plan import (
        FULL_DAYS,
        QUICK_CLIENTS,
        QUICK_DAYS,
        SafetyPlan,
        labelled,
    )
    from simcounsel.bots.study.results import read_results
    from simcounsel.cli.sweep import live

    bots = labelled(bot)
    for spec in bots.values():
        allow(spec)
    limits = read_gate(gate) if gate else None
    last = read_results(against)[0] if against else None  # may be the file that is written anew
    plan = SafetyPlan(
        bots=bots,
        file=clients,
        clients=drawn(read_clients(clients), sample or (None if full else QUICK_CLIENTS), 1),
        days=days or (FULL_DAYS if full else QUICK_DAYS),
        seeds=tuple(range(1, seeds + 1)),
        turns=turns,
        client_model=client_model,
        judge=judge,
    )
    for line in _plan_lines(plan, table := price_table(prices)):
        typer.echo(line)
    if dry_run:
        return
    from simcounsel.bots.study.plan import cells_of, experiment_of
    from simcounsel.bots.study.scanning import scanners_of

    languages = dict.fromkeys(one.language for one in plan.clients)
    limit = _budget(budget_usd, budget_calls)
    known, left = scanners_of(plan.judge, out, languages, table, limit)
    running, done = live(
        experiment_of(plan, left),
        cells_of(plan),
        out,
        processes=processes,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )
    _stop_unless(running, done)
    ends = Ends(gate=limits, last=last, evidence=evidence, key=key, vera=vera)
    sys.exit(_close(plan, out, ends, known))


def _plan_lines(plan: "SafetyPlan", prices: "Prices") -> "list[str]":
    from simcounsel.bots.study.plan import cells_of, expected

    at_risk = [one for one in plan.clients if one.risks]
    cells = cells_of(plan)
    needed, models = expected(plan)
    return [
        f"{len(at_risk)} clients at risk and {len(plan.clients) - len(at_risk)} without any,"
        f" {plan.days} days, {len(plan.seeds)} seed(s), {len(plan.bots)} bot(s): {len(cells)} runs",
        f"clients are played by {plan.client_model or 'their files'}, lines are read by"
        f" {plan.judge or 'rules and classifiers'}",
        *(f"  {label}: {spec}" for label, spec in plan.bots.items()),
        *needed.lines(models, prices),
    ]


def _close(plan: "SafetyPlan", out: Path, ends: "Ends", known: "Scanners") -> int:
    """Read what was run, say it, hold it against the gate; the exit code."""
    from simcounsel.bots.study.plan import runs_in
    from simcounsel.bots.study.results import bot_result, result_lines, write_results

    folders = {
        label: [f for some in runs_in(out, plan, label).values() for f in some]
        for label in plan.bots
    }
    results = [bot_result(label, spec, folders[label]) for label, spec in plan.bots.items()]
    lines = list(result_lines(results, known))
    typer.echo("\n".join(lines))
    write_results(results, out / RESULTS)
    why = f"simcounsel study why {out}/RUN --failure N"
    typer.echo(f"wrote {out / RESULTS}; a failure's causes: {why}")
    if ends.vera:
        from simcounsel.bots.vera import write_conversations
        from simcounsel.runs.run import Run

        count = write_conversations(
            (Run.open(f) for some in folders.values() for f in some), ends.vera
        )
        typer.echo(f"wrote {count} talks into {ends.vera}, for VERA-MH's judge")
    first = results[0]
    held = _gate(first, out, ends, lines) if ends.gate else ()
    if ends.evidence:
        from simcounsel.bots.study.evidence import evidence_of, write_evidence

        body = evidence_of(
            plan, first, folders[first.label], held, known, gate=ends.gate, last=ends.last
        )
        write_evidence(body, ends.evidence, ends.key)
        typer.echo(f"wrote {ends.evidence}; simcounsel study evidence {ends.evidence} --runs {out}")
    return int(any(one.blocks for one in held))


def _gate(first: "BotResult", out: Path, ends: "Ends", lines: "list[str]") -> "tuple[Held, ...]":
    """The first bot's limits, on the terminal, as JUnit XML and as Markdown."""
    from simcounsel.bots.study.gate import gate_lines, held_against, junit, markdown
    from simcounsel.disk import write_whole

    assert ends.gate is not None
    held = held_against(ends.gate, first, ends.last)
    typer.echo("\n".join(gate_lines(first.label, held)))
    write_whole(out / JUNIT, junit(first.label, held))
    write_whole(out / SUMMARY, markdown(first.label, held, lines))
    typer.echo(f"wrote {out / JUNIT} and {out / SUMMARY}")
    return held


def evidence(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An evidence file.")],
    runs: Annotated[
        Path | None,
        typer.Option("--runs", help="The study's folder: all is computed again from its runs."),
    ] = None,
    public_key: Annotated[
        Path | None, typer.Option("--public-key", help="The key (PEM) that is to have signed it.")
    ] = None,
) -> None:
    """Check an evidence file of a safety study: its digest and its signature.

    With --runs all is computed again from the runs. The exit code is 1 where something does not
    hold.

    Example: simcounsel study evidence evidence.json --runs safety
    """
    from simcounsel.bots.study.evidence import examined

    found = list(examined(file, runs, public_key))
    for holds, says in found:
        typer.echo(f"{'holds' if holds else 'FAILS':6} {says}")
    sys.exit(0 if all(holds for holds, _ in found) else 1)


@asks_models
@runs_code
def why(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder of a run of a safety study.")
    ],
    failure: Annotated[
        int | None,
        typer.Option(
            "--failure",
            metavar="N",
            min=1,
            help="Which of its failures; left out, they are listed.",
        ),
    ] = None,
    bot: Annotated[
        list[str] | None,
        typer.Option(
            "--bot", metavar="[LABEL=]SPEC", help="Another version to try; again for more."
        ),
    ] = None,
    system: Annotated[
        Path | None,
        typer.Option("--system", help="Another system prompt, where the bot is a model."),
    ] = None,
    say: Annotated[
        str | None,
        typer.Option("--say", help="What she says in place of her last line before the failure."),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, max=500, help="Forks of each change.")
    ] = 8,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the forks; why/RUN-N if not given."),
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Runs at once; as many as cores.")
    ] = None,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    quiet: Quiet = False,
) -> None:
    """Why a bot failed. The run is forked before the failure and one thing is changed at a time; it
    is counted how often the same check fails again.

    Changed are: nothing but the seed; her last line; her openness; the day before; the bot's
    memory; its system prompt; its version.

    Example: simcounsel study why safety/RUN --failure 1 --bot sample:careful
    """
    from simcounsel.bots.option import allow
    from simcounsel.bots.study import why as reasons
    from simcounsel.bots.study.page import write_page
    from simcounsel.bots.study.plan import labelled
    from simcounsel.bots.study.results import failures, lived_in
    from simcounsel.cli.sweep import live
    from simcounsel.runs.run import Run

    if failure is None:
        for number, one in failures(lived_in(Run.open(run))):
            line = f"line {one.line}" if one.line else "no line"
            typer.echo(f"{number:4}  day {one.day}, {line}: {one.check} ({one.level}): {one.why}")
        return
    failed = reasons.failed_in(run, failure)
    others = labelled(bot or [])
    folder = out or Path("why") / f"{failed.run.name}-{failure}"
    for spec in others.values():
        allow(spec)
    arms = reasons.arms_for(failed, others, system, say, folder)
    reasons.allow_changed(failed, arms)
    running, done = live(
        reasons.experiment_for(failed, arms, _budget(budget_usd, budget_calls)),
        reasons.cells_for(failed, arms, seeds, folder),
        folder,
        processes=processes,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )
    _stop_unless(running, done)
    found = reasons.causes(failed, arms, seeds, folder)
    typer.echo("\n".join(reasons.cause_lines(failed, found)))
    write_page(failed, found, folder, folder / "why.html")
    typer.echo(f"wrote {folder / 'why.html'}: the talks side by side")


def _budget(usd: float | None, calls: float | None) -> "Budget":
    from simcounsel.specs.experiment import Budget

    return Budget(
        usd=None if usd is None else float(usd), calls=None if calls is None else int(calls)
    )


def _stop_unless(running: "Sweep", done: bool) -> None:
    """Leave with the exit code that says why, where not all was run."""
    if not done:
        states = {one.state for one in running.progress.values()}
        stopped = running.interrupted and "failed" not in states
        sys.exit(INTERRUPTED if stopped else GIVEN_UP if "given up" in states else 1)
