"""How a client speaks next: its moves, how likely each is where it stands, and what each means for
the wording.
"""

from simcounsel.agents.talk import TalkView
from simcounsel.chance import chance
from simcounsel.policies.changing.state import ClientState
from simcounsel.policies.manual import aims
from simcounsel.prompts import phrase
from simcounsel.specs.vocabulary import Stage

GUARDED_FROM, OPEN_BELOW = 5.5, 3.5
"""Resistance from which on a client is guarded, and below which it is open."""
DIGRESSES = 0.1
"""How often a line goes off the point."""
MOVES: dict[str, Stage] = {
    "defending": "doubting",
    "digress": "telling",
    "homework": "telling",
    "insight": "hopeful",
    "early": "early",
    "telling": "telling",
    "doubting": "doubting",
    "angry": "angry",
    "hopeful": "hopeful",
    "ending": "ending",
}
"""What each move sounds like, as the stages of hand-written lines go."""


def next_move(view: TalkView, state: ClientState) -> tuple[str, str]:
    """How it speaks now, and why."""
    reason = f"resistance {state.resistance:.1f}, mood {state.mood:.1f}"
    if view.parting or view.turns_left <= 1:
        return "ending", "the talk is ending"
    spoken = len(view.moves)
    rng = chance(*view.key, view.me, "changing", len(view.lines))
    if state.homework and "homework" not in view.moves and spoken <= 1:
        return "homework", f"{reason}; what was agreed: {state.homework}"
    if spoken and view.moves[-1] != "digress" and view.turns_left > 4 and rng.random() < DIGRESSES:
        return "digress", f"{reason}; goes off the point"
    if state.insights and "insight" not in view.moves and spoken >= 2 and rng.random() < 0.4:
        return "insight", f"{reason}; holds on to what it has seen"
    odds = _odds(view, state, spoken)
    return rng.choices(list(odds), list(odds.values()))[0], reason


def _odds(view: TalkView, state: ClientState, spoken: int) -> dict[str, float]:
    """Weights of the moves: closed at the start and where resistance is high, hopeful where it is
    low and the mood allows it.
    """
    odds = {"telling": 4.0, "doubting": 1.0 + (5 - state.mood) * 0.2 if state.mood < 5 else 0.8}
    if view.meeting == 1 and spoken < 2:
        odds["early"] = 4.0
    if state.resistance >= GUARDED_FROM and view.defenses:
        odds["defending"] = state.resistance - GUARDED_FROM + 1.5
    if view.emotion in ("anger", "disgust") or (state.resistance > 7 and state.mood < 4):
        odds["angry"] = 1.0
    if state.resistance < OPEN_BELOW or state.mood > 6:
        odds["hopeful"] = 1.5 if state.mood > 4 else 0.5
    return odds


def aim_of(view: TalkView, state: ClientState, move: str) -> str:
    """The move's aim, with what of oneself belongs to it now."""

    def worded(key: str, **slots: object) -> str:
        return phrase("client_words", key, view.language, **slots)

    parts = [aims("changing", view.language)[move]]
    if move == "defending":
        closed = [
            defense for index, defense in enumerate(view.defenses) if index not in state.loosened
        ] or list(view.defenses)
        # the draw keeps its old label: under another one, kept recordings would be asked otherwise
        rng = chance(*view.key, view.me, "guard", len(view.lines))
        parts.append(worded("defending", defense=rng.choice(closed)))
    if move == "homework":
        parts.append(worded("homework", agreed=state.agreed, outcome=worded(str(state.homework))))
    if state.insights:
        parts.append(worded("insight", insight=state.insights[-1]))
    mood = "low" if state.mood < 3.5 else "middling" if state.mood < 6.5 else "good"
    parts.append(
        worded("standing", mood=worded(mood), openness=worded(_openness(state.resistance)))
    )
    return ("" if view.language == "zh" else " ").join(parts)


def _openness(resistance: float) -> str:
    return (
        "guarded" if resistance >= GUARDED_FROM else "open" if resistance < OPEN_BELOW else "half"
    )
