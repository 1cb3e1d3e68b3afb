"""Every kind of event of a run's log."""

import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel

from docs.generating.fields import keys
from docs.generating.text import page, prose, table
from simcounsel import gallery
from simcounsel.corpus.synthesis.events import CLASSES, own
from simcounsel.events import Event, Foreign
from simcounsel.runs.record import open_record

LONGEST = 240
EXAMPLES = Path(__file__).with_name("examples.yaml")
"""Events of the kinds that no run of the gallery has."""


def kinds() -> dict[str, type[BaseModel]]:
    """The class of each kind, by its name in the log."""
    return dict(
        sorted(
            (str(one.model_fields["kind"].default), one)
            for one in (*get_args(Event), *CLASSES.values())
            if one is not Foreign
        )
    )


@cache
def examples() -> dict[str, tuple[str, str]]:
    """For each kind an event of it as JSON, and where it is from: the first one in the gallery."""
    found: dict[str, tuple[str, str]] = {}
    for name in gallery.exhibits():
        run = open_record(f"{gallery.PREFIX}{name}")
        for entry in run.entries():
            event = own(entry.event).model_dump(mode="json")
            told = json.dumps(_short(event), ensure_ascii=False, indent=1)
            if entry.event.kind not in found:
                found[entry.event.kind] = told, f"From `gallery:{name}`"
    for kind, fields in yaml.safe_load(EXAMPLES.read_text(encoding="utf-8")).items():
        event = kinds()[kind].model_validate({"kind": kind, **fields})
        told = json.dumps(event.model_dump(mode="json"), ensure_ascii=False, indent=1)
        found.setdefault(
            kind, (told, "No run of the gallery has one; this one was written for this page")
        )
    return found


def _short(value: Any) -> Any:
    """With long texts and lists cut, so that an example is read."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[:LONGEST] + " ..."
    if isinstance(value, list):
        return [_short(one) for one in value[:3]] + (["..."] if len(value) > 3 else [])
    return {key: _short(one) for key, one in value.items()} if isinstance(value, dict) else value


def events() -> str:
    """The page."""
    parts = []
    for name, kind in kinds().items():
        rows = [
            (
                f"`{one.name}`",
                one.takes.split("](#")[0].lstrip("[") if "](#" in one.takes else one.takes,
                one.meaning,
            )
            for one in keys(kind)
            if one.name != "kind"
        ]
        shown, source = examples()[name]
        example = f"{source}:\n\n```json\n{shown}\n```"
        parts.append(
            f"## {name}\n\n{prose(kind.__doc__)}\n\n{table(('field', 'holds', 'meaning'), rows)}\n\n{example}"
        )
    about = (
        "One line of `events.jsonl` each, with `seq` (its number), `tick` and `minute` (minutes since midnight of the first day) around"
        " it. In Python `Run.open(FOLDER).entries()` gives them. Texts and lists of the examples are cut."
    )
    foreign = f"## Kinds of packages\n\n{prose(Foreign.__doc__)}"
    return page("Events of a log", about, *parts, foreign)
