"""`course plan`: a case report into a client and a plan."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetUsd, PricesFile
from simcounsel.cli.weights import price_table
from simcounsel.specs import shipped

course = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Prepare courses of sessions."
)


@course.callback()
def _course() -> None:
    """Prepare courses of sessions."""


@course.command("plan")
@asks_models
def plan_course(
    case: Annotated[
        Path,
        typer.Argument(
            metavar="CASE.md",
            help=(
                "A case report with headings such as `## Session 1`; `organist`, one of three"
                " invented ones that are included."
            ),
            callback=lambda path: shipped.of_folder(
                shipped.folder("personas") / "cases", path, ".md"
            ),
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for client.yaml, plan.yaml and talk.yaml.")
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
        typer.Option(
            "--therapy", help="`simcounsel library skills list` names them; or a therapy file."
        ),
    ] = "cbt",
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, help="Is sent to the model; another one may give another reading."
        ),
    ] = 1,
    budget_usd: BudgetUsd = None,
    prices: PricesFile = None,
) -> None:
    """Turn a case report into a client's file, a plan, and the manner of their talk; nothing in it
    is known before it was told.

    The model is asked four questions, each a second time if the answer cannot be used.
    """
    from simcounsel.errors import GivenUp, ModelError, SpecError
    from simcounsel.llm.budget import budget_of
    from simcounsel.llm.catalog import open_chat, open_embed
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.specs.file_text import read_text
    from simcounsel.specs.yaml_text import control_in
    from simcounsel.therapies.course.case_files import write_case
    from simcounsel.therapies.course.case_reading import read_case
    from simcounsel.therapies.course.case_report import read_report
    from simcounsel.therapies.specs.therapy import find_therapy

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
    models = Switchboard(
        {"reason": chat, "quick": chat, "judge": chat}, open_embed("scripted"), prices=table
    )
    try:
        models.limit(budget_of(usd=budget_usd), ())
        reading = models.ask({"case": read_case(report, school, seed)})["case"].value
    except GivenUp as error:
        raise error.telling("nothing is written; the same command begins again") from None
    finally:
        models.close()
        typer.echo(models.usage.line())
    for file in write_case(reading, report, out):
        typer.echo(f"wrote {file}")
    for note in reading.notes:
        typer.echo(f"  {note}")
