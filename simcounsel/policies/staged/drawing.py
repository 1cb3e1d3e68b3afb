"""A manual as a picture: phases as columns, states as boxes, transitions as lines with what they
take.
"""

import textwrap
from collections import defaultdict
from dataclasses import dataclass, field
from html import escape

from simcounsel.specs.manual import Manual, State

BOX_WIDTH, BOX_HEIGHT, ROW_GAP = 226, 78, 46
TOP, MARGIN, LABEL, LANE = 96, 24, 122, 11
FONT = "font-family='system-ui, Helvetica, Arial, sans-serif'"
TINTS = {
    "initiation": "#eaf2fb",
    "exploration": "#eef7ee",
    "intervention": "#fdf3e3",
    "conclusion": "#f3eef8",
}
INK = {
    "initiation": "#2b5c94",
    "exploration": "#2f6f3e",
    "intervention": "#94600f",
    "conclusion": "#5d4389",
}
SAID = {"sufficient": "enough was said", "said": "then", "unclear": "unclear"}


@dataclass(frozen=True, kw_only=True)
class Edge:
    """A transition: from, to, and all that leads along it."""

    origin: str
    target: str
    label: str


@dataclass(kw_only=True)
class Plan:
    """Where everything stands. column, row: of each state; gutter: left edge and width of the space
    after each column.
    """

    manual: Manual
    edges: list[Edge]
    column: dict[str, int] = field(default_factory=dict)
    row: dict[str, int] = field(default_factory=dict)
    left: list[float] = field(default_factory=list)
    lanes: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    ports: dict[tuple[str, str], list[Edge]] = field(default_factory=lambda: defaultdict(list))
    width: float = 0

    def x(self, state: str) -> float:
        """The left side of a box."""
        return self.left[self.column[state]]

    def y(self, state: str) -> float:
        """Its upper side."""
        return TOP + self.row[state] * (BOX_HEIGHT + ROW_GAP)

    def port(self, state: str, side: str, edge: Edge, arriving: bool) -> float:
        """Where on a side an edge begins or ends; all of a side are spread over its height."""
        here = self.ports[state, side]
        places = [place for place, one in enumerate(here) if one == edge]
        place = places[-1] if arriving else places[0]
        return self.y(state) + BOX_HEIGHT * (place + 1) / (len(here) + 1)


def draw_manual(manual: Manual) -> str:
    """The whole as SVG."""
    plan = _plan(manual)
    height = TOP + (max(plan.row.values()) + 1) * (BOX_HEIGHT + ROW_GAP) + 40
    parts = [
        (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {plan.width:g} {height:g}'"
            f" width='{plan.width:g}' height='{height:g}' {FONT}>"
        ),
        (
            "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='8'"
            " markerHeight='8' orient='auto-start-reverse'><path d='M0 0.5 L8 4 L0 7.5 z'"
            " fill='#444'/></marker></defs>"
        ),
        f"<rect width='{plan.width:g}' height='{height:g}' fill='white'/>",
        f"<title>{escape(manual.name)}</title>",
        (
            f"<text x='{MARGIN}' y='26' font-size='17' font-weight='600'"
            f" fill='#222'>{escape(manual.name)}</text>"
        ),
        f"<text x='{MARGIN}' y='45' font-size='12' fill='#555'>{escape(_head(manual))}</text>",
        *_columns(plan, height),
        *(_edge(plan, edge) for edge in plan.edges),
        *(_box(plan, state) for state in manual.states.values()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _head(manual: Manual) -> str:
    again = {
        "same_day": "on the same day it is taken up where it was broken off",
        "always": "it is always taken up",
        "never": "each begins anew",
    }
    return (
        f"days {manual.days.first} to {manual.days.cap}; {again[manual.resume]}. Dashed: nothing is"
        f" said there. From every state the way to “{manual.closing}” is open when time is short."
    )


def _plan(manual: Manual) -> Plan:
    plan = Plan(manual=manual, edges=_edges(manual))
    for number, states in enumerate(manual.phases.values()):
        for row, state in enumerate(states):
            plan.column[state.id], plan.row[state.id] = number, row
    for edge in plan.edges:
        if not _straight(plan, edge):
            for gutter in _gutters(plan, edge):
                plan.lanes[gutter] += 1
            leaving, arriving = _sides(plan, edge)
            plan.ports[edge.origin, leaving].append(edge)
            plan.ports[edge.target, arriving].append(edge)
    for key, edges in plan.ports.items():
        edges.sort(key=lambda edge: plan.row[edge.target if edge.origin == key[0] else edge.origin])
    x: float = MARGIN
    for number in range(len(manual.phases)):
        plan.left.append(x)
        x += BOX_WIDTH + _gutter_width(plan, number)
    plan.width = x + MARGIN / 2
    plan.lanes = defaultdict(int)
    return plan


def _edges(manual: Manual) -> list[Edge]:
    found: dict[tuple[str, str], list[str]] = {}
    for state in manual.states.values():
        for what, to in state.leads_to:
            found.setdefault((state.id, to), []).append(SAID.get(what, what.replace("_", " ")))
    return [
        Edge(origin=a, target=b, label=" / ".join(dict.fromkeys(labels)))
        for (a, b), labels in found.items()
    ]


def _straight(plan: Plan, edge: Edge) -> bool:
    """From a box to the one right under it."""
    return (
        plan.column[edge.origin] == plan.column[edge.target]
        and plan.row[edge.target] == plan.row[edge.origin] + 1
    )


def _sides(plan: Plan, edge: Edge) -> tuple[str, str]:
    a, b = plan.column[edge.origin], plan.column[edge.target]
    return ("right", "right") if a == b else ("right", "left") if a < b else ("left", "right")


def _gutters(plan: Plan, edge: Edge) -> tuple[int, ...]:
    """The spaces in which it turns; a gutter has the number of the column before it."""
    a, b = plan.column[edge.origin], plan.column[edge.target]
    first, last = (a, a) if a == b else (a, b - 1) if a < b else (a - 1, b)
    return (first,) if first == last else (first, last)


def _gutter_width(plan: Plan, number: int) -> float:
    """Room for the labels of those that leave to the right, for all that turn, and for the labels
    of those that go back.
    """
    return (
        _label_room(plan, number)
        + plan.lanes[number] * LANE
        + (LABEL / 2 if _leave(plan, number + 1, "left") else 22)
    )


def _leave(plan: Plan, column: int, side: str) -> bool:
    """Whether an edge leaves a box of the column on that side."""
    return any(
        at == side and plan.column[state] == column and any(edge.origin == state for edge in edges)
        for (state, at), edges in plan.ports.items()
    )


def _columns(plan: Plan, height: float) -> list[str]:
    parts = []
    for number, phase in enumerate(plan.manual.phases):
        x = plan.left[number] - 10
        parts.append(
            f"<rect x='{x:g}' y='58' width='{BOX_WIDTH + 20}' height='{height - 76:g}' rx='8'"
            f" fill='{TINTS[phase]}'/><text x='{x + 10:g}' y='79' font-size='13' font-weight='600'"
            f" fill='{INK[phase]}' letter-spacing='.5'>{phase.upper()}</text>"
        )
    return parts


def _box(plan: Plan, state: State) -> str:
    x, y = plan.x(state.id), plan.y(state.id)
    ink = INK[plan.manual.phase_of[state.id]]
    dashed = " stroke-dasharray='5 4'" if state.internal else ""
    heavy = 2.6 if state.start or state.ends else 1.3
    lines = textwrap.wrap(state.objective, 35)
    lines = lines if len(lines) <= 2 else [lines[0], lines[1][:32].rstrip(" ,;.") + " …"]
    told = [
        f"<text x='{x + 10:g}' y='{y + 36 + 14 * n:g}' font-size='11'"
        f" fill='#333'>{escape(line)}</text>"
        for n, line in enumerate(lines)
    ]
    return (
        f"<g><title>{escape(state.objective)}</title><rect x='{x:g}' y='{y:g}' width='{BOX_WIDTH}'"
        f" height='{BOX_HEIGHT}' rx='{24 if state.internal else 6}' fill='white' stroke='{ink}'"
        f" stroke-width='{heavy}'{dashed}/><text x='{x + 10:g}' y='{y + 19:g}' font-size='13'"
        f" font-weight='600' fill='{ink}'>{escape(state.id)}</text>{''.join(told)}<text"
        f" x='{x + 10:g}' y='{y + BOX_HEIGHT - 8:g}' font-size='10'"
        f" fill='#666'>{escape(_foot(state))}</text></g>"
    )


def _foot(state: State) -> str:
    """How long it takes, and what lets it go on."""
    if state.internal:
        return "routes by mood, nothing is said"
    how = {"sufficient": "judged", "intent": "by intent", "said": "one line", "end": "takes leave"}[
        state.exit.when
    ]
    begins = "begins · " if state.start else ""
    times = (
        f"{state.at_least} to {state.at_most} messages · "
        if state.exit.when in ("sufficient", "intent")
        else ""
    )
    return begins + times + how


def _edge(plan: Plan, edge: Edge) -> str:
    label = escape(edge.label)
    if _straight(plan, edge):
        x, top = plan.x(edge.origin) + BOX_WIDTH / 2, plan.y(edge.origin) + BOX_HEIGHT
        beside = (
            f"<text x='{x + 7:g}' y='{top + ROW_GAP / 2 + 4:g}' font-size='11'"
            f" fill='#222'>{label}</text>"
        )
        return _line([(x, top), (x, top + ROW_GAP - 2)]) + beside
    leaving, arriving = _sides(plan, edge)
    loop = edge.origin == edge.target
    start = (
        plan.x(edge.origin) + (BOX_WIDTH if leaving == "right" else 0),
        plan.port(edge.origin, leaving, edge, False),
    )
    end = (
        plan.x(edge.target) + (BOX_WIDTH + 2 if arriving == "right" else -2),
        plan.port(edge.target, arriving, edge, loop),
    )
    turns = [_lane(plan, gutter) for gutter in _gutters(plan, edge)]
    points = [start, (turns[0], start[1])]
    if len(turns) == 2:
        channel = plan.y(edge.target) - 9 - 6 * (plan.lanes[1000 + plan.row[edge.target]] % 4)
        plan.lanes[1000 + plan.row[edge.target]] += 1
        points += [(turns[0], channel), (turns[1], channel)]
    points += [(turns[-1], end[1]), end]
    anchor, dx = ("start", 6) if leaving == "right" else ("end", -6)
    return (
        _line(points)
        + f"<text x='{start[0] + dx:g}' y='{start[1] - 4:g}' text-anchor='{anchor}' font-size='11'"
        f" fill='#222' stroke='white' stroke-width='3' paint-order='stroke'>{label}</text>"
    )


def _lane(plan: Plan, gutter: int) -> float:
    """A new lane in a gutter."""
    plan.lanes[gutter] += 1
    width = _label_room(plan, gutter)
    return plan.left[gutter] + BOX_WIDTH + width + LANE * (plan.lanes[gutter] - 0.5)


def _label_room(plan: Plan, gutter: int) -> float:
    return LABEL if _leave(plan, gutter, "right") else 14


def _line(points: list[tuple[float, float]]) -> str:
    """A line with rounded corners and a tip."""
    path = f"M{points[0][0]:g} {points[0][1]:g}"
    for (ax, ay), (bx, by), (cx, cy) in zip(points, points[1:], points[2:], strict=False):
        r = min(7.0, max(abs(bx - ax), abs(by - ay)) / 2, max(abs(cx - bx), abs(cy - by)) / 2)
        before = (bx - _sign(bx - ax) * r, by - _sign(by - ay) * r)
        after = (bx + _sign(cx - bx) * r, by + _sign(cy - by) * r)
        path += f" L{before[0]:g} {before[1]:g} Q{bx:g} {by:g} {after[0]:g} {after[1]:g}"
    path += f" L{points[-1][0]:g} {points[-1][1]:g}"
    return f"<path d='{path}' fill='none' stroke='#444' stroke-width='1.3' marker-end='url(#tip)'/>"


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
