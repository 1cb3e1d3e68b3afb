"""The client of a course as PsychEval publishes it, as a persona's file (appendix F.1)."""

import re
from collections.abc import Iterator
from typing import Any

from simcounsel.specs.plain_days import plain_day, plain_routines
from simcounsel.therapies.specs.psycheval_rows import (
    Row,
    basics,
    joined,
    mapping,
    mappings,
    said_in,
    texts,
    word,
)
from simcounsel.therapies.specs.therapy import Therapy

THEMES = {
    "情绪管理": "anxiety",
    "人际关系": "loneliness",
    "职业发展": "work stress",
    "恋爱婚姻": "family conflict",
    "家庭关系": "family conflict",
    "个人成长": "depression",
}
"""The paper's six topics, and the nearest of our themes, after which the days are drawn."""
USUAL_THEME = "depression"
STATED = "not stated", "未提及"
NO_MORE = "The published file says no more of it.", "公开的档案里没有写得更多。"
MOST_HISTORY, MOST_TEXT = 3_800, 900
USUAL_AGE = 30


def client_of(row: Row, therapy: Therapy, language: str, notes: list[str]) -> dict[str, Any]:
    info, zh = basics(row), language == "zh"
    traits = mapping(info, "static_traits")
    theory = {**info, **mapping(mapping(row, "client_info"), "theory")}
    nothing, problem = STATED[zh], word(info.get("main_problem"))
    theme = THEMES.get(word(info.get("topic")), USUAL_THEME)
    manner, illness = word(traits.get("language_features")), word(traits.get("medical_history"))
    data: dict[str, Any] = {
        **_who(traits, zh, notes),
        "role": "client",
        "background": _lines(problem, *_told(traits), word(info.get("core_demands"))) or nothing,
        "history": _lines(*texts(info.get("growth_experiences")), illness) or nothing,
        "style": manner or nothing,
        "habits": [nothing],
        "portrait": {"characteristic": _long(manner, zh), "recent_feeling": _long(problem, zh)},
        "theme": theme,
        "situations": _situations(theory, zh, notes),
        "days": [plain_day(theme)],
        "routines": plain_routines(theme),
        **_beliefs(theory, nothing),
    }
    if case := list(_case(theory, therapy)):
        data["case"] = case
    return data


def _who(traits: Row, zh: bool, notes: list[str]) -> dict[str, Any]:
    """Name, age and the like."""
    nothing, gender = STATED[zh], word(traits.get("gender"))
    name = re.sub(r"[^\w .'’-]", "", word(traits.get("name"))).strip()
    age = int(next(iter(re.findall(r"\d+", word(traits.get("age")))), 0))
    if not 16 <= age <= 110:
        notes.append(f"age: {word(traits.get('age')) or nothing}; {USUAL_AGE} stands in its place")
        age = USUAL_AGE
    return {
        "name": name or ("来访者" if zh else "Client"),
        "age": age,
        "gender": gender or nothing,
        "pronouns": _pronouns(gender),
        "culture": nothing,
        "occupation": word(traits.get("occupation")) or nothing,
    }


def _told(traits: Row) -> Iterator[str]:
    """Traits without a place of their own, each behind its name."""
    for key in ("educational_background", "marital_status", "family_status", "social_status"):
        if (text := word(traits.get(key))) and text not in STATED:
            yield f"{key}: {text}"


def _lines(*parts: str) -> str:
    return "\n".join(filter(None, parts))[:MOST_HISTORY]


def _long(text: str, zh: bool) -> str:
    """A text for a portrait, which has ten characters at least."""
    return text if len(text) >= 10 else f"{text}{'。' if zh and text else ' '}{NO_MORE[zh]}".strip()


def _pronouns(gender: str) -> str:
    if re.search(r"女|\b(woman|female|girl)", gender, re.IGNORECASE):
        return "she/her"
    return "he/him" if re.search(r"男|\b(man|male|boy)", gender, re.IGNORECASE) else "they/them"


def _situations(theory: Row, zh: bool, notes: list[str]) -> list[dict[str, Any]]:
    cbt = {**theory, **mapping(theory, "cbt")}
    found = [
        {
            "situation": event[:MOST_TEXT],
            "thought": (joined(one.get("automatic_thoughts")) or STATED[zh])[:MOST_TEXT],
            "emotion": "fear",
            "intensity": 5,
            "behavior": (joined(one.get("compensatory_strategies")) or STATED[zh])[:MOST_TEXT],
        }
        for one in mappings(cbt.get("special_situations"))
        if (event := joined(one.get("event")))
    ]
    if found:
        notes.append("situations: the file names no feelings; fear of 5 stands in their place")
        return found
    problem = word(theory.get("main_problem")) or STATED[zh]
    return [
        {
            "situation": problem[:MOST_TEXT],
            "thought": STATED[zh],
            "emotion": "sadness",
            "intensity": 5,
            "behavior": STATED[zh],
        }
    ]


def _beliefs(theory: Row, nothing: str) -> dict[str, Any]:
    """Beliefs, rules and ways of coping where the file is one of CBT's."""
    cbt = {**theory, **mapping(theory, "cbt")}
    core, events = texts(cbt.get("core_beliefs")), mappings(cbt.get("special_situations"))
    if not core and not events:
        return {}

    def each(key: str) -> list[str]:
        return list(dict.fromkeys(filter(None, (joined(one.get(key)) for one in events))))

    return {
        "core_beliefs": [{"kind": "helpless", "belief": one} for one in core or [nothing]],
        "intermediate_beliefs": [
            {"kind": "assumption", "belief": one}
            for one in each("conditional_assumptions") or [nothing]
        ],
        "coping_strategies": each("compensatory_strategies") or [nothing],
    }


def _case(theory: Row, therapy: Therapy) -> Iterator[dict[str, Any]]:
    """What the therapy works on, each part under the field that comes nearest."""
    names = {one.id: one for one in therapy.client}
    for kind, text in _theory_parts(theory):
        if kind in names and text:
            strength = {"strength": 80} if names[kind].moves else {}
            yield {"kind": kind, "name": names[kind].name, "text": text[:MOST_TEXT]} | strength


def _theory_parts(theory: Row) -> Iterator[tuple[str, str]]:
    """Parts of a client's file in the terms of each therapy (figures 42 to 44)."""
    pdt = {**theory, **mapping(theory, "pdt")}
    conflict = mapping(pdt, "core_conflict")
    yield (
        "core_conflict",
        " / ".join(filter(None, map(word, (conflict.get("wish"), conflict.get("fear"))))),
    )
    yield "wish", word(conflict.get("wish"))
    yield "response_of_others", word(conflict.get("fear"))
    yield from (("defenses", text) for text in texts(conflict.get("defense_goal")))
    for one in mappings(pdt.get("object_relations")):
        yield (
            "object_relations",
            _named(one, "self_representation", "object_representation", "linking_affect"),
        )
    for one in mappings(pdt.get("behavioral_response_patterns")):
        keys = ("trigger_condition", "interpretation", "defense_mechanism", "response_instruction")
        yield "transference", _named(one, *keys)
    het = {**theory, **mapping(theory, "het")}
    for one in mappings(het.get("contact_model")):
        yield "contact", _named(one, "mode", "manifestations")
    for one in mappings(het.get("existentialism_topic")):
        yield "givens", _named(one, "theme", "manifestations", "outcomes")
    pmt = {**theory, **mapping(theory, "pmt")}
    for one in mappings(pmt.get("exception_events")):
        yield "exceptions", _named(one, "target_problem", "unique_outcome", "reason")
    force = mapping(pmt, "force_field")
    yield "resources", joined(force.get("positive_force"))
    yield "effects", joined(force.get("negative_force"))
    bt = {**theory, **mapping(theory, "bt")}
    for one in mappings(bt.get("target_behavior")):
        yield "target_behavior", word(one.get("behavior")) or _named(one, *one)
        yield "antecedents", _named(one, "antecedent", "antecedents", "core_reason")
        yield "consequences", _named(one, "consequence", "consequences", "function")


def _named(one: Row, *keys: str) -> str:
    found = (" ".join(text for _, text in said_in(one.get(key))) for key in keys)
    return " / ".join(filter(None, found))
