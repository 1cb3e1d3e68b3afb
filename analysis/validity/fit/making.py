"""The part of the page on validity about how clients open up: fits, slopes, claims."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from analysis.page import counted, interval, num, percent
from analysis.style import Look, Picture, broken, mean_with_interval, picture, small_multiples
from analysis.validity.fit.opening import NAMES, SET_BY_HAND, Fitted, Lines, fitted, lines_of
from analysis.validity.fit.slopes import SKILLS, Slope, slopes
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
from analysis.validity.talk.coding import Coder
from analysis.validity.talk.counting import Codes, coded_by_rules
from analysis.validity.talk.sessions import TalkSessions, sessions_in

MARGIN = 0.1
"""Shares of lines: a slope this far off is another answer to a counselor."""
AFTER = {"empathy": "gives back what they said", "exploration": "asks openly"}
Sides = Mapping[str, TalkSessions]


def make(
    sides: Mapping[str, Sequence[Path]],
    command: str,
    *,
    coder: Coder | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[ValidityPart, list[Picture], dict[str, Fitted]]:
    """The part, its figures, and the fits. sides: by name, the first the real one."""
    found = {name: sessions_in(paths, name) for name, paths in sides.items()}
    codes: Codes = coded_by_rules
    if coder is not None:
        coder.code([one for side in found.values() for one in side.found], tell)
        found = {name: coder.coded_of(side) for name, side in found.items()}
        codes = coder.codes
    lines = {name: lines_of(side.found, codes) for name, side in found.items()}
    fits: dict[str, Fitted] = {}
    for name, some in lines.items():
        tell(f"fitting {name}: {counted(len(some.clients), 'session')}")
        fits[name] = fitted(some, tell)
    steep = {name: slopes(some) for name, some in lines.items()}
    runs = [path for paths in list(sides.values())[1:] for path in paths]
    said = said_of(runs)
    pictures = [_slopes_picture(steep), _constants_picture(fits)]
    part = ValidityPart(
        id="fit",
        title="Do the clients open up as real ones do?",
        lead=tuple(_lead(fits, coder.model if coder else "hand rules")),
        claims=tuple(_claims(fits, steep)),
        tables=(_constants(fits), _held_out(fits), _slopes(steep, lines)),
        figures=shown(pictures),
        notes=(*(note for side in found.values() for note in side.notes), *said.notes),
        labels=said.labels,
        toys=said.toys,
        sources=sources("fit"),
        command=command,
    )
    return part, pictures, fits


def _lead(fits: Mapping[str, Fitted], coder: str) -> Sequence[str]:
    sizes = "; ".join(
        f"{name}: {counted(one.sessions, 'session')} of {counted(one.clients, 'client')},"
        f" {one.lines} client lines, {percent(one.discloses)} disclose"
        for name, one in fits.items()
    )
    settings = next(iter(fits.values())).constants.settings
    block = ", ".join(f"{name}: {value:g}" for name, value in settings.items())
    return (
        f"{sizes}. Whether a line discloses is told by {coder}; what a counselor's line does, by"
        " rules. Rules that miss lines make slopes smaller than they are.",
        f"A world takes the first side's constants as `openness: {{{block}}}`.",
    )


def _claims(fits: Mapping[str, Fitted], steep: Mapping[str, tuple[Slope, ...]]) -> Sequence[Claim]:
    real, *others = steep
    found = [_responds(real, slope) for slope in steep[real]]
    for name in others:
        pairs = zip(steep[real], steep[name], strict=True)
        found += [_alike(real, name, a, b) for a, b in pairs]
    for other, words in (("by hand", "those set by hand"), ("constant", "one chance for all")):
        better = fits[real].better[other]
        verdict: ClaimVerdict = "undecided"
        because = "fewer than six clients"
        if better is not None:
            verdict = (
                "holds" if better[1] > 0 else "does not hold" if better[2] < 0 else "undecided"
            )
            because = f"{num(better[0])} {interval(*better[1:])} nats a line on held-out clients"
        statement = f"The constants fitted to {real} foretell disclosure better than {words}"
        found.append(Claim(statement=statement, verdict=verdict, because=because))
    return found


def _responds(side: str, slope: Slope) -> Claim:
    """Whether clients answer to the skill at all."""
    verdict: ClaimVerdict = "undecided"
    if slope.ends is not None:
        low, high = slope.ends
        verdict = "holds" if low > 0 else "does not hold" if high < 0 else "undecided"
    return Claim(
        statement=f"{side}: clients disclose more after a line that {AFTER[slope.skill]}",
        verdict=verdict,
        because=_said(slope),
    )


def _alike(real: str, name: str, one: Slope, other: Slope) -> Claim:
    """Whether two sides answer alike to the skill."""
    verdict: ClaimVerdict = "undecided"
    because = f"{real} {_said(one)}; {name} {_said(other)}"
    errors = (one.error, other.error)
    if one.estimate is not None and other.estimate is not None and None not in errors:
        difference = other.estimate - one.estimate
        t = float(stats.t.ppf(0.975, min(one.clients, other.clients) - 1))
        half = t * sum(float(error or 0) ** 2 for error in errors) ** 0.5
        low, high = difference - half, difference + half
        because += f"; difference {num(difference)} {interval(low, high)}"
        if low > -MARGIN and high < MARGIN:
            verdict = "holds"
        elif low > 0 or high < 0:
            verdict = "does not hold"
    return Claim(
        statement=f"{name}: clients answer to a line that {AFTER[one.skill]} as {real} do"
        f" (within {MARGIN:g})",
        verdict=verdict,
        because=because,
    )


def _said(slope: Slope) -> str:
    if slope.estimate is None:
        return "no session has lines with and without it, apart from the other"
    ends = slope.ends
    return f"{num(slope.estimate)} {interval(*ends) if ends else '(too few clients)'}"


def _constants(fits: Mapping[str, Fitted]) -> PartTable:
    rows: list[dict[str, Any]] = [
        {"sessions": "set by hand", "constant": name, "value": value}
        for name, value in asdict(SET_BY_HAND).items()
    ]
    for side, one in fits.items():
        for name, value in asdict(one.constants).items():
            low = getattr(one.low, name) if one.low else None
            high = getattr(one.high, name) if one.high else None
            row = {"sessions": side, "constant": name, "value": value, "low": low, "high": high}
            rows.append(row)
    return table_of(
        "fit_constants",
        "What moves openness",
        pd.DataFrame(rows),
        note="Points of 0 to 10, with 95% over clients. start: before anything was said; empathy,"
        " exploration: with a line that reflects or asks openly; push: down with a line that only"
        " advises; fades: share of the distance from the start that is lost with each line.",
    )


def _held_out(fits: Mapping[str, Fitted]) -> PartTable:
    rows = []
    for side, one in fits.items():
        low, high = (one.better["constant"] or (None, None, None))[1:]
        gain = (one.better["constant"] or (None,))[0]
        rows.append({"sessions": side, **one.held_out, "gain": gain, "low": low, "high": high})
    return table_of(
        "fit_held_out",
        "Clients that the fit did not see",
        pd.DataFrame(rows),
        note="Loss of a line in nats, smaller is better; five folds of clients. Constant: one"
        " chance for all lines. Gain: constant less fitted, with 95% over clients.",
    )


def _slopes(steep: Mapping[str, tuple[Slope, ...]], lines: Mapping[str, Lines]) -> PartTable:
    rows = []
    for side, found in steep.items():
        for one in found:
            low, high = one.ends or (None, None)
            share = float(getattr(lines[side], one.skill)[lines[side].said].mean())
            rows.append(
                {
                    "sessions": side,
                    "the counselor": AFTER[one.skill],
                    "share of lines": share,
                    "more disclosure": one.estimate,
                    "low": low,
                    "high": high,
                }
            )
    return table_of(
        "fit_slopes",
        "Disclosure after a counselor's line",
        pd.DataFrame(rows),
        note="How much larger the share of disclosing lines is, within sessions, with 95% over"
        " clients.",
    )


def _slopes_picture(steep: Mapping[str, tuple[Slope, ...]]) -> Picture:
    alt = "; ".join(
        f"{side}, {one.skill} {_said(one)}" for side, found in steep.items() for one in found
    )

    def draw(look: Look) -> Figure:
        height = 0.8 + 0.4 * len(steep)
        figure, panels = small_multiples(look, len(SKILLS), 2, height, sharex=True)
        for panel, skill in zip(panels, SKILLS, strict=True):
            panel.axvline(0, color=look.faint, linewidth=1, zorder=0)
            for row, found in enumerate(reversed(list(steep.values()))):
                one = next(each for each in found if each.skill == skill)
                if one.estimate is not None:
                    index = len(steep) - 1 - row
                    mean_with_interval(panel, look, row, one.estimate, one.ends, index)
            names = [broken(side) for side in reversed(list(steep))]
            panel.set_yticks(range(len(steep)), names)
            panel.set_ylim(-0.6, len(steep) - 0.4)
            panel.set_title(f"after a line that {AFTER[skill]}")
            panel.set_xlabel("more disclosing lines, share")
        return figure

    return picture("fit_slopes", "Does disclosure answer to the counselor?", alt, draw)


def _constants_picture(fits: Mapping[str, Fitted]) -> Picture:
    alt = "; ".join(
        f"{side}, {name} {num(value)}"
        for side, one in fits.items()
        for name, value in asdict(one.constants).items()
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, len(NAMES), 3, 0.8 + 0.35 * len(fits))
        for panel, name in zip(panels, NAMES, strict=True):
            hand = getattr(SET_BY_HAND, name)
            panel.axvline(hand, color=look.faint, linewidth=1, linestyle="--", zorder=0)
            for row, one in enumerate(reversed(list(fits.values()))):
                low, high = (getattr(end, name) if end else None for end in (one.low, one.high))
                ends = None if low is None or high is None else (low, high)
                value = getattr(one.constants, name)
                mean_with_interval(panel, look, row, value, ends, len(fits) - 1 - row)
            panel.set_yticks(range(len(fits)), [broken(side) for side in reversed(list(fits))])
            panel.set_ylim(-0.6, len(fits) - 0.4)
            panel.set_title(name)
            if name == "fades":
                panel.set_xlim(-0.05, max(0.5, panel.get_xlim()[1]))
        return figure

    title = "What moves openness, with 95%; dashed: set by hand"
    return picture("fit_constants", title, alt, draw)
