"""What makes a manual unusable: states that nobody reaches, that nobody leaves, exits that
cannot be met.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterator

import networkx as nx

from simcounsel.therapies.specs.manual import FEWEST_LINES, At, Manual, State

SLOTS = {"name", "words", "feeling"}
EXERCISE_SLOTS = {"exercise", "goal", "steps", "afterwards"}
BELONGS: dict[str, set[str]] = {
    "sufficient": {"criteria", "intents"},
    "intent": {"intents", "otherwise"},
    "valence": {"positive", "negative"},
    "said": set(),
    "end": set(),
}
Problems = Iterator[tuple[At, str]]


def graph_of(manual: Manual) -> "nx.DiGraph[str]":
    """The states and where their exits lead, without the way that is open to all: the one to
    `closing`.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(manual.states)
    graph.add_edges_from(
        (state.id, to)
        for state in manual.states.values()
        for _, to in state.leads_to
        if to in manual.states
    )
    return graph


def unsound(manual: Manual) -> Problems:
    """Each problem with its path in the file. What depends on the graph is asked only when all
    names in it are known.
    """
    found = [*_ids(manual)]
    for at, _, state in manual.walk():
        found += [
            ((*at, *where), what)
            for where, what in (*_targets(manual, state), *_exit(state), *_words(state))
        ]
    yield from found
    if not found:
        yield from _graph(manual)


def _ids(manual: Manual) -> Problems:
    count = Counter(state.id for _, _, state in manual.walk())
    starts = [(at, state.id) for at, _, state in manual.walk() if state.start]
    for at, phase, state in manual.walk():
        if count[state.id] > 1:
            yield (*at, "id"), f"{count[state.id]} states have the id {state.id!r}; ids must differ"
        if state.ends and phase != "conclusion":
            yield (
                (*at, "exit"),
                f"{state.id!r} ends the session in the phase {phase!r}; put it under `conclusion:`",
            )
    if not starts:
        yield ("phases",), "no state begins the session; give one `start: true`"
    for at, name in starts[1:]:
        yield (
            (*at, "start"),
            f"{name!r} begins the session as well as {starts[0][1]!r}; one state begins it",
        )
    if not any(state.ends for state in manual.states.values()):
        yield ("phases",), "no state ends the session; give one `exit: {when: end}`"
    if manual.closing not in manual.states:
        yield ("closing",), f"no state {manual.closing!r}; {_near(manual.closing, manual)}"
    elif manual.states[manual.closing].internal or manual.phase_of[manual.closing] != "conclusion":
        yield (
            ("closing",),
            (
                f"{manual.closing!r} is no state of the conclusion that says something; the way"
                " that is open to all leads to one"
            ),
        )
    if manual.days.first > manual.days.cap:
        yield (
            ("days", "first"),
            f"the first day, {manual.days.first}, comes after the last, {manual.days.cap}",
        )


def _targets(manual: Manual, state: State) -> Problems:
    """One problem for one mistake: what follows from a wrong name is not said beside it."""
    unknown = [(index, name) for index, name in enumerate(state.next) if name not in manual.states]
    astray = [(what, name) for what, name in state.leads_to if name not in state.next]
    unused = [
        (index, name)
        for index, name in enumerate(state.next)
        if name not in {to for _, to in state.leads_to}
    ]
    if unknown:
        for index, name in unknown:
            yield ("next", index), f"no state {name!r}; {_near(name, manual)}"
    elif astray:
        for what, name in astray:
            wrong = (
                f"which is not an allowed next state: {', '.join(state.next) or 'none'}"
                if name in manual.states
                else f"but no state has that id; {_near(name, manual)}"
            )
            yield (("exit",), f"{what!r} leads to {name!r}, {wrong}")
    else:
        for index, name in unused:
            yield (
                ("next", index),
                (
                    f"no exit of {state.id!r} leads to {name!r}; remove it, or give the exit a way"
                    " there"
                ),
            )


def _exit(state: State) -> Problems:
    e = state.exit
    for field in ("criteria", "intents", "otherwise", "positive", "negative"):
        if getattr(e, field) and field not in BELONGS[e.when]:
            yield ("exit", field), f"means nothing where `when: {e.when}`; remove it"
    if e.when == "sufficient" and not e.criteria:
        yield (
            ("exit",),
            "no criteria: what must the client's words make clear? add `criteria: [...]`",
        )
    if e.when == "intent" and not e.intents:
        yield ("exit",), "no intents; add `intents: {yes: STATE, no: STATE}`"
    if e.when == "intent" and not e.otherwise:
        yield ("exit",), "where does it go when the answer stays unclear? add `otherwise: STATE`"
    if e.when == "valence" and not (e.positive and e.negative):
        yield ("exit",), "valence needs `positive: STATE` and `negative: STATE`"
    if state.ends == bool(state.next):
        yield (
            ("next",),
            (
                "an end has no next state"
                if state.ends
                else "no next state; only `exit: {when: end}` has none"
            ),
        )
    if not state.internal and state.at_least > state.at_most:
        yield (
            ("at_least",),
            (
                f"at least {state.at_least} messages, but the state is left after {state.at_most}"
                " (`at_most`); it could never be asked"
            ),
        )
    if e.when in ("sufficient", "intent") and state.at_least < 1:
        yield ("at_least",), "nothing can be judged before a message was heard; at least 1"


def _words(state: State) -> Problems:
    if state.internal:
        if state.prompt or state.lines or state.exercise or state.act:
            yield (
                ("exit",),
                (
                    "nothing is said in a state that only routes; remove its prompt, lines, act and"
                    " exercise"
                ),
            )
        return
    if not state.prompt:
        yield ("prompt",), f"what is the agent of {state.id!r} told? add `prompt: ...`"
    if len(state.lines) < FEWEST_LINES:
        yield (
            ("lines",),
            (
                f"{len(state.lines)} lines; at least {FEWEST_LINES} keep a state from sounding"
                " alike each time"
            ),
        )
    known = SLOTS | (EXERCISE_SLOTS if state.exercise else set())
    for index, line in enumerate(state.lines):
        for slot in sorted(set(re.findall(r"\{([^{}]*)\}", line)) - known):
            yield (
                ("lines", index),
                (
                    f"no slot {{{slot}}}; there are"
                    f" {', '.join(f'{{{name}}}' for name in sorted(known))}"
                ),
            )
    if state.not_when and not state.exit.otherwise:
        yield (
            ("not_when",),
            "where does it go instead? `not_when` needs an exit by intent, with `otherwise: STATE`",
        )
    if state.steps and state.exercise != "explain":
        yield ("steps",), "steps are said in a state with `exercise: explain`"


def _graph(manual: Manual) -> Problems:
    graph, where = graph_of(manual), {state.id: at for at, _, state in manual.walk()}
    reached = {manual.start.id, *nx.descendants(graph, manual.start.id)}
    reached |= {manual.closing, *nx.descendants(graph, manual.closing)}
    ends = {state.id for state in manual.states.values() if state.ends}
    leaving = ends.union(*(nx.ancestors(graph, end) for end in ends))
    for name in manual.states:
        if name not in reached:
            yield (
                where[name],
                (
                    f"nothing leads to {name!r} from {manual.start.id!r}; let an exit lead there,"
                    " or remove it"
                ),
            )
        if name not in leaving:
            yield (
                where[name],
                f"no way leads from {name!r} to an end; a session would never be over",
            )
    silent = graph.subgraph([state.id for state in manual.states.values() if state.internal])
    for loop in nx.simple_cycles(silent):
        yield (
            where[loop[0]],
            (
                f"{' and '.join(loop)} lead to each other without a word said; a session would hang"
                " there"
            ),
        )
    yield from _exercises(manual, graph, where)


def _exercises(manual: Manual, graph: "nx.DiGraph[str]", where: dict[str, At]) -> Problems:
    """No exercise is explained or talked about before one was suggested."""
    before = graph.subgraph(
        [state.id for state in manual.states.values() if state.exercise != "suggest"]
    )
    early = (
        {manual.start.id, *nx.descendants(before, manual.start.id)}
        if manual.start.id in before
        else set()
    )
    for state in manual.states.values():
        if state.exercise in ("explain", "feedback") and state.id in early:
            yield (
                (*where[state.id], "exercise"),
                (
                    f"{state.id!r} can be reached before any exercise was suggested (`exercise:"
                    " suggest`)"
                ),
            )


def _near(name: str, manual: Manual) -> str:
    near = difflib.get_close_matches(name, list(manual.states), n=1, cutoff=0.4)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(manual.states)}"
