"""What happened in a run, counted from its log; and parts of it in plain text."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simcounsel.clock import date_text, day_of, time_text
from simcounsel.errors import RunError
from simcounsel.events import (
    Acted,
    Appraised,
    Assessed,
    ConversationEnded,
    ConversationStarted,
    Decided,
    Entry,
    Judged,
    Measured,
    Noted,
    PersonaChanged,
    Planned,
    Recalled,
    Reflected,
    RelationChanged,
    Remembered,
    Retrieved,
    Said,
    TickEnded,
    Transitioned,
    Warned,
)
from simcounsel.runs.run import Run

CAUSES_TOLD = 3


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Counts over a whole run. sources: lines of talk by how they came about (generated, chosen,
    fallback). measurements: by instrument. warnings: by purpose; causes: of the same, by what went
    wrong. cost_usd: None when a price is unknown.
    """

    ticks: int
    last_minute: int
    conversations: int
    reflections: int
    persona_changes: int
    sources: dict[str, int]
    measurements: dict[str, int]
    warnings: dict[str, int]
    causes: dict[str, int]
    calls: int
    tokens: int
    cost_usd: float | None


def summarize(run: Run) -> Summary:
    """Read the whole log once."""
    kinds: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    measured: Counter[str] = Counter()
    ticks, minute = 0, 0
    for entry in run.entries():
        event = entry.event
        kinds[event.kind] += 1
        match event:
            case Said():
                sources[event.source] += 1
            case Warned():
                warnings[event.purpose] += 1
                causes[event.cause] += 1
            case Measured():
                measured[event.instrument] += 1
            case PersonaChanged() if event.version == 0:
                kinds["persona_changed"] -= 1
            case TickEnded():
                ticks, minute = entry.tick + 1, entry.minute
    calls = [call for call in run.calls() if call.get("verb") != "embed"]
    costs: list[float | None] = [call.get("cost_usd") for call in calls]
    known = [cost for cost in costs if cost is not None]
    return Summary(
        ticks=ticks,
        last_minute=minute,
        conversations=kinds["conversation_started"],
        reflections=kinds["reflected"],
        persona_changes=kinds["persona_changed"],
        sources=dict(sources),
        measurements=dict(measured),
        warnings=dict(warnings),
        causes=dict(causes),
        calls=len(calls),
        tokens=sum((call.get("tokens_in") or 0) + (call.get("tokens_out") or 0) for call in calls),
        cost_usd=sum(known) if len(known) == len(costs) else None,
    )


def summary_lines(run: Run) -> Iterator[str]:
    """The run in a few lines, for the end of `run` and for `show RUN`."""
    s, world = summarize(run), run.world
    yield f"run            {run.folder}"
    yield (
        f"world          {world.name}, condition {world.condition}, seed {world.seed}, model"
        f" {run.manifest.models['reason']}"
    )
    if run.manifest.parent:
        parent = run.manifest.parent
        changes = ", ".join(f"{key}={value}" for key, value in parent.changes) or "nothing"
        yield f"forked         from {parent.run} before tick {parent.at_tick}; changed: {changes}"
    until = date_text(s.last_minute + world.tick_minutes, world.start) if s.ticks else "not begun"
    yield (
        f"lived          {s.ticks} of {world.ticks} ticks of {world.tick_minutes} minutes, until"
        f" {until}"
    )
    talk = (
        ", ".join(f"{count} {source}" for source, count in sorted(s.sources.items())) or "no lines"
    )
    yield f"conversations  {s.conversations} (lines: {talk})"
    yield f"reflections    {s.reflections}; persona changes {s.persona_changes}"
    if s.measurements:
        yield (
            f"measurements   {sum(s.measurements.values())} ("
            + ", ".join(f"{n} {name}" for name, n in sorted(s.measurements.items()))
            + ")"
        )
    cost = "price unknown (see --prices)" if s.cost_usd is None else f"{s.cost_usd:.4f} USD"
    yield f"model calls    {s.calls}, {s.tokens} tokens, {cost}"
    yield from warning_lines(s.warnings, s.causes)


def warning_lines(warnings: Mapping[str, int], causes: Mapping[str, int]) -> Iterator[str]:
    """How often a fallback was taken, for what, and the most frequent causes. warnings: by purpose;
    causes: by cause.
    """
    warned = ", ".join(f"{count} {purpose}" for purpose, count in sorted(warnings.items()))
    yield f"warnings       {sum(warnings.values())}" + (
        f" ({warned}): the fallback was taken each time" if warned else ""
    )
    often = sorted(causes.items(), key=lambda one: (-one[1], one[0]))
    for cause, count in often[:CAUSES_TOLD]:
        yield (
            f"               {count} because of: {textwrap.shorten(cause, 110, placeholder=' ...')}"
        )
    if len(often) > CAUSES_TOLD:
        yield f"               and {len(often) - CAUSES_TOLD} other causes"


def describe(entry: Entry) -> str | None:
    """An event as a line for people; None for events that are only for the log."""
    event, at = entry.event, time_text(entry.minute)
    match event:
        case ConversationStarted():
            return (
                f"{at}  {event.who[0]} and {event.who[1]} begin to talk ({event.place},"
                f" {event.cause})"
            )
        case Said():
            return f"{at}    {event.who}: {event.text}"
        case ConversationEnded():
            how = f"{event.by} takes leave" if event.by else "time is up"
            return f"{at}  they part ({how}, {event.messages} lines)"
        case Reflected() if event.insights:
            return f"{at}  {event.who} reflects: " + " ".join(
                insight.text for insight in event.insights
            )
        case PersonaChanged() if event.version > 0:
            return (
                f"{at}  {event.who}'s persona is now version {event.version}:"
                f" {event.recent_feeling}"
            )
        case Measured():
            return f"{at}  {measured_line(event)}"
        case Warned():
            return (
                f"{at}  warning: {event.who}, {event.purpose}: {event.cause}; the fallback was"
                " taken"
            )
    return None


def measured_line(event: Measured) -> str:
    """A measurement in one line: about whom, with what, when, by whom; each score with its band and
    flags.
    """
    by = {
        "self": "simulated self-report",
        "observer": "rated by a judge",
        "talk": "counted from the talk",
    }[event.respondent]
    told = []
    for score in event.scores:
        value = f"none ({score.reason})" if score.value is None else f"{score.value:g}"
        beside = "; ".join(part for part in (score.band, *score.flags) if part)
        told.append(f"{score.name} {value}" + (f" [{beside}]" if beside else ""))
    return f"{event.who}: {event.instrument}, {event.point} ({by}): " + ", ".join(told)


def day_lines(run: Run, who: str, day: int) -> Iterator[str]:
    """One day of one resident: the plan, what was done, felt, said and concluded."""
    _known(run, who)
    doing, found = "", False
    for entry in run.entries():
        event = entry.event
        if day_of(entry.minute) != day:
            continue
        if getattr(event, "who", None) not in (who, None) and not isinstance(
            event, ConversationStarted | Said
        ):
            continue
        at = time_text(entry.minute)
        found = True
        match event:
            case Planned():
                yield f"{at}  plans ({event.why}): " + "; ".join(
                    f"{s.at} {s.do}" for s in event.strokes
                )
            case Acted() if f"{event.activity}{event.place}" != doing:
                doing = f"{event.activity}{event.place}"
                yield f"{at}  {event.activity} ({event.place})"
            case Appraised() if event.emotion != "neutral":
                yield f"{at}    feels {event.emotion} {event.intensity}/10: {event.about}"
            case ConversationStarted() if who in event.who:
                yield (
                    f"{at}  talks with {event.who[1] if event.who[0] == who else event.who[0]}"
                    f" [{event.chat}]"
                )
            case Said() if who in (event.who, event.to):
                yield f"{at}    {event.who}: {event.text}"
            case RelationChanged() if event.before != event.after:
                yield f"{at}    closeness to {event.other}: {event.before:g} to {event.after:g}"
            case Reflected() | PersonaChanged() | Warned():
                line = describe(entry)
                if line:
                    yield line
    if not found:
        yield f"nothing on day {day} (the first day is 0)"


def _known(run: Run, who: str) -> None:
    names = [resident.name for resident in run.world.residents]
    if who not in names:
        raise RunError(f"{run.folder}: no resident {who!r}; there are {', '.join(names)}")


def conversation_lines(run: Run, which: int | str) -> Iterator[str]:
    """A whole conversation by its number (from 1) or its id, with moves and what each took away."""
    chats = [e.event.chat for e in run.entries() if isinstance(e.event, ConversationStarted)]
    if not chats:
        yield "no conversation in this run"
        return
    chat = str(which) if str(which) in chats else None
    if chat is None and str(which).isdigit() and 1 <= int(which) <= len(chats):
        chat = chats[int(which) - 1]
    if chat is None:
        raise RunError(f"{run.folder}: no conversation {which!r}; there are 1 to {len(chats)}")
    move = ""
    for entry in run.entries():
        event = entry.event
        match event:
            case ConversationStarted() if event.chat == chat:
                yield (
                    f"{event.who[0]} and {event.who[1]},"
                    f" {date_text(entry.minute, run.world.start)}, {event.place} ({event.cause})"
                    f" [{chat}]"
                )
            case Judged() | Transitioned() | Noted() | Retrieved() if event.chat == chat:
                yield from _practice_lines(event)
            case Assessed() if event.chat == chat:
                kinds = f" ({', '.join(event.kinds)})" if event.kinds else ""
                yield f"  · danger: {event.level}{kinds}, by {event.by}; {event.why}"
            case Decided() if event.chat == chat:
                move = f"safety: {event.move}" if event.policy == "safety" else event.move
            case Said() if event.chat == chat:
                yield f"{event.who} ({move}; {event.emotion} {event.intensity}/10; {event.source}):"
                yield f"    {event.text}"
            case ConversationEnded() if event.chat == chat:
                yield f"ended: {'time is up' if event.by is None else event.by + ' took leave'}"
            case Remembered() if event.memory.chat == chat and event.memory.origin == "summary":
                yield f"{event.who} takes away: {event.memory.text}"


def _practice_lines(event: Judged | Transitioned | Noted | Retrieved) -> Iterator[str]:
    """What a policy wrote on its way to a line."""
    match event:
        case Judged():
            yield (
                f"  · in {event.state}, {event.question}: {event.verdict} (by {event.by}:"
                f" {event.reason})"
            )
        case Transitioned():
            yield (
                f"  · {event.origin + ' to ' if event.origin else ''}{event.state} ({event.reason})"
            )
        case Noted():
            yield f"  · {event.who} notes, lines {event.first} to {event.last}: {event.text}"
        case Retrieved():
            kept = [one.id for one in event.candidates if one.kept]
            yield (
                f"  · {event.of}: {', '.join(event.chosen) or 'none'} ({event.reason}), out of"
                f" {', '.join(kept) or 'none'}"
            )
            for why in dict.fromkeys(one.why for one in event.candidates if not one.kept):
                yield (
                    f"      left out ({why}):"
                    f" {', '.join(one.id for one in event.candidates if not one.kept and one.why == why)}"
                )


def recall_lines(run: Run, who: str, tick: int | None) -> Iterator[str]:
    """What came to somebody's mind at a tick (the last recall if None), with the five terms."""
    _known(run, who)
    texts: dict[str, str] = {}
    found: list[tuple[Entry, Recalled]] = []
    for entry in run.entries():
        if isinstance(entry.event, Remembered) and entry.event.who == who:
            texts[entry.event.memory.id] = entry.event.memory.text
        if (
            isinstance(entry.event, Recalled)
            and entry.event.who == who
            and tick in (None, entry.tick)
        ):
            found.append((entry, entry.event))
    if not found:
        yield f"{who} recalled nothing" + (f" in tick {tick}" if tick is not None else "")
        return
    for entry, event in found if tick is not None else found[-1:]:
        yield (
            f"tick {entry.tick}, {date_text(entry.minute, run.world.start)}, {event.purpose},"
            f" feeling {event.emotion}: “{event.query}”"
        )
        yield "  score  recency  poignancy  emotion  nearness  relevance"
        for hit in event.hits:
            yield (
                f"  {hit.score:.3f}  {hit.recency:7.3f}  {hit.poignancy:9.3f} "
                f" {hit.emotion_score:7.3f}  {hit.emotion_relevance:8.3f}  {hit.relevance:9.3f} "
                f" {texts.get(hit.id, hit.id)}"
            )
