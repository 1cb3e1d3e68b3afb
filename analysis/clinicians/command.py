"""`simcounsel study pack`: talks frozen for clinicians to rate, and what they said."""

from pathlib import Path
from typing import Annotated, Any

import typer

from simcounsel.argument_help import Explaining
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetUsd, InFlight, PricesFile, Quiet

pack = typer.Typer(
    cls=Explaining, no_args_is_help=True, rich_markup_mode=None, help="Packs for raters."
)


@pack.callback()
def _begin() -> None:
    """Freeze talks for clinicians to rate, and tell what they said."""


@pack.command()
@asks_models
def clinicians(
    out: Annotated[Path, typer.Option("--out", "-o", help="The pack's folder.")],
    counselors: Annotated[
        str | None,
        typer.Option(
            "--counselors",
            metavar="POLICY@MODEL,POLICY@MODEL",
            help="Two, to make a pack or to go on with it, such as"
            " socratic@embedded,unguided@embedded.",
        ),
    ] = None,
    clients: Annotated[
        str, typer.Option("--clients", help="The model of clients in ordinary sessions.")
    ] = "embedded",
    crises: Annotated[int, typer.Option("--crises", min=1, max=60, help="Of each counselor.")] = 60,
    sessions: Annotated[
        int, typer.Option("--sessions", min=0, max=36, help="Ordinary ones of each counselor.")
    ] = 30,
    english: Annotated[
        bool, typer.Option("--english", help="Leave the Chinese crises out.")
    ] = False,
    lines: Annotated[
        int, typer.Option("--lines", min=6, max=60, help="Lines of an ordinary session.")
    ] = 24,
    raters: Annotated[
        int, typer.Option("--raters", min=2, max=20, help="How many rate every talk.")
    ] = 3,
    sittings: Annotated[
        int,
        typer.Option(
            "--sittings", min=2, max=60, help="Studies into which the talks are dealt for raters."
        ),
    ] = 6,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Draws crises, sittings and orders.")
    ] = 0,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="MODEL", help="Rates the frozen talks beside clinicians."),
    ] = None,
    imports: Annotated[
        list[Path] | None,
        typer.Option("--import", metavar="FILE", help="Answers sent back; may be given again."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is planned and how sure figures will be.")
    ] = False,
    budget_usd: BudgetUsd = None,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Sessions at once.")
    ] = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """Freeze crises and ordinary sessions of two counselors, for clinicians to rate blind. Then
    tell how far they agree, also with a judge and with rules.

    Plan:     simcounsel study pack clinicians --counselors A@MODEL,B@MODEL --out DIR --dry-run

    Make:     the same without --dry-run; it goes on after Ctrl-C. Send DIR/sitting-1/offline/...

    Take in:  simcounsel study pack clinicians --out DIR --import FILE

    DIR/page/ may be published; DIR/sitting-*/key.json and study.json may not.
    """
    from analysis.clinicians.plan import Plan, begin, counselors_of, plan_lines
    from analysis.clinicians.playing import english_crises

    if counselors is not None:
        wanted = Plan(
            counselors=counselors_of(counselors),
            crises=min(crises, english_crises()) if english else crises,
            sessions=sessions,
            english=english,
            clients=clients,
            lines=lines,
            raters=raters,
            sittings=sittings,
            seed=seed,
        )
        for line in plan_lines(wanted):
            typer.echo(line)
        if dry_run:
            return
        begin(out, wanted)
    elif dry_run:
        raise typer.BadParameter("plans a pack; name --counselors", param_hint="--dry-run")
    living = {
        "budget_usd": budget_usd,
        "processes": processes,
        "in_flight": in_flight,
        "quiet": quiet,
        "prices": prices,
    }
    _go_on(out, judge, imports or [], living)


def _go_on(out: Path, judge: str | None, imports: list[Path], living: dict[str, Any]) -> None:
    """Whatever is left to do: play, freeze, judge, take in, and tell."""
    from analysis.clinicians.freezing import PACK, freeze, open_pack, pack_lines, take_in
    from analysis.clinicians.plan import read_plan
    from analysis.clinicians.playing import play_crises, play_sessions
    from analysis.clinicians.writing import write_pack_page

    if not (out / PACK).is_file():
        if judge and living["budget_usd"] is not None:
            raise typer.BadParameter(
                "would spend the budget twice: the talks are not played yet; play them first,"
                " then judge by a second command with a budget of its own",
                param_hint="--judge",
            )
        plan = read_plan(out)
        play_crises(out, plan, living)
        play_sessions(out, plan, living)
        freeze(out)
    frozen = open_pack(out)
    for line in pack_lines(out, frozen):
        typer.echo(line)
    if judge:
        _rate(out, judge, living)
    for line in take_in(out, frozen, imports):
        typer.echo(line)
    for line in write_pack_page(out, frozen):
        typer.echo(line)


def _rate(out: Path, judge: str, living: dict[str, Any]) -> None:
    """By `corpus rate`, which keeps what was rated and goes on."""
    import inspect

    from analysis.clinicians.freezing import TALKS
    from analysis.clinicians.plan import INSTRUMENT
    from simcounsel.corpus.rate_command import rate

    inspect.unwrap(rate)(
        corpora=[out / TALKS],
        model=judge,
        sample=0,
        instrument=INSTRUMENT,
        budget_usd=living["budget_usd"],
        in_flight=living["in_flight"],
        prices=living["prices"],
        quiet=living["quiet"],
    )
