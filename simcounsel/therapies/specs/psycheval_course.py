"""A course as PsychEval publishes it into a case that can be played: a client, a plan, a therapy.

What a field of the file becomes (the paper's appendix F and figures 42 to 53, 2026):

    client_info            client.yaml: traits, problem and growth into background and history; what
                           a therapy works on into `case`, for CBT into beliefs and situations
    global_plan, sessions  plan.yaml: themes, objectives, links, material, reasons, therapies; what
                           links name are its facts, told in the session that first names them
    session_summary        plan.yaml, `held`: what a later session begins with
    suggest_skills         therapy.yaml: the skills that its counselor was offered
    the file itself        course.json, so that nothing is lost: it is rated and exported as it is

What is not in the file is a plain stand-in, and the head of client.yaml says so.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simcounsel.disk import write_text
from simcounsel.errors import SpecError
from simcounsel.specs.load import parse_spec, write_yaml
from simcounsel.specs.persona import ClientPersona
from simcounsel.therapies.specs.course import CoursePlan
from simcounsel.therapies.specs.psycheval import SECTS
from simcounsel.therapies.specs.psycheval_client import client_of
from simcounsel.therapies.specs.psycheval_plan import plan_of, therapy_of
from simcounsel.therapies.specs.psycheval_rows import (
    Row,
    basics,
    mapping,
    mappings,
    stages_of,
    word,
)
from simcounsel.therapies.specs.therapy import Therapy, shipped_therapy
from simcounsel.therapies.specs.therapy_words import in_language


@dataclass(kw_only=True)
class Imported:
    """A case made of one client's course."""

    name: str
    """Of its folder."""
    client: dict[str, Any]
    plan: dict[str, Any]
    therapy: dict[str, Any] | None
    """None where the file names no skills."""
    row: Row
    notes: list[str] = field(default_factory=list)
    """What has no place, and what is a stand-in."""


def import_courses(file: Path, out: Path) -> tuple[Imported, ...]:
    """Write each course of a file as a folder of a case into `out`. SpecError names what cannot be
    used; then nothing of that file is written.
    """
    made = tuple(_imported(row, file) for row in _rows(file))
    there = [out / one.name for one in made if (out / one.name).exists()]
    if there:
        raise SpecError(
            [f"{there[0]}: there already, perhaps with changes of yours; choose another --out"]
        )
    for one in made:
        _write(one, out / one.name)
    return made


def _rows(file: Path) -> list[Row]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpecError([f"{file}: cannot be read as JSON ({error})"]) from None
    rows = mappings(data if isinstance(data, list) else [data])
    good = [row for row in rows if mapping(row, "client_info") and stages_of(row)]
    if not good:
        raise SpecError(
            [
                f"{file}: no course of PsychEval's in it; it needs `client_info` and `global_plan`"
                " (its skills are for `simcounsel library skills import`)"
            ]
        )
    return good


def _imported(row: Row, file: Path) -> Imported:
    notes: list[str] = []
    name = f"{word(row.get('theoretical'))}_{word(row.get('client_id')) or file.stem}"
    name = re.sub(r"[^\w-]+", "_", name)[:80]
    zh = bool(re.search(r"[\u4e00-\u9fff]", word(basics(row).get("main_problem"))))
    school = SECTS.get(word(row.get("theoretical")), word(row.get("theoretical")))
    try:
        therapy = in_language(shipped_therapy(school), "zh" if zh else "en")
    except SpecError:
        raise SpecError(
            [f"{file}: theoretical: {school!r}; expected one of {', '.join(SECTS)}, integrative"]
        ) from None
    if unplaced := list(_unplaced(row)):
        notes.append(f"only course.json has: {', '.join(dict.fromkeys(unplaced))}")
    client = client_of(row, therapy, "zh" if zh else "en", notes)
    plan = plan_of(row, therapy, "zh" if zh else "en", notes)
    skills = therapy_of(row, therapy, name, notes)
    parse_spec(client, ClientPersona, file, {})
    if skills:
        parse_spec(skills, Therapy, file, {})
        plan["therapy"] = skills["id"]
    parse_spec(plan, CoursePlan, file, {})
    return Imported(name=name, client=client, plan=plan, therapy=skills, row=row, notes=notes)


PLACED = {
    "": "theoretical client_id client_info global_plan plan sessions",
    "client_info": "basic_info theory static_traits main_problem topic growth_experiences"
    " core_demands core_beliefs special_situations core_conflict object_relations"
    " behavioral_response_patterns contact_model existentialism_topic exception_events"
    " force_field target_behavior",
    "session": "session_number session_goals suggest_skills session_dialogue session_summary",
    "summary": "session_summary_abstract goal_assessment client_state_analysis homework",
}
"""Keys that have a place in the case's files; the lines of the sessions are in course.json."""


def _unplaced(row: Row) -> Iterator[str]:
    """Keys that hold something and have no place."""
    sessions = mappings(row.get("sessions"))
    parts: list[tuple[str, Row]] = [("", row), ("client_info", basics(row))]
    parts += [("session", one) for one in sessions]
    parts += [("summary", mapping(one, "session_summary")) for one in sessions]
    for kind, held in parts:
        known = PLACED[kind].split()
        yield from (
            f"{kind} {key}".strip() for key, value in held.items() if key not in known and value
        )


def _write(one: Imported, folder: Path) -> None:
    source = "# Read from a course as PsychEval publishes it, which is in course.json.\n"
    stand_ins = "".join(f"# {note}\n" for note in one.notes)
    note = "# Habits, days and routines are plain stand-ins; there is no `voice`.\n"
    write_yaml(folder / "client.yaml", source + stand_ins + note, one.client)
    write_yaml(folder / "plan.yaml", source, one.plan)
    if one.therapy:
        write_yaml(folder / "therapy.yaml", source, one.therapy)
    text = json.dumps(one.row, ensure_ascii=False, indent=1, sort_keys=False)
    write_text(folder / "course.json", text + "\n")
