"""A trial's data: tables with a codebook, and each participant as a run."""

import importlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from simcounsel.disk import csv_text, write_whole
from simcounsel.envs.rollouts import Calls, write_log
from simcounsel.envs.setting import Setting
from simcounsel.errors import StudyError
from simcounsel.events import Entry, Joined, Measured, parse_entry
from simcounsel.packaged import packaged
from simcounsel.runs.frames import frame
from simcounsel.secret import scrub
from simcounsel.specs.residents import Appointment
from simcounsel.specs.sweep_plan import PLAN, PlannedArm, PlannedRun, SweepPlan
from simcounsel.specs.world import World
from simcounsel.trial.casting import TICK_MINUTES, arm_world, practice_of, setting_of, without_later
from simcounsel.trial.person import BEFORE, Participant, TrialTalk
from simcounsel.trial.plan import Trial
from simcounsel.trial.running import Running
from simcounsel.trial.stages import is_done, stage_of

Row = dict[str, Any]
MEANINGS: dict[str, dict[str, str]] = packaged("simcounsel.trial", "codebook.yaml")
"""By table and column."""


def export_all(running: Running, out: Path) -> Iterator[str]:
    """Everything into a new folder; in words what was written. StudyError where the log is not as
    it was written, or the folder is taken.
    """
    if damages := running.store.damages():
        raise StudyError(f"{running.folder / 'trial.db'}: {damages[0]}; put back a whole copy")
    if out.exists() and any(out.iterdir()):
        raise StudyError(f"{out}: is there already; choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    people = [one for _, one in sorted(running.people.items()) if one.withdrawn != "deleted"]
    runs = {one.code: _run(running, one, out / "runs") for one in people if one.arm}
    tables = _tables(running, people, {code: run.name for code, run in runs.items()})
    yield from _write_tables(tables, out)
    _write_plan(running, people, runs, out / "runs")
    comments = list(_comments(running, people, runs))
    write_whole(out / "comments.csv", csv_text(("run", "arm", "client", "comment"), comments))
    yield f"wrote {len(runs)} runs to {out / 'runs'}; simcounsel report {out / 'runs'}"
    head = {"chain": running.store.head, "sealed": _hashes(running), "simulated": running.simulated}
    write_whole(out / "proof.json", json.dumps(head, indent=1))
    yield f"the log's last hash, in {out / 'proof.json'}: {head['chain']}"


def _hashes(running: Running) -> Mapping[str, str]:
    found = (one.data["hashes"] for one in running.store.events() if one.kind == "sealed")
    return next(found, {})


# tables


def _tables(
    running: Running, people: Sequence[Participant], runs: Mapping[str, str]
) -> dict[str, list[Row]]:
    failed = dict.fromkeys((one.code for one in people), 0)
    strata: dict[str, str] = {}
    for happened in running.store.events():
        if happened.kind == "answered" and not happened.deleted:
            failed[happened.person] += happened.data["checks_failed"]
        elif happened.kind == "allocated" and not happened.deleted:
            strata[happened.person] = happened.data["stratum"]
    return {
        "people": [
            _person(running, one)
            | {"run": runs.get(one.code), "stratum": strata.get(one.code)}
            | {"checks_failed": failed[one.code]}
            for one in people
        ],
        "answers": [row for one in people for row in _answers(one)],
        "scores": [row for one in people for row in _scores(running, one)],
        "lines": [row for one in people for row in _lines(one)],
        "alerts": [row for one in people for row in _alerts(one)],
    }


def _person(running: Running, who: Participant) -> Row:
    talked = {talk.day for talk in who.talks if talk.own()}
    return {
        "code": who.code,
        "arm": who.arm,
        "stage": stage_of(running, who)[0],
        "done": int(is_done(running, who, running.now())),
        "lost": int(who.lost),
        "withdrew": who.withdrawn,
        "language": who.language or running.trial.languages[0],
        "version": who.version,
        "allocated_utc": who.allocated.isoformat() if who.allocated else None,
        "days_talked": len(talked),
        "messages": sum(len(talk.own()) for talk in who.talks),
        "alerts": len(who.alerts),
        "calls": who.calls,
        "usd": round(who.usd, 6),
    }


def _answers(who: Participant) -> Iterator[Row]:
    for (id, point), given in who.answers.items():
        for item, value in given.items():
            text = "+".join(map(str, value)) if isinstance(value, list) else value
            yield {
                "code": who.code,
                "questionnaire": id,
                "point": point,
                "item": item,
                "value": None if text is None else str(text),
            }


def _scores(running: Running, who: Participant) -> Iterator[Row]:
    for measured in measurements(running, who):
        for one in measured.scores:
            yield {
                "code": who.code,
                "arm": who.arm,
                "questionnaire": measured.instrument,
                "point": measured.point,
                "score": one.name,
                "value": one.value,
                "reason": one.reason,
            }


def measurements(running: Running, who: Participant) -> list[Measured]:
    """The scales that somebody answered."""
    found = (
        running.questionnaires[id].measured(
            who.name or who.code, point, given, human=not running.simulated
        )
        for (id, point), given in who.answers.items()
        if id in running.questionnaires
    )
    return [one for one in found if one is not None]


def _lines(who: Participant) -> Iterator[Row]:
    for talk in who.talks:
        for line in talk.lines:
            yield {
                "code": who.code,
                "arm": who.arm,
                "day": talk.day,
                "talk": talk.number,
                "n": line.n,
                "who": line.who,
                "text": line.text,
                "characters": len(line.text),
                "at_utc": line.at.isoformat(),
            }


def _alerts(who: Participant) -> Iterator[Row]:
    for alert in who.alerts.values():
        known = alert["acknowledged"]
        at = datetime.fromisoformat(alert["at"])
        until = datetime.fromisoformat(known["at"]) if known else None
        yield {
            "code": who.code,
            "at_utc": alert["at"],
            "level": alert["level"],
            "kinds": "+".join(alert["kinds"]),
            "what": alert["what"],
            "acknowledged_utc": known["at"] if known else None,
            "minutes_open": round((until - at).total_seconds() / 60, 1) if until else None,
            "by": known["by"] if known else None,
        }


def _write_tables(tables: Mapping[str, Sequence[Row]], out: Path) -> Iterator[str]:
    """CSV always; Parquet and SPSS where their packages are installed."""
    book = [
        {"table": name, "column": column, "meaning": meaning}
        for name, columns in MEANINGS.items()
        for column, meaning in columns.items()
    ]
    for name, rows in tables.items():
        columns = tuple(MEANINGS[name])
        values = ([row.get(one) for one in columns] for row in rows)
        write_whole(out / f"{name}.csv", csv_text(columns, values))
    write_whole(
        out / "codebook.csv",
        csv_text(("table", "column", "meaning"), ([*one.values()] for one in book)),
    )
    yield f"wrote {', '.join(f'{name}.csv ({len(rows)})' for name, rows in tables.items())}"
    try:
        spss = importlib.import_module("pyreadstat")
        frames = {
            name: frame(map(_scrubbed, rows), tuple(MEANINGS[name]))
            for name, rows in tables.items()
        }
        for name, table in frames.items():
            table.to_parquet(out / f"{name}.parquet", index=False)
            _write_spss(spss, table, name, out)
    except ImportError as error:
        yield f"no Parquet and SPSS files: {error.name} is not installed; pip install {error.name}"
        return
    yield "the same as Parquet and SPSS files, with codebook.csv"


def _scrubbed(row: Row) -> Row:
    return {key: scrub(value) if isinstance(value, str) else value for key, value in row.items()}


def _write_spss(spss: Any, table: Any, name: str, out: Path) -> None:
    """SPSS knows no column without values, and labels of at most 256 bytes."""
    filled = table.copy()
    for column in filled:
        if filled[column].isna().all():
            filled[column] = filled[column].astype("object").fillna("")
    spss.write_sav(filled, str(out / f"{name}.sav"), column_labels=dict(MEANINGS[name]))


# runs


def _run(running: Running, who: Participant, out: Path) -> Path:
    """A participant's talks and answers as a run; the answers of a trainee are in the run of the
    last talk, since each talk is with another client.
    """
    assert who.arm is not None
    trial, arm = running.trial, running.trial.arm(who.arm)
    world = arm_world(trial, arm, running.folder)
    talks = [talk for talk in who.talks if talk.entries]
    calls = Calls()
    for _, call in running.store.calls(who.code):
        calls.append_call(call)
    name, told = f"{arm.name}-{who.code.lower()}", measurements(running, who)
    if arm.practice and talks:
        for talk in talks:
            setting = practice_of(trial, world, who, talk.number)
            entries = [parse_entry(json.loads(line)) for line in talk.entries]
            answered = told if talk is talks[-1] else []
            entries = list(_with_answers(entries, answered, [talk]))
            place = _world(setting, world, [talk])
            written = write_log(place, out, entries, calls, f"{name}-{talk.number}")
        return written
    if not talks:
        who = replace(who, talks=[TrialTalk(number=1, day=1, minute=0, over=True)])
    moment = talks[-1].number if talks else 1
    setting = without_later(setting_of(trial, world, who, moment), moment)
    entries = [parse_entry(json.loads(line)) for talk in talks for line in talk.entries]
    entries = list(_with_answers(entries or _nobody_met(setting), told, talks))
    return write_log(_world(setting, world, talks), out, entries, calls, name)


def _world(setting: Setting, world: World, talks: Sequence[TrialTalk]) -> World:
    """Of a participant: only those two, at the times when they talked."""
    pair = (setting.client.name, setting.counselor.name)
    last = max((talk.minute for talk in talks), default=0)
    return setting.world.model_copy(
        update={
            "condition": f"client_{setting.counselor.role}" if talks else "client_only",
            "days": "skipped",
            "ticks": last // TICK_MINUTES + 1,
            "seed": setting.seed,
            "measurements": (),
            "appointments": tuple(
                Appointment(
                    who=pair,
                    days=(talk.minute // 1440,),
                    at=f"{talk.minute % 1440 // 60:02}:{talk.minute % 60:02}",
                    place=setting.place,
                    max_turns=setting.max_turns,
                )
                for talk in talks
            ),
        }
    )


def _nobody_met(setting: Setting) -> list[Entry]:
    """Of a participant who waited, or has not talked yet."""
    one = setting.client
    joined = Joined(who=one.name, role=one.role, home=one.home, place=one.starts_in)
    return [Entry(0, 0, 0, joined)]


def _with_answers(
    entries: Sequence[Entry], measured: Iterable[Measured], talks: Sequence[TrialTalk]
) -> Iterator[Entry]:
    """With what was answered: before the first tick's events, after a talk's, or at the end."""
    by_point: dict[str, list[Measured]] = {}
    for one in measured:
        by_point.setdefault(one.point, []).append(one)
    ticks = [list(tick) for _, tick in groupby(entries, key=lambda entry: entry.tick)]
    for number, tick in enumerate(ticks, 1):
        at = tick[0]
        before = by_point.pop(BEFORE, []) if number == 1 else []
        last = number == len(ticks)
        after = by_point.pop(f"after session {talks[number - 1].number}", []) if talks else []
        after += [one for some in by_point.values() for one in some] if last else []
        yield from (replace(at, event=one) for one in before)
        yield from tick
        yield from (replace(at, event=one) for one in after)


def _write_plan(
    running: Running, people: Sequence[Participant], runs: Mapping[str, Path], out: Path
) -> None:
    """experiment.json, so that arms and planned tests are known to whoever reads the runs."""
    if not runs:
        return
    trial: Trial = running.trial
    plan = SweepPlan(
        name=trial.name,
        about=trial.title,
        design="parallel",
        arms=tuple(
            PlannedArm(name=arm.name, about=arm.about, changes=arm.set) for arm in trial.arms
        ),
        clients=tuple(one.name or one.code for one in people if one.code in runs),
        hypotheses=trial.hypotheses,
        runs=tuple(
            PlannedRun(run=runs[one.code].name, arm=one.arm, client=one.name)
            for one in people
            if one.code in runs
        ),
    )
    text = json.dumps(plan.model_dump(mode="json"), indent=1, ensure_ascii=False)
    write_whole(out / PLAN, text)


def _comments(
    running: Running, people: Sequence[Participant], runs: Mapping[str, Path]
) -> Iterator[tuple[str, str | None, str, str]]:
    """What people wrote after the last talk, a row a person."""
    for who in people:
        texts = [
            value.strip()
            for (id, point), given in who.answers.items()
            for value in given.values()
            if point == "end"
            and isinstance(value, str)
            and running.questionnaires[id].scale is None
        ]
        written = " ".join(one for one in texts if one)
        if written and who.code in runs:
            yield runs[who.code].name, who.arm, who.name or who.code, written
