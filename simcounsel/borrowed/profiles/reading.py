"""A profile in another form as a client of ours, with what was filled in."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from simcounsel.borrowed.profiles.files import Record, texts_of
from simcounsel.borrowed.profiles.forms import NOT_STATED, SENTENCE, TABLES, Form
from simcounsel.errors import SpecError
from simcounsel.specs.patient_psi_persona import USUAL_THEME, sentence, tables
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import parse_persona
from simcounsel.specs.plain_days import plain_day, plain_routines
from simcounsel.specs.yaml_text import control_in

ROOM = 4000
"""Characters that a text of a persona may have."""
YOUNGEST, OLDEST, USUAL_AGE = 16, 110, 35
DANGER = re.compile(str(TABLES["danger_fields"]), re.IGNORECASE)
Own = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Read:
    """A client that was read."""

    persona: ClientPersona
    data: Own
    """As its file holds it."""
    lost: tuple[str, ...] = ()
    """What of the source was not taken, in sentences."""
    filled: tuple[str, ...] = ()
    """Keys of ours that the source says nothing of."""
    notes: tuple[str, ...] = ()
    """What else a reader must know, in sentences."""


def read_client(record: Record, form: Form, number: int, theme: str | None, file: Path) -> Read:
    """A record as a client. number: from 1, for one without a name. SpecError where it says too
    little, or what we cannot hold.
    """
    texts = texts_of(record)
    lost = [field for field in form.not_taken if texts.pop(field, None)]
    for field, text in texts.items():
        if wrong := control_in(text):
            raise SpecError([f"the field {field!r} {wrong}"])
    problem = next((texts[field] for field in form.problem if field in texts), None)
    if problem is None:
        fields = " or ".join(map(repr, form.problem[:2]))
        raise SpecError([f"the field {fields} is missing or empty; say what the client comes with"])
    own, lines, notes = _placed(texts, form)
    kept, cut = _with_room(lines, len(" ".join(own["history"])))
    lost += cut
    own["history"] = "\n".join([*own["history"], *kept]) or sentence(problem)
    found, why = _theme(texts, theme)
    brief = SENTENCE.split(problem)[0]
    data, filled = _filled(own, found, brief, number)
    notes += [why, *_danger(form, texts)]
    persona = parse_persona(data, file, {})
    assert isinstance(persona, ClientPersona)
    return Read(
        persona=persona,
        data=data,
        lost=(f"Not taken from {form.title}: {', '.join(lost)}.",) if lost else (),
        filled=(*filled, *(["theme"] if why.startswith("Theme filled") else [])),
        notes=tuple(notes),
    )


def _placed(texts: Mapping[str, str], form: Form) -> tuple[Own, dict[str, str], list[str]]:
    """What goes into keys of ours, what becomes a line of the history, and notes."""
    own: Own = {"history": []}
    lines: dict[str, str] = {}
    notes: list[str] = []
    for field, text in texts.items():
        key = form.target(field)
        if key == "history":
            own["history"].append(sentence(text))
        elif key == "age" and (age := _age(text)) is not None:
            own["age"] = age
            notes += [f"Age: {age}, out of {text!r}."] if text != str(age) else []
        elif key == "pronouns" and _pronouns(text) is None:
            lines[field] = text
        elif key and key != "age" and key not in own:
            own[key] = text
        else:
            lines[field] = text
    if pronouns := _pronouns(own.pop("pronouns", "")) or _pronouns(own.get("gender", "")):
        own["pronouns"] = pronouns
    if (name := str(own.get("name", ""))) and not name[0].isalpha():
        own["name"] = f"Person {name}"
    return own, lines, notes


def _with_room(lines: Mapping[str, str], used: int) -> tuple[list[str], list[str]]:
    """The lines of a history, dangers first, and the fields for which there was no room. A danger
    is never left out: a history that is too long is refused.
    """
    kept, lost = [], []
    for field, text in sorted(lines.items(), key=lambda one: not DANGER.search(one[0])):
        line = f"{field[0].upper()}{field[1:]}: {text}"
        if used + len(line) + 1 > ROOM and not DANGER.search(field):
            lost.append(field)
            continue
        used += len(line) + 1
        kept.append(line)
    return kept, lost


def _age(text: str) -> int | None:
    """Years; of a band the middle of what a client may be; None where no number is told."""
    if band := re.search(r"\b(\d{1,3})\s*(?:-|–|~|to|至|到)\s*(\d{1,3})\b", text):
        first, last = max(int(band[1]), YOUNGEST), min(int(band[2]), OLDEST)
        return (first + last) // 2
    years = [int(one) for one in re.findall(r"(?<!\d)\d{1,3}(?!\d)", text)]
    fitting = [one for one in years if YOUNGEST <= one <= OLDEST]
    return next(iter(fitting or years), None)


def _pronouns(text: str) -> str | None:
    words = set(re.findall(r"[a-z]+|[男女她他]", text.casefold()))
    return next((one for one, known in TABLES["pronouns"].items() if words & {*known}), None)


def _theme(texts: Mapping[str, str], wanted: str | None) -> tuple[str, str]:
    """The theme, and how it was found."""
    known = get_args(ClientPersona.model_fields["theme"].annotation)
    if wanted:
        return wanted, f"Theme: {wanted}, as --theme says."
    named = (
        theme
        for text in texts.values()
        for theme in known
        if re.match(rf"{theme}\b", text, re.IGNORECASE)
    )
    if found := next(named, None):
        return found, f"Theme: {found}, as the profile names it."
    whole = " ".join(texts.values())
    counts = {
        theme: len(re.findall(rf"\b(?:{'|'.join(map(re.escape, words))})\b", whole, re.IGNORECASE))
        for theme, words in tables()["themes"].items()
    }
    most = max(counts, key=lambda theme: counts[theme])
    theme = most if counts[most] else USUAL_THEME
    return theme, f"Theme filled in by words: {theme}; --theme chooses another."


def _filled(own: Own, theme: str, problem: str, number: int) -> tuple[Own, tuple[str, ...]]:
    """The data of a persona's file, and the keys that nobody stated."""
    plain: Own = {
        "role": "client",
        "theme": theme,
        "name": f"Client {number}",
        "age": USUAL_AGE,
        "gender": NOT_STATED,
        "pronouns": "they/them",
        "culture": NOT_STATED,
        "occupation": NOT_STATED,
        "background": NOT_STATED,
        "history": NOT_STATED,
        "style": NOT_STATED,
        "habits": [NOT_STATED],
        "portrait": {"characteristic": NOT_STATED, "recent_feeling": NOT_STATED},
        "case": [{"kind": "problem", "name": "what brings the client", "text": problem}],
        "situations": [
            {
                "situation": problem,
                "thought": own.get("thought", NOT_STATED),
                "emotion": "neutral",
                "intensity": 5,
                "behavior": NOT_STATED,
            }
        ],
        "days": [plain_day(theme)],
        "routines": plain_routines(theme),
    }
    stated = {"role", "theme", *own, *(["situations"] if "thought" in own else [])}
    data = plain | {key: value for key, value in own.items() if key in plain}
    return data, tuple(key for key in plain if key not in stated)


def _danger(form: Form, texts: Mapping[str, str]) -> Iterator[str]:
    """Where the profile's words about danger went."""
    if told := [field for field in texts if DANGER.search(field)]:
        yield f"In the history, in the profile's words: {', '.join(told)}."
    asked = any(re.search("suicid", one, re.IGNORECASE) for one in form.fields)
    if asked and not any(re.search("suicid", one, re.IGNORECASE) for one in told):
        yield "Suicidal ideation: not stated in the profile."
