"""Parts of a run in plain text, for a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping

from simcounsel.clock import date_text, day_of, time_text
from simcounsel.errors import RunError
from simcounsel.events import (
    Acted,
    Appraised,
    ClientShifted,
    ConversationStarted,
    Entry,
    Foreign,
    HomeworkAgreed,
    Judged,
    Noted,
    PersonaChanged,
    Planned,
    PracticeEvent,
    Recalled,
    Reflected,
    RelationChanged,
    Retrieved,
    Said,
    Transitioned,
    Warned,
)
from simcounsel.runs.authors import lines_text
from simcounsel.runs.conversation import Aftermath, Conversation, Dated, Line
from simcounsel.runs.event_text import describe, foreign_line
from simcounsel.runs.history import History
from simcounsel.runs.open_ends import danger_text
from simcounsel.runs.run import Run

OF_DAY = (
    "planned",
    "acted",
    "appraised",
    "conversation_started",
    "said",
    "relation_changed",
    "reflected",
    "belief_moved",
    "persona_changed",
    "warned",
)
"""Kinds of events that are shown of a day."""

STAGE_WORDS = {
    "early": "says little yet",
    "telling": "tells",
    "doubting": "draws back",
    "angry": "is angry",
    "hopeful": "hopes",
    "ending": "takes leave",
}
"""How far a client has opened up, in words; the log has the short names."""


def day_lines(run: Run, who: str, day: int) -> Iterator[str]:
    """One day of one resident: the plan, what was done, felt, said and concluded."""
    _known(run, who)
    log = History.of(run).log
    entries = log.entries(
        (*OF_DAY, *sorted(log.foreign_kinds)), where=lambda fields: day_of(fields["minute"]) == day
    )
    doing, found = "", False
    for entry in entries:
        if who not in _people(entry):
            continue
        found = True
        if isinstance(entry.event, Acted):
            now = f"{entry.event.activity}{entry.event.place}"
            if now == doing:
                continue
            doing = now
        yield from _day_line(entry, who)
    if not found:
        yield f"nothing on day {day} (the first day is 0)"


def _people(entry: Entry) -> tuple[str, ...]:
    """Whom an event is about."""
    event = entry.event
    match event:
        case ConversationStarted():
            return event.who
        case Said():
            return (event.who, event.to)
        case Foreign():
            return (str(event.fields.get("who")),)
    who = getattr(event, "who", None)
    return (who,) if isinstance(who, str) else ()


def _day_line(entry: Entry, who: str) -> Iterator[str]:
    """What of a day an event tells; nothing when it tells nothing."""
    event, at = entry.event, time_text(entry.minute)
    match event:
        case Planned():
            yield f"{at}  plans ({event.why}): " + "; ".join(
                f"{s.at} {s.do}" for s in event.strokes
            )
        case Acted():
            yield f"{at}  {event.activity} ({event.place})"
        case Appraised() if event.emotion != "neutral":
            yield f"{at}    feels {event.emotion} {event.intensity}/10: {event.about}"
        case ConversationStarted():
            other = event.who[1] if event.who[0] == who else event.who[0]
            yield f"{at}  talks with {other} [{event.chat}]"
        case Said():
            yield f"{at}    {event.who}: {event.text}"
        case RelationChanged() if event.before != event.after:
            yield f"{at}    closeness to {event.other}: {event.before:g} to {event.after:g}"
        case Reflected() | PersonaChanged() | Warned() | Foreign():
            if line := describe(entry):
                yield line


def _known(run: Run, who: str) -> None:
    names = [resident.name for resident in run.world.residents]
    if who not in names:
        raise RunError(f"{run.folder}: no resident {who!r}; there are {', '.join(names)}")


def conversation_lines(run: Run, which: int | str, *, doubts: bool = False) -> Iterator[str]:
    """A whole conversation by its number (from 1) or its id, with moves and what each took away.

    doubts: with words that might have meant danger and were judged not to.
    """
    history = History.of(run)
    ids = [one.id for one in history.outline()]
    if not ids:
        yield "no conversation in this run"
        return
    wanted = str(which) if str(which) in ids else None
    if wanted is None and str(which).isdigit() and 1 <= int(which) <= len(ids):
        wanted = ids[int(which) - 1]
    held = history.conversation(wanted) if wanted else None
    if held is None:
        raise RunError(f"{run.folder}: no conversation {which!r}; there are 1 to {len(ids)}")
    yield from _conversation(run, held, history.authors(held), doubts)


def _conversation(
    run: Run, held: Conversation, authors: Mapping[int, str], doubts: bool
) -> Iterator[str]:
    started, ended = held.started, held.ended
    when = date_text(held.minute, run.world.start)
    yield f"{' and '.join(held.who)}, {when}, {started.place} ({started.met}) [{held.id}]"
    if ended and ended.open_danger != "none":
        yield f"ended on open danger: {danger_text(ended.open_danger, ended.open_kinds)}"
    for line in held.lines:
        yield from _line(line, doubts)
    if ended:
        at = "" if ended.until is None else f", {time_text(ended.until)}"
        yield f"ended: {'time is up' if ended.by is None else ended.by + ' took leave'}{at}"
    yield lines_text(Counter(authors.values()))
    for name, left in held.after.items():
        yield from _aftermath(name, left)


def _line(line: Line, doubts: bool) -> Iterator[str]:
    """What led to a line, the line, and danger that was heard in it."""
    for event in line.practice:
        yield from _practice_lines(event)
    said = line.event
    move = line.decided.move if line.decided else ""
    move = STAGE_WORDS.get(move, move)
    if line.decided and line.decided.policy == "safety":
        move = f"safety: {move}"
    felt = said.emotion if said.emotion == "neutral" else f"{said.emotion} {said.intensity} of 10"
    yield f"{said.who} ({'; '.join(filter(None, (move, felt)))}):"
    yield f"    {said.text}"
    if (danger := line.danger) and (doubts or danger.level != "none"):
        kinds = f" ({', '.join(danger.kinds)})" if danger.kinds else ""
        yield f"  · danger: {danger.level}{kinds}, by {danger.by}; {danger.why}"


def _aftermath(name: str, left: Aftermath) -> Iterator[str]:
    for event in left.practice:
        yield from _practice_lines(event)
    if left.summary:
        yield f"{name} takes away: {left.summary.text}"


def _practice_lines(event: PracticeEvent) -> Iterator[str]:
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
            yield from _retrieved_lines(event)
        case ClientShifted():
            yield f"  · {shift_line(event)}"
        case HomeworkAgreed():
            yield f"  · {event.who} takes home: {event.agreed} (“{event.quote}”)"
        case Foreign():
            yield f"  · {foreign_line(event)}"


def shift_line(event: ClientShifted) -> str:
    """Where a client stands with a line, in one line."""
    parts = [f"openness {event.openness:g} of 10"]
    if event.openness != event.before:
        parts[0] += f" (before {event.before:g})"
    if event.quote:
        about = f" touched {event.touched} ({event.about})" if event.touched else " touched"
        parts.append(f"“{event.quote}”{about}")
    if event.held_back:
        parts.append(f"kept back: {event.held_back}")
    return "; ".join(parts)


def _retrieved_lines(event: Retrieved) -> Iterator[str]:
    kept = [one.id for one in event.candidates if one.kept]
    yield (
        f"  · {event.of}: {', '.join(event.chosen) or 'none'} ({event.reason}), out of"
        f" {', '.join(kept) or 'none'}"
    )
    left_out = [one for one in event.candidates if not one.kept]
    for why in dict.fromkeys(one.why for one in left_out):
        ids = ", ".join(one.id for one in left_out if one.why == why)
        yield f"      left out ({why}): {ids}"


def recall_lines(run: Run, who: str, tick: int | None) -> Iterator[str]:
    """What came to somebody's mind at a tick (the last recall if None), with the five terms."""
    _known(run, who)
    history = History.of(run)
    recalls = history.recalls(who)
    found = recalls[-1:] if tick is None else [one for one in recalls if one.tick == tick]
    if not found:
        yield f"{who} recalled nothing" + (f" in tick {tick}" if tick is not None else "")
        return
    texts = {one.event.memory.id: one.event.memory.text for one in history.memories(who)}
    for one in found:
        yield from _recall(run, one, texts)


def _recall(run: Run, one: Dated[Recalled], texts: dict[str, str]) -> Iterator[str]:
    event = one.event
    yield (
        f"tick {one.tick}, {date_text(one.minute, run.world.start)}, {event.purpose},"
        f" feeling {event.emotion}: “{event.query}”"
    )
    yield "  score  recency  poignancy  emotion  nearness  relevance"
    for hit in event.hits:
        yield (
            f"  {hit.score:.3f}  {hit.recency:7.3f}  {hit.poignancy:9.3f} "
            f" {hit.emotion_score:7.3f}  {hit.emotion_relevance:8.3f}  {hit.relevance:9.3f} "
            f" {texts.get(hit.id, hit.id)}"
        )
    if event.stood_back:
        yield "  stood back, since it came to mind just before:"
        yield from (f"    {texts.get(one, one)}" for one in event.stood_back)
