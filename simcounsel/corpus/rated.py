"""What judges said of a corpus, as it was written down beside it.

CORPUS.ratings/INSTRUMENT-TIMESTAMP.jsonl    see `runs.rating_lines`
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.judging import scale_for
from simcounsel.errors import CorpusError
from simcounsel.events import Measured
from simcounsel.instruments.from_transcript import FROM_TRANSCRIPT, is_from_transcript
from simcounsel.instruments.scale import Scale, shipped_names
from simcounsel.runs.jsonl import json_lines
from simcounsel.runs.measurements import is_trial
from simcounsel.runs.rating_lines import RatingCheck, age, rating_files, ways_on

SUFFIX = ".ratings"
SUFFIXES = (".jsonl", ".json", ".ndjson", ".parquet", ".yaml", ".yml", ".txt")
GENERIC = ("corpus", "course", "data", "dialogues", "train", "validation", "test")
Fields = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Rated:
    """One dialogue rated once."""

    dialogue: str
    """Its id."""
    text: str
    """Of what was said (see `text_hash`); a dialogue that was changed since has another."""
    round: int
    """0 the first rating by this judge, 1 a retest, and so on."""
    instrument: str
    hash: str
    judge: str
    """The model."""
    scores: dict[str, float | None]
    """By name; None where there is none, and then `reasons` says why."""
    items: dict[str, float | None]
    """By id."""
    reasons: dict[str, str]
    samples: int
    file: str
    scale: Scale | None = None
    """As it was asked; None in files that do not say so."""
    language: str = "en"
    """In which the judge was asked."""

    @property
    def trial(self) -> bool:
        """Whether it only shows that the software works."""
        return is_trial(self.judge)

    @property
    def answered(self) -> bool:
        """Whether the judge gave any number."""
        return any(value is not None for value in self.items.values())


def rated_by(instrument: str, judge: str) -> str:
    """Who gave the numbers, in words: a client's questionnaire that an observer answered is never
    to be taken for a self-report.
    """
    return f"rated from transcript by {judge}" if is_from_transcript(instrument) else judge


def folder_of(corpus: Path) -> Path:
    """Where the ratings of a corpus are kept: beside it."""
    named = corpus if corpus.name not in ("", "..") else corpus.resolve()
    return named.with_name(f"{named.name}{SUFFIX}")


def label_of(corpus: Path) -> str:
    """A corpus's short name: of the file or folder; with its folder's before it where the name
    tells nothing (`corpus.jsonl`).
    """
    whole = corpus if corpus.name not in ("", "..") else corpus.resolve()
    stem = whole.stem if whole.suffix in SUFFIXES else whole.name
    return f"{whole.resolve().parent.name}/{stem}" if stem in GENERIC else stem


def read_rated(folder: Path) -> tuple[Rated, ...]:
    """All ratings of a folder, oldest file first; of one dialogue, judge, instrument and round the
    last that was answered.

    Lines that are not as they were written are left out (`damaged_ratings` names them), and so is a
    file without a head.
    """
    found: dict[tuple[object, ...], Rated] = {}
    for file in rating_files(folder):
        for one in _in_file(file):
            key = (
                one.dialogue,
                one.text,
                one.round,
                one.instrument,
                one.hash,
                one.judge,
                one.samples,
            )
            if one.answered or key not in found:
                found[key] = one
    return tuple(found.values())


def damaged_ratings(folder: Path) -> tuple[str, ...]:
    """Where the ratings of a folder are not as they were written, in words."""
    checks = map(RatingCheck.of, rating_files(folder))
    return tuple(f"{folder}/{damage}" for check in checks for damage in check.damages())


def rated_or_refused(corpus: Path, *, damaged: bool) -> tuple[tuple[Rated, ...], tuple[str, ...]]:
    """All ratings beside a corpus, and where they are not as they were written. CorpusError when
    they are not, unless what is left of them is to count (`damaged`).
    """
    folder = folder_of(corpus)
    spoiled = damaged_ratings(folder)
    if spoiled and not damaged:
        raise CorpusError(f"{spoiled[0]}; {ways_on(folder)}, or take what is left: --damaged")
    return read_rated(folder), spoiled


def calls_in(folder: Path) -> Iterator[Fields]:
    """All requests of all ratings, those that came to nothing too."""
    for file in sorted(folder.glob("*.jsonl")):
        yield from (call for call in json_lines(file) if call.get("kind") == "call")


def answered_calls(folder: Path) -> dict[str, Fields]:
    """Requests that were answered, by key: a dialogue that was stopped half-way goes on with them,
    and nobody pays twice.
    """
    return {
        str(call["key"]): call
        for file in rating_files(folder)
        for call in RatingCheck(file).lines()
        if call.get("kind") == "call"
        and call.get("key")
        and call.get("reply") is not None
        and not call.get("problem")
    }


def _in_file(file: Path) -> Iterable[Rated]:
    check, scale = RatingCheck(file), None
    for fields in check.lines():
        if fields is check.head:
            scale = _scale(fields)
        elif fields.get("kind") == "measured" and check.head:
            try:
                yield _rated(check.head, scale, fields, file)
            except (KeyError, TypeError, ValueError, ValidationError):
                continue


def _scale(head: Fields) -> Scale | None:
    """As the head has it; None where that is no scale."""
    try:
        return Scale.model_validate(head.get("scale"))
    except ValidationError:
        return None


def _rated(head: Fields, scale: Scale | None, fields: Fields, file: Path) -> Rated:
    own = {name: fields[name] for name in Measured.model_fields if name in fields}
    measured = Measured.model_validate_json(json.dumps(own))
    reasons = {one.id: one.reason for one in measured.items if one.reason} | {
        one.name: one.reason for one in measured.scores if one.reason
    }
    return Rated(
        dialogue=str(fields["dialogue"]),
        text=str(fields["text"]),
        round=int(fields["round"]),
        instrument=measured.instrument,
        hash=str(head["hash"]),
        judge=str(head["judge"]),
        scores={score.name: score.value for score in measured.scores},
        items={item.id: item.value for item in measured.items},
        reasons=reasons,
        samples=int(head["samples"]),
        file=file.name,
        scale=scale,
        language=str(fields.get("language", "en")),
    )


def text_hash(dialogue: Dialogue) -> str:
    """SHA-256 (16 hex digits) of who said what: the same for the same talk, wherever it is."""
    said = json.dumps([[turn.speaker, turn.text] for turn in dialogue.turns], ensure_ascii=False)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def with_ratings(dialogues: Sequence[Dialogue], rated: Iterable[Rated]) -> tuple[Dialogue, ...]:
    """The dialogues with the scores of one rating by each instrument: of those that gave a score,
    those by the instrument's current version before those by another; of these the most complete,
    then the first. Ratings of a changed text, and trials, are left out.
    """
    listed = [one for one in rated if not one.trial]
    current = current_hashes(listed)

    def worth(one: Rated) -> tuple[bool, bool, int, int]:
        empty = sum(value is None for value in one.scores.values())
        return empty == len(one.scores), one.hash != current[one.instrument], empty, one.round

    first: dict[tuple[str, str], dict[str, dict[str, float | None]]] = {}
    for one in sorted(listed, key=worth):
        first.setdefault((one.dialogue, one.text), {}).setdefault(one.instrument, one.scores)
    return tuple(
        dialogue.model_copy(
            update={
                "ratings": {**dialogue.ratings, **first.get((dialogue.id, text_hash(dialogue)), {})}
            }
        )
        for dialogue in dialogues
    )


def current_hashes(rated: Iterable[Rated]) -> dict[str, str]:
    """The hash of each instrument's current version: of a shipped one as it is shipped, of another
    as it was rated with last.
    """
    newest = {
        one.instrument: one.hash for one in sorted(rated, key=lambda one: age(Path(one.file)))
    }
    return {
        instrument: (
            scale_for(instrument).hash
            if instrument.removesuffix(FROM_TRANSCRIPT) in shipped_names()
            else last
        )
        for instrument, last in newest.items()
    }
