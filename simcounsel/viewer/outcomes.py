"""What was measured in a run, and what each measurement rests on."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from simcounsel.errors import SimcounselError
from simcounsel.events import ClientShifted, PersonaChanged, RelationChanged
from simcounsel.instruments.clinicians import clinicians_said
from simcounsel.instruments.scale import Scale, find_instrument
from simcounsel.instruments.scoring import bounds
from simcounsel.runs.calls import Call
from simcounsel.runs.history import History
from simcounsel.runs.measurements import FOLDER, LOG, Measurement
from simcounsel.runs.rating_lines import RatingCheck
from simcounsel.specs.scores import TOTAL, Ratio, Subscale

Fields = dict[str, Any]
BECAUSE = "because"
Reasons = Callable[[Measurement, Mapping[str, str]], Mapping[str, str]]


def outcomes(history: History) -> Fields:
    """Every measurement, in the order of simulated time, what its scale says of itself, and what
    changed in those who were measured.

    `points`: each with who, instrument, tick, point, respondent (`human` where a person in the seat
    was asked), judge, `clinicians` (what is said of them where a model judged; else None), source,
    `round` (from 1; a later one is a retest of the same), items and scores. `scales`: by
    instrument, its name, construct, items, labels, and for each score its bounds, direction and
    bands. `changes`: by person, each with its tick, kind, words, before and after, and the
    conversation and the number of the line where there is one.
    """
    measurements = [*history.measurements()]
    names = sorted({one.measured.instrument for one in measurements})
    scales = {name: _scale(name) for name in names}
    points = _points(measurements, scales, reasons_of(history))
    people = sorted({one["who"] for one in points})
    return {
        "points": points,
        "scales": scales,
        "changes": {who: _changes(history, who) for who in people},
    }


def _points(measurements: Iterable[Measurement], scales: Fields, reasons: Reasons) -> list[Fields]:
    rounds: Counter[tuple[str, ...]] = Counter()
    found = []
    for one in measurements:
        key = _same(one)
        rounds[key] += 1
        items = scales[one.measured.instrument].get("items", {})
        texts = {name: about["text"] for name, about in items.items()}
        point = _point(one, rounds[key], reasons(one, texts))
        judged = one.measured.respondent == "observer" and one.judge
        said = clinicians_said(one.measured.instrument, one.judge) if judged else None
        found.append(point | {"clinicians": said})
    found.sort(key=lambda point: (point["tick"], point["instrument"], point["who"], point["round"]))
    return found


def _same(one: Measurement) -> tuple[str, ...]:
    """What a retest has in common with the first."""
    measured = one.measured
    about = measured.chats or (str(one.tick),)
    return (measured.instrument, measured.version, measured.who, measured.answered_by, *about)


def _point(one: Measurement, number: int, because: Mapping[str, str]) -> Fields:
    measured = one.measured
    return {
        "tick": one.tick,
        "minute": one.minute,
        "who": measured.who,
        "instrument": measured.instrument,
        "version": measured.version,
        "point": measured.point,
        "respondent": measured.answered_by,
        "judge": one.judge,
        "source": one.source,
        "samples": one.samples,
        "round": number,
        "damaged": one.damaged,
        "trial": one.trial,
        "chats": list(measured.chats),
        "items": [
            {"id": item.id, "value": item.value, "quote": item.quote, "absent": item.absent}
            | {"reason": item.reason or because.get(item.id)}
            for item in measured.items
        ],
        "scores": [
            {"name": score.name, "value": score.value, "used": score.used, "of": score.of}
            | {"band": score.band, "flags": list(score.flags), "reason": score.reason}
            | {"made": score.made}
            for score in measured.scores
        ],
    }


def _scale(name: str) -> Fields:
    """What a scale says of itself; its name alone where it is not registered here, such as a file
    of one's own.
    """
    try:
        found = find_instrument(name)
    except SimcounselError:
        return {"name": name, "known": False}
    if not isinstance(found, Scale):
        return {"name": name.replace("_", " "), "known": False}
    note = found.stands_in_for.note if found.stands_in_for else None
    parts: dict[str, Subscale | Ratio] = {one.id: one for one in found.subscales}
    parts |= {one.id: one for one in found.ratios}
    names = ([TOTAL] if found.scoring else []) + [*parts]
    return {
        "name": found.name,
        "known": True,
        "measures": found.measures,
        "note": note,
        "labels": {str(value): label for value, label in found.labels.items()},
        "items": {
            item.id: {
                "text": item.text,
                "range": [found.range_of(item).min, found.range_of(item).max],
                "reverse": item.reverse,
            }
            for item in found.items
        },
        "scores": {
            score: {
                "name": parts[score].name if score in parts else "total",
                "bounds": bounds(found, score),
                "direction": (parts[score].direction if score in parts else None)
                or found.direction,
                "bands": [
                    {"name": band.name, "at_least": band.at_least}
                    for band in found.bands
                    if band.score == score
                ],
            }
            for score in names
        },
    }


def _changes(history: History, who: str) -> list[Fields]:
    """What changed in somebody, in order."""
    person = history.person(who)
    found = [
        *(_shift(one.tick, one.event) for one in history.shifts(who)),
        *(
            {"tick": one.tick, "kind": "belief", "what": one.event.text, "why": one.event.why}
            | {"before": one.event.before, "after": one.event.after}
            for one in person.beliefs
        ),
        *(_closeness(one.tick, one.event) for one in person.relations),
        *(_persona(one.tick, one.event) for one in person.versions if one.event.version),
    ]
    return sorted((one for one in found if one), key=lambda one: one["tick"])


def _shift(tick: int, event: ClientShifted) -> Fields:
    """Openness in a line; nothing where it neither moved nor was touched."""
    if event.before == event.openness and event.quote is None:
        return {}
    return {
        "tick": tick,
        "kind": "openness",
        "what": event.about,
        "before": event.before,
        "after": event.openness,
        "quote": event.quote,
        "chat": event.chat,
        "message": event.message,
    }


def _closeness(tick: int, event: RelationChanged) -> Fields:
    if event.before == event.after:
        return {}
    return {
        "tick": tick,
        "kind": "closeness",
        "what": event.other,
        "before": event.before,
        "after": event.after,
        "why": event.why,
    }


def _persona(tick: int, event: PersonaChanged) -> Fields:
    return {
        "tick": tick,
        "kind": "persona",
        "what": event.recent_feeling,
        "before": event.version - 1,
        "after": event.version,
    }


def scored(points: Iterable[Fields]) -> Iterator[tuple[tuple[str, str, str, str], Fields]]:
    """Each score that has a value, first rounds only, with its (who, instrument, score,
    respondent) and its point.
    """
    for point in points:
        if point["round"] > 1:
            continue
        for score in point["scores"]:
            if score["value"] is not None:
                key = (point["who"], point["instrument"], score["name"], point["respondent"])
                yield key, point | {"value": score["value"], "band": score["band"]}


def first_and_last(points: Iterable[Fields]) -> list[Fields]:
    """Of each score of each person its first and its last value, retests left out, and how many
    there are. change: the last less the first; None with one only.
    """
    series: dict[tuple[str, str, str, str], list[Fields]] = {}
    for key, point in scored(points):
        series.setdefault(key, []).append(point)
    return [
        {
            "who": who,
            "instrument": instrument,
            "score": score,
            "respondent": respondent,
            "first": found[0]["value"],
            "last": found[-1]["value"],
            "change": found[-1]["value"] - found[0]["value"] if len(found) > 1 else None,
            "band": found[-1]["band"],
            "count": len(found),
            "trial": any(one["trial"] for one in found),
        }
        for (who, instrument, score, respondent), found in series.items()
    ]


def reasons_of(history: History) -> Reasons:
    """A function that finds the reasons for a measurement's answers, by item, given the items'
    texts. What was recorded is read once for each tick or file.
    """

    @cache
    def logged(tick: int) -> dict[str, Call]:
        return {call.key: call for call in history.calls(tick)}

    @cache
    def afterwards(file: Path) -> dict[str, Call]:
        calls = (Call.read(one) for one in RatingCheck(file).lines() if one.get("kind") == "call")
        return {call.key: call for call in calls if call is not None}

    def found(one: Measurement, items: Mapping[str, str]) -> Mapping[str, str]:
        if one.measured.respondent == "talk":
            return {}
        file = history.log.folder / FOLDER / one.source
        calls = logged(one.tick) if one.source == LOG else afterwards(file)
        return _reasons((calls[key] for key in one.measured.calls if key in calls), items)

    return found


def _reasons(calls: Iterable[Call], items: Mapping[str, str]) -> dict[str, str]:
    """The first that was given for each item. A block's reply holds all its items by id, one for an
    item alone is told by the item's text in what was asked.
    """
    found: dict[str, str] = {}
    for call in calls:
        for item, because in (_block(call) or _alone(call, items)).items():
            found.setdefault(item, because)
    return found


def _block(call: Call) -> dict[str, str]:
    try:
        reply: Any = json.loads(call.reply or "")
    except ValueError:
        return {}
    if not isinstance(reply, dict):
        return {}
    given = {key: one.get(BECAUSE) for key, one in reply.items() if isinstance(one, dict)}
    return {key: because for key, because in given.items() if isinstance(because, str) and because}


def _alone(call: Call, items: Mapping[str, str]) -> dict[str, str]:
    lines = [line for line in (call.reply or "").splitlines() if line.strip()]
    asked = call.messages[-1].content if call.messages else ""
    item = next((key for key, text in items.items() if text in asked), None)
    if item is None or len(lines) < 2:
        return {}
    words = " ".join(line.strip() for line in lines[:-1])
    return {item: words.removeprefix(f"{BECAUSE}:").strip()}
