"""The entries of a file of PsychEval's skills, under our own names for its keys."""

import re
from pathlib import Path
from typing import Any

from simcounsel.specs.file_text import read_json
from simcounsel.specs.yaml_text import control_in

KEYS = {
    "id": ("skillid", "id", "技能id", "技能编号", "编号"),
    "name": ("skillname", "name", "metaskill", "技能名称", "名称", "元技能"),
    "description": ("skilldescription", "description", "技能描述", "描述"),
    "when": ("whentouse", "when", "使用时机", "何时使用", "适用时机"),
    "cue": ("trigger", "cue", "触发条件", "触发", "触发线索"),
    "parents": ("parentids", "parents", "父级id", "父节点id", "父技能id", "父级ids"),
    "skills": ("atomicskills", "microskills", "skills", "原子技能", "微技能"),
}

LISTS = (
    "metaskills",
    "atomicskills",
    "suggestskills",
    "suggestedskills",
    "skills",
    "元技能",
    "原子技能",
)

Fields = dict[str, Any]


def read_entries(file: Path, problems: list[str]) -> list[Fields]:
    """All entries, their keys reduced to ours; `where` says where each is."""
    data, lines = read_json(file)
    if isinstance(data, list):
        found = [(f"{file}:{lines[(at,)]}: entry {at + 1}", entry) for at, entry in enumerate(data)]
    else:
        found = _listed(file, data if isinstance(data, dict) else {}, problems)
    if not found and not problems:
        problems.append(
            f"{file}: no list of skills in it; it needs a list of entries, or `meta_skills` and"
            " `atomic_skills`"
        )
    return [known for where, entry in found if (known := _known(where, entry, problems))]


def _listed(file: Path, data: Fields, problems: list[str]) -> list[tuple[str, Any]]:
    found = []
    for key, value in data.items():
        if _bare(key) in LISTS and not isinstance(value, list):
            problems.append(
                f"{file}: {key}: {shortened(value)}: a list of entries is needed; put them between"
                " [ and ]"
            )
        elif _bare(key) in LISTS:
            found += [
                (f"{file}: {key}, entry {number}", entry) for number, entry in enumerate(value, 1)
            ]
    return found


def _bare(key: Any) -> str:
    return re.sub(r"[\s_:：-]+", "", str(key)).lower()


def shortened(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _known(where: str, entry: Any, problems: list[str]) -> Fields | None:
    """An entry's fields under our names, empty ones left out; None when it is none."""
    if not isinstance(entry, dict):
        problems.append(
            f"{where}: {shortened(entry)}: an entry with a name and a description is needed; write"
            " it, or take it out"
        )
        return None
    bare = {_bare(key): value for key, value in entry.items()}
    found = {
        ours: next((bare[name] for name in theirs if name in bare), None)
        for ours, theirs in KEYS.items()
    }
    fields = {
        key: value
        for key, value in found.items()
        if value not in (None, "", []) and not (isinstance(value, str) and not value.strip())
    }
    for key, value in fields.items():
        wrong = _misfit(key, value)
        if wrong:
            problems.append(f"{where}: {key}: {shortened(value)}: {wrong}")
    if isinstance(found["skills"], list) and found["skills"]:
        skills = [
            _known(f"{where}, skill {number}", skill, problems)
            for number, skill in enumerate(found["skills"], 1)
        ]
        fields["skills"] = [skill for skill in skills if skill]
    return fields | {"where": where} | ({"sect": bare["sect"]} if "sect" in bare else {})


def _misfit(key: str, value: Any) -> str | None:
    """Why the value cannot be under our key; None when it can."""
    match key:
        case "skills":
            return (
                None
                if isinstance(value, list)
                else "a list of skills is needed; put them between [ and ]"
            )
        case "parents":
            parts = value if isinstance(value, list) else [value]
            return (
                None
                if all(_is_id(part) for part in parts)
                else "a list of ids is needed, such as [1, 3, 33]"
            )
        case "id":
            return None if _is_id(value) else "a number or a text is needed"
    return control_in(value) if isinstance(value, str) else "a text is needed; put it in quotes"


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)
