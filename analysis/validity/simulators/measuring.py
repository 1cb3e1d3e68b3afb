"""What simulators of clients are compared by, session by session; and how far each is from real
talk, all measures together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analysis.errors import ReportError
from analysis.patterns import Embed
from analysis.sample import Member, Sample
from analysis.validity.talk.counting import Codes, TalkMeasure, measures
from analysis.validity.talk.distances import FEWEST_CLIENTS
from analysis.validity.talk.sessions import TalkSession, sessions_in
from analysis.validity.talk.waiting import HORIZON
from simcounsel.chance import seed_of

Numbers = NDArray[np.float64]
DRAWS = 500
NEAR = (
    "client_words client_unevenness client_questions variety hesitations feeling sustain resists"
    " agrees takes_up discloses disclosure_course first_disclosure"
).split()
"""What the distance to real talk is of: the client's side."""


@dataclass(frozen=True, kw_only=True)
class SimulatorSessions:
    """The sessions of one simulator."""

    name: str
    found: tuple[TalkSession, ...]
    """`client` is the client's name: runs with several seeds are one client's."""
    files: Mapping[str, str]
    """Of each client the text of its file."""
    requests: float
    """Of the client's model, for each of its lines."""
    tokens: float
    """In and out, for each of its lines."""
    notes: tuple[str, ...] = ()


def simulators_in(sample: Sample) -> list[SimulatorSessions]:
    """By condition. ReportError where one holds no session with a counselor."""
    return [_of(arm, sample.of(arm)) for arm in sample.arms]


def _of(arm: str, members: Sequence[Member]) -> SimulatorSessions:
    told = {member.name: _said(member) for member in members}
    talking = [one.log.folder for one in members if told[one.name][0]]
    if not talking:
        raise ReportError(f"{arm}: no client says anything in these runs")
    several = sessions_in(talking, arm)
    found = tuple(replace(one, client=one.client.rpartition(": ")[2]) for one in several.found)
    silent = [
        f"Left out: {name}, where no client speaks." for name, one in told.items() if not one[0]
    ]
    lines = requests = tokens = 0
    files: dict[str, str] = {}
    for member in members:
        for one in member.manifest["world"]["residents"]:
            if one["persona"]["role"] == "client":
                files[one["persona"]["name"]] = files[one["name"]] = _text(one["persona"])
        said, keys = told[member.name]
        lines += said
        asked = [call for call in member.log.all_calls() if call["key"] in keys]
        requests += len(asked)
        tokens += sum((one.get(f"tokens_{way}") or 0) for one in asked for way in ("in", "out"))
    return SimulatorSessions(
        name=arm,
        found=found,
        files=files,
        requests=requests / max(lines, 1),
        tokens=tokens / max(lines, 1),
        notes=(*several.notes, *silent),
    )


def _said(member: Member) -> tuple[int, set[str]]:
    """How many lines clients said, and the keys of the calls that worded them."""
    said = [fields for fields in member.log.fields(("said",)) if fields["who"] in member.clients]
    return len(said), {key for one in said for key in one.get("calls") or ()}


def _text(persona: Mapping[str, Any]) -> str:
    """What a client's file says of its trouble."""
    beliefs = [one["belief"] for one in persona.get("core_beliefs") or ()]
    parts = [one["text"] for one in persona.get("case") or ()]
    return " ".join([persona["history"], persona["background"], *beliefs, *parts])


def client_measures(codes: Codes) -> tuple[TalkMeasure, ...]:
    """Those of the client's side, for real sessions as for simulated ones."""

    def first(session: TalkSession) -> float:
        found = [at for at, one in enumerate(codes(session)) if "discloses" in one]
        return float(min(found[0] if found else len(session.client_lines), HORIZON))

    pace = TalkMeasure(
        id="first_disclosure",
        name=f"lines before the client first discloses (at most {HORIZON})",
        group="what clients do",
        of=first,
    )
    return (*(one for one in measures(codes) if one.id in NEAR), pace)


def own_file(one: SimulatorSessions, embed: Embed) -> dict[str, list[float | None]]:
    """Of each session whether what the client said is nearest to its own file among all clients'
    files (1 or 0; chance is 1 in their number), and how that nearness drifts: cosine in the last
    third of its lines minus the first.
    """
    clients = sorted({session.client for session in one.found} & set(one.files))
    if not clients:
        return {"consistency": [None] * len(one.found), "drift": [None] * len(one.found)}
    texts = embed([one.files[client] for client in clients])
    consistent: list[float | None] = []
    drift: list[float | None] = []
    for session in one.found:
        if session.client not in clients:
            consistent.append(None)
            drift.append(None)
            continue
        own = clients.index(session.client)
        near = _cosines(embed([_words(session)]), texts)[0]
        consistent.append(float(near.argmax() == own) if len(clients) > 1 else None)
        third = max(1, len(session.client_lines) // 3)
        parts = [_words(session, slice(0, third)), _words(session, slice(-third, None))]
        first, last = _cosines(embed(parts), texts)[:, own]
        drift.append(float(last - first))
    return {"consistency": consistent, "drift": drift}


def unlike(found: Sequence[TalkSession], embed: Embed) -> list[float | None]:
    """Of each session how unlike other clients' sessions it is in what the client says: one minus
    the mean cosine, 0 to 2. None where there is no other client.
    """
    vectors = embed([_words(session) for session in found])
    near = _cosines(vectors, vectors)
    clients = np.array([session.client for session in found])
    values: list[float | None] = []
    for row, client in enumerate(clients):
        others = clients != client
        values.append(float(1 - near[row][others].mean()) if others.any() else None)
    return values


def _words(session: TalkSession, part: slice = slice(None)) -> str:
    return " ".join(line.said for line in session.client_lines[part])


def _cosines(some: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    lengths = [np.linalg.norm(one, axis=1, keepdims=True) for one in (some, others)]
    found: NDArray[Any] = (some / lengths[0]) @ (others / lengths[1]).T
    return found


@dataclass(frozen=True, kw_only=True)
class Side:
    """Values of all measures of one side: sessions by measures, NaN where there is none."""

    values: Numbers
    clients: NDArray[np.intp]

    @classmethod
    def of(cls, found: Sequence[TalkSession], counted: Sequence[TalkMeasure]) -> "Side":
        """Count it."""
        rows = [[one.of(session) for one in counted] for session in found]
        names = list(dict.fromkeys(session.client for session in found))
        return cls(
            values=np.array(rows, dtype=float),
            clients=np.array([names.index(session.client) for session in found]),
        )

    @property
    def n(self) -> int:
        """Clients."""
        return len(set(self.clients.tolist()))

    def drawn(self, rng: np.random.Generator) -> "Side":
        """Clients with replacement."""
        return self.some(rng.integers(self.n, size=self.n))

    def some(self, clients: Sequence[int] | NDArray[np.intp]) -> "Side":
        """Those clients."""
        rows = np.concatenate([np.flatnonzero(self.clients == one) for one in clients])
        return Side(values=self.values[rows], clients=self.clients[rows])


def far(real: Side, simulated: Side) -> float:
    """The mean over measures of Wasserstein's distance in standard deviations of the real."""
    found = []
    for at in range(real.values.shape[1]):
        a, b = real.values[:, at], simulated.values[:, at]
        a, b = a[np.isfinite(a)], b[np.isfinite(b)]
        unit = a.std(ddof=1) if len(a) > 1 else 0.0
        if unit > 0 and len(b):
            found.append(stats.wasserstein_distance(a, b) / unit)
    return float(np.mean(found)) if found else float("nan")


@dataclass(frozen=True, kw_only=True)
class Nearness:
    """How far each simulator is from real talk."""

    distance: Mapping[str, float]
    ends: Mapping[str, tuple[float, float]]
    """95%, clients of both sides drawn with replacement; {} with too few clients."""
    ceiling: tuple[float, float, float] | None
    """Median, 2.5% and 97.5% of the distance between halves of the real clients: nobody can be
    nearer than real clients are to each other. None with too few."""
    lead: tuple[float, float, float] | None
    """By how much the second is farther than the nearest, with 95%; None with too few."""

    @property
    def order(self) -> list[str]:
        """The nearest first."""
        return sorted(self.distance, key=lambda name: self.distance[name])


def nearness(real: Side, sides: Mapping[str, Side]) -> Nearness:
    """All simulators against the real sessions."""
    distance = {name: far(real, one) for name, one in sides.items()}
    order = sorted(distance, key=lambda name: distance[name])
    rng = np.random.default_rng(seed_of("nearness", *sides))
    enough = min([real.n, *(one.n for one in sides.values())]) >= FEWEST_CLIENTS
    ends: dict[str, tuple[float, float]] = {}
    lead = None
    if enough:
        drawn: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(DRAWS):
            there = real.drawn(rng)
            for name, one in sides.items():
                drawn[name].append(far(there, one.drawn(rng)))
        ends = {name: _ends(values) for name, values in drawn.items()}
        if len(order) > 1:
            first, second = order[:2]
            more = np.array(drawn[second]) - np.array(drawn[first])
            lead = (distance[second] - distance[first], *_ends(more))
    return Nearness(distance=distance, ends=ends, ceiling=_ceiling(real, rng), lead=lead)


def _ends(values: Sequence[float] | Numbers) -> tuple[float, float]:
    low, high = np.percentile(np.asarray(values), [2.5, 97.5])
    return float(low), float(high)


def _ceiling(real: Side, rng: np.random.Generator) -> tuple[float, float, float] | None:
    if real.n < FEWEST_CLIENTS:
        return None
    found = []
    for _ in range(DRAWS // 2):
        order = rng.permutation(real.n)
        half = real.n // 2
        found.append(far(real.some(order[:half]), real.some(order[half:])))
    return (float(np.median(found)), *_ends(found))
