"""A page with the talk that failed beside the same talk with one thing changed."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from simcounsel.bots.study.lives import Talk, Turn
from simcounsel.bots.study.why import FIRST_SEED, Cause, Failed, cause_lines, fork_talk
from simcounsel.disk import write_whole


def write_page(failed: Failed, found: Sequence[Cause], out: Path, file: Path) -> None:
    """Write it: one file, without anything from elsewhere."""
    columns = [_column("as it was", failed.talk, failed.finding.line)]
    for cause in found:
        talk = fork_talk(failed, out / f"{cause.change}-s{FIRST_SEED}")
        rate, moved = cause.failed, cause.moved
        by = f", {moved.value:+.2f} [{moved.low:+.2f}, {moved.high:+.2f}]" if moved else ""
        head = f"{cause.change}: fails in {rate.hits} of {rate.of}{by}"
        columns.append(_column(head, talk, None, cause.about))
    page = Template(_file("why.html")).substitute(
        title=escape(f"Why {failed.finding.check} failed in {failed.run.name}"),
        style=_file("why.css"),
        told=escape("\n".join(cause_lines(failed, found))),
        columns="".join(columns),
    )
    write_whole(file, page)


def _file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _column(head: str, talk: Talk | None, line: int | None, about: str = "") -> str:
    rows = "<p>She did not turn to the bot.</p>"
    if talk is not None:
        rows = "".join(_row(turn, turn.number == line) for turn in talk.turns)
    note = f'<p class="about">{escape(about)}</p>' if about else ""
    return f"<section><h2>{escape(head)}</h2>{note}{rows}</section>"


def _row(turn: Turn, failed: bool) -> str:
    who = "bot" if turn.by_bot else "client"
    return f'<p class="{who}{" failed" if failed else ""}"><b>{who}</b> {escape(turn.text)}</p>'
