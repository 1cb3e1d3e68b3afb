"""`bench risk`: the detector of danger measured on labelled lines.

What `bench risk` measured, as a table for people and as data.
"""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from simcounsel.bench.commands import bench
from simcounsel.bench.risk import Measured, Share
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import Fallbacks, InFlight
from simcounsel.cli.weights import console_of, fetch_weights
from simcounsel.specs.vocabulary import RISK_LEVELS


def risk_lines(result: Measured) -> Iterable[str]:
    """As a table for a terminal."""
    yield (
        f"{result.name}, {result.split}: {result.lines} lines, {result.recall.of} with danger;"
        f" {_by(result)}"
    )
    yield f"  {'precision':28}{_said(result.precision)}"
    yield f"  {'recall':28}{_said(result.recall)}"
    if result.f1 is not None and result.f1_interval:
        yield (
            f"  {'F1':28}{result.f1:.3f} [{result.f1_interval[0]:.3f}, {result.f1_interval[1]:.3f}]"
        )
    yield f"  {'flagged or in doubt':28}{_said(result.caught)}  of the danger"
    yield f"  {'in doubt':28}{_said(result.doubt)}  of all"
    for title, shares in (
        ("recall by label", result.by_label),
        ("flagged by level", result.by_level),
        ("hard lines", result.hard),
    ):
        if shares:
            yield title
            yield from (f"  {name:28}{_said(share)}" for name, share in shares.items())
    if result.levels:
        yield "level labelled (rows) and heard" + "".join(f"{level:>10}" for level in RISK_LEVELS)
        for level in RISK_LEVELS:
            yield f"  {level:29}" + "".join(
                f"{result.levels.get((level, heard), 0):10}" for heard in RISK_LEVELS
            )
    yield "[95% intervals: Wilson's; of F1 a bootstrap over lines]"


def _by(result: Measured) -> str:
    return (
        f"the detector, and {result.model} where it was asked"
        if result.model
        else "the detector alone, no model"
    )


def _said(share: Share) -> str:
    if share.share is None or share.interval is None:
        return "nothing to count"
    return (
        f"{share.share:.3f} [{share.interval[0]:.3f}, {share.interval[1]:.3f}]  {share.hits} of"
        f" {share.of}"
    )


def as_data(result: Measured) -> dict[str, Any]:
    """For JSON."""

    def plain(share: Share) -> dict[str, Any]:
        return {
            "share": share.share,
            "interval": share.interval,
            "hits": share.hits,
            "of": share.of,
        }

    return {
        "file": result.name,
        "split": result.split,
        "model": result.model,
        "lines": result.lines,
        "precision": plain(result.precision),
        "recall": plain(result.recall),
        "f1": {"value": result.f1, "interval": result.f1_interval},
        "doubt": plain(result.doubt),
        "flagged_or_doubt": plain(result.caught),
        "by_label": {name: plain(share) for name, share in result.by_label.items()},
        "by_level": {name: plain(share) for name, share in result.by_level.items()},
        "hard": {name: plain(share) for name, share in result.hard.items()},
        "levels": [
            {"labelled": labelled, "heard": heard, "lines": count}
            for (labelled, heard), count in sorted(result.levels.items())
        ],
    }


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
    from simcounsel.bench.risk_command import as_data, risk_lines
    from simcounsel.bench.risk_lines import lines_of
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
