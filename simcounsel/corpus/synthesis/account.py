"""A synthesis counted from its log, and parts of it in plain text."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from simcounsel.corpus.measures import units
from simcounsel.corpus.screens import screen
from simcounsel.corpus.synthesis.reading import dialogues_of
from simcounsel.corpus.synthesis.strategies import Strategies
from simcounsel.errors import RunError
from simcounsel.events import (
    Disclosed,
    Drafted,
    Evaluated,
    Event,
    Extracted,
    Revised,
    SessionEnded,
    StrategyKnown,
    StrategyLearned,
    TickEnded,
    Warned,
)
from simcounsel.runs.run import Run
from simcounsel.runs.summary import warning_lines

CAUSES = {
    "resolved": "the evaluator found that nothing more is needed",
    "told": "all was told, and nobody evaluates",
    "limit": "the turn limit came",
}


@dataclass(frozen=True, kw_only=True)
class Account:
    """Counts over a synthesis (Xue et al. 2026, Tables II and V).

    utterances: lines of both sides in a session, mean. length: words in a line (characters of
    Chinese), mean. revises: whether there is a corrector. drafts, revised: the supporter's lines,
    and how many were revised; their ratio is the modification ratio. seconds_per_session: the time
    that a session's own questions took, one after the other, mean; None without calls. Calls that a
    fork copied but may not have needed are left out. sources: lines by how they came about.
    warnings: by purpose; failures: of the same, by what went wrong. cost_usd: None when a price is
    unknown.
    """

    sessions: int
    wanted: int
    utterances: float | None
    length: float | None
    revises: bool
    drafts: int
    revised: int
    seconds_per_session: float | None
    strategies: int
    found_again: int
    causes: dict[str, int]
    sources: dict[str, int]
    themes: dict[str, int]
    warnings: dict[str, int]
    failures: dict[str, int]
    calls: int
    tokens: int
    cost_usd: float | None

    @property
    def modified(self) -> float | None:
        """The share of the supporter's lines that were revised; None when there are none, or nobody
        revises.
        """
        return self.revised / self.drafts if self.drafts and self.revises else None


def account(run: Run) -> Account:
    """Read the log and the calls once."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    strategies = Strategies()
    found_again = 0
    for entry in run.entries(until_tick=run.ticks_done()):
        strategies.observe(entry)
        match entry.event:
            case Extracted(theme=theme):
                counts["themes"][theme] += 1
            case Disclosed(source=source):
                counts["sources"][source] += 1
            case Drafted():
                counts["lines"]["drafts"] += 1
            case Revised():
                counts["lines"]["revised"] += 1
            case SessionEnded(cause=cause):
                counts["causes"][cause] += 1
            case Warned(purpose=purpose, cause=cause):
                counts["warnings"][purpose] += 1
                counts["failures"][cause] += 1
            case StrategyKnown():
                found_again += 1
    dialogues = dialogues_of(run, own=False)
    counts["sources"] += Counter(
        turn.source
        for one in dialogues
        for turn in one.turns
        if turn.speaker == "counselor" and turn.source
    )
    lines = [len(units(turn.text)) for one in dialogues for turn in one.turns]
    calls = [call for call in run.calls() if call.get("verb") != "embed" and not call.get("spare")]
    spent: defaultdict[str, float] = defaultdict(float)
    for call in calls:
        spent[str(call.get("who"))] += call.get("latency_s") or 0.0
    done = [spent[one.origin.chat] for one in dialogues if one.origin and spent[one.origin.chat]]
    costs: list[float | None] = [call.get("cost_usd") for call in calls]
    known = [cost for cost in costs if cost is not None]
    return Account(
        sessions=len(dialogues),
        wanted=run.synthesis.count,
        utterances=len(lines) / len(dialogues) if dialogues else None,
        length=sum(lines) / len(lines) if lines else None,
        revises=not {"evaluator", "corrector"} & set(run.synthesis.without),
        drafts=counts["lines"]["drafts"],
        revised=counts["lines"]["revised"],
        seconds_per_session=sum(done) / len(done) if done else None,
        strategies=sum(not s.dropped for s in strategies.all()),
        found_again=found_again,
        causes=dict(counts["causes"]),
        sources=dict(counts["sources"]),
        themes=dict(counts["themes"]),
        warnings=dict(counts["warnings"]),
        failures=dict(counts["failures"]),
        calls=len(calls),
        tokens=sum((call.get("tokens_in") or 0) + (call.get("tokens_out") or 0) for call in calls),
        cost_usd=sum(known) if len(known) == len(costs) else None,
    )


def account_lines(run: Run) -> Iterator[str]:
    """The synthesis in a few lines."""
    a, settings = account(run), run.synthesis
    models = {role: name for role, name in run.manifest.models.items() if role != "embed"}
    same = set(models.values())
    yield f"synthesis      {run.folder}"
    yield (
        "roles         "
        f" {', '.join(f'{role} {name}' for role, name in models.items()) if len(same) > 1 else f'all {same.pop()}'}"
    )
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
        yield (
            "themes        "
            f" {', '.join(f'{count} {theme}' for theme, count in sorted(a.themes.items()))}"
        )
        yield (
            f"utterances     {a.utterances:.1f} a session, {a.length:.1f} words each (characters,"
            " of Chinese)"
        )
        talk = ", ".join(f"{count} {source}" for source, count in sorted(a.sources.items()))
        yield f"lines          {talk}"
        yield f"revised        {a.revised} of {a.drafts} lines of the supporter" + (
            f" ({a.modified:.1%})" if a.modified is not None else ""
        )
        yield (
            "ended         "
            f" {', '.join(f'{count} because {CAUSES[cause]}' for cause, count in sorted(a.causes.items()))}"
        )
        seconds = "unknown" if a.seconds_per_session is None else f"{a.seconds_per_session:.2f} s"
        yield f"a session took {seconds} of the models' time"
    yield f"strategies     {a.strategies} carried or kept; found again {_times(a.found_again)}"
    cost = "price unknown (see --prices)" if a.cost_usd is None else f"{a.cost_usd:.4f} USD"
    yield f"model calls    {a.calls}, {a.tokens} tokens, {cost}"
    yield from warning_lines(a.warnings, a.failures)


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def screened_line(run: Run) -> str:
    """What the screens say of the dialogues, in a line."""
    dialogues = dialogues_of(run)
    screened = screen(dialogues)
    unfit = len(dialogues) - len(screened.kept(dialogues))
    errors = len(screened.errors)
    if not screened.findings:
        return "screens        nothing found"
    return (
        f"screens        {_many(errors, 'error')} in {_many(unfit, 'dialogue')}, which `export`"
        f" leaves out, and {_many(len(screened.findings) - errors, 'warning')}; `simcounsel corpus"
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
        yield from _told(event, {event.message for event in mine if isinstance(event, Revised)})


def _told(event: Event, revised: set[int]) -> Iterator[str]:
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


def strategies_at(run: Run, wave: int | None = None) -> Strategies:
    """What a wave (from 0) began with, what is given or dropped at its head included; at the end,
    if None. RunError when that wave was not reached.
    """
    done = run.ticks_done()
    if wave is not None and not 0 <= wave <= done:
        raise RunError(f"{run.folder}: wave {wave} was not reached; choose one from 0 to {done}")
    strategies = Strategies()
    for entry in run.entries(until_tick=done if wave is None else min(done, wave + 1)):
        if (
            wave is not None
            and entry.tick == wave
            and isinstance(entry.event, Extracted | TickEnded)
        ):
            break
        strategies.observe(entry)
    return strategies


def strategy_lines(run: Run, wave: int | None = None) -> Iterator[str]:
    """All strategies that were known then, each with its wave, its session and how often it was
    found.
    """
    known = strategies_at(run, wave).all()
    if not known:
        yield "no strategies" + ("" if wave is None else f" before wave {wave}")
    for one in known:
        origin = (
            "given from the beginning" if one.wave is None else f"wave {one.wave}, {one.session}"
        )
        yield (
            f"{one.id}  {one.text}  ({origin}; found"
            f" {_times(one.found)}{'; dropped' if one.dropped else ''})"
        )


def strategies_yaml(run: Run, wave: int | None = None) -> str:
    """The strategies that a supporter would carry then, for `synthesize --strategies`."""
    import yaml

    texts = [one.text for one in strategies_at(run, wave).carried()]
    return yaml.safe_dump({"strategies": texts}, allow_unicode=True, sort_keys=False, width=140)
