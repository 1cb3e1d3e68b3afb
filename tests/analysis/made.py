"""Runs made for tests of the analysis: scripted lives, with measurements of known values put into their logs."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from simcounsel.engine.opening import begin_run
from simcounsel.events import Entry, Measured, Score
from simcounsel.runs.run import Run
from tests.stage import go_on, seal, tiny

CONDITIONS = ("client_only", "client_layperson", "client_counselor")
CLIENTS = ("Aisha", "Daniela", "Henrik", "Ines", "Leila", "Priya")


def scale_score(
    value: float | None, point: str, *, who: str = "Ines", instrument: str = "insomnia_severity"
) -> Measured:
    """One self-report with a total."""
    reason = None if value is not None else "the answers could not be read"
    score = Score(
        name="total", value=value, used=7 if value is not None else 5, of=7, reason=reason
    )
    return Measured(
        who=who,
        instrument=instrument,
        version="1",
        point=point,
        respondent="self",
        items=(),
        scores=(score,),
    )


def measure(run: Run, tick: int, *measured: Measured) -> None:
    """Put measurements at the end of a tick into the log."""
    file = run.folder / "events.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(
        index
        for index, line in enumerate(lines)
        if f'"tick":{tick},' in line and '"kind":"tick_ended"' in line
    )
    stamp = json.loads(lines[at])
    new = [Entry(stamp["seq"], tick, stamp["minute"], one).line() for one in measured]
    file.write_text("".join([*lines[:at], *new, *lines[at:]]), encoding="utf-8")
    seal(run.folder)


def study(
    out: Path, change: Callable[[str, str], float | None], *, arms: Sequence[str] = CONDITIONS
) -> list[Run]:
    """Runs of every arm and client; insomnia severity is 20 at first and 20 + change(arm, client) at the end (None: unanswered)."""
    runs = []
    for arm in arms:
        for who in CLIENTS:
            world = tiny(condition=arm, client=None if who == "Ines" else who)
            run = go_on(begin_run(world, out, name=f"{arm}-{who.lower()}"))
            wanted = change(arm, who)
            measure(run, 0, scale_score(20.0, "baseline", who=who))
            last = None if wanted is None else 20.0 + wanted
            measure(run, 11, scale_score(last, "end", who=who))
            runs.append(run)
    return runs


def name_of(run: Run) -> str:
    """The client's, as plans write it."""
    return next(r.name.lower() for r in run.world.residents if r.role == "client")


def plan(
    out: Path,
    runs: Sequence[Run],
    hypotheses: Sequence[dict[str, Any]],
    *,
    lost: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Write experiment.json as a sweep does, with the conditions as arms. lost: planned runs that are not there."""
    content: dict[str, Any] = {
        "name": "A planted effect",
        "arms": [
            {"name": arm, "changes": {"condition": arm}}
            for arm in dict.fromkeys(r.world.condition for r in runs)
        ],
        "clients": sorted({name_of(run) for run in runs}),
        "seeds": [1],
        "paired_at": None,
        "hypotheses": list(hypotheses),
        "runs": [
            {
                "run": r.name,
                "arm": r.world.condition,
                "client": name_of(r),
                "seed": r.world.seed,
                "pair": f"{name_of(r)}-s{r.world.seed}",
            }
            for r in runs
        ],
    }
    content["runs"] += lost
    (out / "experiment.json").write_text(json.dumps(content), encoding="utf-8")
    return content


def rewrite(run: Run, change: Callable[[dict[str, Any]], None]) -> None:
    """Change every event of a log in place."""
    file = run.folder / "events.jsonl"
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        change(fields)
        lines.append(json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n")
    file.write_text("".join(lines), encoding="utf-8")
    seal(run.folder)
