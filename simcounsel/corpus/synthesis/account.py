"""A synthesis counted from its log, and in plain text: its account, and single sessions.

The dialogues of a synthesis, as a corpus holds them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simcounsel.corpus.checks import check_dialogues
from simcounsel.corpus.dialogues import LANGUAGES, Dialogue, Draft, Origin, Turn, written
from simcounsel.corpus.measures import units
from simcounsel.corpus.synthesis.events import Disclosed, Drafted, Extracted, StrategyLearned
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.sessions import SessionLine, Sessions, WrittenSession
from simcounsel.corpus.synthesis.strategies import times
from simcounsel.errors import RunError
from simcounsel.runs.authors import lines_text
from simcounsel.runs.sources import recordings
from simcounsel.runs.spending import Spending
from simcounsel.runs.summary import label_lines, left_out_lines, stop_lines, warning_lines


def dialogues_of(run: SynthesisRecord) -> tuple[Dialogue, ...]:
    """One dialogue a session, in the order of the sessions; sessions of an unfinished wave are not
    among them.

    The client is the situation's: several sessions of one situation are of one client. What a fork
    took over from its parent is left out: it was written with the parent's settings and is to be
    had there.
    """
    first = run.manifest.parent.at_tick if run.manifest.parent else 0
    read, models = Sessions.of(run), writers(run)
    held = [one for one in read.all() if one.tick >= first]
    return tuple(
        _dialogue(run, one, read.authors(one), models)
        for one in sorted(held, key=lambda session: session.id)
    )


def writers(run: SynthesisRecord) -> dict[str, str]:
    """Which model wrote, by role; a role that took no part is not named, and a recording is named
    by what it recorded.
    """
    there = next(recordings(run)).manifest.models
    found = {
        role: there.get(role, name) if name.startswith("recorded:") else name
        for role, name in run.manifest.models.items()
        if role != "embed" and role not in run.settings.without
    }
    if "evaluator" in run.settings.without:
        found = {role: name for role, name in found.items() if role not in ("corrector", "manager")}
    return found


def _dialogue(
    run: SynthesisRecord,
    session: WrittenSession,
    authors: Mapping[int, str],
    models: dict[str, str],
) -> Dialogue:
    opened = session.started
    situation = next(
        (one for one in run.settings.situations if opened and one.id == opened.situation), None
    )
    if situation is None or opened is None:
        raise RunError(
            f"{run.folder}: session {session.id} has no beginning, or none of the manifest's"
            f" situations: its log is damaged; `simcounsel verify {run.folder}` says where"
        )
    disclosed = {
        fact
        for line in session.lines
        if isinstance(line.event, Disclosed)
        for fact in line.event.facts
    }
    return Dialogue(
        id=f"{run.name}/{session.id}",
        client=situation.unit,
        theme=opened.theme,
        condition=run.settings.condition,
        language=LANGUAGES.get(run.settings.language.casefold()),
        situation=situation.text,
        turns=tuple(_turn(line, authors[line.message]) for line in session.lines),
        undisclosed=tuple(fact.text for fact in opened.facts if fact.id not in disclosed),
        origin=Origin(file=run.name, chat=session.id, models=models),
    )


def _turn(line: SessionLine, author: str) -> Turn:
    """A line as it was said, one of the counselor's with its draft if it was revised. What the
    supporter thought and meant to do belongs to the draft; of a revision neither is known.
    """
    event, revised = line.event, line.revised
    if isinstance(event, Disclosed):
        how = written(event.source, author)
        return Turn(speaker="client", text=event.text, stage=event.stage, source=how)
    turn = Turn(
        speaker="counselor",
        text=event.text,
        stage=event.stage,
        skill=event.skill,
        reasoning=event.reasoning or None,
        source=written(event.source, author),
    )
    if revised is None:
        return turn
    ratings = line.judged.ratings if line.judged else ()
    draft = Draft(
        text=revised.before,
        reason=revised.reason,
        ratings={one.quality: float(one.value) for one in ratings if one.value is not None},
    )
    return turn.model_copy(
        update={
            "text": revised.text,
            "source": written(revised.source, author),
            "draft": draft,
            "skill": None,
            "reasoning": None,
        }
    )


@dataclass(frozen=True, kw_only=True)
class Account:
    """Counts over a synthesis (Xue et al. 2026, Tables II and V)."""

    sessions: int
    wanted: int
    """How many sessions the settings ask for."""
    utterances: float | None
    """Lines of both sides in a session, mean; None without sessions."""
    length: float | None
    """Words in a line (characters of Chinese), mean; None without lines."""
    revises: bool
    """Whether there is a corrector."""
    drafts: int
    """The supporter's lines."""
    revised: int
    """How many of them were revised."""
    seconds_per_session: float | None
    """The time that a session's own questions took, one after the other, mean; None without calls.
    Calls that a fork copied but may not have needed are left out.
    """
    strategies: int
    """Those that are carried or kept."""
    found_again: int
    """How often the manager found one again."""
    causes: dict[str, int]
    """Sessions by what ended them."""
    authors: Mapping[str, int]
    """Lines by how they came about."""
    themes: dict[str, int]
    """Sessions by theme."""
    warnings: dict[str, int]
    """Fallbacks by purpose."""
    failures: dict[str, int]
    """The same by what went wrong."""
    left_out: dict[str, list[str]]
    """Parameters that a model does not take, by the model's name."""
    spending: Spending

    @property
    def modified(self) -> float | None:
        """The share of the supporter's lines that were revised; None when there are none, or nobody
        revises.
        """
        return self.revised / self.drafts if self.drafts and self.revises else None


def account(run: SynthesisRecord) -> Account:
    """Count what the log and the calls hold."""
    read, settings = Sessions.of(run), run.settings
    history, sessions = read.history, list(read.all())
    lines = [line for one in sessions for line in one.lines]
    lengths = [len(units(line.text)) for line in lines]
    drafts = [line for line in lines if isinstance(line.event, Drafted)]
    learned = read.strategies().all()
    warnings = [one.event for one in history.warnings()]
    calls = [call for call in run.calls() if call.get("verb") != "embed" and not call.get("spare")]
    calls = [call for call in calls if not call.get("given_up")]  # that was waiting
    return Account(
        sessions=len(sessions),
        wanted=settings.count,
        utterances=len(lines) / len(sessions) if sessions else None,
        length=sum(lengths) / len(lengths) if lengths else None,
        revises=not {"evaluator", "corrector"} & set(settings.without),
        drafts=len(drafts),
        revised=sum(line.revised is not None for line in drafts),
        seconds_per_session=_seconds(sessions, calls),
        strategies=sum(one.dropped is None for one in learned),
        found_again=sum(len(one.again) for one in learned),
        causes=Counter(one.ended.cause for one in sessions if one.ended),
        authors=Counter(name for one in sessions for name in read.authors(one).values()),
        themes=Counter(one.started.theme for one in sessions if one.started),
        warnings=Counter(warned.purpose for warned in warnings),
        failures=Counter(warned.cause for warned in warnings),
        left_out=history.left_out(),
        spending=Spending.of(run.calls()),
    )


def _seconds(
    sessions: Sequence[WrittenSession], calls: Sequence[Mapping[str, Any]]
) -> float | None:
    """The time that a session's own questions took, mean; None without calls."""
    spent: defaultdict[str, float] = defaultdict(float)
    for call in calls:
        spent[str(call.get("who"))] += call.get("latency_s") or 0.0
    done = [spent[one.id] for one in sessions if spent[one.id]]
    return sum(done) / len(done) if done else None


# in plain text

CAUSES = {
    "resolved": "the evaluator found that nothing more is needed",
    "disclosed": "all was told, and nobody evaluates",
    "limit": "the turn limit came",
}


def account_lines(run: SynthesisRecord) -> Iterator[str]:
    """The synthesis in a few lines."""
    a, settings = account(run), run.settings
    models = {role: name for role, name in run.manifest.models.items() if role != "embed"}
    same = set(models.values())
    yield f"synthesis      {run.folder}"
    each = ", ".join(f"{role} {name}" for role, name in models.items())
    yield f"roles          {each if len(same) > 1 else f'all {same.pop()}'}"
    if settings.informed:
        yield "informed       supporter and evaluator know the seeker's file"
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


def checks_line(run: SynthesisRecord) -> str:
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


def session_lines(run: SynthesisRecord, which: str) -> Iterator[str]:
    """A whole session by its number (from 1) or its name: the file, each line with its draft,
    judgment and revision.
    """
    read = Sessions.of(run)
    names = [one.id for one in read.outline() if one.started]
    numbered = which.isdecimal() and 1 <= int(which) <= len(names)
    session = read.named(names[int(which) - 1] if numbered else which)
    if session is None:
        raise RunError(
            f"{run.folder}: no session {which!r}; "
            + (f"there are 1 to {len(names)}" if names else "none is written yet")
        )
    if session.started:
        yield from _file_lines(session.started)
    authors = read.authors(session)
    for line in session.lines:
        yield from _said_lines(line, authors[line.message])
    if ended := session.ended:
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


def _said_lines(line: SessionLine, author: str) -> Iterator[str]:
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
