"""What a step was worth, part by part."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simcounsel.envs.acting import Taken
from simcounsel.envs.breaches import Found
from simcounsel.envs.metering import DECIMALS, Part, mix_of
from simcounsel.envs.reward import LAPSES, Lapse, Reward

GOING_ON = "the session goes on"
NO_INSTRUMENT = "the reward names no instrument"
NO_VALUE = "no instrument gave a value"
_WORD = re.compile(r"[㐀-鿿]|[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, kw_only=True)
class Account:
    """A step's reward."""

    total: float
    """What was given."""
    mix: float | None
    """Of the instruments, before it is multiplied by the session's weight; None with a reason in
    `why` when there is none.
    """
    why: str | None
    parts: tuple[Part, ...]
    """The mix's terms."""
    lapses: Mapping[str, float]
    """`lapses`, `breaches`: what was taken off for each kind, as numbers of 0 or less."""
    breaches: Mapping[str, float]
    found: tuple[Found, ...]
    """The breaches themselves."""
    told: float = 0.0
    """What the facts of a case were worth that the client told in the session."""


NOTHING_YET = Account(
    total=0.0, mix=None, why="nothing was said yet", parts=(), lapses={}, breaches={}, found=()
)


def account(
    reward: Reward,
    taken: Taken,
    found: Sequence[Found],
    parts: Sequence[Part] | None,
    told: int = 0,
) -> Account:
    """A step's reward out of how the action was taken, the breaches that came with it, the
    session's terms (None: it goes on), and how many facts of a case were told in it.
    """
    lapses: dict[str, float] = {
        name: 0.0 - round(reward.per_turn.get(name, 0.0) * times, DECIMALS)
        for name, times in lapses_of(reward, taken).items()
        if times
    }
    taken_off: dict[str, float] = {}
    for one in found:
        taken_off[one.kind] = round(
            taken_off.get(one.kind, 0.0) - reward.penalties.get(one.kind, 0.0), DECIMALS
        )
    mix = None if parts is None else mix_of(parts)
    why = (
        None
        if mix is not None
        else GOING_ON
        if parts is None
        else NO_VALUE
        if parts
        else NO_INSTRUMENT
    )
    total = (
        sum(lapses.values())
        + sum(taken_off.values())
        + (0.0 if mix is None else reward.session_weight * mix)
        + reward.told * told
    )
    return Account(
        total=round(total, DECIMALS),
        mix=mix,
        why=why,
        parts=tuple(parts or ()),
        lapses=lapses,
        breaches=taken_off,
        found=tuple(found),
        told=round(reward.told * told, DECIMALS),
    )


def lapses_of(reward: Reward, taken: Taken) -> dict[Lapse, int]:
    """How often a line lapses, by kind."""
    questions, words = len(re.findall(r"[?？]", taken.text)), len(_WORD.findall(taken.text))
    times = (
        max(0, questions - reward.most_questions),
        int(words > reward.most_words),
        int(taken.silent),
        int(taken.repeated),
        int(taken.cut > 0),
    )
    return dict(zip(LAPSES, times, strict=True))
