"""Where interviews are kept: RUN/interviews/TIMESTAMP-NAME-TICK.jsonl."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from simcounsel.errors import RunError
from simcounsel.runs.jsonl import json_lines

Fields = dict[str, Any]


def stored(folder: Path) -> list[Fields]:
    """All interviews beside a run, oldest first: head, name and answers; calls left out."""
    found = []
    for file in interview_files(folder):
        head, answers = read_interview(file)
        if head:
            found.append({"name": file.stem, **head, "answers": answers})
    return found


def interview_files(folder: Path) -> list[Path]:
    """Those beside a run, by their names."""
    return sorted((folder / "interviews").glob("*.jsonl"))


def earlier_calls(folder: Path) -> Iterator[Fields]:
    """What was asked of models in all interviews beside a run."""
    for file in interview_files(folder):
        yield from (line for line in json_lines(file) if line.get("kind") == "call")


def new_file(folder: Path, head: Fields) -> Path:
    """A new file, named after now, the person and the tick."""
    slug = re.sub(r"[^\w]+", "-", head["who"]).strip("-") or "somebody"
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{slug}-{head['tick']}"
    try:
        (folder / "interviews").mkdir(exist_ok=True)
        for number in range(1, 1000):
            file = (
                folder
                / "interviews"
                / (f"{stem}.jsonl" if number == 1 else f"{stem}-{number}.jsonl")
            )
            try:
                file.open("xb").close()
                return file
            except FileExistsError:
                continue
    except OSError as error:
        raise RunError(
            f"{folder}/interviews: cannot be written ({error.strerror}); copy the run to where you"
            " may write"
        ) from None
    raise RunError(f"{folder}/interviews: a thousand interviews within one second; wait a moment")


def read_interview(file: Path) -> tuple[Fields, list[Fields]]:
    """Head and answers; lines that are cut short or damaged are left out, and without a head there
    is nothing.
    """
    head: Fields = {}
    answers: list[Fields] = []
    for line in json_lines(file):
        if (
            line.get("kind") == "interview"
            and isinstance(line.get("who"), str)
            and isinstance(line.get("tick"), int)
        ):
            head = head or line
        elif (
            line.get("kind") == "answer"
            and isinstance(line.get("question"), str)
            and isinstance(line.get("answer"), str)
        ):
            answers.append(line)
    return head, answers
