"""What there is to be measured in a run: whom, when, and about which conversation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from simcounsel.errors import NothingToMeasure, RunError
from simcounsel.events import TickEnded
from simcounsel.instruments.kind import Counted
from simcounsel.instruments.material import Talk
from simcounsel.instruments.record import ObserverRecord
from simcounsel.instruments.scale import Scale
from simcounsel.runs.run import Run
from simcounsel.specs.problems import suggest


@dataclass(frozen=True, kw_only=True)
class Target:
    """One measurement to be made."""

    who: str
    """Of whom."""
    tick: int
    """As of the end of which tick."""
    minute: int
    """The world's minute that it is filed under."""
    point: str
    """What it is called: `after session 1`, `end`."""
    talk: Talk | None = None
    """The conversation it is about; None: none."""

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells its measurement from the others of its rating."""
        return self.who, self.tick, self.point


def record_until(run: Run, at: int | None) -> tuple[ObserverRecord, dict[int, int]]:
    """What happened up to the end of tick `at`, and the minute of each complete tick."""
    done = run.ticks_done()
    if not done:
        raise RunError(
            f"{run.folder}: no tick is complete yet; wait for the first, or `simcounsel resume"
            f" {run.folder}`"
        )
    if at is not None and not 0 <= at < done:
        raise RunError(f"{run.folder}: tick {at} was not run; choose one from 0 to {done - 1}")
    record, minutes = ObserverRecord(run.world), {}
    for entry in run.entries(until_tick=done if at is None else at + 1):
        record.observe(entry)
        if isinstance(entry.event, TickEnded):
            minutes[entry.tick] = entry.minute
    return record, minutes


def targets_of(
    run: Run,
    scale: Scale | Counted,
    record: ObserverRecord,
    minutes: dict[int, int],
    who: str | None,
    chat: str | None,
    every_talk: bool = False,
) -> Iterator[Target]:
    """What an instrument measures in a run. who: one client, all
    if None; chat: one conversation, by number or id; every_talk: a self-report is asked as of the
    end of each conversation, and not as of the last tick. RunError names what is not there.
    """
    names = [resident.name for resident in run.world.residents]
    if who is not None and who not in names:
        raise RunError(f"{run.folder}: no resident {who!r}; {suggest(who, names)}")
    clients = (
        [who]
        if who
        else [resident.name for resident in run.world.present() if resident.role == "client"]
    )
    talk = talk_named(run, record, chat) if chat is not None else None
    if every_talk and scale.respondent == "observer" and scale.sees == "personas":
        raise RunError(
            f"{scale.id}: compares the persona at two times, not conversations; leave"
            " --every-conversation out"
        )
    if every_talk or scale.sees in ("transcript", "persona and transcript"):
        for one in [talk] if talk else [one for one in record.talks.values() if one.lines]:
            for name in (name for name in clients if name in one.who):
                yield Target(
                    who=name,
                    tick=one.tick,
                    minute=one.minute,
                    point=record.point(name, one),
                    talk=one,
                )
        return
    tick = talk.tick if talk else max(minutes)
    at_end = "end" if tick == run.world.ticks - 1 else f"tick {tick}"
    for name in clients:
        if talk is None or name in talk.who:
            yield Target(
                who=name,
                tick=tick,
                minute=minutes[tick],
                point=record.point(name, talk) if talk else at_end,
            )


def without_seated(
    run: Run, record: ObserverRecord, targets: Iterable[Target]
) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """Those of a self-report that a model may answer, and for whom a person had spoken by then.
    NothingToMeasure when none is left.
    """
    every = tuple(targets)
    left = tuple(one for one in every if record.seated.get(one.who, one.tick + 1) > one.tick)
    seated = tuple(dict.fromkeys(one.who for one in every if one not in left))
    if seated and not left:
        raise NothingToMeasure(f"{run.folder}: {seated_text(seated)}")
    return left, seated


def seated_text(names: Iterable[str]) -> str:
    """Why nobody asks a model how these people are, and what can be done."""
    return (
        f"a person spoke for {' and '.join(names)}; afterwards no model can answer a questionnaire"
        " in that person's name. Ask them while the run goes on (`measurements:` in the world's"
        " file), or let an observer rate the conversations (session_alliance_observed, ...)"
    )


def talk_named(run: Run, record: ObserverRecord, chat: str) -> Talk:
    """A conversation by number (from 1) or id, as `show` counts them."""
    talks = list(record.talks.values())
    if chat in record.talks:
        return record.talks[chat]
    if chat.isdigit() and 1 <= int(chat) <= len(talks):
        return talks[int(chat) - 1]
    raise RunError(
        f"{run.folder}: no conversation {chat!r}; "
        + (f"there are 1 to {len(talks)}" if talks else "there is none")
    )
