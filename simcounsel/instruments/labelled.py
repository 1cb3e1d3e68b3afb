"""Labelled transcripts, to find out whether a judge is any good. Three shapes of file are read:

1. Our own JSON, a dictionary; `quality` (good, bad), `ratings` (by rater, any numeric scale, higher
is better), `names` (`client`, `counselor`, and `others`, a list) and `places` (a list) may be left
out; the names and places are taken out of the lines before a judge reads them:

       {"transcripts": [{"id": "t1", "quality": "good", "ratings": {"rater-1": 4.5, "rater-2": 4},
                         "lines": [{"speaker": "counselor", "text": "..."}, {"speaker": "client",
                         "text": "..."}]}]}

2. An AnnoMI CSV (Wu et al. 2022): the columns mi_quality (high, low), transcript_id, utterance_id,
interlocutor (therapist,
   client), utterance_text; a line that several annotators coded counts once.
3. A CPsyCounE-like JSON: a list of {"turns": [{"role": "client", "content": "..."}]} with `id`, or
`topic` and `case`;
   `quality` and `ratings` may be there too.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.specs.file_text import read_json, read_text
from simcounsel.specs.vocabulary import Language
from simcounsel.texts.blinding import Blinding
from simcounsel.texts.chinese import is_chinese

SPEAKERS = {
    "client": CLIENT,
    "patient": CLIENT,
    "seeker": CLIENT,
    "user": CLIENT,
    "求助者": CLIENT,
    "来访者": CLIENT,
    "counselor": COUNSELOR,
    "counsellor": COUNSELOR,
    "therapist": COUNSELOR,
    "supporter": COUNSELOR,
    "assistant": COUNSELOR,
    "支持者": COUNSELOR,
    "咨询师": COUNSELOR,
}
QUALITIES = {"good": True, "high": True, "bad": False, "low": False}
ANNOMI = ("mi_quality", "transcript_id", "utterance_id", "interlocutor", "utterance_text")


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """One transcript."""

    id: str
    lines: tuple[tuple[str, str], ...]
    """(`Client` or `Counselor`, text)."""
    good: bool | None = None
    """None when nobody said."""
    ratings: tuple[tuple[str, float], ...] = ()
    """(rater, number), each rater's own scale."""
    blinded: bool = False
    """Whether the file names who and what places are spoken of, so that they have been taken out of
    the lines.
    """

    @property
    def language(self) -> Language:
        """In which a judge is asked about it."""
        return "zh" if is_chinese("".join(text for _, text in self.lines)) else "en"


def read_labelled(file: Path) -> tuple[Labelled, ...]:
    """All transcripts of a file that have lines of both sides. SpecError says what is wrong with
    it.
    """
    found = tuple(_annomi(file, read_text(file)) if file.suffix.lower() == ".csv" else _json(file))
    kept = tuple(
        one for one in found if {speaker for speaker, _ in one.lines} == {CLIENT, COUNSELOR}
    )
    if not kept:
        raise SpecError([f"{file}: no transcript with lines of a client and a counselor"])
    return kept


def _json(file: Path) -> Iterator[Labelled]:
    data, _ = read_json(file)
    listed = data.get("transcripts") if isinstance(data, dict) else data
    if not isinstance(listed, list):
        raise SpecError(
            [
                f'{file}: expected {{"transcripts": [...]}} or a list; see'
                " simcounsel/instruments/labelled.py"
            ]
        )
    for number, one in enumerate(listed):
        lines = one.get("lines", one.get("turns")) if isinstance(one, dict) else None
        if not isinstance(lines, list):
            raise SpecError([f"{file}: transcript {number} (from 0): no `lines` and no `turns`"])
        name = (
            one.get("id")
            or "-".join(str(one[key]) for key in ("topic", "case") if key in one)
            or str(number)
        )
        said = tuple(_line(file, number, line) for line in lines)
        blinding = _blinding(file, number, one)
        yield Labelled(
            id=str(name),
            lines=tuple((who, blinding.text(text)) for who, text in said) if blinding else said,
            blinded=blinding is not None,
            good=_quality(file, number, one.get("quality")),
            ratings=tuple(
                _rating(file, number, rater, value)
                for rater, value in (one.get("ratings") or {}).items()
            ),
        )


def _line(file: Path, number: int, line: Any) -> tuple[str, str]:
    said = line if isinstance(line, Mapping) else {}
    speaker = str(said.get("speaker", said.get("role", "")))
    if speaker.lower() not in SPEAKERS:
        raise SpecError(
            [
                f"{file}: transcript {number} (from 0): no speaker {speaker!r}; there are client"
                " and counselor"
            ]
        )
    return SPEAKERS[speaker.lower()], " ".join(
        str(said.get("text", said.get("content", ""))).split()
    )


def _blinding(file: Path, number: int, one: Mapping[str, Any]) -> Blinding | None:
    """None when no name and no place is given."""
    names, places = one.get("names") or {}, one.get("places") or []
    others = names.get("others") or [] if isinstance(names, Mapping) else None
    if not isinstance(others, list) or not isinstance(places, list):
        raise SpecError(
            [
                f"{file}: transcript {number} (from 0): `names` has `client`, `counselor` and"
                " `others` (a list), `places` is a list"
            ]
        )
    speakers = {
        str(names[part]): f"[{part}]" for part in ("client", "counselor") if names.get(part)
    }
    if not (speakers or others or places):
        return None
    return Blinding(speakers, others=map(str, others), places=map(str, places))


def _quality(file: Path, number: int, value: Any) -> bool | None:
    if value is None:
        return None
    if str(value).lower() not in QUALITIES:
        raise SpecError(
            [f"{file}: transcript {number} (from 0): quality {value!r} is neither good nor bad"]
        )
    return QUALITIES[str(value).lower()]


def _rating(file: Path, number: int, rater: str, value: Any) -> tuple[str, float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SpecError(
            [f"{file}: transcript {number} (from 0): {rater}'s rating {value!r} is no number"]
        )
    return rater, float(value)


def _annomi(file: Path, text: str) -> Iterator[Labelled]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in ANNOMI if name not in (rows.fieldnames or [])]
    if missing:
        raise SpecError(
            [f"{file}:1: no column {', '.join(missing)}; an AnnoMI CSV has {', '.join(ANNOMI)}"]
        )
    talks: dict[str, dict[str, tuple[str, str]]] = {}
    good: dict[str, bool | None] = {}
    for number, row in enumerate(rows, 2):
        speaker = str(row["interlocutor"]).lower()
        if speaker not in SPEAKERS:
            raise SpecError(
                [f"{file}:{number}: no speaker {speaker!r}; there are therapist and client"]
            )
        talks.setdefault(row["transcript_id"], {}).setdefault(
            row["utterance_id"], (SPEAKERS[speaker], " ".join(row["utterance_text"].split()))
        )
        good[row["transcript_id"]] = QUALITIES.get(str(row["mi_quality"]).lower())
    for name, lines in talks.items():
        ordered = sorted(lines, key=lambda one: (0, int(one), "") if one.isdigit() else (1, 0, one))
        yield Labelled(id=name, lines=tuple(lines[one] for one in ordered), good=good[name])
