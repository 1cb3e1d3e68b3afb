"""The part of the page on validity that holds simulated effects beside real ones."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from analysis.page import interval, num
from analysis.style import Look, Picture, broken, picture, small_multiples
from analysis.validity.part import (
    Claim,
    ClaimVerdict,
    PartTable,
    ValidityPart,
    shown,
    sources,
    table_of,
)
from analysis.validity.runs import said_of
from analysis.validity.truth.comparing import (
    FEWEST_STUDIES,
    StudyBeside,
    Together,
    beside,
    together,
)
from analysis.validity.truth.studies import RealStudy
from simcounsel.specs.experiment import LEAST_CLIENTS

MARGIN = 0.5
"""In standard deviations: an effect this far off is another effect."""


def make(
    studies: Sequence[RealStudy], folder: Path, command: str
) -> tuple[ValidityPart, list[Picture]]:
    """The part and its figure. folder: from which files are seen. ReportError, SpecError."""
    found = [beside(one, folder) for one in studies]
    whole = together(found)
    said = said_of([folder / one.runs for one in studies])
    pictures = [_picture(found)]
    part = ValidityPart(
        id="truth",
        title="Would the real effects have come out?",
        lead=(
            "Simulated effects beside real ones, as Hedges' g: the first condition minus the"
            " second. The simulation's is of clients' changes with their first seed, as if"
            " conditions had other clients."
            " Published effects may be standardized otherwise (often by the scores at the end).",
        ),
        claims=(*map(_claim, found), _whole(whole)),
        tables=(_effects(found), *_arms(found), *_together(whole)),
        figures=shown(pictures),
        notes=said.notes,
        labels=said.labels,
        toys=said.toys,
        sources=sources("truth"),
        command=command,
    )
    return part, pictures


def _claim(one: StudyBeside) -> Claim:
    """Held where the difference is beyond doubt within the margin; not where it is beyond doubt
    different from 0.
    """
    difference = one.difference
    verdict: ClaimVerdict = "undecided"
    because = (
        f"simulated {_said(one.simulated.g, one.simulated.low, one.simulated.high)}, real"
        f" {_said(one.real.effect.g, one.real.effect.low, one.real.effect.high)}"
    )
    if one.clients < LEAST_CLIENTS:
        because += f"; {one.clients} clients, and {LEAST_CLIENTS} are the least"
    elif difference is not None:
        because += f"; difference {_said(*difference)}"
        if difference[1] > -MARGIN and difference[2] < MARGIN:
            verdict = "holds"
        elif difference[1] > 0 or difference[2] < 0:
            verdict = "does not hold"
    return Claim(
        statement=f"{one.study.id}: the simulated effect is within {MARGIN} SD of the real one",
        verdict=verdict,
        because=because,
    )


def _whole(whole: Together | None) -> Claim:
    statement = "Over studies, a larger simulated effect goes with a larger real one"
    if whole is None:
        return Claim(
            statement=statement,
            verdict="not measured",
            because=f"fewer than {FEWEST_STUDIES} studies",
        )
    return Claim(
        statement=statement,
        verdict="undecided",
        because=f"{whole.studies} studies: Spearman {num(whole.correlation)}, slope"
        f" {num(whole.slope)}, {whole.same_sign} of {whole.studies} have the same sign, the real"
        f" effect is in the simulation's interval in {whole.within} of {whole.known}",
    )


def _effects(found: Sequence[StudyBeside]) -> PartTable:
    rows = []
    for one in found:
        low, high = (one.difference or (None, None, None))[1:]
        rows.append(
            {
                "study": one.study.id,
                "simulated g": one.simulated.g,
                "simulated low": one.simulated.low,
                "simulated high": one.simulated.high,
                "real g": one.real.effect.g,
                "real low": one.real.effect.low,
                "real high": one.real.effect.high,
                "difference": (one.difference or (None,))[0],
                "low": low,
                "high": high,
                "clients": one.clients,
                "source": one.real.source,
            }
        )
    return table_of(
        "truth_effects",
        "Each study",
        pd.DataFrame(rows),
        note="With 95%. The difference takes both intervals as those of normal errors.",
    )


def _arms(found: Sequence[StudyBeside]) -> list[PartTable]:
    rows = [{"study": one.study.id, **vars(arm)} for one in found for arm in one.arms]
    if not rows:
        return []
    return [
        table_of(
            "truth_arms",
            "Changes of people, simulated and real",
            pd.DataFrame(rows),
            note="Means in points; p of Welch's t test, and of Kolmogorov and Smirnov's distance. A"
            " large p is no proof of likeness.",
        )
    ]


def _together(whole: Together | None) -> list[PartTable]:
    if whole is None:
        return []
    return [
        table_of(
            "truth_together",
            "All studies",
            pd.DataFrame([vars(whole)]),
            note="Slope and intercept: the real effect on the simulated one. Error: the mean"
            " absolute difference in standard deviations.",
        )
    ]


def _picture(found: Sequence[StudyBeside]) -> Picture:
    alt = "; ".join(
        f"{one.study.id}: simulated {num(one.simulated.g)}, real {num(one.real.effect.g)}"
        for one in found
    )

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 0.9 + 0.55 * len(found))
        for row, one in enumerate(reversed(found)):
            for shift, effect, color, marker in (
                (0.14, one.simulated, 0, "o"), (-0.14, one.real.effect, 1, "D"),
            ):  # fmt: skip
                if effect.g is None:
                    continue
                if effect.low is not None and effect.high is not None:
                    ends = [effect.low, effect.high]
                    axes.plot(ends, [row + shift] * 2, color=look.color(color), linewidth=2)
                label = None if row else ("simulated" if color == 0 else "real")
                axes.plot([effect.g], [row + shift], marker, color=look.color(color), label=label)
        axes.axvline(0, color=look.faint, linewidth=1, zorder=0)
        axes.set_yticks(range(len(found)), [broken(one.study.id, 28) for one in reversed(found)])
        axes.set_ylim(-0.6, len(found) - 0.4)
        axes.set_xlabel("Hedges' g, first condition minus second")
        axes.legend(loc="best", frameon=False)
        return figure

    return picture("truth_effects", "Simulated and real effects, with 95% intervals", alt, draw)


def _said(value: float | None, low: float | None, high: float | None) -> str:
    return f"{num(value)} {interval(low, high) if low is not None else 'without an interval'}"
