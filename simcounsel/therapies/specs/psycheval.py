"""PsychEval's skills into a therapy file.

The JSON as far as the paper shows it (PsychEval, appendix: figures 8, 9 and 51). Flat: entries with
Skill ID, Skill Name, Skill Description and Parent IDs, the last of which is the entry's own id and
the one before it its parent's; an atomic skill has When to Use and Trigger as well. Nested: meta
skills, each with its `atomic_skills`. Keys in English, in snake case or in Chinese. Such files hold
neither stages nor what is filled in about a client: these are taken from a therapy that comes with
simcounsel.

The entries of a file of PsychEval's skills, under our own names for its keys.
"""

import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.errors import SpecError
from simcounsel.specs.file_text import read_json
from simcounsel.specs.load import parse_spec, write_yaml
from simcounsel.specs.yaml_text import control_in
from simcounsel.therapies.specs.therapy import COURSE_STAGES, Skill, Therapy, find_therapy

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


SECTS = {
    "cbt": "cbt",
    "pdt": "psychodynamic",
    "bt": "behavioral",
    "het": "humanistic_existential",
    "pmt": "postmodern",
}
"""How the paper calls its therapies in short."""


def import_skills(file: Path, out: Path, like: str | None = None) -> dict[str, Any]:
    """Write the skills of `file` as a therapy into `out`, and return what was written. like: the
    therapy whose stages and fields are taken; None: the one that the entries name, or cbt.
    SpecError names every entry that cannot be used; then nothing is written.
    """
    if out.suffix not in (".yaml", ".yml"):
        raise SpecError(
            [
                f"{out}: a therapy's file ends in .yaml, or it would not be found as one; choose"
                " another --out"
            ]
        )
    problems: list[str] = []
    entries = read_entries(file, problems)
    metas = [] if problems else _metas(file, entries, problems)
    if not metas and not problems:
        problems.append(
            f"{file}: no atomic skill in it has a meta skill; give both, atomic ones with the"
            " meta's id last but one in Parent IDs"
        )
    if problems:
        raise SpecError(problems)
    base = find_therapy(like or _sect(entries))
    data = {
        "id": re.sub(r"[^\w-]+", "_", out.stem)[:80] or "imported",
        "name": f"{base.name}, with the skills of {file.name}",
        "about": base.about,
        "conceptualization": [_plain(field) for field in base.conceptualization],
        "stages": [_plain(stage) for stage in base.stages],
        "skills": metas,
    }
    parse_spec(data, Therapy, file, {})
    head = (
        f"# Skills read from {file.name}; stages, goals and conceptualization are those of"
        f" {base.id}. A meta skill's `stages:` are all three\n"
    )
    head += "# because the file does not say where it has its place: narrow them.\n"
    write_yaml(out, head, data)
    return data


def _plain(part: Any) -> Fields:
    return {
        key: value
        for key, value in part.model_dump(mode="json").items()
        if value not in ((), [], "")
    }


def _metas(file: Path, entries: list[Fields], problems: list[str]) -> list[Fields]:
    """Meta skills with their atomic ones, in the file's order; those without any are left out."""
    taken: dict[str, str] = {}
    if any("skills" in entry for entry in entries):
        metas = [_nested(number, entry) for number, entry in enumerate(entries, 1)]
        pairs = [
            (meta, entry.get("skills", [])) for meta, entry in zip(metas, entries, strict=True)
        ]
    else:
        pairs = _flat(entries, problems)
    found = []
    for meta, skills in pairs:
        made = [skill for entry in skills if (skill := _skill(entry, taken, problems))]
        if made:
            head = _skill(meta, taken, problems)
            if head:
                found.append({**head, "stages": list(COURSE_STAGES), "skills": made})
    return found


def _nested(number: int, entry: Fields) -> Fields:
    """A meta skill that is named by its path, one `name:description` a line, the last being
    itself.
    """
    last = (entry.get("name", "").replace("\\n", "\n").strip().splitlines() or [""])[-1]
    name, _, description = last.partition(":") if ":" in last else last.partition("：")
    return {
        "id": f"meta_{number}",
        **entry,
        "name": name.strip(),
        "description": entry.get("description") or description.strip() or name.strip(),
    }


def _flat(entries: list[Fields], problems: list[str]) -> list[tuple[Fields, list[Fields]]]:
    atomic = [entry for entry in entries if "when" in entry or "cue" in entry]
    metas: dict[str, Fields] = {}
    for entry in entries:
        if entry not in atomic and metas.setdefault(str(entry.get("id")), entry) is not entry:
            other = metas[str(entry.get("id"))].get("name")
            problems.append(
                f"{entry['where']}: the id {entry.get('id')!r} is that of {other!r} too; give each"
                " skill its own"
            )
    under: dict[str, list[Fields]] = {}
    for entry in atomic:
        parents = _parents(entry)
        parent = next((one for one in reversed(parents) if one != str(entry.get("id"))), None)
        if parent not in metas:
            problems.append(
                f"{entry['where']}: skill {entry.get('id')!r} ({entry.get('name', 'no name')}): no"
                f" meta skill {parent!r} in the file; its Parent IDs end with the meta's id and"
                " then its own"
            )
            continue
        under.setdefault(parent, []).append(entry)
    return [(meta, under[key]) for key, meta in metas.items() if key in under]


def _parents(entry: Fields) -> list[str]:
    given = entry.get("parents", [])
    if isinstance(given, str):
        given = re.findall(r"[\w-]+", given)
    return [str(one) for one in given] if isinstance(given, list) else [str(given)]


def _skill(entry: Fields, taken: dict[str, str], problems: list[str]) -> Fields | None:
    """The entry's own fields; None, and a problem said, when it cannot be used. An id in brackets
    or with spaces becomes a plain one.
    """
    where = f"{entry['where']} ({shortened(entry.get('name') or entry.get('id') or 'no name')})"
    missing = [key for key in ("id", "name", "description") if not str(entry.get(key, "")).strip()]
    if missing:
        problems.append(f"{where}: no {' and no '.join(missing)}; add it to the entry")
        return None
    one = re.sub(r"[^\w-]+", "_", str(entry["id"])).strip("_")
    if not one:
        problems.append(f"{where}: id: {entry['id']!r}: has no letter or digit; give it some")
        return None
    if one in taken:
        problems.append(
            f"{where}: the id {entry['id']!r} is that of {taken[one]!r} too; give each skill"
            " its own"
        )
        return None
    taken[one] = entry["name"]
    made = {
        "id": one,
        **{
            key: entry[key].strip()
            for key in ("name", "description", "when", "cue")
            if entry.get(key)
        },
    }
    try:
        Skill.model_validate(made)
    except ValidationError as error:
        problems += [
            f"{where}: {e['loc'][0]}: {shortened(e['input'])}: {e['msg'][0].lower()}{e['msg'][1:]};"
            " change it in the entry"
            for e in error.errors()
        ]
        return None
    return made


def _sect(entries: list[Fields]) -> str:
    named = [one.get("sect") for entry in entries for one in (entry, *entry.get("skills", []))]
    return next((SECTS[str(one)] for one in named if str(one) in SECTS), "cbt")
