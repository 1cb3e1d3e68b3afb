"""Two runs side by side: where they differ. Both as `overview` gives them."""

from typing import Any

Fields = dict[str, Any]


def compare(a: Fields, b: Fields) -> Fields:
    """Where two overviews part: for each person in both, the ticks at which what they do, or feel,
    differs.

    parted: the first tick at which anything differs; None when nothing does. forked: the tick from
    which one was lived anew, when one is a fork of the other.
    """
    ticks = min(a["ticks"], b["ticks"])
    people = sorted(set(a["tracks"]) & set(b["tracks"]))
    differ = {
        who: {
            "doing": _differing(a, b, who, "doing", ticks),
            "feeling": _differing(a, b, who, "feeling", ticks),
        }
        for who in people
    }
    first = [tick for person in differ.values() for found in person.values() for tick in found[:1]]
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
    return {
        "ticks": ticks,
        "differ": differ,
        "parted": min(first + joins, default=None),
        "forked": _forked(a, b),
        "only": only,
    }


def _forked(a: Fields, b: Fields) -> int | None:
    for child, other in ((a, b), (b, a)):
        parent = child.get("parent")
        if parent and parent["run"] == other.get("run"):
            return int(parent["at_tick"])
    one, two = a.get("parent"), b.get("parent")
    if one and two and one["run"] == two["run"]:
        return min(int(one["at_tick"]), int(two["at_tick"]))
    return None


def _differing(a: Fields, b: Fields, who: str, what: str, ticks: int) -> list[int]:
    one, two = (_at_each_tick(run, who, what, ticks) for run in (a, b))
    return [tick for tick in range(ticks) if one[tick] != two[tick]]


def _at_each_tick(run: Fields, who: str, what: str, ticks: int) -> list[Any]:
    """A track's state at every tick, texts instead of their numbers."""
    texts = run["texts"]
    states: list[Any] = []
    state: Any = None
    changes = {change[0]: change[1:] for change in run["tracks"][who][what]}
    for tick in range(ticks):
        if tick in changes:
            value = changes[tick]
            state = (
                tuple(texts[n] for n in value) if what != "feeling" else (texts[value[0]], value[1])
            )
        states.append(state)
    return states
