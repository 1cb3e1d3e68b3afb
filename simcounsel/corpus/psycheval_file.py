"""The client's file and the plan of a course as PsychEval writes them (figures 42 to 49): traits,
what each therapy works on, and for each session its theme, the parts of the file that are planned
to come up (`persona_links`), tasks and points (`case_material`), and why (`rationale`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from simcounsel.corpus.messages import Row, is_unicode
from simcounsel.therapies.specs.psycheval import SECTS

_PLAIN = (
    "static_traits.age",
    "static_traits.gender",
    "static_traits.occupation",
    "static_traits.educational_background",
    "static_traits.family_status",
    "main_problem",
    "core_demands",
    "core_beliefs",
    "growth_experiences",
)
"""What says by itself what it is, in this order; all else is behind its name."""
_ELSEWHERE = ("static_traits.name", "topic")
"""Kept in fields of their own."""
MOST_LEVELS = 8


def basics(row: Row) -> Row:
    """Who the client is: in `client_info`, or in its `basic_info`."""
    info = mapping(row, "client_info")
    return {**info, **mapping(info, "basic_info")}


def file_text(row: Row) -> str:
    """The client's file, a line for each thing that it says."""
    info = {key: value for key, value in basics(row).items() if key != "basic_info"}
    theory = mapping(info, "theory")
    said = list(_said({**{k: v for k, v in info.items() if k != "theory"}, **theory}))
    plain = [text for key in _PLAIN for name, text in said if name == key]
    rest = [f"{name}: {text}" for name, text in said if name not in (*_PLAIN, *_ELSEWHERE)]
    return "\n".join([*plain, *rest])


def _said(value: Any, name: str = "", levels: int = MOST_LEVELS) -> Iterator[tuple[str, str]]:
    """All texts within, each with the names that lead to it."""
    if isinstance(value, Mapping) and levels:
        for key, inner in value.items():
            yield from _said(inner, f"{name}.{key}" if name else str(key), levels - 1)
    elif isinstance(value, list) and levels:
        for inner in value:
            yield from _said(inner, name, levels - 1)
    elif text := word(value):
        yield name, text


def plan_texts(row: Row) -> tuple[str, ...]:
    """A text for each session of the plan, else for each stage."""
    found: list[str] = []
    for stage in _stages(row):
        content = mapping(stage, "content")
        themes = [text for one in mappings(content.values()) if (text := word(one.get("theme")))]
        found += themes or filter(None, [word(stage.get("stage_name"))])
    return tuple(found)


def planned(row: Row, number: int) -> dict[str, Any]:
    """What the plan says of a session, as fields of a `CourseSession`."""
    one = next(
        (
            session
            for stage in _stages(row)
            for key, session in mapping(stage, "content").items()
            if isinstance(session, Mapping) and re.findall(r"\d+", str(key))[:1] == [str(number)]
        ),
        {},
    )
    return {
        "schools": tuple(SECTS.get(name, name) for name in texts(one.get("theory_select"))),
        "links": texts(one.get("persona_links")),
        "material": texts(one.get("case_material")),
        "reason": "\n".join(texts(one.get("rationale"))) or None,
    }


def _stages(row: Row) -> list[Row]:
    return mappings(row.get("global_plan") or row.get("plan"))


def mapping(row: Row, key: str) -> Row:
    """What is there, if it is a mapping."""
    found = row.get(key)
    return found if isinstance(found, Mapping) else {}


def mappings(listed: Any) -> list[Row]:
    """The mappings of a list."""
    fit = isinstance(listed, Iterable) and not isinstance(listed, str | Mapping)
    return [one for one in listed if isinstance(one, Mapping)] if fit else []


def texts(listed: Any) -> tuple[str, ...]:
    """The texts of a list."""
    found = listed if isinstance(listed, list) else []
    return tuple(text for one in found if (text := word(one)))


def joined(value: Any) -> str:
    """A text, or the texts of a list, a line each."""
    return "\n".join(texts(value)) if isinstance(value, list) else word(value)


def word(value: Any) -> str:
    """A text or number as text; '' for all else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    return text if is_unicode(text) else ""
