"""`export`: runs become training data, or logs for Inspect."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from simcounsel.cli.options import Damaged
from simcounsel.cli.weights import console_of

if TYPE_CHECKING:
    from simcounsel.corpus.card import Card
    from simcounsel.corpus.export import OnProgress
    from simcounsel.corpus.teaching import Teaching


FormatName = Literal[
    "openai",
    "sharegpt",
    "alpaca",
    "trl",
    "trl-preference",
    "sharegpt-preference",
    "text",
    "parquet",
    "native",
    "inspect",
]

OPENAI_LEAST = 10
"""The fewest examples that OpenAI takes in a training file (guide to supervised fine-tuning)."""


def export(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCES...",
            help=(
                "Runs, written corpora, folders of them, corpus files, the word `samples` (what"
                " comes with simcounsel)."
            ),
        ),
    ],
    format: Annotated[
        FormatName,
        typer.Option(
            "--format",
            help="How the files are written; docs/training-data.md says which trainer reads which."
            " inspect: each run as a log for Inspect's viewer and its data frames.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="A new folder, or one that an earlier export wrote.",
        ),
    ],
    side: Annotated[
        Literal["counselor", "client"],
        typer.Option("--side", help="Who learns: `assistant` in the files."),
    ] = "counselor",
    reasoning: Annotated[
        bool,
        typer.Option(
            "--reasoning/--no-reasoning",
            help="What the learning side thought, in <think>...</think> before its line.",
        ),
    ] = False,
    tags: Annotated[
        str,
        typer.Option(
            "--tags",
            metavar="KINDS",
            help="Of emotion,skill,stage: what is known of the learner's line, as [kind: value].",
        ),
    ] = "",
    min_rating: Annotated[
        list[str] | None,
        typer.Option(
            "--min-rating",
            metavar="INSTRUMENT.SCORE=VALUE",
            help="Only dialogues rated so by no trial judge; may be given again.",
        ),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option("--condition", help="Only of this condition; may be given again."),
    ] = None,
    theme: Annotated[
        list[str] | None, typer.Option("--theme", help="Only on this theme; may be given again.")
    ] = None,
    partner: Annotated[
        Literal["counselor", "layperson", "both"],
        typer.Option("--partner", help="With whom the client talks."),
    ] = "counselor",
    course: Annotated[
        Literal["session", "whole"],
        typer.Option(
            "--course",
            help=(
                "What is one example of a course of therapy: a session, with the notes on earlier"
                " ones, or the whole course as one long conversation."
            ),
        ),
    ] = "session",
    split: Annotated[
        str,
        typer.Option(
            "--split",
            metavar="TRAIN,VALIDATION,TEST",
            help="Shares of the clients; all dialogues of a client stay together.",
        ),
    ] = "80,10,10",
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Draws which client falls to which split.")
    ] = 1,
    system: Annotated[
        Path | None,
        typer.Option(
            "--system",
            metavar="FILE",
            help="A system prompt of your own; with --side client it may hold $situation.",
        ),
    ] = None,
    licence: Annotated[
        str | None, typer.Option("--licence", help="Of the data, in place of what the sources say.")
    ] = None,
    checks: Annotated[
        bool,
        typer.Option(
            "--check/--no-check", help="Drop dialogues in which `corpus check` finds an error."
        ),
    ] = True,
    requests: Annotated[
        bool,
        typer.Option(
            "--requests",
            help="With --format inspect: every request to a model as an event. Inspect's frame of"
            " messages then holds the requests in place of the lines.",
        ),
    ] = False,
    damaged: Damaged = False,
) -> None:
    """Make training data of dialogues: train, validation and test, with a card that says what they
    are. Or write runs as logs for Inspect.

    Begin with:  simcounsel export samples --format openai -o training-data

    Inspect:     simcounsel export gallery:first-days --format inspect -o logs
    """
    if format == "inspect":
        _inspect(sources, out, requests, damaged)
        return
    from simcounsel.corpus.export import Export
    from simcounsel.corpus.export import export as write_export
    from simcounsel.corpus.selection import Floor, Selection
    from simcounsel.corpus.split import Shares

    wanted = Export(
        format=format,
        teaching=_teaching(side, reasoning, tags, system),
        shares=Shares.parse(split),
        seed=seed,
        course=course,
        licence=licence,
        damaged=damaged,
        checked=checks,
        selection=Selection(
            partner=partner,
            conditions=tuple(condition or ()),
            themes=tuple(theme or ()),
            floors=tuple(Floor.parse(one) for one in min_rating or ()),
        ),
    )
    with _progress() as tell:
        card = write_export(sources, out, wanted, tell)
    _say(card, out)


def _teaching(
    side: Literal["counselor", "client"], reasoning: bool, tags: str, system: Path | None
) -> "Teaching":
    from simcounsel.corpus.markup import tags_of
    from simcounsel.corpus.teaching import Teaching, read_system

    return Teaching(
        side=side,
        reasoning=reasoning,
        tags=tags_of(tags),
        system=read_system(system, side) if system else None,
    )


@contextmanager
def _progress() -> "Iterator[OnProgress | None]":
    """A bar in a terminal; nothing in a pipe."""
    from rich.progress import Progress

    console = console_of()
    if not console.is_terminal:
        yield None
        return
    with Progress(
        console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of)


def _say(card: "Card", out: Path) -> None:
    for damage in card.damaged:
        typer.echo(f"damaged: {damage}", err=True)
    counts = card.counts
    many = ", ".join(
        [
            f"{_many(counts.dialogues, 'dialogue')} of {_many(counts.clients, 'client')}",
            _many(counts.turns, "turn"),
        ]
    )
    typer.echo(f"{many}, {counts.words} {card.words_are}")
    parts = (
        f"{name} {_many(part.dialogues, 'dialogue')} in {_many(part.rows, 'row')}"
        for name, part in card.splits.items()
    )
    typer.echo("split by client: " + ", ".join(parts))
    if card.merged_turns:
        typer.echo(
            f"merged: {_many(card.merged_turns, 'turn')} into the one before, since one speaker"
            " spoke twice"
        )
    dropped, warned = card.checks.summary(), _counted(card.checks.warned)
    for what, counted in (
        ("safety moves: ", card.safety.summary()),
        ("left out: ", _counted(card.left_out)),
        ("dropped by checks ", dropped),
        ("warnings of checks: ", warned),
    ):
        if counted:
            typer.echo(what + counted)
    if card.format == "openai" and card.splits["train"].rows < OPENAI_LEAST:
        typer.echo(
            f"OpenAI's fine-tuning wants at least {OPENAI_LEAST} dialogues in train; this is for"
            " trying",
            err=True,
        )
    typer.echo(f"wrote {out} ({', '.join(card.files)}; card.json tells the rest)")


def _counted(tally: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in tally.items())


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _inspect(runs: list[str], out: Path, requests: bool, damaged: bool) -> None:
    """Each run as a log of Inspect: a sample a conversation, with its lines and scores."""
    from simcounsel.corpus.inspect_log import write_log
    from simcounsel.runs.record import open_record
    from simcounsel.runs.verifying import checked

    for run in runs:
        opened = checked(open_record(Path(run), damaged=damaged))
        typer.echo(f"wrote {write_log(opened, out, requests=requests)}")
    typer.echo(f"now: inspect view --log-dir {out}")
