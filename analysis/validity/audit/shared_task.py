"""Runs of somebody else, audited as ours: studies of the shared task of the COLM 2026 workshop on
social simulation with language models (CC BY 4.0; runs of SiliSocS).

A study's folder holds `design.yaml` (variables, hypotheses, sweep), `sweeps/manifest.csv` (or
.jsonl) with a row for each run, and the runs. A claim is that moving a signal variable from its
base to another value moves an outcome; what else was varied are the changes that it is held
against. Seeds are the unit. The organizers' own predictions and measures are not published, so an
outcome is named by whoever audits. Read from participants' code and run totals, not from the files
themselves, which we could not fetch: what is not known of them is not relied on.
"""

import csv
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import ReportError
from analysis.validity.audit.changes import AuditChange, Level
from analysis.validity.audit.plan import USUAL, Variant
from analysis.validity.audit.verdicts import ClaimAudit, audited
from simcounsel.specs.experiment import Hypothesis
from simcounsel.specs.file_text import read_text
from simcounsel.specs.load import read_yaml

DESIGN = "design.yaml"
CONTRAST = ("moved", "base")
_OUTCOME = re.compile(
    r"(?P<file>\w+):(?P<path>[\w.]+)(?:\?(?P<key>[\w.]+)=(?P<wanted>[^=]*))?(?:==(?P<equals>.+))?"
)
_LEVELS: Mapping[str, Level] = {"agents": "agent", "interaction": "interaction", "world": "system"}
OF_PATHS: Mapping[str, Level] = {"agents": "agent", "env": "interaction", "sim": "system"}


@dataclass(frozen=True, kw_only=True)
class OutcomeOf:
    """What is taken of a run's event rows: `probe_events:data.probe_return?label=opinion`, the mean
    of a number; with `==COOPERATE` behind it the share of rows with that value.
    """

    file: str
    path: str
    key: str | None
    wanted: str | None
    equals: str | None

    @classmethod
    def named(cls, text: str) -> "OutcomeOf":
        """ReportError where it cannot be read."""
        told = _OUTCOME.fullmatch(text)
        if told is None:
            raise ReportError(
                f"--outcome {text}: write FILE:FIELD, FILE:FIELD?KEY=VALUE, or either with ==VALUE"
                " behind it, such as probe_events:data.probe_return?label=opinion_rating"
            )
        return cls(**told.groupdict())

    def of(self, run: Path) -> float | None:
        """Of a run's folder; None where no row has it."""
        files = (run / f"{self.file}.jsonl{end}" for end in (".gz", ""))
        file = next((one for one in files if one.is_file()), None)
        if file is None:
            return None
        values = []
        for row in _rows_of(file):
            if self.key is not None and str(_at(row, self.key)) != self.wanted:
                continue
            value = _at(row, self.path)
            if self.equals is not None and value is not None:
                values.append(float(str(value) == self.equals))
            elif (number := _number(value)) is not None:
                values.append(number)
        return float(np.mean(values)) if values else None


@dataclass(frozen=True, kw_only=True)
class SharedStudy:
    """A study's folder."""

    folder: Path
    design: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> "SharedStudy":
        """ReportError, SpecError name what is missing."""
        design, _ = read_yaml(folder / DESIGN)
        for key in ("variables", "hypotheses", "sweep"):
            if not isinstance(design.get(key), dict):
                raise ReportError(f"{folder / DESIGN}: no {key!r}; is it a shared task's study?")
        return cls(folder=folder, design=design)

    @property
    def base(self) -> dict[str, str]:
        """By variable the label of its base."""
        return {
            name: self._label(one, one.get("base"))
            for name, one in self.design["variables"].items()
        }

    def _label(self, variable: Mapping[str, Any], value: Any) -> str:
        for one in variable.get("values", ()):
            if isinstance(one, dict) and value in (one.get("value"), one.get("label")):
                return str(one.get("label", one.get("value")))
        return str(value)

    def levels(self, condition: str) -> dict[str, str]:
        """All variables of a condition, such as `exposure-chrono__model-small`: what is not in its
        name is at its base. ReportError for a variable that the design does not have.
        """
        found = self.base
        for part in condition.split("__"):
            name, dash, label = part.partition("-")
            if not dash or name not in found:
                raise ReportError(
                    f"{self.folder}: condition {condition!r} names {name!r}, which is no variable"
                    f" of {DESIGN}"
                )
            found[name] = label
        return found

    def level_of(self, variable: str) -> Level:
        """At which level a variable lies."""
        one = self.design["variables"][variable]
        if one.get("kind") == "model":
            return "model"
        if one.get("kind") == "group":
            return _LEVELS.get(str(one.get("group")), "system")
        return OF_PATHS.get(str(one.get("path", "")).partition(".")[0], "system")

    def runs(self) -> Iterator[Mapping[str, str]]:
        """Rows of the manifest: condition_id, seed, run_dir. ReportError where there is none."""
        sweeps = self.folder / "sweeps"
        if (file := sweeps / "manifest.csv").is_file():
            rows: Sequence[Mapping[str, Any]] = [*csv.DictReader(io.StringIO(read_text(file)))]
        elif (file := sweeps / "manifest.jsonl").is_file():
            rows = [json.loads(line) for line in read_text(file).splitlines() if line.strip()]
        else:
            raise ReportError(f"{sweeps}: neither manifest.csv nor manifest.jsonl is there")
        for number, row in enumerate(rows, 1):
            if missing := [key for key in ("condition_id", "seed", "run_dir") if not row.get(key)]:
                raise ReportError(f"{file}: row {number} has no {missing[0]}")
            if str(row.get("status") or "success") == "success":
                yield {key: str(row[key]) for key in ("condition_id", "seed", "run_dir")}

    def outcomes(self, outcome: OutcomeOf, tell: Callable[[str], None]) -> pd.DataFrame:
        """A row for each run: condition, seed, value. ReportError where no run has the outcome, or
        a condition is none of the design.
        """
        rows = []
        for number, one in enumerate(self.runs(), 1):
            folder = self.folder / one["run_dir"].replace("\\", "/") / "run"
            self.levels(one["condition_id"])
            value = outcome.of(folder)
            rows.append(
                {"run": one["run_dir"], "condition": one["condition_id"]} | {"value": value}
            )
            rows[-1]["client"] = one["seed"]
            if number % 500 == 0:
                tell(f"read {number} runs")
        table = pd.DataFrame(rows, columns=["run", "condition", "value", "client"])
        if table["value"].notna().sum() == 0:
            raise ReportError(f"{self.folder}: no run has the outcome; look at --outcome")
        return table


def audits(
    study: SharedStudy, outcome: OutcomeOf, tell: Callable[[str], None] = lambda _: None
) -> list[ClaimAudit]:
    """What becomes of each claim: of each hypothesis' signal variables, each value against the
    base. ReportError as `SharedStudy`.
    """
    table = study.outcomes(outcome, tell)
    every = {one: study.levels(one) for one in table["condition"].unique()}
    found = []
    for name, hypothesis in study.design["hypotheses"].items():
        for variable in hypothesis.get("signal_variables", ()):
            base = study.base[variable]
            values = sorted({levels[variable] for levels in every.values()} - {base})
            for value in values:
                claim = Hypothesis(
                    id=_slug(f"{name}-{value}"),
                    says=f"{variable} {value} against {base}: {hypothesis.get('statement', '')}",
                    instrument=outcome.path,
                    contrast=CONTRAST,
                )
                found.append(_audited(study, table, every, variable, claim, (value, base)))
    return found


def _audited(
    study: SharedStudy,
    table: pd.DataFrame,
    every: Mapping[str, Mapping[str, str]],
    variable: str,
    claim: Hypothesis,
    sides: tuple[str, str],
) -> ClaimAudit:
    """A claim, with each other way to make the study that has runs of both sides."""
    ways: dict[str, Level] = {}
    rows = []
    for one in table.itertuples():
        levels = every[str(one.condition)]
        if levels[variable] not in sides:
            continue
        others = {
            key: level
            for key, level in levels.items()
            if key != variable and level != study.base[key]
        }
        way = ", ".join(f"{key} {level}" for key, level in sorted(others.items())) or USUAL
        ways.setdefault(way, study.level_of(sorted(others)[0]) if others else "system")
        arm = CONTRAST[sides.index(levels[variable])]
        rows.append(
            {
                "run": one.run, "arm": arm, "client": one.client, "value": one.value, "way": way,
                "instrument": claim.instrument, "score": claim.score, "respondent": "", "judge": "",
                "kind": "level", "reason": None,
            }
        )  # fmt: skip
    frame = pd.DataFrame(rows)
    both = frame.groupby("way")["arm"].nunique()
    names = [USUAL, *(way for way in ways if way != USUAL and both[way] == 2)]
    variants = [
        Variant(
            name=way,
            changes=() if way == USUAL else (AuditChange(name=_plain(way), level=ways[way]),),
            cells=(),
        )
        for way in names
    ]
    return audited(variants, dict(zip(frame["run"], frame["way"], strict=True)), claim, frame)


def _rows_of(file: Path) -> Iterator[Mapping[str, Any]]:
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                if line.strip():
                    row = json.loads(line)
                    if isinstance(row, dict):
                        yield row
    except (OSError, ValueError, EOFError) as error:
        raise ReportError(f"{file}: cannot be read ({error})") from None


def _at(row: Any, path: str) -> Any:
    for key in path.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-_")[:40] or "x"


def _plain(text: str) -> str:
    return re.sub(r"[^\w ,.-]+", "-", text)[:40].strip(" ,.-") or "x"
