"""A synthesis in plain text: its account, and single sessions."""

from collections.abc import Iterator

from simcounsel.corpus.checks import check_dialogues
from simcounsel.corpus.synthesis.account import account
from simcounsel.corpus.synthesis.reading import dialogues_of
from simcounsel.corpus.synthesis.strategies_text import times
from simcounsel.errors import RunError
from simcounsel.events import Disclosed, Drafted, Extracted, SessionEnded, StrategyLearned
from simcounsel.runs.authors import lines_text
from simcounsel.runs.conversation import Line
from simcounsel.runs.history import History
from simcounsel.runs.run import SynthesisRun
from simcounsel.runs.summary import label_lines, left_out_lines, stop_lines, warning_lines

CAUSES = {
    "resolved": "the evaluator found that nothing more is needed",
    "disclosed": "all was told, and nobody evaluates",
    "limit": "the turn limit came",
}


def account_lines(run: SynthesisRun) -> Iterator[str]:
    """The synthesis in a few lines."""
    a, settings = account(run), run.synthesis
    models = {role: name for role, name in run.manifest.models.items() if role != "embed"}
    same = set(models.values())
    yield f"synthesis      {run.folder}"
    each = ", ".join(f"{role} {name}" for role, name in models.items())
    yield f"roles          {each if len(same) > 1 else f'all {same.pop()}'}"
    if settings.without:
        yield f"without        {', '.join(sorted(settings.without))}"
    if run.manifest.parent:
        parent = run.manifest.parent
        changes = ", ".join(f"{key}={value}" for key, value in parent.changes) or "nothing"
        yield f"forked         from {parent.run} before wave {parent.at_tick}; changed: {changes}"
    yield (
        f"written        {a.sessions} of {a.wanted} sessions, in {run.ticks_done()} of"
        f" {settings.waves} waves of {settings.wave}"
    )
    yield from label_lines(run)
    yield from stop_lines(run)
    if a.sessions:
        themes = ", ".join(f"{count} {theme}" for theme, count in sorted(a.themes.items()))
        yield f"themes         {themes}"
        yield (
            f"utterances     {a.utterances:.1f} a session, {a.length:.1f} words each (characters,"
            " of Chinese)"
        )
        yield f"lines          {lines_text(a.authors)}"
        yield f"revised        {a.revised} of {a.drafts} lines of the supporter" + (
            f" ({a.modified:.1%})" if a.modified is not None else ""
        )
        causes = sorted(a.causes.items())
        ended = ", ".join(f"{count} because {CAUSES[cause]}" for cause, count in causes)
        yield f"ended          {ended}"
        seconds = "unknown" if a.seconds_per_session is None else f"{a.seconds_per_session:.2f} s"
        yield f"a session took {seconds} of the models' time"
    yield f"strategies     {a.strategies} carried or kept; found again {times(a.found_again)}"
    yield a.spending.line()
    yield from warning_lines(a.warnings, a.failures)
    yield from left_out_lines(a.left_out)


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def checks_line(run: SynthesisRun) -> str:
    """What the checks say of the dialogues, in a line."""
    dialogues = dialogues_of(run)
    checked = check_dialogues(dialogues)
    unfit = len(dialogues) - len(checked.kept(dialogues))
    errors = len(checked.errors)
    if not checked.findings:
        return "checks         nothing found"
    return (
        f"checks         {_many(errors, 'error')} in {_many(unfit, 'dialogue')}, which `export`"
        f" leaves out, and {_many(len(checked.findings) - errors, 'warning')}; `simcounsel corpus"
        " check` shows them"
    )


def session_lines(run: SynthesisRun, which: str) -> Iterator[str]:
    """A whole session by its number (from 1) or its name: the file, each line with its draft,
    judgment and revision.
    """
    history = History.of(run)
    names = [one.id for one in history.outline() if one.started]
    numbered = which.isdecimal() and 1 <= int(which) <= len(names)
    session = history.conversation(names[int(which) - 1] if numbered else which)
    if session is None:
        raise RunError(
            f"{run.folder}: no session {which!r}; "
            + (f"there are 1 to {len(names)}" if names else "none is written yet")
        )
    if isinstance(session.started, Extracted):
        yield from _file_lines(session.started)
    authors = history.authors(session)
    for line in session.lines:
        yield from _said_lines(line, authors[line.message])
    if isinstance(session.ended, SessionEnded):
        ended = session.ended
        yield f"ended: {CAUSES[ended.cause]}; {ended.messages} lines, {ended.revised} revised"
    for learned in session.learned:
        if isinstance(learned, StrategyLearned):
            yield f"  learned {learned.id}: {learned.text}"


def _file_lines(event: Extracted) -> Iterator[str]:
    yield f"{event.session}, on {event.theme}, from the situation {event.situation}"
    for fact in event.facts:
        yield (
            f"  {fact.id}  {fact.of}, {fact.stage}{', invented' if fact.invented else ''}:"
            f" {fact.text}"
        )


def _said_lines(line: Line, author: str) -> Iterator[str]:
    """A line as it was first said, what was judged of it, and what took its place. author: who
    worded it as it was said at last.
    """
    match line.event:
        case Disclosed() as said:
            facts = f": {', '.join(said.facts)}" if said.facts else ""
            yield f"client ({said.stage}{facts}; {author}):"
        case Drafted() as said:
            did = f"{said.stage}, {said.skill}"
            yield f"draft ({did}):" if line.revised else f"counselor ({did}; {author}):"
    yield f"    {line.event.text}"
    if line.judged:
        ratings = line.judged.ratings
        rated = ", ".join(f"{r.quality} {'none' if r.value is None else r.value}" for r in ratings)
        yield f"  judged: {rated}" + ("" if line.judged.go_on else "; nothing more is needed")
        if line.judged.revise:
            yield f"  to revise: {line.judged.advice}"
    if line.revised:
        yield f"counselor, revised ({author}):"
        yield f"    {line.revised.text}"
