"""The manual's states as a machine: a state and a verdict give the next state, and nothing else
does.
"""

import networkx as nx

from simcounsel.errors import IllegalTransition
from simcounsel.therapies.specs.manual import Manual, State
from simcounsel.therapies.specs.soundness import graph_of

CLOSING = "closing"
"""The verdict of the clock, or of a leave-taking, which is open in every state but those of the
conclusion.
"""
STAY = "stay"
"""The verdict that changes nothing."""


def allowed(manual: Manual, state: str) -> tuple[str, ...]:
    """The states that may follow, in the manual's order; the way to the close is open to all that
    are not of the conclusion.
    """
    after = manual.states[state].next
    closing = (
        ()
        if manual.phase_of[state] == "conclusion" or manual.closing in after
        else (manual.closing,)
    )
    return (*after, *closing)


def verdicts(manual: Manual, state: str) -> dict[str, str]:
    """What can be judged in a state, and where each leads."""
    closing = {} if manual.phase_of[state] == "conclusion" else {CLOSING: manual.closing}
    return {**closing, **dict(manual.states[state].leads_to), STAY: state}


def step(manual: Manual, state: str, verdict: str, heard: int) -> str:
    """The next state after `heard` client messages in this one. IllegalTransition when the verdict
    does not belong to the state, or when it comes before the least number of messages.
    """
    known = verdicts(manual, state)
    if verdict not in known:
        raise IllegalTransition(
            f"{manual.name}: {verdict!r} leads nowhere from {state!r}; there it takes"
            f" {', '.join(known)}"
        )
    if verdict not in (STAY, CLOSING) and heard < least(manual.states[state]):
        raise IllegalTransition(
            f"{manual.name}: {verdict!r} after {heard} messages; {state!r} goes on until"
            f" {least(manual.states[state])} were heard, or until the close is near"
        )
    return known[verdict]


def least(state: State) -> int:
    """The number of client messages that must be heard before the state may be left."""
    return state.at_least if state.exit.when in ("sufficient", "intent") else 0


def move(manual: Manual, origin: str, target: str) -> str:
    """The target. IllegalTransition when the manual does not let it follow."""
    if target not in allowed(manual, origin):
        raise IllegalTransition(
            f"{manual.name}: from {origin!r} to {target!r} is no transition; "
            f"allowed are {', '.join(allowed(manual, origin)) or 'none: it is the end'}"
        )
    return target


def forced(state: State) -> str:
    """The verdict when the state has had its most messages: what it counts as when it stays
    unclear.
    """
    return {"sufficient": "sufficient", "intent": "unclear"}.get(state.exit.when, STAY)


def way_out(manual: Manual, state: str) -> tuple[str, ...]:
    """The shortest legal way from a state to an end, the state itself left out; () at the end."""
    graph = graph_of(manual)
    if manual.phase_of[state] != "conclusion":
        graph.add_edge(state, manual.closing)
        first = [manual.closing]
        origin = manual.closing
    else:
        first, origin = [], state
    ways = [
        nx.shortest_path(graph, origin, end.id)
        for end in manual.states.values()
        if end.ends and nx.has_path(graph, origin, end.id)
    ]
    return (*first, *min(ways, key=len)[1:])
