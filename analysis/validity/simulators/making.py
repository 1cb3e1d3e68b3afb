"""The part of the page on validity that puts simulators of clients side by side."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.embedding import each_once, embedding
from analysis.finding import find
from analysis.page import counted, fixed, interval, num
from analysis.statistics.groups import Spread, spread
from analysis.style import Look, Picture, broken, mean_with_interval, picture, small_multiples
from analysis.validity.fit.making import AFTER
from analysis.validity.fit.opening import lines_of
from analysis.validity.fit.slopes import slopes
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
from analysis.validity.simulators.measuring import (
    HALF,
    Nearness,
    Side,
    SimulatorSessions,
    client_measures,
    nearness,
    own_file,
    simulators_in,
    unlike,
)
from analysis.validity.talk.coding import Coder
from analysis.validity.talk.counting import Codes, coded_by_rules
from analysis.validity.talk.sessions import TalkSession, TalkSessions, sessions_in

REAL = "real"
MARGIN = 0.1
"""Standard deviations: so much farther is as good as no farther."""
OF_FILES = {
    "consistency": "sessions nearest to the client's own file, share",
    "drift": "nearness to the own file, last third minus first",
    "unlike": "how unlike other clients, 1 - cosine",
}
Values = Mapping[str, Sequence[float | None]]
DRAWN = ("discloses", "first_disclosure", "resists", "agrees", "consistency", "unlike")
"""What the figure shows."""


def make(
    runs: Sequence[Path],
    real: Sequence[Path],
    command: str,
    *,
    coder: Coder | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[ValidityPart, list[Picture]]:
    """The part and its figures. runs: one condition a simulator. real: () for none."""
    sample = find(runs)
    simulators = simulators_in(sample)
    talk = sessions_in(real, REAL) if real else TalkSessions(found=())
    codes: Codes = coded_by_rules
    if coder is not None:
        coder.code([*talk.found, *(one for each in simulators for one in each.found)], tell)
        codes = coder.codes
    measures = client_measures(codes)
    names = {one.id: one.name for one in measures} | OF_FILES
    embed = each_once(embedding(sample.members[0].models["embed"]))
    tell("measuring")
    found: dict[str, tuple[Sequence[TalkSession], Values]] = {}
    for one in simulators:
        counts = {each.id: [each.of(session) for session in one.found] for each in measures}
        own = own_file(one, embed) | {"unlike": unlike(one.found, embed)}
        found[one.name] = one.found, counts | own
    near = None
    if talk.found:
        counts = {each.id: [each.of(session) for session in talk.found] for each in measures}
        found[REAL] = talk.found, counts | {"unlike": unlike(talk.found, embed)}
        tell("measuring distances to real talk")
        sides = {one.name: Side.of(one.found, measures) for one in simulators}
        near = nearness(Side.of(talk.found, measures), sides)
    said = said_of(runs)
    pictures = [_picture(found, names), *([_near_picture(near)] if near else [])]
    part = ValidityPart(
        id="simulators",
        title="Simulators of clients, side by side",
        lead=tuple(_lead(simulators, talk)),
        claims=tuple(_claims(near, len(simulators))),
        tables=(
            _measures(found, names, {one.id for one in measures if one.share} | {"consistency"}),
            _answers(found, codes),
            _costs(simulators),
            *([_near(near, [one.name for one in measures])] if near else []),
        ),
        figures=shown(pictures),
        notes=(*talk.notes, *(note for one in simulators for note in one.notes), *said.notes),
        labels=said.labels,
        toys=said.toys,
        sources=sources("simulators"),
        command=command,
    )
    return part, pictures


def _lead(simulators: Sequence[SimulatorSessions], talk: TalkSessions) -> Sequence[str]:
    sizes = "; ".join(
        f"{one.name}: {counted(len(one.found), 'session')} of"
        f" {counted(len({each.client for each in one.found}), 'client')}"
        for one in simulators
    )
    beside = (
        f"Beside {counted(len(talk.found), 'real session')}."
        if talk.found
        else "No real sessions were given, so nothing is said of likeness."
    )
    return (f"{sizes}. {beside} Intervals are over clients.",)


def _claims(near: Nearness | None, simulators: int) -> Sequence[Claim]:
    statement = "Among simulators of clients, one is nearest to real talk"
    if near is None:
        return [Claim(statement=statement, verdict="not measured", because="no real sessions")]
    if simulators < 2:
        why = "there is one simulator"
        return [Claim(statement=statement, verdict="not measured", because=why)]
    first, second = near.order[:2]
    verdict: ClaimVerdict = "undecided"
    because = f"{first} {num(near.distance[first])} SD, {second} {num(near.distance[second])}"
    if near.lead is None:
        because += "; fewer than six clients on a side"
    else:
        because += f"; difference {num(near.lead[0])} {interval(*near.lead[1:])}"
        verdict = "holds" if near.lead[1] > 0 else "undecided"
    claims = [Claim(statement=f"{statement}: {first}", verdict=verdict, because=because)]
    for name in near.order:
        claims.append(_as_near_as_people(name, near))
    return claims


def _as_near_as_people(name: str, near: Nearness) -> Claim:
    """Whether it is as near to real clients as halves of them are to each other."""
    verdict: ClaimVerdict = "undecided"
    because = f"{num(near.distance[name])} SD, fewer than six clients on a side"
    if name in near.beyond and near.ceiling is not None:
        more, low, high = near.beyond[name]
        because = (
            f"{num(near.distance[name])} SD, another half of the real clients"
            f" {num(near.ceiling[0])}; difference {num(more)} {interval(low, high)}"
        )
        verdict = "does not hold" if low > 0 else "holds" if high < MARGIN else verdict
    statement = f"{name}: its talk is as near to real talk as real clients are to each other"
    return Claim(statement=statement, verdict=verdict, because=because)


def _by_client(found: Sequence[TalkSession], values: Sequence[float | None]) -> list[float]:
    """Means of clients."""
    of: dict[str, list[float]] = {}
    for session, value in zip(found, values, strict=True):
        if value is not None:
            of.setdefault(session.client, []).append(value)
    return [float(np.mean(some)) for some in of.values()]


def _within(whole: Spread, share: bool) -> tuple[float | None, float | None]:
    """An interval within what the value can be."""
    if not share or whole.low is None or whole.high is None:
        return whole.low, whole.high
    return max(0.0, whole.low), min(1.0, whole.high)


def _measures(
    found: Mapping[str, tuple[Sequence[TalkSession], Values]],
    names: Mapping[str, str],
    shares: Collection[str],
) -> PartTable:
    rows: list[dict[str, Any]] = []
    for id, name in names.items():
        row: dict[str, Any] = {"measure": name}
        for side, (sessions, values) in found.items():
            if id in values:
                whole = spread(side, _by_client(sessions, values[id]))
                low, high = _within(whole, id in shares)
                row[side] = f"{num(whole.mean)} {interval(low, high) if low is not None else ''}"
                kept = {"mean": whole.mean, "low": low, "high": high, "sd": whole.sd}
                row |= {f"{side} {key}": one for key, one in (kept | {"clients": whole.n}).items()}
        rows.append(row)
    frame = pd.DataFrame(rows)
    shown_first = ["measure", *sorted(found, key=lambda side: side != REAL)]
    frame = frame[[*shown_first, *(one for one in frame.columns if one not in shown_first)]]
    return table_of(
        "simulators_measures",
        "What clients do",
        frame,
        note="Means over clients with 95%. What a line does is told by rules, unless a coder was"
        " named. Consistency needs files, which real sessions have not. The CSV has each number by"
        " itself, with the SD between clients.",
        aside=[one for one in frame.columns if one not in shown_first],
    )


def _answers(found: Mapping[str, tuple[Sequence[TalkSession], Values]], codes: Codes) -> PartTable:
    rows = []
    for side, (sessions, _) in found.items():
        for one in slopes(lines_of(sessions, codes)):
            low, high = one.ends or (None, None)
            row = {"simulator": side, "the counselor": AFTER[one.skill]}
            rows.append(row | {"more disclosure": one.estimate, "low": low, "high": high})
    return table_of(
        "simulators_answers",
        "Do they answer to the counselor?",
        pd.DataFrame(rows),
        note="How much larger the share of disclosing lines is after such a line, within sessions.",
    )


def _costs(simulators: Sequence[SimulatorSessions]) -> PartTable:
    rows = [
        {
            "simulator": one.name,
            "sessions": len(one.found),
            "client lines": sum(len(each.client_lines) for each in one.found),
            "requests a line": one.requests,
            "tokens a line": one.tokens,
        }
        for one in simulators
    ]
    note = "Of the client's model, for its lines alone. Tokens: 0 where a model does not tell them."
    return table_of("simulators_costs", "What a line costs", pd.DataFrame(rows), note=note)


def _near(near: Nearness, names: Sequence[str]) -> PartTable:
    rows = [
        {
            "simulator": name,
            "distance": near.distance[name],
            "low": near.ends.get(name, (None, None))[0],
            "high": near.ends.get(name, (None, None))[1],
        }
        for name in near.order
    ]
    middle, low, high = near.ceiling or (None, None, None)
    rows.append({"simulator": HALF, "distance": middle, "low": low, "high": high})
    dropped = [name for at, name in enumerate(names) if at not in near.measures]
    draws = (
        f" Each draw halves the real clients: {near.clients} clients of each simulator, and of the"
        " other half, are held against one half. With 95% of the draws."
    )
    left = f" Left out, as one side has no value: {'; '.join(dropped)}." if dropped else ""
    return table_of(
        "simulators_near",
        "How far from real talk",
        pd.DataFrame(rows),
        note="The mean over measures of Wasserstein's distance, in standard deviations of the real."
        f"{draws if near.ends else ''}{left}",
    )


def _picture(
    found: Mapping[str, tuple[Sequence[TalkSession], Values]], names: Mapping[str, str]
) -> Picture:
    wholes = {
        id: {
            side: spread(side, _by_client(sessions, values[id]))
            for side, (sessions, values) in found.items()
            if id in values
        }
        for id in DRAWN
    }
    alt = "; ".join(
        f"{names[id]}: " + ", ".join(f"{side} {fixed(one.mean)}" for side, one in each.items())
        for id, each in wholes.items()
    )
    order = list(found)

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, len(DRAWN), 2, 0.9 + 0.3 * len(order))
        for panel, id in zip(panels, DRAWN, strict=True):
            for row, side in enumerate(reversed(order)):
                one = wholes[id].get(side)
                if one is None or one.mean is None:
                    continue
                ends = None if one.low is None or one.high is None else (one.low, one.high)
                index = order.index(side)
                mean_with_interval(panel, look, row, one.mean, ends, index)
            panel.set_yticks(range(len(order)), [broken(side) for side in reversed(order)])
            panel.set_ylim(-0.6, len(order) - 0.4)
            panel.set_title(broken(names[id], 44))
        return figure

    title = "Simulators before the same counselor, means with 95% over clients"
    return picture("simulators_measures", title, alt, draw)


def _near_picture(near: Nearness) -> Picture:
    alt = "; ".join(f"{name} {num(near.distance[name])}" for name in near.order)

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 0.9 + 0.4 * len(near.order))
        if near.ceiling is not None:
            axes.axvspan(*near.ceiling[1:], color=look.faint, alpha=0.25, linewidth=0)
            axes.axvline(near.ceiling[0], color=look.faint, linewidth=1)
        for row, name in enumerate(reversed(near.order)):
            mean_with_interval(axes, look, row, near.distance[name], near.ends.get(name), 0)
        axes.set_yticks(range(len(near.order)), [broken(name) for name in reversed(near.order)])
        axes.set_ylim(-0.6, len(near.order) - 0.4)
        axes.set_xlim(left=0)
        axes.set_xlabel("distance to real talk, SD; band: another half of the real clients")
        return figure

    return picture("simulators_near", "How far from real talk, with 95%", alt, draw)
