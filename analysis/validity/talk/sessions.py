"""Sessions with a counselor, real or simulated, in one shape."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import ReportError
from analysis.page import counted
from simcounsel.corpus.dialogues import Dialogue, Turn, merge_turns
from simcounsel.corpus.reading import read_dialogues
from simcounsel.instruments.labelled import read_labelled
from simcounsel.instruments.material import CLIENT
from simcounsel.specs.file_text import read_text
from simcounsel.texts.chinese import is_chinese

FEWEST_TURNS = 5
"""Of the client; with fewer a session has no course."""


@dataclass(frozen=True, kw_only=True)
class ClientLine:
    """What a client said, and what the counselor had said before it ('' at the beginning)."""

    said: str
    before: str


@dataclass(frozen=True, kw_only=True)
class TalkSession:
    """One conversation of a client with a counselor; lines of one speaker in a row are one."""

    id: str
    client: str
    """The unit of inference; of real sessions that do not say who it was, the session itself."""
    client_lines: tuple[ClientLine, ...]
    counselor_lines: tuple[str, ...]

    @property
    def chinese(self) -> bool:
        """Whether it is to be counted as Chinese."""
        return is_chinese("".join(line.said for line in self.client_lines))


@dataclass(frozen=True, kw_only=True)
class TalkSessions:
    """Those of one side, and in sentences what was left out."""

    found: tuple[TalkSession, ...]
    notes: tuple[str, ...] = ()

    @property
    def clients(self) -> tuple[str, ...]:
        """In order, each once."""
        return tuple(dict.fromkeys(one.client for one in self.found))


def sessions_in(paths: Sequence[Path], what: str) -> TalkSessions:
    """All sessions of runs, corpora, or transcripts (CSV as AnnoMI's; JSON, JSONL, TXT, YAML as
    `simcounsel corpus` reads them). what: `real` or `simulated`, for the notes. CorpusError,
    SpecError, ReportError name what cannot be read.
    """
    dialogues = [(path, one) for path in paths for one in _dialogues(path)]
    twice = len(paths) > 1
    merged = merge_turns(one for _, one in dialogues).dialogues
    every = [
        _session(one, f"{path.name}: " if twice else "", run=_of_runs(path))
        for (path, _), one in zip(dialogues, merged, strict=True)
        if any(turn.speaker == "counselor" for turn in one.turns)
    ]
    kept = tuple(one for one in every if len(one.client_lines) >= FEWEST_TURNS)
    if not kept:
        raise ReportError(
            f"{paths[0]}: no session of a client with a counselor in which the client speaks"
            f" {FEWEST_TURNS} times"
        )
    notes = []
    if others := len(dialogues) - len(every):
        left = counted(others, f"{what} conversation")
        notes.append(f"Left out: {left} without a counselor.")
    if short := len(every) - len(kept):
        left = counted(short, f"{what} session")
        notes.append(
            f"Left out: {left} in which the client speaks fewer than {FEWEST_TURNS} times."
        )
    return TalkSessions(found=kept, notes=tuple(notes))


def _dialogues(path: Path) -> Iterable[Dialogue]:
    if path.suffix.lower() != ".csv":
        return read_dialogues(path)
    return [
        Dialogue(
            id=one.id,
            client=one.id,
            turns=tuple(
                Turn(speaker="client" if who == CLIENT else "counselor", text=text)
                for who, text in one.lines
                if text
            ),
        )
        for one in read_labelled(path)
    ]


def _of_runs(path: Path) -> bool:
    return (path / "manifest.json").is_file() or any(path.glob("*/manifest.json"))


def _session(dialogue: Dialogue, prefix: str, *, run: bool) -> TalkSession:
    """run: a client of runs is the same in all of them, whatever the seed."""
    lines, counselor = [], []
    before = ""
    for turn in dialogue.turns:
        if turn.speaker == "client":
            lines.append(ClientLine(said=turn.text, before=before))
        else:
            counselor.append(turn.text)
            before = turn.text
    return TalkSession(
        id=prefix + dialogue.id,
        client=dialogue.client if run else prefix + dialogue.client,
        client_lines=tuple(lines),
        counselor_lines=tuple(counselor),
    )


@dataclass(frozen=True, kw_only=True)
class Coded:
    """A client's line with the code that people gave it: change, sustain or neutral."""

    line: ClientLine
    code: str


def coded_by_people(file: Path) -> tuple[Coded, ...]:
    """The client lines of an AnnoMI CSV that has the column client_talk_type (Wu et al. 2022); ()
    for any other file.
    """
    if file.suffix.lower() != ".csv":
        return ()
    rows = csv.DictReader(io.StringIO(read_text(file), newline=""))
    if "client_talk_type" not in (rows.fieldnames or []):
        return ()
    found: dict[tuple[str, str], Coded] = {}
    before: dict[str, str] = {}
    for row in rows:
        talk, text = row["transcript_id"], " ".join(row["utterance_text"].split())
        code = str(row["client_talk_type"]).strip().lower()
        if str(row["interlocutor"]).lower() != "client":
            before[talk] = text
        elif code in ("change", "sustain", "neutral"):
            line = ClientLine(said=text, before=before.get(talk, ""))
            found.setdefault((talk, row["utterance_id"]), Coded(line=line, code=code))
    return tuple(found.values())
