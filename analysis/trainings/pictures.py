"""Figures of trainings: what privacy costs (after Xue et al. 2026, Figures 8 and 9), and what more
sessions and more themes bring.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.style import MARKERS, Look, Picture, picture, small_multiples
from analysis.trainings.folders import TrainingRead

BUDGET = "privacy budget epsilon (smaller = more private)"
LOSS = "loss on held-out sessions (lower = better)"
Values = Callable[[TrainingRead], float | None]


def utility(trainings: Sequence[TrainingRead]) -> Picture | None:
    """Held-out loss against epsilon, with what the base model and a training without privacy
    reach.
    """
    if not trainings:
        return None
    base = [one.before for one in trainings if one.before is not None]
    alt = "; ".join(f"{_budget(one)}: loss {one.after:.3f}" for one in _ordered(trainings)) + (
        f"; base model {base[0]:.3f}" if base else ""
    )

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 3.2)
        _across(axes, look, trainings, lambda one: one.after, 0)
        levels = [(float(np.mean(base)), "base model, untrained")] if base else []
        free = [one.after for one in trainings if one.epsilon is None and one.after is not None]
        _levels(
            axes,
            look,
            levels + ([(float(np.mean(free)), "trained without privacy")] if free else []),
        )
        axes.set_ylabel(LOSS if look.wide else "loss on held-out sessions")
        return figure

    return picture(
        "utility",
        "What privacy costs: how well each training predicts the counselors of clients it"
        " never saw",
        alt,
        draw,
        png=True,
    )


def attack(trainings: Sequence[TrainingRead]) -> Picture | None:
    """ROC AUC of the best attack against epsilon, beside chance and what the account allows."""
    shown = [one for one in trainings if one.attack]
    if not shown:
        return None
    alt = "; ".join(
        f"{_budget(one)}: AUC {one.attack.auc:.3f} by {one.attack.name}"
        for one in _ordered(shown)
        if one.attack
    )

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 3.2)
        at = _across(axes, look, shown, lambda one: one.attack.auc if one.attack else None, 1)
        _intervals(axes, look, shown, at)
        allowed = _allowed(axes, look, shown, at)
        _levels(axes, look, [(0.5, "guessing")])
        axes.set_ylim(min(0.4, *axes.get_ylim()), 1.02)
        if allowed:
            figure.legend(
                *axes.get_legend_handles_labels(),
                loc="outside lower center",
                frameon=False,
                fontsize=8.5,
            )
        axes.set_ylabel(
            "best attack, AUC (1 = certain who was in)" if look.wide else "best attack, AUC"
        )
        return figure

    return picture(
        "attack",
        "How well an attack tells who was trained on, with its 95% interval",
        alt,
        draw,
        png=True,
    )


def rounds(trainings: Sequence[TrainingRead]) -> Picture | None:
    """ROC AUC and PR AUC of the LOSS attack on the adapter after each round, a line a training."""
    shown = [one for one in _ordered(trainings) if any("loss" in at for at in one.rounds.values())]
    if not shown:
        return None
    told = {one.name: {at: by["loss"] for at, by in one.rounds.items()} for one in shown}
    alt = "; ".join(
        f"{_budget(one)}: ROC AUC "
        + ", ".join(f"{both[0]:.3f} after round {at}" for at, both in told[one.name].items())
        for one in shown
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, 2, 2 if look.wide else 1, 3.0)
        for part, (axes, name) in enumerate(zip(panels, ("ROC AUC", "PR AUC"), strict=True)):
            for index, one in enumerate(shown):
                each = told[one.name]
                axes.plot(
                    list(each),
                    [both[part] for both in each.values()],
                    "-",
                    marker=MARKERS[index % len(MARKERS)],
                    markersize=5,
                    linewidth=1.4,
                    color=look.color(index),
                    label=f"{one.name} ({_budget(one)})",
                )
            axes.set_xticks(sorted({at for each in told.values() for at in each}))
            axes.set_xlabel("round")
            axes.set_ylabel(f"LOSS attack, {name}")
            axes.grid(axis="y", linewidth=0.6)
        figure.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside lower center",
            frameon=False,
            fontsize=8.5,
            ncols=2 if look.wide else 1,
        )
        return figure

    return picture(
        "rounds", "How well the LOSS attack tells who was trained on, round by round", alt, draw,
        png=True,
    )  # fmt: skip


NEARNESS = {"rouge1_recall": "ROUGE-1 recall", "cosine": "cosine of meaning"}


def memorization(trainings: Sequence[TrainingRead]) -> Picture | None:
    """How near replies are to the counselor's own in sessions that were learned, against
    epsilon.
    """
    measures = [one for one in NEARNESS if any(one in training.likeness for training in trainings)]
    shown = [one for one in trainings if set(measures) <= one.likeness.keys()]
    if not measures or not shown:
        return None
    alt = "; ".join(
        f"{_budget(one)}: "
        + ", ".join(f"{NEARNESS[name]} {one.likeness[name]['trained']:.3f}" for name in measures)
        for one in _ordered(shown)
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(
            look, len(measures), len(measures) if look.wide else 1, 3.0
        )
        for index, (axes, name) in enumerate(zip(panels, measures, strict=True)):
            _across(axes, look, shown, partial(_nearness, name), index)
            base = [one.likeness[name]["base"] for one in shown if "base" in one.likeness[name]]
            _levels(axes, look, [(float(np.mean(base)), "base model")] if base else [])
            axes.set_ylabel(NEARNESS[name])
        return figure

    return picture(
        "memorization",
        "How near replies are to what the counselor said in sessions that were learned",
        alt,
        draw,
        png=True,
    )


def _nearness(measure: str, one: TrainingRead) -> float:
    return one.likeness[measure]["trained"]


def _intervals(
    axes: Axes, look: Look, shown: Sequence[TrainingRead], at: Mapping[float, int]
) -> None:
    """The 95% interval of each attack, where its budget stands."""
    for one in shown:
        if one.attack and one.attack.low is not None and one.attack.high is not None:
            axes.plot(
                [at[_place(one)]] * 2,
                [one.attack.low, one.attack.high],
                color=look.color(1),
                linewidth=1.6,
                alpha=0.6,
                zorder=2,
            )


def _allowed(
    axes: Axes, look: Look, shown: Sequence[TrainingRead], at: Mapping[float, int]
) -> dict[float, float]:
    """A line where the account allows no more; returns them by budget."""
    allowed = {
        _place(one): one.attack.allowed
        for one in shown
        if one.attack and one.attack.allowed is not None
    }
    for number, (place, most) in enumerate(sorted(allowed.items())):
        axes.plot(
            [at[place] - 0.3, at[place] + 0.3],
            [most, most],
            color=look.ink,
            linewidth=1.4,
            label="" if number else "most that the account allows",
        )
    return allowed


def amount(trainings: Sequence[TrainingRead]) -> Picture | None:
    """Held-out loss against the number of sites: sessions of one theme, and of a theme a site."""
    if not trainings:
        return None
    alone = [one for one in trainings if one.sites == 1]
    series = (
        ("more sessions of one theme", [one for one in trainings if one.seen_as == "one theme"]),
        (
            "as many sessions, a theme a site",
            [*alone, *(one for one in trainings if one.seen_as == "themes")],
        ),
    )
    alt = "; ".join(
        f"{name}: " + ", ".join(f"{one.sites} sites {one.after:.3f}" for one in _by_sites(own))
        for name, own in series
        if own
    )
    base = [one.before for one in trainings if one.before is not None]

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 3.2)
        for index, (name, own) in enumerate(series):
            _means_by_sites(axes, look, name, own, index)
        axes.set_xticks(sorted({one.sites for one in trainings}))
        axes.set_xlim(
            min(one.sites for one in trainings) - 0.3, max(one.sites for one in trainings) + 0.3
        )
        _levels(axes, look, [(float(np.mean(base)), "base model, untrained")] if base else [])
        axes.set_xlabel("sites that train together (each with as many sessions)")
        axes.set_ylabel(LOSS if look.wide else "loss on held-out sessions")
        axes.grid(axis="y", linewidth=0.6)
        axes.set_axisbelow(True)
        figure.legend(
            *axes.get_legend_handles_labels(),
            loc="outside lower center",
            frameon=False,
            fontsize=8.5,
            handlelength=3.2,
            ncols=2 if look.wide else 1,
        )
        return figure

    return picture(
        "amount",
        "More sessions of one theme, or more themes: how well sessions of all themes are predicted",
        alt,
        draw,
        png=True,
    )


def _means_by_sites(
    axes: Axes, look: Look, name: str, own: Sequence[TrainingRead], index: int
) -> None:
    """Mean losses by number of sites, joined; the first series by a whole line."""
    sites = sorted({one.sites for one in own})
    if not sites:
        return
    losses = [
        [one.after for one in own if one.sites == many and one.after is not None] for many in sites
    ]
    axes.plot(
        sites,
        [float(np.mean(some)) for some in losses],
        "-" if index == 0 else "--",
        markersize=6,
        linewidth=1.5,
        marker=MARKERS[index],
        color=look.color(index),
        label=name,
    )


def _across(
    axes: Axes, look: Look, trainings: Sequence[TrainingRead], value: Values, index: int
) -> dict[float, int]:
    """Budgets side by side, strictest left, none right; each training a dot, means joined. Returns
    where each budget stands.
    """
    places = sorted({_place(one) for one in trainings})
    at = {place: number for number, place in enumerate(places)}
    known = [(at[_place(one)], found) for one in trainings if (found := value(one)) is not None]
    spots = sorted({spot for spot, _ in known})
    means = [float(np.mean([found for spot, found in known if spot == here])) for here in spots]
    color = look.color(index)
    private = [number for number, spot in enumerate(spots) if places[spot] != np.inf]
    axes.plot(
        [spots[n] for n in private],
        [means[n] for n in private],
        "-",
        color=color,
        linewidth=1.5,
        zorder=2,
    )
    if len(known) > len(spots):
        axes.scatter(
            [spot for spot, _ in known],
            [found for _, found in known],
            s=14,
            color=color,
            alpha=0.5,
            linewidths=0,
            zorder=3,
        )
    axes.plot(spots, means, MARKERS[index], color=color, markersize=7, zorder=4)
    axes.set_xticks(
        range(len(places)), ["none" if place == np.inf else f"{place:g}" for place in places]
    )
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.set_xlabel(BUDGET)
    axes.grid(axis="y", linewidth=0.6)
    axes.set_axisbelow(True)
    return at


def _levels(axes: Axes, look: Look, levels: Sequence[tuple[float, str]]) -> None:
    """Dotted lines across, each with its name above it at the left, or below it where another is
    close above.
    """
    low, high = axes.get_ylim()
    low, high = min([low, *(at for at, _ in levels)]), max([high, *(at for at, _ in levels)])
    room = 0.12 * (high - low) or 0.1
    axes.set_ylim(low - room, high + room)
    for at, name in levels:
        axes.axhline(at, color=look.ink, linewidth=1, linestyle=":", zorder=1)
        near = any(0 < other - at < 1.5 * room for other, _ in levels)
        axes.annotate(
            name,
            (0, at),
            (3, -3 if near else 3),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontsize=8,
            va="top" if near else "bottom",
        )


def _place(one: TrainingRead) -> float:
    """Its budget, three digits of it; infinity without privacy."""
    return np.inf if one.epsilon is None else float(f"{one.epsilon:.2g}")


def _ordered(trainings: Sequence[TrainingRead]) -> list[TrainingRead]:
    return sorted(trainings, key=lambda one: (_place(one), one.name))


def _by_sites(trainings: Sequence[TrainingRead]) -> list[TrainingRead]:
    return sorted(trainings, key=lambda one: (one.sites, one.name))


def _budget(one: TrainingRead) -> str:
    return "no privacy" if one.epsilon is None else f"epsilon {one.epsilon:.3g}"
