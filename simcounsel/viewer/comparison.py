"""Two runs side by side: where they differ, and by how much. Both as `overview` gives them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from simcounsel.agents.emotion import SIGN
from simcounsel.runs.history import History
from simcounsel.viewer.outcomes import first_and_last

Fields = dict[str, Any]
_SIGN: dict[str, int] = {str(emotion): int(sign) for emotion, sign in SIGN.items()}


def compare(a: Fields, b: Fields) -> Fields:
    """Where two overviews part, and for each person in both, over the ticks at which both are
    there, how far what they do and feel differs.

    parted: the first tick at which anything differs; None when nothing does. forked: the tick from
    which one was run again, when one is a fork of the other. only: who lives in one run alone.
    """
    ticks = min(a["ticks"], b["ticks"])
    shared = sorted(set(a["tracks"]) & set(b["tracks"]))
    people = [_person(who, a, b, ticks) for who in shared]
    only = {
        "a": sorted(set(a["tracks"]) - set(b["tracks"])),
        "b": sorted(set(b["tracks"]) - set(a["tracks"])),
    }
    joins = [
        track["here"][0][0]
        for run, names in ((a, only["a"]), (b, only["b"]))
        for name in names
        if (track := run["tracks"][name])["here"]
    ]
    firsts = [one["parted"] for one in people if one["parted"] is not None]
    return {
        "ticks": ticks,
        "people": people,
        "parted": min(firsts + joins, default=None),
        "forked": _forked(a, b),
        "only": only,
    }


def last_scores(a: Iterable[Fields], b: Iterable[Fields]) -> list[Fields]:
    """Scores that a person has in both runs, with the last value in A and in B; retests are left
    out. Both as the points of `outcomes`.
    """
    keys = ("who", "instrument", "score", "respondent")
    found = [
        {tuple(one[key] for key in keys): one for one in first_and_last(points)}
        for points in (a, b)
    ]
    return [
        dict(zip(keys, key, strict=True))
        | {"a": one["last"], "b": found[1][key]["last"], "trial": one["trial"]}
        for key, one in found[0].items()
        if key in found[1]
    ]


def lines_apart(a: History, b: History, until_tick: int) -> Fields:
    """How many lines were said in A and in B before a tick, how many of them are the same words by
    the same speaker at the same tick, and the first tick at which they are not; None when all are.
    """
    said = [
        [
            (talk.tick, line.who, line.text)
            for talk in history.conversations(until_tick=until_tick - 1)
            for line in talk.lines
        ]
        for history in (a, b)
    ]
    same = Counter(said[0]) & Counter(said[1])
    apart = [one for side in said for one in side if not same[one]]
    return {
        "a": len(said[0]),
        "b": len(said[1]),
        "same": same.total(),
        "parted": min((tick for tick, _, _ in apart), default=None),
    }


def other_clock(a: Fields, b: Fields) -> str | None:
    """Why the ticks of these two are not the same moments; None when they are."""
    for key, words in (("tick_minutes", "minutes to a tick"), ("first_minute", "minute of tick 0")):
        if a[key] != b[key]:
            return (
                f"{a['run']} has {a[key]} and {b['run']} {b[key]} as {words}: there is no one clock"
                " to lay them side by side on; open each for itself, or both with others of their"
                " kind in the list of runs"
            )
    return None


@dataclass(frozen=True)
class _Now:
    """A person at one tick."""

    text: str
    kind: str
    place: str
    emotion: str
    intensity: int

    @property
    def signed(self) -> int:
        """The feeling from -10 to 10."""
        return _SIGN.get(self.emotion, 0) * self.intensity


def _person(who: str, a: Fields, b: Fields, ticks: int) -> Fields:
    """One who lives in both.

    together: ticks at which they are in both runs; all else is counted over these. kind_differs and
    words_differ: the share of them with another kind of activity, or the same kind in other words.
    hours: of each kind in all, in A and B. feeling: mean signed intensity (-10 to 10) in A and B,
    and the mean distance at a tick. talks: in A and B, up to where the shorter run ends: how many,
    their lines, and who was met.
    """
    pairs = list(zip(*(_states(run, who, ticks) for run in (a, b)), strict=True))
    both = [(x, y) for x, y in pairs if x is not None and y is not None]
    counted = [Counter(one.kind for one in side) for side in zip(*both, strict=True)]
    counted = counted or [Counter(), Counter()]
    hours = a["tick_minutes"] / 60
    return {
        "name": who,
        "together": len(both),
        "parted": next((tick for tick, (x, y) in enumerate(pairs) if x != y), None),
        "kind_differs": _mean([x.kind != y.kind for x, y in both]),
        "words_differ": _mean([x.kind == y.kind and x.text != y.text for x, y in both]),
        "hours": {
            kind: [round(counts[kind] * hours, 2) for counts in counted]
            for kind in sorted({*counted[0], *counted[1]})
        },
        "feeling": {
            "a": _mean([x.signed for x, _ in both]),
            "b": _mean([y.signed for _, y in both]),
            "apart": _mean([abs(x.signed - y.signed) for x, y in both]),
        },
        "talks": [_talks(run, who, ticks) for run in (a, b)],
    }


def _mean(values: list[Any]) -> float | None:
    return round(sum(values) / len(values), 3) if values else None


def _talks(run: Fields, who: str, ticks: int) -> Fields:
    found = [talk for talk in run["talks"] if who in talk["who"] and talk["tick"] < ticks]
    met = sorted({name for talk in found for name in talk["who"]} - {who})
    return {"talks": len(found), "lines": sum(talk["lines"] for talk in found), "met": met}


def _forked(a: Fields, b: Fields) -> int | None:
    for child, other in ((a, b), (b, a)):
        parent = child.get("parent")
        if parent and parent["run"] == other.get("run"):
            return int(parent["at_tick"])
    one, two = a.get("parent"), b.get("parent")
    if one and two and one["run"] == two["run"]:
        return min(int(one["at_tick"]), int(two["at_tick"]))
    return None


def _states(run: Fields, who: str, ticks: int) -> list[_Now | None]:
    """A person at every tick; None while they are not there, or have not done anything yet."""
    texts, track = run["texts"], run["tracks"][who]
    changes = {
        what: {one[0]: one[1:] for one in track[what]} for what in ("doing", "feeling", "here")
    }
    doing: tuple[str, str, str] | None = None
    feeling: tuple[str, int] = ("neutral", 1)
    here = False
    states: list[_Now | None] = []
    for tick in range(ticks):
        if tick in changes["here"]:
            here = changes["here"][tick][0]
        if tick in changes["doing"]:
            text, kind, place = (texts[n] for n in changes["doing"][tick])
            doing = (text, kind, place)
        if tick in changes["feeling"]:
            emotion, intensity = changes["feeling"][tick]
            feeling = (texts[emotion], intensity)
        states.append(_Now(*doing, *feeling) if here and doing else None)
    return states
