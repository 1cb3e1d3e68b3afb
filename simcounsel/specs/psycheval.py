"""PsychEval's skills into a therapy file.

The JSON as far as the paper shows it (PsychEval, appendix: figures 8, 9 and 51). Flat: entries with Skill ID, Skill Name, Skill
Description and Parent IDs, the last of which is the entry's own id and the one before it its parent's; an atomic skill has When to Use
and Trigger as well. Nested: meta skills, each with its `atomic_skills`. Keys in English, in snake case or in Chinese.
Such files hold neither stages nor what is filled in about a client: these are taken from a therapy that comes with simcounsel.
"""

import json
import re
from pathlib import Path
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.specs.load import write_yaml
from simcounsel.specs.therapy import COURSE_STAGES, shipped_therapy

KEYS = {
    "id": ("skillid", "id", "技能id", "技能编号", "编号"),
    "name": ("skillname", "name", "metaskill", "技能名称", "名称", "元技能"),
    "description": ("skilldescription", "description", "技能描述", "描述"),
    "when": ("whentouse", "when", "使用时机", "何时使用", "适用时机"),
    "cue": ("trigger", "cue", "触发条件", "触发", "触发线索"),
    "parents": ("parentids", "parents", "父级id", "父节点id", "父技能id", "父级ids"),
    "skills": ("atomicskills", "microskills", "skills", "原子技能", "微技能"),
}
LISTS = ("metaskills", "atomicskills", "suggestskills", "suggestedskills", "skills", "元技能", "原子技能")
SECTS = {"cbt": "cbt", "pdt": "psychodynamic", "bt": "behavioral", "het": "humanistic_existential", "pmt": "postmodern"}
"""How the paper calls its therapies in short."""
Fields = dict[str, Any]


def import_skills(file: Path, out: Path, like: str | None = None) -> dict[str, Any]:
    """Write the skills of `file` as a therapy into `out`, and return what was written. like: the shipped therapy whose stages and
    fields are taken; None: the one that the entries name, or cbt. SpecError names every entry that cannot be used."""
    entries = _entries(file)
    problems: list[str] = []
    metas = _metas(file, entries, problems)
    if not metas and not problems:
        problems.append(f"{file}: no atomic skill in it has a meta skill; give both, atomic ones with the meta's id last but one in Parent IDs")
    if problems:
        raise SpecError(problems)
    base = shipped_therapy(like or _sect(entries))
    data = {
        "id": re.sub(r"[^\w-]+", "_", out.stem) or "imported", "name": f"{base.name}, with the skills of {file.name}", "about": base.about,
        "conceptualization": [_plain(field) for field in base.conceptualization], "stages": [_plain(stage) for stage in base.stages],
        "skills": metas,
    }
    head = f"# Skills read from {file.name}; stages, goals and conceptualization are those of {base.id}. A meta skill's `stages:` are all three\n"
    head += "# because the file does not say where it has its place: narrow them.\n"
    write_yaml(out, head, data)
    return data


def _plain(part: Any) -> Fields:
    return {key: value for key, value in part.model_dump(mode="json").items() if value not in ((), [], "")}


def _entries(file: Path) -> list[Fields]:
    """All entries, their keys reduced to ours."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SpecError([f"{file}: no such file"]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError([f"{file}: cannot be read ({error})"]) from None
    except ValueError as error:
        raise SpecError([f"{file}: not JSON: {error}; give the skills file of PsychEval as it was published"]) from None
    found = list(_listed(data))
    if not found or not all(isinstance(entry, dict) for entry in found):
        raise SpecError([f"{file}: no list of skills in it; it needs a list of entries, or `meta_skills` and `atomic_skills`"])
    return [_known(entry) for entry in found]


def _listed(data: Any) -> list[Any]:
    if isinstance(data, list):
        return data
    if not isinstance(data, dict):
        return []
    lists = [value for key, value in data.items() if _bare(key) in LISTS and isinstance(value, list)]
    return [entry for one in lists for entry in one]


def _bare(key: Any) -> str:
    return re.sub(r"[\s_:：-]+", "", str(key)).lower()


def _known(entry: Fields) -> Fields:
    bare = {_bare(key): value for key, value in entry.items()}
    found = {ours: next((bare[name] for name in theirs if name in bare), None) for ours, theirs in KEYS.items()}
    if isinstance(found["skills"], list):
        found["skills"] = [_known(skill) for skill in found["skills"] if isinstance(skill, dict)]
    return {key: value for key, value in found.items() if value not in (None, "", [])} | ({"sect": bare["sect"]} if "sect" in bare else {})


def _metas(file: Path, entries: list[Fields], problems: list[str]) -> list[Fields]:
    """Meta skills with their atomic ones, in the file's order; those without any are left out."""
    taken: dict[str, str] = {}
    if any("skills" in entry for entry in entries):
        metas = [_nested(number, entry) for number, entry in enumerate(entries, 1)]
        pairs = [(meta, entry.get("skills", [])) for meta, entry in zip(metas, entries, strict=True)]
    else:
        pairs = _flat(file, entries, problems)
    found = []
    for meta, skills in pairs:
        made = [skill for number, entry in enumerate(skills, 1) if (skill := _skill(file, f"{meta['name']}, skill {number}", entry, taken, problems))]
        if made:
            head = _skill(file, f"meta skill {meta['name']}", meta, taken, problems)
            if head:
                found.append({**head, "stages": list(COURSE_STAGES), "skills": made})
    return found


def _nested(number: int, entry: Fields) -> Fields:
    """A meta skill that is named by its path, one `name:description` a line, the last being itself."""
    last = str(entry.get("name", f"meta {number}")).replace("\\n", "\n").strip().splitlines()[-1]
    name, _, description = last.partition(":") if ":" in last else last.partition("：")
    return {"id": f"meta_{number}", **entry, "name": name.strip(), "description": entry.get("description") or description.strip() or name.strip()}


def _flat(file: Path, entries: list[Fields], problems: list[str]) -> list[tuple[Fields, list[Fields]]]:
    atomic = [entry for entry in entries if "when" in entry or "cue" in entry]
    metas = {str(entry.get("id")): entry for entry in entries if entry not in atomic}
    under: dict[str, list[Fields]] = {}
    for entry in atomic:
        parents = _parents(entry)
        parent = next((one for one in reversed(parents) if one != str(entry.get("id"))), None)
        if parent not in metas:
            problems.append(
                f"{file}: skill {entry.get('id')!r} ({entry.get('name', 'no name')}): no meta skill {parent!r} in the file; "
                "its Parent IDs end with the meta's id and then its own"
            )
            continue
        under.setdefault(parent, []).append(entry)
    return [(meta, under[key]) for key, meta in metas.items() if key in under]


def _parents(entry: Fields) -> list[str]:
    given = entry.get("parents", [])
    if isinstance(given, str):
        given = re.findall(r"[\w-]+", given)
    return [str(one) for one in given] if isinstance(given, list) else [str(given)]


def _skill(file: Path, where: str, entry: Fields, taken: dict[str, str], problems: list[str]) -> Fields | None:
    """The entry's own fields; None, and a problem said, when it cannot be used. An id in brackets or with spaces becomes a plain one."""
    missing = [key for key in ("id", "name", "description") if not str(entry.get(key, "")).strip()]
    if missing:
        problems.append(f"{file}: {where} ({entry.get('name') or entry.get('id') or 'no name'}): no {' and no '.join(missing)}; add it to the entry")
        return None
    one = re.sub(r"[^\w-]+", "_", str(entry["id"])).strip("_")
    if one in taken:
        problems.append(f"{file}: {where}: the id {entry['id']!r} is that of {taken[one]!r} too; give each skill its own")
        return None
    taken[one] = str(entry["name"])
    return {"id": one, **{key: str(entry[key]).strip() for key in ("name", "description", "when", "cue") if entry.get(key)}}


def _sect(entries: list[Fields]) -> str:
    named = [one.get("sect") for entry in entries for one in (entry, *entry.get("skills", []))]
    return next((SECTS[str(one)] for one in named if str(one) in SECTS), "cbt")
