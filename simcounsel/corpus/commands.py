"""`corpus`: what a corpus is worth. `corpus check` is here, `corpus rate` beside it."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.errors import SimcounselError
from simcounsel.terminal import console

if TYPE_CHECKING:
    from simcounsel.corpus.checks import Checked
    from simcounsel.corpus.dialogues import Dialogue

corpus = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Judge a corpus of dialogues: what is wrong with it, and what it is worth.",
)
QUIET_S = 5.0
"""So long a check says nothing in a pipe (s)."""
UNREADABLE = 2
"""Exit code when nothing could be checked; 1 means that errors were found."""


@corpus.command("check")
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Corpus files, runs, written corpora, the word `samples`; checked as one.",
        ),
    ],
    rule: Annotated[
        list[str] | None, typer.Option("--rule", help="Only this rule; may be given again.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", help="Leave this rule out; may be given again.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="OUT", help="Write a page with examples in their context."),
    ] = None,
    redact: Annotated[
        Path | None,
        typer.Option(
            "--redact",
            metavar="OUT",
            help=(
                "Write the dialogues as a new corpus, with [person 1], [phone 1] ... for what"
                " identifies."
            ),
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all findings as JSON instead.")
    ] = False,
) -> None:
    """What is wrong with a corpus, dialogue by dialogue, and what to do about it.

    Exit code 0: no errors (there may be warnings); 1: errors; 2: it cannot be read. The rules go by
    words and counts: they find what is open, not what is subtle.
    """
    from simcounsel.corpus.checks import as_text, check_dialogues
    from simcounsel.corpus.checks.page import page, verdict

    try:
        with _progress() as tell:
            dialogues = _read(files)
            checked = check_dialogues(dialogues, rules=rule or None, skip=skip or (), on_rule=tell)
        if html:
            _write(html, page(checked, dialogues, ", ".join(Path(file).name for file in files)))
        redacted = _redact(dialogues, redact) if redact else None
    except SimcounselError as error:
        typer.echo(f"simcounsel: {error}", err=True)
        raise typer.Exit(UNREADABLE) from None
    if as_json:
        typer.echo(as_text.as_json(checked, len(dialogues)))
    else:
        _tell(checked, verdict(checked, len(dialogues)))
    for said in (f"wrote {html}" if html else None, redacted):
        if said:
            typer.echo(said, err=as_json)
    raise typer.Exit(1 if checked.errors else 0)


@contextmanager
def _progress() -> "Iterator[Callable[[str, int, int], None]]":
    """Which rule looks, on stderr: a bar in a terminal, in a pipe a line a rule once it has taken a
    while.
    """
    from rich.progress import Progress

    out, began = console(stderr=True), time.monotonic()
    if not out.is_terminal:
        yield (
            lambda rule, done, of: (
                typer.echo(f"rule {done + 1} of {of}: {rule} ...", err=True)
                if time.monotonic() - began > QUIET_S
                else None
            )
        )
        return
    with Progress(console=out, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda rule, done, of: bar.update(task, description=rule, completed=done, total=of)


def _read(files: list[str]) -> "tuple[Dialogue, ...]":
    from simcounsel.corpus.reading import read_dialogues

    return tuple(dialogue for file in files for dialogue in read_dialogues(file))


def _tell(checked: "Checked", verdict: str) -> None:
    from simcounsel.corpus.checks import as_text

    width = shutil.get_terminal_size((140, 24)).columns
    table, lines = list(as_text.table(checked, width)), list(as_text.finding_lines(checked))
    for line in [verdict, *(("", *table) if table else ()), *(("", *lines) if lines else ())]:
        typer.echo(line)


def _redact(dialogues: "tuple[Dialogue, ...]", out: Path) -> str:
    """Write the redacted corpus; what was replaced, in a line."""
    from simcounsel.corpus.redaction import corpus_lines, redact

    if out.exists():
        from simcounsel.errors import CorpusError

        raise CorpusError(
            f"{out}: is there already, and nothing is written over a corpus; name a new file for"
            " --redact"
        )
    redacted = redact(dialogues)
    _write(out, corpus_lines(redacted.dialogues))
    counts = (
        ", ".join(f"{kind} {count:,}" for kind, count in redacted.replaced.items()) or "nothing"
    )
    return (
        f"wrote {out}; replaced in what was said: {counts}. What the rules do not know as a name is"
        " still there: read some of it"
    )


def _write(file: Path, content: str) -> None:
    """The whole file or a plain sentence."""
    from simcounsel.disk import write_text
    from simcounsel.errors import CorpusError

    try:
        write_text(file, content)
    except OSError as error:
        raise CorpusError(
            f"{file}: cannot be written ({error.strerror}); name a file in a folder that exists and"
            " has room"
        ) from None


from simcounsel.corpus import rate_command  # noqa: E402, F401
