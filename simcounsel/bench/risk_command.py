"""`bench risk`: the detector of danger measured on labelled lines."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simcounsel.bench.commands import bench
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import Fallbacks, InFlight
from simcounsel.cli.weights import console_of, fetch_weights


class Split(StrEnum):
    """Which lines."""

    tune = "tune"
    test = "test"


@bench.command("risk")
@asks_models
def risk(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="PsyGUARD's JSON, or YAML: id, split, text, kinds, level, hard, why.",
        ),
    ],
    split: Annotated[
        Split | None,
        typer.Option("--split", help="Only the lines of this split; all lines if not given."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Asked where the detector is in doubt; without it the detector stands alone.",
        ),
    ] = None,
    every_line: Annotated[
        bool,
        typer.Option("--every-line", help="Ask MODEL about every line that is no clear danger."),
    ] = False,
    vectors: Annotated[
        bool,
        typer.Option(
            "--vectors/--no-vectors",
            help="Whether the classifier is given MiniLM's vectors, as in a world with"
            " `embed: embedded`; without them it needs no weights.",
        ),
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of the table.")
    ] = False,
    in_flight: InFlight = 64,
    fallbacks: Fallbacks = None,
) -> None:
    """The detector of danger on labelled lines: precision, recall and F1 of any danger against
    none, with 95% intervals.

    The words were chosen on `tune`; only numbers of `test` say how well it hears lines that it has
    not seen. Of PsyGUARD's utterances tune are those with an even idx. With a model it is measured
    as it listens in a world (`safety.ask: in_doubt`, or `every_line`).
    """
    import json

    from simcounsel.bench.risk import judged, listened, measured
    from simcounsel.bench.risk_lines import lines_of
    from simcounsel.bench.risk_report import as_data, risk_lines
    from simcounsel.danger.hearing.gate import VECTORS_BY
    from simcounsel.llm.catalog import open_chat, open_embed
    from simcounsel.llm.embeddings import MiniLM
    from simcounsel.llm.switchboard import Switchboard

    if every_line and not model:
        raise typer.BadParameter("needs a --model to ask", param_hint="--every-line")
    lines, taken, name = lines_of(file, split.value if split else None), None, None
    if vectors:
        fetch_weights({"embed": VECTORS_BY}, console_of(), quiet=as_json)
    if model:
        asked = open_chat(model)
        name = asked.name
        fetch_weights({"quick": name}, console_of(), quiet=False)
        models = Switchboard(
            {"reason": asked, "quick": asked},
            open_embed(VECTORS_BY if vectors else "scripted"),
            in_flight=in_flight,
        )
        try:
            taken = judged(
                lines, models, every_line=every_line, fallbacks=fallbacks, vectors=vectors
            )
        finally:
            models.close()
    taken = taken or listened(lines, MiniLM() if vectors else None)
    result = measured(file.name, split.value if split else "all", lines, taken, name)
    if as_json:
        typer.echo(json.dumps(as_data(result), ensure_ascii=False, indent=2))
        return
    for line in risk_lines(result):
        typer.echo(line)
