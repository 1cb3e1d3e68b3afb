"""Courses of a corpus beside those that were played, as `corpus rate` rated them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.courses.battery import kind_of
from analysis.courses.counting import said_in, words
from analysis.errors import ReportError
from simcounsel.corpus.dialogues import Dialogue, skills_of
from simcounsel.corpus.rated import label_of, rated_or_refused, text_hash
from simcounsel.corpus.reading import read_dialogues
from simcounsel.instruments.from_transcript import FROM_TRANSCRIPT
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.therapies.specs.therapy import COURSE_STAGES


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A corpus whose dialogues are sessions."""

    label: str
    judges: tuple[str, ...]
    """Who rated it."""
    sessions: pd.DataFrame
    """As `counting.sessions_of`, with the column `therapy`; None where nobody names one."""
    measurements: pd.DataFrame
    """client, tick (the session's number), instrument, score, value, arm, therapy."""


def imported(corpora: Sequence[Path]) -> tuple[Imported, ...]:
    """Each corpus with its ratings. ReportError where it has none."""
    return tuple(map(_imported, corpora))


def _imported(corpus: Path) -> Imported:
    label = f"corpus {label_of(corpus)}"
    rated, _ = rated_or_refused(corpus, damaged=False)
    rows: list[dict[str, Any]] = []
    sessions: list[dict[str, Any]] = []
    for dialogue, number in _numbered(read_dialogues(corpus)):
        own = _session(dialogue, number, label)
        sessions.append(own)
        rows += (
            {
                **{key: own[key] for key in ("arm", "client", "therapy")},
                "tick": number,
                "instrument": one.instrument.removesuffix(FROM_TRANSCRIPT),
                "score": score,
                "value": value,
            }
            for one in rated
            if (one.dialogue, one.text) == (dialogue.id, text_hash(dialogue))
            for score, value in one.scores.items()
            if value is not None
        )
    if not rows:
        raise ReportError(
            f"{corpus}: not rated yet; first: simcounsel corpus rate {corpus} --instrument cbt"
            " --sample 0 --model MODEL"
        )
    _name_stages(sessions)
    return Imported(
        label=label,
        judges=tuple(sorted({one.judge for one in rated})),
        sessions=pd.DataFrame(sessions),
        measurements=pd.DataFrame(rows),
    )


def _name_stages(sessions: Sequence[dict[str, Any]]) -> None:
    """The three stages of a course under our names, in the order in which they come; stages of a
    course that has fewer or more stay as they are.
    """
    for course in {one["run"] for one in sessions}:
        own = sorted(
            (one for one in sessions if one["run"] == course), key=lambda one: one["session"]
        )
        stages = tuple(dict.fromkeys(one["stage"] for one in own if one["stage"]))
        if len(stages) == len(COURSE_STAGES):
            ours = dict(zip(stages, COURSE_STAGES, strict=True))
            for one in own:
                one["stage"] = ours.get(one["stage"])


def _numbered(dialogues: Sequence[Dialogue]) -> Iterator[tuple[Dialogue, int]]:
    """Each with the number of its session: as it says, else in the order of its client's."""
    met: dict[str, int] = {}
    for one in dialogues:
        if one.turns:
            met[one.client] = (
                one.sessions[-1].number if one.sessions else met.get(one.client, 0) + 1
            )
            yield one, met[one.client]


def _session(dialogue: Dialogue, number: int, label: str) -> dict[str, Any]:
    planned = dialogue.sessions[-1] if dialogue.sessions else None
    thoughts = [
        text
        for turn in dialogue.turns
        for text in (turn.assessment, turn.client_state, turn.reasoning)
        if text
    ]
    return {
        "run": planned.course if planned else dialogue.client,
        "arm": label,
        "client": dialogue.client,
        "therapy": kind_of(planned.therapy) if planned and planned.therapy else None,
        "session": number,
        "stage": planned.stage if planned else None,
        "lines": len(dialogue.turns),
        "words": sum(words(turn.text) for turn in dialogue.turns),
        "thought": sum(map(words, thoughts)),
        "skilled": sum(bool(skills_of(turn)) for turn in dialogue.turns),
        "objectives": len(planned.objective) if planned else None,
        "links": len(planned.links) if planned else None,
        "material": len(planned.material) if planned else None,
        **said_in(
            [(CLIENT if one.speaker == "client" else COUNSELOR, one.text) for one in dialogue.turns]
        ),
    }
