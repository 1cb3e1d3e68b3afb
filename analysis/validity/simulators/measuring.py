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
HALF = "half of the real"
NEAR = (
    "client_words client_unevenness client_questions variety hesitations feeling sustain resists"
    " agrees takes_up improves discloses disclosure_course first_disclosure"
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
    talking = [one for one in members if told[one.name][0]]
    if not talking:
        raise ReportError(f"{arm}: no client says anything in these runs")
    silent = [
        f"Left out: {name}, where no client speaks." for name, one in told.items() if not one[0]
    ]
    several = sessions_in([one.log.folder for one in talking], arm)
    own = {one.name: _character(one) for one in talking}
    files: dict[str, str] = {}
    lines = requests = tokens = 0
    for member in talking:
        for one in member.manifest["world"]["residents"]:
            if one["persona"]["role"] == "client" and own[member.name] is None:
                files[one["persona"]["name"]] = _text(one["persona"])
        said, keys = told[member.name]
        lines += said
        asked = [call for call in member.log.all_calls() if call["key"] in keys]
        requests += len(asked)
        tokens += sum((one.get(f"tokens_{way}") or 0) for one in asked for way in ("in", "out"))
    runs = [
        one.id.partition(": ")[0] if len(talking) > 1 else talking[0].name for one in several.found
    ]
    return SimulatorSessions(
        name=arm,
        found=tuple(
            replace(one, client=own[run] or one.client)
            for one, run in zip(several.found, runs, strict=True)
        ),
        files=files,
        requests=requests / lines,
        tokens=tokens / lines,
        notes=(*several.notes, *silent),
    )


def _said(member: Member) -> tuple[int, set[str]]:
    """How many lines clients said, and the keys of the calls that worded them."""
    said = [one for one in member.log.fields(("said",)) if one["who"] in member.clients]
    return len(said), {key for one in said for key in one.get("calls") or ()}


def _character(member: Member) -> str | None:
    """Whom a simulator plays where it is none of our clients: one of its own characters, who is the
    same whatever our client is called; None: ours.
    """
    said = next(iter(member.log.fields(("borrowed.said",))), None)
    if said is None or said["character"] == "ours":
        return None
    return f"{said['simulator']}/{said['character']}"


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

    def some(self, clients: Sequence[int] | NDArray[np.intp]) -> "Side":
        """Those clients."""
        rows = np.concatenate([np.flatnonzero(self.clients == one) for one in clients])
        return Side(values=self.values[rows], clients=self.clients[rows])

    def known(self, at: int) -> Numbers:
        """The values of a measure that are there."""
        values: Numbers = self.values[:, at]
        return values[np.isfinite(values)]


def far(real: Side, simulated: Side, which: Sequence[int]) -> float:
    """The mean over these measures of Wasserstein's distance in standard deviations of the real."""
    found = []
    for at in which:
        a, b = real.known(at), simulated.known(at)
        unit = a.std(ddof=1) if len(a) > 1 else 0.0
        if unit > 0 and len(b):
            found.append(stats.wasserstein_distance(a, b) / unit)
    return float(np.mean(found)) if found else float("nan")


@dataclass(frozen=True, kw_only=True)
class Nearness:
    """How far each simulator is from real talk, and halves of the real clients from each other:
    always as many clients on the second side, since small samples are farther from anything.
    """

    distance: Mapping[str, float]
    """Means over draws of halves."""
    ends: Mapping[str, tuple[float, float]]
    """95% of the draws; {} with too few clients."""
    ceiling: tuple[float, float, float] | None
    """Of the other half of the real clients: mean and 95%. None with too few."""
    beyond: Mapping[str, tuple[float, float, float]]
    """By how much a simulator is farther than that half in the same draw: mean and 95%."""
    lead: tuple[float, float, float] | None
    """By how much the second is farther than the nearest in the same draw; None with too few."""
    clients: int
    """So many clients on the second side of each draw."""
    measures: tuple[int, ...]
    """Of which it is: those that all sides have."""

    @property
    def order(self) -> list[str]:
        """The nearest first."""
        return sorted(self.distance, key=lambda name: self.distance[name])


def nearness(real: Side, sides: Mapping[str, Side]) -> Nearness:
    """All simulators against the real sessions. In each draw the real clients are halved; from one
    half it is measured how far as many clients of the other half, and of each simulator, are.
    """
    every = [real, *sides.values()]
    which = tuple(
        at for at in range(real.values.shape[1]) if all(len(one.known(at)) for one in every)
    )
    whole = {name: far(real, one, which) for name, one in sides.items()}
    few = min(one.n for one in every)
    if few < FEWEST_CLIENTS:
        return Nearness(
            distance=whole, ends={}, ceiling=None, beyond={}, lead=None, clients=few, measures=which
        )
    rng = np.random.default_rng(seed_of("nearness", *sides))
    size = min(few, real.n // 2)
    drawn: dict[str, list[float]] = {name: [] for name in (HALF, *sides)}
    for _ in range(DRAWS):
        order = rng.permutation(real.n)
        there = real.some(order[: real.n - real.n // 2])
        drawn[HALF].append(far(there, real.some(order[-size:]), which))
        seed = int(rng.integers(2**32))  # the same clients of each, if they have the same
        for name, one in sides.items():
            own = np.random.default_rng(seed).permutation(one.n)[:size]
            drawn[name].append(far(there, one.some(own), which))
    values = {name: np.array(each) for name, each in drawn.items()}
    means = {name: float(values[name].mean()) for name in sides}
    order_of = sorted(means, key=lambda name: means[name])
    return Nearness(
        distance=means,
        ends={name: _spread(values[name])[1:] for name in sides},
        ceiling=_spread(values[HALF]),
        beyond={name: _spread(values[name] - values[HALF]) for name in sides},
        lead=_spread(values[order_of[1]] - values[order_of[0]]) if len(order_of) > 1 else None,
        clients=size,
        measures=which,
    )


def _spread(values: Numbers) -> tuple[float, float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(values.mean()), float(low), float(high)
