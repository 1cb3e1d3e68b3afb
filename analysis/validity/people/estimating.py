"""Prediction-powered inference (Angelopoulos and colleagues 2023, Science 382) with power tuning
(Angelopoulos, Duchi and Zrnic 2023, PPI++), for means and differences, with clients as clusters.

Of some units people's values are known, of all a model's. With weight w of the model, the mean is

    w * mean(model, units without people) + mean(people - w * model, units with people)

which is unbiased for people's mean whatever the model is worth, if the units that people rated were
drawn by chance. w is the one that makes the variance least; 0 is people alone. The variance is that
of the sums of each client's influences, so that several units of one client do not count as
independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FEWEST_CLIENTS = 6
"""Whom people rated; with fewer there is no interval."""
Numbers = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Units:
    """Conversations or other things that were rated."""

    model: Numbers
    """The model's value of each."""
    people: Numbers
    """The people's, the mean over raters; NaN where there is none."""
    clients: tuple[str, ...]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which people rated."""
        return np.isfinite(self.people)


@dataclass(frozen=True, kw_only=True)
class ClientEstimate:
    """A number with its interval over clients; None with a reason."""

    value: float | None
    low: float | None = None
    """`low`, `high`: 95%, by t with clients - 1 degrees of freedom."""
    high: float | None = None
    weight: float | None = None
    """How much the model counts, 0 to 1."""
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Three:
    """The same number by people and model together, by people alone, by the model alone."""

    together: ClientEstimate
    people: ClientEstimate
    model: ClientEstimate
    units: int
    rated: int
    """Units that people rated."""
    clients: int
    """Clients whom people rated."""
    worth: float | None
    """How many times as many ratings people would have to make, for the same interval without the
    model; None without intervals.
    """


@dataclass(frozen=True, kw_only=True)
class _Mean:
    """A mean with what each client moves it by."""

    value: float
    weight: float
    clients: int
    """On how many it rests: those whom people rated, where people count."""
    moved: dict[str, float]


def mean(units: Units) -> Three:
    """Of what people would have rated."""
    return _three(units, [_means(units)])


def difference(later: Units, earlier: Units) -> Three:
    """Of two arms, `later` minus `earlier`; clients may be in both."""
    both = Units(
        model=np.concatenate([later.model, earlier.model]),
        people=np.concatenate([later.people, earlier.people]),
        clients=later.clients + earlier.clients,
    )
    return _three(both, [_means(later), _means(earlier)])


def bias(units: Units) -> ClientEstimate:
    """The model's values minus people's, where both are known."""
    known = units.known
    gap = units.model[known] - units.people[known]
    return _estimate([_plain(gap, _some(units.clients, known))])


def _three(units: Units, means: Sequence[dict[str, _Mean]]) -> Three:
    known = units.known
    together, people, model = (
        _estimate([one[name] for one in means if name in one], needed=len(means))
        for name in ("together", "people", "model")
    )
    return Three(
        together=together,
        people=people,
        model=model,
        units=len(units.clients),
        rated=int(known.sum()),
        clients=len(set(_some(units.clients, known))),
        worth=_worth(together, people),
    )


def _means(units: Units) -> dict[str, _Mean]:
    known = units.known
    found = {"model": _plain(units.model, units.clients)}
    if known.any():
        found["people"] = _plain(units.people[known], _some(units.clients, known))
        found["together"] = _powered(units)
    return found


def _plain(values: Numbers, clients: Sequence[str]) -> _Mean:
    if not len(values):
        return _Mean(value=float("nan"), weight=0.0, clients=0, moved={})
    centre = float(values.mean())
    moved = _sums((values - centre) / len(values), clients)
    return _Mean(value=centre, weight=0.0, clients=len(moved), moved=moved)


def _powered(units: Units) -> _Mean:
    """By people and model. Where all are rated by people, the model adds nothing."""
    known = units.known
    people, model = units.people[known], units.model[known]
    rest = units.model[~known]
    by_people = _sums((people - people.mean()) / len(people), _some(units.clients, known))
    if not len(rest):
        centre = float(people.mean())
        return _Mean(value=centre, weight=0.0, clients=len(by_people), moved=by_people)
    correction = _sums((model - model.mean()) / len(model), _some(units.clients, known))
    on_rest = _sums((rest - rest.mean()) / len(rest), _some(units.clients, ~known))
    names = sorted({*by_people, *on_rest})
    own = np.array([by_people.get(name, 0.0) for name in names])
    gain = np.array([on_rest.get(name, 0.0) - correction.get(name, 0.0) for name in names])
    square = float(gain @ gain)
    weight = float(np.clip(-(own @ gain) / square, 0.0, 1.0)) if square > 1e-15 else 0.0
    return _Mean(
        value=float(weight * rest.mean() + (people - weight * model).mean()),
        weight=weight,
        clients=len(by_people),
        moved=dict(zip(names, (own + weight * gain).tolist(), strict=True)),
    )


def _estimate(means: Sequence[_Mean], needed: int = 1) -> ClientEstimate:
    """A mean, or the first minus the second."""
    if len(means) < needed or any(np.isnan(one.value) for one in means):
        return ClientEstimate(value=None, reason="nothing was rated by people in one of the arms")
    signs = (1.0, -1.0)[: len(means)]
    value = sum(sign * one.value for sign, one in zip(signs, means, strict=True))
    moved: dict[str, float] = {}
    for sign, one in zip(signs, means, strict=True):
        for name, by in one.moved.items():
            moved[name] = moved.get(name, 0.0) + sign * by
    weight = max(one.weight for one in means)
    count = min(one.clients for one in means)
    if count < FEWEST_CLIENTS:
        return ClientEstimate(
            value=value,
            weight=weight,
            reason=f"{count} clients; an interval needs {FEWEST_CLIENTS}",
        )
    error = float(np.sqrt(sum(by**2 for by in moved.values())))
    half = float(stats.t.isf(0.025, count - 1)) * error
    return ClientEstimate(value=value, low=value - half, high=value + half, weight=weight)


def _worth(together: ClientEstimate, people: ClientEstimate) -> float | None:
    if None in (together.low, together.high, people.low, people.high):
        return None
    assert together.low is not None and together.high is not None
    assert people.low is not None and people.high is not None
    ours = together.high - together.low
    return ((people.high - people.low) / ours) ** 2 if ours > 0 else None


def _some(clients: Sequence[str], which: NDArray[np.bool_]) -> list[str]:
    return [client for client, one in zip(clients, which, strict=True) if one]


def _sums(values: Numbers, clients: Sequence[str]) -> dict[str, float]:
    """By client, so that the squares add up to the variance of the sum: of few clients enlarged."""
    found: dict[str, float] = {}
    for client, value in zip(clients, values.tolist(), strict=True):
        found[client] = found.get(client, 0.0) + value
    count = len(found)
    enlarged = np.sqrt(count / (count - 1)) if count > 1 else 1.0
    return {client: value * float(enlarged) for client, value in found.items()}
