"""What was read out of a case report, as files."""

from pathlib import Path
from typing import Any

import yaml

from simcounsel.errors import SpecError
from simcounsel.policies.course.case import CaseReading, Report


def write_case(reading: CaseReading, report: Report, folder: Path) -> tuple[Path, ...]:
    """client.yaml, plan.yaml and talk.yaml in a folder. SpecError when it cannot be written."""
    source = report.path.name
    talk = {"features": [feature.model_dump(mode="json") for feature in reading.talk]}
    plan = reading.plan.model_dump(mode="json")
    files = (
        ("client.yaml", reading.client, f"Read from {source} as far as its first session; days and routines are plain stand-ins. Add a `voice`."),
        ("plan.yaml", plan, f"Read from {source}. `told`: the session in which a fact was told; no session uses a later one."),
        ("talk.yaml", talk, f"Lines that stand in {source}, and what they show of how these two talk."),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tuple(_write(folder / name, data, head) for name, data, head in files)
    except OSError as error:
        raise SpecError([f"{folder}: cannot be written ({error.strerror}); choose another -o"]) from None


def _write(path: Path, data: dict[str, Any], head: str) -> Path:
    path.write_text(f"# {head}\n" + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")
    return path
