"""`clinic`: a course back to back. `course plan`: a case report into a client and a plan. `skills`:
what counselors of a therapy can do, as data.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from simcounsel.cli import app
from simcounsel.cli.living import live
from simcounsel.cli.options import (
    BudgetCalls,
    BudgetUsd,
    InFlight,
    Model,
    Out,
    PricesFile,
    Quiet,
    Sets,
    Ticks,
    changes_of,
)
from simcounsel.cli.weights import console_of, fetch_weights, price_table

if TYPE_CHECKING:
    from simcounsel.llm.question import Ask
    from simcounsel.llm.switchboard import Switchboard

T = TypeVar("T")

skills = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look at the therapies' skills, or bring your own.",
)
app.add_typer(skills, name="skills")
course = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Prepare courses of sessions."
)
app.add_typer(course, name="course")
TherapyName = Annotated[
    str,
    typer.Argument(
        metavar="THERAPY", help="cbt, psychodynamic, behavioral, ... or a therapy file."
    ),
]


@app.command()
def clinic(
    world: Annotated[
        Path, typer.Argument(metavar="WORLD", help="A world file with a client and a counselor.")
    ],
    client: Annotated[
        str | None,
        typer.Option(
            "--client", metavar="NAME", help="Left out: the first who has an appointment."
        ),
    ] = None,
    counselor: Annotated[
        str | None,
        typer.Option(
            "--counselor", metavar="NAME", help="Left out: the first who has an appointment."
        ),
    ] = None,
    therapy: Annotated[
        str | None,
        typer.Option(
            "--therapy",
            help=(
                "`simcounsel skills list` names them; or a therapy file. Left out: the plan's, or"
                " cbt."
            ),
        ),
    ] = None,
    sessions: Annotated[
        int | None,
        typer.Option(
            "--sessions",
            min=5,
            max=10,
            help="How many; 8 if neither this nor a plan says otherwise.",
        ),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="A plan, such as `simcounsel course plan` writes.")
    ] = None,
    lines: Annotated[
        int, typer.Option("--lines", min=6, max=200, help="Lines in a session, both counted.")
    ] = 24,
    every: Annotated[
        int,
        typer.Option(
            "--every", min=1, max=31, metavar="DAYS", help="Days from one session to the next."
        ),
    ] = 7,
    out: Out = Path("runs"),
    model: Model = None,
    ticks: Ticks = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="In place of the world's.")
    ] = None,
    sets: Sets = None,
    quiet: Quiet = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
) -> None:
    """Live through a course of sessions back to back; of the days between, the client gives a short
    account.

    It leaves an ordinary run behind: `resume`, `fork`, `view` and `show` work as with any other.
    """
    from simcounsel.engine.opening import begin_run, check_models
    from simcounsel.llm.catalog import roles_for
    from simcounsel.specs.clinic import clinic_world
    from simcounsel.specs.course import find_plan
    from simcounsel.specs.therapy import find_therapy
    from simcounsel.specs.world_file import load_world

    changes = (
        changes_of(sets)
        | ({} if seed is None else {"seed": seed})
        | ({} if model is None else {"models": roles_for(model)})
    )
    followed = find_plan(plan) if plan else None
    school = find_therapy(therapy or (followed.therapy if followed else "cbt"))
    made = clinic_world(
        load_world(world, **changes),
        client=client,
        counselor=counselor,
        therapy=school,
        sessions=sessions,
        plan=followed,
        lines=lines,
        every=every,
    )
    console = console_of()
    fetch_weights(made.model_names(), console, quiet)
    check_models(made)
    table = price_table(prices)
    live(begin_run(made, out), ticks, quiet, in_flight, budget_usd, budget_calls, table, console)


@course.callback()
def _course() -> None:
    """Prepare courses of sessions."""


@course.command("plan")
def plan_course(
    case: Annotated[
        Path,
        typer.Argument(
            metavar="CASE.md", help="A case report with headings such as `## Session 1`."
        ),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for client.yaml, plan.yaml and talk.yaml.")
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="A capable model; `simcounsel models` lists the forms. Embedded cannot do it.",
        ),
    ] = None,
    therapy: Annotated[
        str,
        typer.Option("--therapy", help="`simcounsel skills list` names them; or a therapy file."),
    ] = "cbt",
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, help="Is sent to the model; another one may give another reading."
        ),
    ] = 1,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            "--budget-usd",
            min=0,
            help="Ask no further question when this is spent; then nothing is written.",
        ),
    ] = None,
    prices: PricesFile = None,
) -> None:
    """Turn a case report into a client's file, a plan, and the manner of their talk; nothing in it
    is known before it was told.

    The model is asked four questions, each a second time if the answer cannot be used.
    """
    from simcounsel.errors import ModelError, SpecError
    from simcounsel.llm.catalog import open_chat, open_embed
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.policies.course.case_files import write_case
    from simcounsel.policies.course.case_reading import read_case
    from simcounsel.policies.course.case_report import read_report
    from simcounsel.specs.file_text import read_text
    from simcounsel.specs.therapy import find_therapy
    from simcounsel.specs.yaml_text import control_in

    if model is None or model.startswith("embedded"):
        raise ModelError(
            "a case report cannot be read by the embedded model: it is far too small for it; name"
            " another with --model, such as --model http://localhost:11434/v1/llama3.1 (`simcounsel"
            " models` lists the forms)"
        )
    for number, line in enumerate(read_text(case).split("\n"), 1):
        if wrong := control_in(line):
            raise SpecError([f"{case}:{number}: {wrong}"])
    report, school, table = read_report(case), find_therapy(therapy), price_table(prices)
    chat = open_chat(model)
    if model.startswith("recorded:"):
        raise ModelError(
            f"{model}: a run's recording holds no reading of a case report; name a model with"
            " --model that can read it"
        )
    if budget_usd is not None and table.cost_usd(chat.name, 1, 1) is None:
        raise typer.BadParameter(
            f"the price of {chat.name} is not known; give it with --prices",
            param_hint="--budget-usd",
        )
    models = Switchboard(
        {"reason": chat, "quick": chat, "judge": chat}, open_embed("scripted"), prices=table
    )
    try:
        reading = models.ask(
            {"case": _within(budget_usd, models, read_case(report, school, seed))}
        )["case"].value
    finally:
        models.close()
        cost = models.usage.cost_usd
        typer.echo(
            f"{models.usage.calls} requests, "
            + ("price unknown" if cost is None else f"{cost:.4f} USD")
        )
    for file in write_case(reading, report, out):
        typer.echo(f"wrote {file}")
    for note in reading.notes:
        typer.echo(f"  {note}")


def _within(budget_usd: float | None, models: "Switchboard", asking: "Ask[T]") -> "Ask[T]":
    """The same questions, as long as the budget lasts; ModelError before the first one that it does
    not reach.
    """
    from simcounsel.errors import ModelError

    reply: Any = None
    while True:
        try:
            wanted = asking.send(reply)
        except StopIteration as end:
            return cast("T", end.value)
        spent = models.over_budget(budget_usd, None) if models.usage.calls else None
        if spent:
            raise ModelError(f"{spent}; nothing is written: give a larger --budget-usd")
        reply = yield wanted


@skills.command("list")
def list_skills(
    therapy: Annotated[
        str | None, typer.Argument(metavar="[THERAPY]", help="Left out: the therapies there are.")
    ] = None,
) -> None:
    """List the therapies, or all skills of one, from coarse to fine."""
    from simcounsel.specs.therapy import find_therapy, shipped_therapies

    if therapy is None:
        for name in shipped_therapies():
            one = find_therapy(name)
            typer.echo(
                f"{name:24} {one.name}: {len(one.skills)} meta skills,"
                f" {sum(len(meta.skills) for meta in one.skills)} atomic ones"
            )
        return
    for meta in find_therapy(therapy).skills:
        typer.echo(f"{meta.id}: {meta.name}  ({', '.join(meta.stages)})")
        for skill in meta.skills:
            typer.echo(f"    {skill.id}: {skill.name}")


@skills.command("show")
def show_skill(
    therapy: TherapyName,
    skill: Annotated[
        str, typer.Argument(metavar="ID", help="A skill's id, as `skills list` has it.")
    ],
) -> None:
    """Show one skill: what is done, when, and what of a client calls for it."""
    from simcounsel.errors import SpecError
    from simcounsel.specs.suggestion import suggest
    from simcounsel.specs.therapy import Skill, find_therapy

    library = find_therapy(therapy).library()
    if skill not in library:
        names = list(library)
        nearest = suggest(skill, names) if len(names) < 40 else _near(skill, names)
        raise SpecError([f"{therapy}: no skill {skill!r}; {nearest}"])
    found = library[skill]
    parts = [("does", found.description), ("when", found.when), ("cue", found.cue)]
    if isinstance(found, Skill):
        parts.append(("part of", found.parent))
    else:
        parts += [
            ("stages", ", ".join(found.stages)),
            ("skills", ", ".join(one.id for one in found.skills)),
        ]
    typer.echo(f"{skill}: {found.name}")
    for name, text in parts:
        if text:
            typer.echo(f"  {name:8} {text}")


def _near(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return (
        f'did you mean "{near[0]}"?' if near else "`simcounsel skills list THERAPY` names them all"
    )


@skills.command("import")
def import_skills_file(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="PsychEval's skills, JSON. It is theirs: mind its licence."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The therapy file to write.")] = Path(
        "my_therapy.yaml"
    ),
    like: Annotated[
        str | None,
        typer.Option("--like", help="The therapy whose stages and conceptualization are taken."),
    ] = None,
) -> None:
    """Read PsychEval's skills into a therapy file that a course can use."""
    from simcounsel.specs.psycheval import import_skills
    from simcounsel.specs.therapy import find_therapy

    made = import_skills(file, out, like)
    find_therapy(str(out))
    typer.echo(
        f"wrote {out}: {len(made['skills'])} meta skills,"
        f" {sum(len(meta['skills']) for meta in made['skills'])} atomic ones"
    )
