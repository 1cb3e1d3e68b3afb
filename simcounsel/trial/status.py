"""How a trial stands, in words."""

from collections.abc import Iterator

from simcounsel.trial.running import Running
from simcounsel.trial.stages import watch_of


def status_lines(running: Running) -> Iterator[str]:
    """For a terminal; no arm, and nobody's name."""
    told = watch_of(running)
    counts, spent = told["counts"], told["spent"]
    yield f"{told['title']}: {told['planned']} planned"
    yield "  " + ", ".join(f"{name} {count}" for name, count in counts.items())
    lines = sum(sum(one["messages"]) for one in told["people"])
    yield f"  {lines} lines of participants; {spent['calls']} requests, {spent['usd']:.4f} USD"
    still = [one for one in told["alerts"] if one["acknowledged"] is None]
    yield f"  {len(told['alerts'])} alerts of danger, {len(still)} that nobody has acknowledged"
    for alert in still[:10]:
        yield f"    {alert['code']} {alert['at'][:16]}: {alert['level']}, {alert['what']}"
    behind = [one["code"] for one in told["people"] if one["behind"]]
    if behind:
        yield f"  not seen yesterday: {', '.join(behind)}"
    damages = running.store.damages()
    yield f"  the log: {damages[0]}" if damages else f"  the log holds; {running.store.head[:16]}"
