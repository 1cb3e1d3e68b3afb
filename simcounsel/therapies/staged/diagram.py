"""A manual as a Mermaid flowchart, which GitHub and the documentation draw: phases as groups,
states as boxes, transitions as arrows with what they take.
"""

from simcounsel.therapies.specs.manual import Manual, State

TAKES = {"sufficient": "enough was said", "said": "then"}


def diagram_of(manual: Manual) -> str:
    """The whole as Mermaid text. The start has round ends, an end a double frame, and a state in
    which nothing is said is a rhombus.
    """
    lines = ["flowchart TD"]
    for phase in manual.phases:
        lines.append(f"  subgraph phase_{phase} [{_text(phase)}]")
        lines += [
            f"    {_node(state)}"
            for state in manual.states.values()
            if manual.phase_of[state.id] == phase
        ]
        lines.append("  end")
    for (origin, target), labels in _transitions(manual).items():
        lines.append(f"  state_{origin} -->|{_text(' / '.join(labels))}| state_{target}")
    return "\n".join(lines) + "\n"


def _node(state: State) -> str:
    """The id has a prefix, since `end` and others are words of Mermaid's own."""
    opened, closed = (
        ("([", "])")
        if state.start
        else ("[[", "]]")
        if state.ends
        else ("{", "}")
        if state.internal
        else ("[", "]")
    )
    return f"state_{state.id}{opened}{_text(state.id, state.objective)}{closed}"


def _transitions(manual: Manual) -> dict[tuple[str, str], tuple[str, ...]]:
    """All that leads from one state to another, in the manual's order."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for state in manual.states.values():
        for takes, to in state.leads_to:
            label = TAKES.get(takes, takes.replace("_", " "))
            found.setdefault((state.id, to), {})[label] = None
    return {pair: tuple(labels) for pair, labels in found.items()}


def _text(*lines: str) -> str:
    """In quotation marks, as Mermaid wants it."""
    escaped = (
        line.replace("#", "#35;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
        for line in lines
    )
    return '"' + "<br/>".join(escaped) + '"'
