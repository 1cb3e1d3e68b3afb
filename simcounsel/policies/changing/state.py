"""How guarded a client is and how it feels, folded from what it kept: what moves it between two
sessions and within one.
"""

from dataclasses import dataclass, replace
from typing import Literal

from simcounsel.agents.talk import TalkView
from simcounsel.chance import chance
from simcounsel.events import ClientShifted

TOUCHES_TO_SOFTEN = 3
"""The number of touches after which a defense loosens; half of it shows earlier."""
SOFTENS, HARDENS, HARDENS_HOW_OFTEN = 0.6, 0.2, 0.3
"""How far resistance (0 to 10) falls with a touch, rises at most without one, and how often."""
BETWEEN_DRIFT, BETWEEN_SWING, WITHIN_SWING = 0.12, 1.1, 0.35
"""Of the mood (0 to 10): pull of the closeness, and standard deviation of the swing, between two
sessions; swing within one.
"""
Outcome = Literal["done", "partly", "not done"]


@dataclass(frozen=True, kw_only=True)
class ClientState:
    """Where a client stands at this point of a session."""

    resistance: float
    """0 to 10."""
    mood: float
    """0 to 10."""
    softened: tuple[int, ...]
    """Touches of each defense, in the persona's order."""
    agreed: str | None
    """What was agreed last time; None when nothing was."""
    homework: Outcome | None
    """What came of it; None where nothing was agreed, or it is not known yet."""
    insights: tuple[str, ...]
    """What has become clear so far, which stays."""
    fresh: bool
    """Whether nothing was kept of this session yet."""

    @property
    def loosened(self) -> tuple[int, ...]:
        """The defenses that have loosened, as places in the persona's list."""
        return tuple(
            index for index, touches in enumerate(self.softened) if touches >= TOUCHES_TO_SOFTEN
        )


def in_course(view: TalkView) -> bool:
    """Whether the two meet for a session: a counselor, by appointment."""
    return view.appointment and view.other_role == "counselor"


def state_of(view: TalkView) -> ClientState:
    """Folded from what it kept; at the very first, drawn by the world's seed."""
    before = [entry.event for entry in view.kept if isinstance(entry.event, ClientShifted)]
    here = [event for event in view.own if isinstance(event, ClientShifted)]
    kept = [*before, *here]
    rng = chance(view.key[0], view.me, view.other, "changing")
    start = rng.uniform(6.0, 8.5), rng.uniform(2.5, 5.0)
    last = kept[-1] if kept else None
    touches = last.softened if last else ()
    return ClientState(
        resistance=last.resistance if last else round(start[0], 2),
        mood=last.mood if last else round(start[1], 2),
        softened=(*touches, *[0] * (len(view.defenses) - len(touches))),
        agreed=last.agreed if last else None,
        homework=here[-1].homework if here else None,
        insights=tuple(event.insight for event in kept if event.insight),
        fresh=not here,
    )


def today(view: TalkView, state: ClientState) -> ClientState:
    """As the session begins: a week has moved the mood, and what was agreed was done or was not."""
    if not state.fresh or not view.kept:
        return state
    rng = chance(*view.key, view.me, "since then")
    mood = state.mood + BETWEEN_DRIFT * (view.closeness - 4) + rng.gauss(0, BETWEEN_SWING)
    outcome: Outcome | None = None
    if state.agreed and in_course(view):
        likely = min(0.85, max(0.15, 0.35 + 0.06 * view.closeness - 0.04 * (state.resistance - 5)))
        outcome = (
            "done" if rng.random() < likely else "partly" if rng.random() < 0.4 else "not done"
        )
    return replace(state, mood=_bounded(mood), homework=outcome)


def moved(view: TalkView, state: ClientState, touched: int | None) -> ClientState:
    """After the other's line. Resistance falls only where a defense was touched; else it stays, or
    rises a little.
    """
    rng = chance(*view.key, view.me, "moved", len(view.lines))
    mood = _bounded(state.mood + rng.gauss(0.15 if touched is not None else 0.0, WITHIN_SWING))
    if touched is None:
        hardens = in_course(view) and view.heard is not None and rng.random() < HARDENS_HOW_OFTEN
        rise = rng.uniform(0, HARDENS) if hardens else 0.0
        return replace(state, mood=mood, resistance=_bounded(state.resistance + rise))
    softened = tuple(touches + (index == touched) for index, touches in enumerate(state.softened))
    fall = SOFTENS * (0.5 + view.closeness / 10)
    return replace(
        state, mood=mood, softened=softened, resistance=_bounded(state.resistance - fall)
    )


def _bounded(value: float) -> float:
    return round(min(10.0, max(0.0, value)), 2)
