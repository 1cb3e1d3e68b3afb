"""Replies of models on a bench (`study bench cpsycoune`) as dialogues: all that was said before,
and the reply as the last line. A bench's replies.csv is read here, and nowhere else.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from simcounsel.corpus.dialogues import Dialogue, Origin, Turn
from simcounsel.corpus.rated import label_of
from simcounsel.disk import as_written
from simcounsel.errors import StudyError

REPLIES, MANIFEST = "replies.csv", "manifest.json"
NEEDED = ("case", "topic", "turn", "client", "reply", "reference")
Row = dict[str, str]


def is_bench(path: Path) -> bool:
    """Whether a path is a bench's folder with replies."""
    return (path / REPLIES).is_file() and (path / MANIFEST).is_file()


def reply_rows(bench: Path) -> list[Row]:
    """The rows of replies.csv, by column; '' is a missing value. StudyError when it is damaged."""
    try:
        with (bench / REPLIES).open(encoding="utf-8", newline="") as file:
            read = csv.DictReader(file, strict=True)
            rows = [{name: str(as_written(text)) for name, text in row.items()} for row in read]
    except (OSError, ValueError, csv.Error) as error:
        raise _damaged(bench / REPLIES, str(error)) from None
    missing = [name for name in NEEDED if any(name not in row for row in rows)]
    if missing or any(not row["turn"].isdecimal() for row in rows):
        raise _damaged(
            bench / REPLIES, f"no column {missing[0]}" if missing else "a turn is no number"
        )
    return rows


def same_replies(benches: Sequence[Path]) -> dict[Path, list[Dialogue]]:
    """By bench its replies to what all of these have answered, with the same words before.
    StudyError when there are none, or two benches share a name.
    """
    labels = [label_of(bench) for bench in benches]
    twice = next((bench for bench in benches if labels.count(label_of(bench)) > 1), None)
    if twice is not None:
        raise StudyError(f"{twice}: two benches are called {label_of(twice)}; rename a folder")
    read = {bench: list(_dialogues(bench)) for bench in benches}
    shared = set.intersection(*({_asked(one) for one in some} for some in read.values()))
    if not shared:
        raise StudyError(
            f"{', '.join(map(str, benches))}: no line of a client that all of them answered; name"
            " benches of the same cases"
        )
    return {bench: [one for one in some if _asked(one) in shared] for bench, some in read.items()}


def _asked(dialogue: Dialogue) -> tuple[str, tuple[str, ...]]:
    return dialogue.id, tuple(turn.text for turn in dialogue.turns[:-1])


def _dialogues(bench: Path) -> Iterator[Dialogue]:
    """One for each reply, in the bench's order. Its id is case and turn."""
    model = model_of(bench)
    for case, rows in groupby(reply_rows(bench), key=lambda row: row["case"]):
        said: list[Turn] = []
        for row in rows:
            said.append(Turn(speaker="client", text=row["client"]))
            if row["reply"]:
                yield Dialogue(
                    id=f"{case}/{row['turn']}",
                    client=f"case {case}",  # no name, which would be taken out of the lines
                    theme=row["topic"],
                    condition=label_of(bench),
                    turns=(*said, Turn(speaker="counselor", text=row["reply"])),
                    origin=Origin(file=label_of(bench), models={"counselor": model}),
                )
            said.append(Turn(speaker="counselor", text=row["reference"]))


def model_of(bench: Path) -> str:
    """Who answered. StudyError when the manifest is damaged."""
    try:
        told: Mapping[str, object] = json.loads((bench / MANIFEST).read_bytes())
        return str(told["model"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(bench / MANIFEST, str(error)) from None


def _damaged(file: Path, why: str) -> StudyError:
    return StudyError(f"{file}: damaged ({why}); the command that made the bench writes it again")
