"""The charts of a report on runs. Nothing here computes more than means, which the tables show."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.exploring import Explored
from analysis.planned import Tested
from analysis.statistics import Spread, spread
from analysis.style import Look, Picture, broken, dots_and_mean, picture, small_multiples

ROLES = ("client", "counselor", "layperson")


def changes(explored: Sequence[Explored]) -> Picture:
    """Each outcome by arm: every run's value, the mean and its 95% interval."""
    chosen = list(explored)
    alt = "; ".join(
        f"{one.title}: {', '.join(_in_words(s) for s in one.spreads)}" for one in chosen
    )

    def draw(look: Look) -> Figure:
        arms = len(chosen[0].spreads)
        figure, panels = small_multiples(look, len(chosen), 2, 0.5 + 0.46 * arms)
        for axes, one in zip(panels, chosen, strict=True):
            for index, whole in enumerate(one.spreads):
                dots_and_mean(axes, look, arms - 1 - index, one.values[whole.name], whole, index)
            axes.set_title(broken(one.title, 44))
            axes.set_yticks(
                range(arms), [f"{broken(s.name, 18)} (n={s.n})" for s in reversed(one.spreads)]
            )
            axes.set_ylim(-0.6, arms - 0.4)
            if one.kind == "change":
                axes.axvline(0, color=look.faint, linewidth=1, zorder=1)
            axes.set_xlabel(
                "level"
                if one.kind == "level"
                else (
                    "after minus before"
                    if one.instrument == "log"
                    else "change from the first point"
                )
            )
            axes.locator_params(axis="x", nbins=5)
        return figure

    return picture("changes", "Outcomes by arm: each run, the mean and its 95% interval", alt, draw)


def _in_words(s: Spread) -> str:
    if s.mean is None:
        return f"{s.name} none"
    return (
        f"{s.name} {s.mean:.3g}"
        + (f" ({s.low:.3g} to {s.high:.3g})" if s.low is not None else "")
        + f", n {s.n}"
    )


def effects(tested: Sequence[Tested]) -> Picture | None:
    """Planned contrasts as Hedges' g with their intervals; None when there is none to draw."""
    shown = [one for one in tested if one.effect is not None and one.effect_name == "g"]
    if not shown:
        return None
    alt = "; ".join(f"{one.hypothesis.id}: g {one.effect:.2f}" for one in shown)

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 0.7 + 0.5 * len(shown))
        for row, one in enumerate(reversed(shown)):
            if one.effect_low is not None and one.effect_high is not None:
                axes.plot(
                    [one.effect_low, one.effect_high],
                    [row, row],
                    color=look.color(0),
                    linewidth=2,
                    solid_capstyle="butt",
                )
            axes.plot([one.effect or 0.0], [row], "D", color=look.color(0), markersize=6)
        axes.axvline(0, color=look.faint, linewidth=1, zorder=0)
        labels = [
            f"{broken(one.hypothesis.id, 26)}\n{', '.join(f'{k} {v}' for k, v in one.n.items())}"
            for one in reversed(shown)
        ]
        axes.set_yticks(
            range(len(shown)),
            labels if look.wide else [broken(one.hypothesis.id, 16) for one in reversed(shown)],
        )
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.set_xlabel("Hedges' g, first arm minus second")
        return figure

    return picture("planned", "Planned contrasts: Hedges' g with 95% intervals", alt, draw)


TALKED = (
    ("characters_per_message", "characters a message", (0.0, np.inf)),
    ("questions_per_message", "question marks a message", (0.0, np.inf)),
    ("sentiment", "sentiment (lexicon), −1 to 1", (-1.0, 1.0)),
)


def talked(speakers: pd.DataFrame, arms: Sequence[str]) -> Picture | None:
    """Lengths, questions and sentiment by role and arm, one dot a run and speaker; `speakers` with
    a column `arm`.
    """
    shown = speakers[speakers["messages"] > 0]
    pairs = [
        (arm, role)
        for arm in arms
        for role in ROLES
        if len(shown[(shown["arm"] == arm) & (shown["role"] == role)])
    ]
    if not pairs:
        return None
    grouped = _by_arm_and_role(shown, pairs)
    alt = "; ".join(
        f"{arm}, {role}, {words}: {_in_words(spread('mean', grouped[arm, role, column]))}"
        for arm, role in pairs
        for column, words, _ in TALKED
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(
            look, len(TALKED), 3, 0.6 + 0.46 * len(pairs), sharey=look.wide
        )
        for axes, (column, words, limits) in zip(panels, TALKED, strict=True):
            for row, (arm, role) in enumerate(reversed(pairs)):
                values = grouped[arm, role, column]
                dots_and_mean(
                    axes, look, row, values, spread(arm, values), ROLES.index(role), limits
                )
            axes.set_title(words)
            axes.set_ylim(-0.6, len(pairs) - 0.4)
            labels = [
                f"{role} (n={len(grouped[arm, role, column])})\nin {broken(arm, 20)}"
                for arm, role in reversed(pairs)
            ]
            axes.set_yticks(range(len(pairs)), labels)
            axes.locator_params(axis="x", nbins=4)
        return figure

    return picture(
        "talk",
        "How they talked: each run's mean, the mean over runs and its 95% interval",
        alt,
        draw,
    )


def _by_arm_and_role(
    speakers: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str, str], list[float]]:
    """The values of each column of TALKED, by arm, role and column."""
    return {
        (arm, role, column): (
            speakers[(speakers["arm"] == arm) & (speakers["role"] == role)][column]
            .astype(float)
            .tolist()
        )
        for arm, role in pairs
        for column, _, _ in TALKED
    }
