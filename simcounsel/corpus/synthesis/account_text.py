"""A synthesis in plain text: its account, and single sessions."""

from collections.abc import Iterator

from simcounsel.corpus.checks import check_dialogues
from simcounsel.corpus.synthesis.account import account
from simcounsel.corpus.synthesis.reading import dialogues_of
from simcounsel.corpus.synthesis.strategies_text import times
from simcounsel.errors import RunError
from simcounsel.events import (
    Disclosed,
    Drafted,
    Evaluated,
    Event,
    Extracted,
    Revised,
    SessionEnded,
    StrategyLearned,
)
from simcounsel.runs.run import Run
from simcounsel.runs.summary import left_out_lines, warning_lines

CAUSES = {
    "resolved": "the evaluator found that nothing more is needed",
    "disclosed": "all was told, and nobody evaluates",
    "limit": "the turn limit came",
}


def account_lines(run: Run) -> Iterator[str]:
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
    if a.sessions:
        themes = ", ".join(f"{count} {theme}" for theme, count in sorted(a.themes.items()))
        yield f"themes         {themes}"
        yield (
            f"utterances     {a.utterances:.1f} a session, {a.length:.1f} words each (characters,"
            " of Chinese)"
        )
        talk = ", ".join(f"{count} {source}" for source, count in sorted(a.sources.items()))
        yield f"lines          {talk}"
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


def checks_line(run: Run) -> str:
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


def session_lines(run: Run, which: str) -> Iterator[str]:
    """A whole session by its number (from 1) or its name: the file, each line with its draft,
    judgment and revision.
    """
    events = [entry.event for entry in run.entries(until_tick=run.ticks_done())]
    names = [event.session for event in events if isinstance(event, Extracted)]
    name = (
        which
        if which in names
        else names[int(which) - 1]
        if which.isdigit() and 1 <= int(which) <= len(names)
        else None
    )
    if name is None:
        raise RunError(
            f"{run.folder}: no session {which!r}; "
            + (f"there are 1 to {len(names)}" if names else "none is written yet")
        )
    mine = [event for event in events if getattr(event, "session", None) == name]
    for event in mine:
        yield from _event_lines(
            event, {event.message for event in mine if isinstance(event, Revised)}
        )


def _event_lines(event: Event, revised: set[int]) -> Iterator[str]:
    match event:
        case Extracted():
            yield f"{event.session}, on {event.theme}, from the situation {event.situation}"
            for fact in event.facts:
                yield (
                    f"  {fact.id}  {fact.of}, {fact.stage}{', invented' if fact.invented else ''}:"
                    f" {fact.text}"
                )
        case Disclosed():
            yield (
                f"client ({event.stage}{': ' + ', '.join(event.facts) if event.facts else ''};"
                f" {event.source}):"
            )
            yield f"    {event.text}"
        case Drafted():
            yield (
                f"{'draft' if event.message in revised else 'counselor'} ({event.stage},"
                f" {event.skill}; {event.source}):"
            )
            yield f"    {event.text}"
        case Evaluated():
            rated = ", ".join(
                f"{r.quality} {'none' if r.value is None else r.value}" for r in event.ratings
            )
            yield f"  judged: {rated}" + ("" if event.go_on else "; nothing more is needed")
            if event.revise:
                yield f"  to revise: {event.advice}"
        case Revised():
            yield f"counselor, revised ({event.source}):"
            yield f"    {event.text}"
        case SessionEnded():
            yield f"ended: {CAUSES[event.cause]}; {event.messages} lines, {event.revised} revised"
        case StrategyLearned():
            yield f"  learned {event.id}: {event.text}"
