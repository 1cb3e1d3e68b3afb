"""The plan of a course as PsychEval publishes it, and the skills that its counselor was offered
(figures 45 to 53).
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from simcounsel.texts.quotes import is_chinese, units
from simcounsel.therapies.specs.course import FEWEST_SESSIONS
from simcounsel.therapies.specs.psycheval import SECTS
from simcounsel.therapies.specs.psycheval_client import STATED
from simcounsel.therapies.specs.psycheval_rows import (
    Row,
    joined,
    mapping,
    mappings,
    stages_of,
    texts,
    word,
)
from simcounsel.therapies.specs.therapy import COURSE_STAGES, Therapy

KNOWN_FROM_THE_START = re.compile(r"^(static_traits\.)?(name|age|gender|topic)\b")
SAME_RUN = {"zh": 6, "en": 3}
"""So many words (Chinese: characters) in a row make a text one that tells a fact."""


def plan_of(row: Row, therapy: Therapy, language: str, notes: list[str]) -> dict[str, Any]:
    planned = list(_planned(row))
    held = _by_number(row)
    facts = _facts(planned)
    sessions: dict[str, list[dict[str, Any]]] = {stage: [] for stage in COURSE_STAGES}
    for number, (stage, session) in enumerate(planned, 1):
        made = _session(session, held.get(number, {}), facts, language)
        sessions[stage].append({**made, "theme": made["theme"] or therapy.stage(stage).name})
    for stage in COURSE_STAGES:
        if not sessions[stage]:
            notes.append(f"{stage}: the plan has no session of it; a plain one stands in")
            sessions[stage].append({"theme": therapy.stage(stage).name})
    while sum(map(len, sessions.values())) < FEWEST_SESSIONS:
        sessions["core_intervention"].append({"theme": therapy.stage("core_intervention").name})
        notes.append("fewer than five sessions are planned; one more of the middle stage is added")
    return {
        "therapy": therapy.id,
        "about": f"{therapy.name}, a course as PsychEval publishes it.",
        "stages": [
            {"id": stage.id, "goals": list(stage.goals), "sessions": sessions[stage.id]}
            for stage in therapy.stages
        ],
        "facts": list(facts.values()),
        "held": [
            _held(held[number], stage)
            for number, (stage, _) in enumerate(planned, 1)
            if number in held
        ],
    }


def _by_number(row: Row) -> dict[int, Row]:
    """The sessions that were held, by their numbers."""
    counted = (
        (one.get("session_number", at), one)
        for at, one in enumerate(mappings(row.get("sessions")), 1)
    )
    return {number: one for number, one in counted if isinstance(number, int)}


def _facts(planned: list[tuple[str, Row]]) -> dict[str, dict[str, Any]]:
    """What the links name of the client, by its text, told in the session that first names it."""
    facts: dict[str, dict[str, Any]] = {}
    for number, (_, session) in enumerate(planned, 1):
        for link in texts(session.get("persona_links")):
            text = _bare(link)
            if text and not KNOWN_FROM_THE_START.match(link) and text not in STATED:
                facts.setdefault(text, {"id": f"f{len(facts) + 1}", "text": text, "told": number})
    return facts


def _session(
    session: Row, held: Row, facts: dict[str, dict[str, Any]], language: str
) -> dict[str, Any]:
    """One session of the plan."""
    links = dict.fromkeys(map(_bare, texts(session.get("persona_links"))))
    known = [facts[link]["id"] for link in links if link in facts]

    def part(text: str) -> dict[str, Any]:
        by = [fact["id"] for fact in facts.values() if _tells(text, fact["text"], language)]
        return {"text": text, "rests_on": by}

    focus = mapping(mapping(held, "session_goals"), "session_focus")
    rationale = "\n".join(texts(session.get("rationale")))
    return {
        "theme": word(session.get("theme")),
        "objectives": [part(text) for text in texts(focus.get("objective"))],
        "links": [
            {"text": link, "rests_on": [facts[link]["id"]]} for link in links if link in facts
        ],
        "uses": known,
        "material": [part(text) for text in texts(session.get("case_material"))],
        "rationale": part(rationale) if rationale else None,
        "schools": [SECTS.get(name, name) for name in texts(session.get("theory_select"))],
    }


def _planned(row: Row) -> Iterator[tuple[str, Row]]:
    """The planned sessions in order, each with its stage."""
    for at, stage in enumerate(stages_of(row)):
        number = stage.get("stage_number", at + 1)
        place = number if isinstance(number, int) and 1 <= number <= 3 else min(at + 1, 3)
        for session in mapping(stage, "content").values():
            if isinstance(session, dict):
                yield COURSE_STAGES[place - 1], session


def _bare(link: str) -> str:
    """A link without the name of the field that it was taken from."""
    return re.sub(r"^[\w.]+\s*[:：]\s*", "", link).strip()


def _tells(text: str, fact: str, language: str) -> bool:
    """Whether a text has so much of a fact that it gives it away."""
    ours, theirs = units(text), units(fact)
    least = SAME_RUN["zh" if language == "zh" or is_chinese(ours) else "en"]
    match = SequenceMatcher(None, ours, theirs, autojunk=False).find_longest_match()
    return match.size >= min(least, max(2, len(theirs)))


def _held(session: Row, stage: str) -> dict[str, Any]:
    """What a session left behind."""
    after = mapping(session, "session_summary")
    state = mapping(after, "client_state_analysis")
    homework = after.get("homework")
    return {
        "stage": stage,
        "summary": "\n".join(
            filter(
                None,
                [
                    word(after.get("session_summary_abstract")),
                    *map(joined, mapping(after, "goal_assessment").values()),
                ],
            )
        ),
        "client_state": "\n".join(
            text
            for key, value in state.items()
            if key != "unresolved_points_or_tensions" and (text := joined(value))
        ),
        "unresolved": list(texts(state.get("unresolved_points_or_tensions"))),
        "homework": joined(homework if isinstance(homework, list) else [homework]),
    }


def therapy_of(row: Row, therapy: Therapy, name: str, notes: list[str]) -> dict[str, Any] | None:
    """The therapy with the skills that the file's counselor was offered, where there are some."""
    groups: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    held = _by_number(row)
    for number, (stage, _) in enumerate(_planned(row), 1):
        for group in mappings(held.get(number, {}).get("suggest_skills")):
            of = _group(group, groups)
            if stage not in of["stages"]:
                of["stages"].append(stage)
            for skill in _skills(group):
                if skill["id"] not in seen:
                    seen.add(skill["id"])
                    of["skills"].append(skill)
    kept = [group for group in groups.values() if group["skills"]]
    if not kept:
        return None
    bare = set(COURSE_STAGES) - {stage for group in kept for stage in group["stages"]}
    own = [meta.model_dump(mode="json") for meta in therapy.skills if bare & set(meta.stages)]
    if own:
        stages = ", ".join(stage for stage in COURSE_STAGES if stage in bare)
        notes.append(f"no skills are given for {stages}; those that come with simcounsel stand in")
    for meta in own:
        meta["stages"] = [stage for stage in meta["stages"] if stage in bare]
    data = therapy.model_dump(mode="json", exclude={"drawn", "skills"})
    return data | {
        "id": re.sub(r"[^\w-]+", "_", f"{therapy.id}_{name}")[:80],
        "name": f"{therapy.name} ({name})",
        "skills": [*kept, *own],
    }


def _group(group: Row, groups: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The meta skill of that path, one `name:description` a line, the last being itself."""
    path = word(group.get("meta_skill")).replace("\\n", "\n").strip()
    last = (path.splitlines() or [""])[-1].replace("：", ":")
    title, _, about = last.partition(":")
    number = len(groups) + 1
    new = {
        "id": f"group_{number}",
        "name": title.strip() or f"group {number}",
        "description": about.strip() or title.strip() or path or "-",
        "stages": [],
        "skills": [],
    }
    return groups.setdefault(path, new)


def _skills(group: Row) -> Iterator[dict[str, Any]]:
    """Its atomic skills, under any of their names."""
    for key in ("micro_skills", "atomic_skills"):
        for one in mappings(group.get(key)):
            ident = re.sub(r"[^\w-]+", "_", word(one.get("skill_id"))).strip("_")
            title = word(one.get("skill_name"))
            if ident and title:
                yield {
                    "id": ident,
                    "name": title,
                    "description": word(one.get("skill_description")) or title,
                    "when": word(one.get("when_to_use")),
                    "cue": word(one.get("trigger")),
                }
