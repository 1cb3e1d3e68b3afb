"""From real and simulated sessions to the part of the page: tables, figures, claims."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import pandas as pd

from analysis.page import counted
from analysis.style import Picture
from analysis.validity.part import PartTable, ValidityPart, shown, sources, table_of
from analysis.validity.runs import said_of
from analysis.validity.talk.coding import Coder
from analysis.validity.talk.comparing import MARGIN, TalkCompared, claims_of, compare
from analysis.validity.talk.counting import Codes, checked, coded_by_rules
from analysis.validity.talk.detector import Detected
from analysis.validity.talk.pictures import courses_picture, distances_picture, waiting_picture
from analysis.validity.talk.sessions import TalkSession, TalkSessions, coded_by_people, sessions_in
from analysis.validity.talk.waiting import Waited

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
        made=f"{datetime.now():%Y-%m-%dT%H:%M:%S}",
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
