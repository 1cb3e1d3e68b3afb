"""From real and simulated sessions to the part of the page: tables, figures, claims.

Real and simulated sessions compared in every way, and what may be said of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.page import counted
from analysis.style import Picture
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
from analysis.validity.talk.counting import (
    Codes,
    TalkMeasure,
    checked,
    coded_by_rules,
    measures,
    table,
)
from analysis.validity.talk.detector import Detected, detect
from analysis.validity.talk.distances import Distance, distance, side
from analysis.validity.talk.pictures import courses_picture, distances_picture, waiting_picture
from analysis.validity.talk.sessions import TalkSession, TalkSessions, coded_by_people, sessions_in
from analysis.validity.talk.waiting import Waited, waited

MARGIN = 0.5
"""Standard deviations of the real within which a measure counts as alike."""
TOLD = 0.6
"""An AUC below this is as good as guessing."""
OF_THE_CLIENT = frozenset(
    "client_words client_unevenness client_questions variety hesitations feeling change sustain"
    " resists agrees takes_up improves discloses".split()
)
"""What the detector is given: the counselor's side is the study's own."""


@dataclass(frozen=True, kw_only=True)
class TalkCompared:
    """All that was found."""

    real: TalkSessions
    simulated: TalkSessions
    counted: tuple[TalkMeasure, ...]
    far: Mapping[str, Distance]
    told: Sequence[Detected]
    waits: Sequence[Waited]


def compare(
    real: TalkSessions,
    simulated: TalkSessions,
    margin: float = MARGIN,
    codes: Codes = coded_by_rules,
    tell: Callable[[str], None] = lambda _: None,
) -> TalkCompared:
    """Count, measure distances, detect, and look who yields sooner."""
    every = measures(codes)
    tell(f"counting {len(real.found)} real and {len(simulated.found)} simulated sessions")
    values = [table(one.found, every) for one in (real, simulated)]
    clients = [[session.client for session in one.found] for one in (real, simulated)]
    far = {
        one.id: distance(
            side(values[0][one.id], clients[0]),
            side(values[1][one.id], clients[1]),
            margin,
            one.id,
            among=len(every),
        )
        for one in every
    }
    tell("telling them apart")
    features = [one for one in measures() if one.id in OF_THE_CLIENT]
    return TalkCompared(
        real=real,
        simulated=simulated,
        counted=every,
        far=far,
        told=detect(real.found, simulated.found, features),
        waits=waited(real.found, simulated.found, codes),
    )


def claims_of(done: TalkCompared, margin: float) -> list[Claim]:
    """What may be said."""
    return [_of_measures(done, margin), _of_detector(done.told), *map(_of_wait, done.waits)]


def _of_measures(done: TalkCompared, margin: float) -> Claim:
    found = {
        verdict: [one.name for one in done.counted if done.far[one.id].verdict == verdict]
        for verdict in ("alike", "different", "undecided")
    }
    different = "; ".join(
        f"{one.name}: {done.far[one.id].words()}"
        for one in done.counted
        if done.far[one.id].verdict == "different"
    )
    return Claim(
        statement=f"The sessions are like the real ones in all that was counted (within {margin:g}"
        " SD)",
        verdict="does not hold"
        if found["different"]
        else "undecided"
        if found["undecided"]
        else "holds",
        because=f"{len(found['alike'])} measures alike, {len(found['undecided'])} undecided,"
        f" {len(found['different'])} different" + (f" ({different})" if different else ""),
    )


def _of_detector(told: Sequence[Detected]) -> Claim:
    best = max((one for one in told[:2]), key=lambda one: one.auc or 0.0)
    statement = "A program cannot tell the clients' lines from real ones, leaving topics aside"
    if best.auc is None or best.low is None or best.high is None:
        return Claim(
            statement=statement, verdict="undecided", because="fewer than six clients on a side"
        )
    verdict: ClaimVerdict = (
        "holds" if best.high < TOLD else "does not hold" if best.low > TOLD else "undecided"
    )
    return Claim(
        statement=statement,
        verdict=verdict,
        because=f"by {best.features}: AUC {best.auc:.2f} [{best.low:.2f}, {best.high:.2f}]",
    )


def _of_wait(one: Waited) -> Claim:
    sayings = {
        "agrees": "agree",
        "takes_up": "take up proposals",
        "discloses": "open up",
        "improves": "say that it is better",
    }
    because = f"{one.difference:+.1f} lines".replace("-", "−")
    because += (
        f" [{one.low:.1f}, {one.high:.1f}]".replace("-", "−")
        if one.low is not None and one.high is not None
        else ", fewer than six clients on a side"
    )
    return Claim(
        statement=f"The clients {sayings[one.move]} no sooner than real ones",
        verdict="undecided" if one.sooner is None else "does not hold" if one.sooner else "holds",
        because=f"{because}; after {one.simulated:.1f} of {one.horizon} lines, real ones after"
        f" {one.real:.1f}",
    )


ASIDE = (
    "real_sd simulated_sd real_sessions simulated_sessions real_clients simulated_clients"
    " wasserstein_low wasserstein_high"
).split()


def make(
    runs: Sequence[Path],
    files: Sequence[Path],
    command: str,
    *,
    margin: float = MARGIN,
    coder: Coder | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[ValidityPart, list[Picture]]:
    """The part and its pictures. coder: who says what client lines do; None: the hand rules.
    CorpusError, SpecError, ReportError, RunError name what cannot be read.
    """
    real, simulated = sessions_in(files, "real"), sessions_in(runs, "simulated")
    notes = (*real.notes, *simulated.notes, *_of_language(real, simulated))
    codes: Codes = coded_by_rules
    if coder is not None:
        every = [*real.found, *simulated.found]
        coder.code(every, tell)
        real, simulated = coder.coded_of(real), coder.coded_of(simulated)
        if left := len(every) - len(real.found) - len(simulated.found):
            notes += (f"{left} sessions that {coder.model} could not code are left out.",)
        codes = coder.codes
    done = compare(real, simulated, margin, codes, tell)
    sides: dict[str, Sequence[TalkSession]] = {"real": real.found, "simulated": simulated.found}
    drawn = [
        distances_picture(done.counted, done.far, margin),
        courses_picture(sides, codes),
        waiting_picture(sides, codes),
    ]
    said = said_of(runs)
    part = ValidityPart(
        id="talk",
        title="Do the clients talk like real ones?",
        lead=(_lead(done, coder.model if coder else "hand rules"),),
        claims=tuple(claims_of(done, margin)),
        tables=tuple(_tables(done, margin, files)),
        figures=shown(drawn),
        notes=(*notes, *said.notes),
        labels=said.labels,
        toys=said.toys,
        sources=sources("talk"),
        command=command,
    )
    return part, drawn


def _tables(done: TalkCompared, margin: float, files: Sequence[Path]) -> list[PartTable]:
    coded = [one for file in files for one in coded_by_people(file)]
    tables = [
        table_of(
            "talk_measures",
            "What is counted in a session",
            _measures(done),
            note="Difference: simulated minus real in standard deviations of the real, 95% over"
            f" clients. Alike: the interval lies within {margin:g}; different: beyond"
            " what chance shows among so many measures (Bonferroni, .05). Real against real:"
            " Wasserstein's distance between halves of the real clients, what is to be expected"
            " where nothing differs.",
            aside=ASIDE,
        ),
        table_of(
            "talk_detector",
            "Can a program tell them apart?",
            _detectors(done.told),
            note="Area under the curve, 0.5 guessing, 1 always right; stretches of ten client"
            " lines, cross-validated by client. Where real and simulated sessions have other"
            " topics, all words tell them apart by that alone.",
        ),
        table_of(
            "talk_waiting",
            "How soon clients yield",
            pd.DataFrame([_waits(one) for one in done.waits]),
            note=f"Mean number of the client's first {done.waits[0].horizon} lines before it first"
            " comes (Kaplan and Meier); difference below zero: simulated clients are sooner.",
        ),
    ]
    if coded:
        tables.append(
            table_of(
                "talk_rules",
                "The hand rules beside people's codes",
                checked(coded),
                note="On the client lines of the real file that people coded as change, sustain or"
                " neutral.",
            )
        )
    return tables


def _lead(done: TalkCompared, coder: str) -> str:
    return (
        f"{counted(len(done.simulated.found), 'simulated session')} of"
        f" {counted(len(done.simulated.clients), 'client')} beside"
        f" {counted(len(done.real.found), 'real one')} of"
        f" {counted(len(done.real.clients), 'client')}. What client lines do is told by {coder}."
        " Intervals are over clients."
    )


def _measures(done: TalkCompared) -> pd.DataFrame:
    return pd.DataFrame([{"measure": one.name, **vars(done.far[one.id])} for one in done.counted])


def _detectors(told: Sequence[Detected]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "features": one.features,
                "auc": one.auc,
                "low": one.low,
                "high": one.high,
                "tells the simulated": ", ".join(
                    what for what, weight in one.telling if weight > 0
                ),
                "tells the real": ", ".join(what for what, weight in one.telling if weight < 0),
            }
            for one in told
        ]
    )


def _waits(one: Waited) -> dict[str, object]:
    return {
        "the client first": one.move.replace("_", " "),
        "real": one.real,
        "simulated": one.simulated,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "real ever": one.real_ever,
        "simulated ever": one.simulated_ever,
    }


def _of_language(real: TalkSessions, simulated: TalkSessions) -> list[str]:
    sides = [{one.chinese for one in some.found} for some in (real, simulated)]
    if sides[0] == sides[1] and len(sides[0]) == 1:
        return []
    return ["Real and simulated sessions are not all in the same language; do not compare them."]
