"""`simcounsel train`: learn a counselor from corpora that stay where they are, and say what it
cost in privacy.
"""

from typing import Annotated

import typer

from simcounsel.argument_help import Explaining
from simcounsel.entry import start
from simcounsel.errors import SpecError
from training.adapters import command as export
from training.audit import command as audit
from training.learning import command as learning
from training.shipped import named
from training.sweeps import command as sweeps

app = typer.Typer(
    name="training",
    cls=Explaining,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Learn a counselor from corpora, in one place or across clinics that never share their"
        " records.\n\nBegin with:  simcounsel train tune smoke\n\nFor"
        " research: an adapter is no counselor, and must not answer anybody in distress."
    ),
)
EPSILONS = (1.0, 2.0, 4.0, 8.0)
FEDERATED = ("flwr", "cryptography")


Epsilons = Annotated[
    list[float] | None,
    typer.Option(
        "--epsilon",
        min=0.01,
        max=1000,
        help="A row of the table; may be given again. Default: 1, 2, 4, 8.",
    ),
]
Rounds = Annotated[
    list[int] | None,
    typer.Option(
        "--rounds",
        min=1,
        max=1_000_000,
        help="A column; may be given again. Default: 1, 10, the plan's.",
    ),
]
WithTable = Annotated[
    bool,
    typer.Option(
        "--table/--no-table",
        help="The table of noise by epsilon and rounds; it takes some seconds.",
    ),
]


@app.command()
def account(
    config: learning.Config,
    epsilon: Epsilons = None,
    rounds: Rounds = None,
    with_table: WithTable = True,
) -> None:
    """Say what a plan costs in privacy, per round and in total, and from whom that protects, before
    any training; exit code 1 if it is more than its budget.
    """
    from simcounsel.specs.load import line_of
    from training.privacy import budget, statement
    from training.progress import bar
    from training.recipe_file import load_recipe
    from training.sites import load_plan

    plan, lines = load_plan(config)
    with bar(stderr=True) as progress:
        progress.show("counting the plan", 0, None)
        made = budget.make(plan)
        told = statement.lines(made, load_recipe(config)[0].noise)
    typer.echo("\n".join([f"{'config':<16}{named(config)}", *told]))
    if plan.privacy.calibration == "paper":
        typer.echo("\n" + "\n".join(statement.paper_table(plan)))
    if with_table:
        with bar(stderr=True) as progress:
            rows = statement.table(
                plan,
                sorted(set(epsilon or EPSILONS)),
                sorted(set(rounds or (1, 10, plan.rounds))),
                lambda done, of: progress.show("counting the table", done, of),
            )
        typer.echo("\n" + "\n".join(rows))
    wanted = plan.privacy.budget_epsilon
    if made.last_round is not None and wanted is not None:
        at = f"{config}:{line_of(lines, ('privacy', 'budget_epsilon'))}: privacy.budget_epsilon"
        raise SpecError(
            [
                f"{at}: {wanted:g} for one {plan.privacy.unit} would be overrun after round"
                f" {made.last_round} of {plan.rounds} (total {made.total_epsilon:.4g}); take"
                f" noise_multiplier {budget.needed(plan, plan.rounds, wanted):.4g} or fewer rounds"
            ]
        )


@app.command()
def plan(config: learning.Config) -> None:
    """Say what a recipe will take, before any training: parameters, memory, tokens, steps, epsilon,
    and hours by device.

    The base's weights are not loaded, but those of `embedded` and `local:` are fetched if they are
    not there. Example: simcounsel train plan smoke
    """
    from training.progress import bar
    from training.recipe_file import load_recipe

    recipe, lines = load_recipe(config)
    with bar(stderr=True) as progress:
        progress.say("reading the sessions and the base's configuration")
        from training import forecast  # slow: torch
        from training.sites import find, planned
        from training.sweeps.command import steps_in_all

        sites = (
            None
            if recipe.sites
            else find(recipe, config, together=not recipe.deal and not recipe.folders)
        )
        given = planned(recipe, config, lines, sites)
        counted = recipe.sites or (sites.counted() if sites else ())
        paid = "none: nobody is protected"
        if given is not None:
            from training.privacy import budget

            made = budget.make(given)
            unit, delta = given.privacy.unit, given.privacy.delta
            paid = f"epsilon {made.total_epsilon:.4g} for one {unit} in all, delta {delta:g}"
            if made.last_round is not None:
                paid += f"; its budget of {given.privacy.budget_epsilon:g} would be overrun"
        steps = steps_in_all(recipe, given, counted)
        told = list(forecast.lines(recipe, sites, steps, paid))
    typer.echo("\n".join([f"{'config':<16}{named(config)}", *told]))


for commands in (learning, audit, sweeps, export):
    commands.register(app)


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    start("training", lambda: app(), install)


def install(package: str) -> str:
    """What to type to have a package that is missing."""
    return f"pip install -e '.[{'federated' if package in FEDERATED else 'train'}]'"


if __name__ == "__main__":
    main()
