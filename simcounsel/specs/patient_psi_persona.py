"""A client's persona out of one person's Patient-Psi records.

Records hold a history, beliefs, ways of coping and situations. What a persona needs besides (a
theme, a manner of speaking, a day, routines by hour) is chosen or filled in plainly, after the
theme; the file's head says what was.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import wrap
from typing import Any

from simcounsel.chance import chance
from simcounsel.errors import SpecError
from simcounsel.packaged import packaged
from simcounsel.specs.plain_days import plain_day, plain_routines
from simcounsel.specs.problems import suggest

USUAL_THEME = "depression"
CALM, MORE_EACH, MOST = 6, 1, 9
"""How strong a feeling is, where a record does not say: it is taken to be stronger the more lists
of feelings a record names for one situation.
"""
DURING = re.compile(r"\[?\(?during (?:the )?depression\]?\)?:?", re.IGNORECASE)
CORE = re.compile(r"^(helpless|unlovable|worthless)\s*:\s*", re.IGNORECASE)
NUMBERED = re.compile(r"(?:^|\s)\(?\d{1,2}[.)]\s+")
PRONOUNS = {"she/her": ("she", "her", "hers", "herself"), "he/him": ("he", "him", "his", "himself")}


@dataclass(frozen=True, kw_only=True)
class ImportChoices:
    """What whoever imports wants for all people of a file."""

    style: str | None = None
    """Of Patient-Psi's six; None: drawn for each person out of those that its records name."""
    theme: str | None = None
    """None: found by the words of the records."""
    seed: int = 1
    """Of what is drawn."""

    def __post_init__(self) -> None:
        given = tables()
        for what, value in (("style", self.style), ("theme", self.theme)):
            known = sorted(given[f"{what}s"])
            if value is not None and value not in known:
                raise SpecError([f"--{what} {value}: no such {what}; {suggest(value, known)}"])


@cache
def tables() -> dict[str, Any]:
    """The words and stand-ins of patient_psi.yaml."""
    found: dict[str, Any] = packaged("simcounsel.specs", "patient_psi.yaml")
    return found


def persona_of(
    own: Sequence[Mapping[str, Any]], together: Mapping[str, list[str]], wanted: ImportChoices
) -> tuple[dict[str, Any], str, list[str]]:
    """The data of a persona's file, the lines for its head, and what could not be taken as it is.

    own: the person's records. together: all that they hold, by field, each text once.
    """
    name = str(own[0]["name"])
    theme, why = _theme(together, wanted)
    style, chosen = _style(together["type"], wanted, own[0]["id"])
    usual, low = _intermediate(together)
    situations, notes = _situations(own)
    feelings = list(dict.fromkeys(word for text in together["emotion"] for word in _split(text)))
    data = {
        "name": name,
        "role": "client",
        "age": 35,
        "gender": "not stated",
        "pronouns": _pronouns(together),
        "culture": "not stated",
        "occupation": "not stated",
        "background": f"{name} is a client described in a cognitive conceptualization.",
        "history": " ".join(map(sentence, together["history"])),
        "theme": theme,
        "style": style,
        "core_beliefs": [
            {"kind": kind, "belief": belief}
            for kind in ("helpless", "unlovable", "worthless")
            for belief in together[f"{kind}_belief"]
        ],
        "intermediate_beliefs": [
            {"kind": _kind(belief), "belief": belief} for belief in (*usual, *low)
        ],
        "coping_strategies": together["coping_strategies"],
        "situations": situations,
        "habits": ["not stated"],
        "portrait": {
            "characteristic": f"How {name} copes: "
            + " ".join(map(sentence, together["coping_strategies"])),
            "recent_feeling": f"Of late {name} has often felt {_listed(feelings)}.",
        },
        "days": [plain_day(theme)],
        "routines": plain_routines(theme),
    }
    return data, _head(why, chosen, low), notes


def _head(why: str, chosen: str, low: Sequence[str]) -> str:
    """What a reader must know of the file before drawing conclusions."""
    during = f" Beliefs during depression: {' '.join(map(sentence, low))}" if low else ""
    text = (
        f"Theme: {why}. Style: {chosen}.{during} Patient-Psi records hold no age, gender, culture,"
        " occupation, habits, days and routines: what is here is a plain stand-in after the"
        " theme. A record without an `intensity` gets one by how many feelings it names. Complete"
        " it, and add a `voice`, before you draw conclusions."
    )
    return "".join(f"# {line}\n" for line in wrap(text, 110, break_on_hyphens=False))


def _theme(together: Mapping[str, list[str]], wanted: ImportChoices) -> tuple[str, str]:
    """The theme, and how it was found."""
    if wanted.theme:
        return wanted.theme, f"{wanted.theme}, as --theme says"
    text = " ".join(
        one
        for field, texts in together.items()
        if field not in ("name", "id", "type", "emotion")
        for one in texts
    )
    counts = {theme: _count(text, words) for theme, words in tables()["themes"].items()}
    most = max(counts, key=lambda theme: counts[theme])
    if not counts[most]:
        return USUAL_THEME, f"{USUAL_THEME}, since no word names another (--theme chooses)"
    return most, f"{most}, by words of the records (--theme chooses)"


def _count(text: str, words: Sequence[str]) -> int:
    return len(re.findall(rf"\b(?:{'|'.join(map(re.escape, words))})\b", text, re.IGNORECASE))


def _style(named: Sequence[str], wanted: ImportChoices, person: str) -> tuple[str, str]:
    """One manner of speaking, and how it was chosen among those that the records name."""
    given, other = tables()["styles"], tables()["style_words"]
    menu = list(dict.fromkeys(other.get(word.lower(), word.lower()) for word in named)) or ["plain"]
    one = wanted.style or chance(wanted.seed, "style", person.split("-")[0]).choice(sorted(menu))
    how = (
        "as --style says"
        if wanted.style
        else f"drawn with seed {wanted.seed} out of {_listed(menu)}; --style chooses"
        if len(menu) > 1
        else "as the records say"
        if named
        else "since the records name none; --style chooses"
    )
    return str(given.get(one, one)).strip(), f"{one}, {how}"


def _intermediate(together: Mapping[str, list[str]]) -> tuple[list[str], list[str]]:
    """Intermediate beliefs, then those during depression, which are in a field of their own or
    behind a mark.
    """
    usual: list[str] = []
    low: list[str] = []
    for text in together["intermediate_belief"]:
        before, *after = DURING.split(text)
        usual += _beliefs(before)
        low += [belief for part in after for belief in _beliefs(part)]
    low += [
        belief for text in together["intermediate_belief_depression"] for belief in _beliefs(text)
    ]
    return list(dict.fromkeys(usual)), [one for one in dict.fromkeys(low) if one not in usual]


def _beliefs(text: str) -> list[str]:
    """The beliefs of a text, a line or a number each, without the core belief's name in front."""
    parts = [part for line in text.splitlines() for part in NUMBERED.split(line)]
    return [found for part in parts if (found := CORE.sub("", part.strip()).strip())]


def _kind(belief: str) -> str:
    """An assumption says `if`, a rule `must`, an attitude neither (Beck 2020, chapter 3)."""
    if re.match(r"if\b|when\b|unless\b", belief, re.IGNORECASE):
        return "assumption"
    if re.search(r"\b(?:must|should|have to|need to|ought|important to)\b", belief, re.IGNORECASE):
        return "rule"
    return "attitude"


def _situations(own: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The situations, and which feelings are not known."""
    situations, notes = [], []
    for record in own:
        felt = _felt(record["emotion"])
        if not felt:
            told = "; ".join(record["emotion"])
            notes.append(
                f"record {record['id']}: no emotion is known for {told!r}, so it is neutral"
            )
        behavior = " ".join(map(sentence, record["behavior"]))
        others = _listed([word for text in record["emotion"][1:] for word in _split(text)])
        situations.append(
            {
                "situation": " ".join(record["situation"]),
                "thought": " ".join(record["auto_thought"]),
                "emotion": felt[0] if felt else "neutral",
                "intensity": _intensity(record),
                "behavior": f"{behavior} Also felt {others}." if others else behavior,
            }
        )
    return situations, notes


def _felt(texts: Sequence[str]) -> list[str]:
    """The emotions that the words name, in their order."""
    emotion_of = {
        word: emotion
        for emotion, words in tables()["feelings"].items()
        for word in (*words, emotion)
    }
    words = re.findall(r"[a-z]+", " ".join(texts).lower())
    return list(dict.fromkeys(emotion_of[word] for word in words if word in emotion_of))


def _intensity(record: Mapping[str, Any]) -> int:
    """As the record says, from 1 to 10; else by how many lists of feelings it names."""
    told = " ".join(record.get("intensity") or ())
    if re.fullmatch(r"10|[1-9]", told):
        return int(told)
    return min(MOST, CALM + MORE_EACH * (len(record["emotion"]) - 1))


def _split(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,;/]", text) if part.strip()]


def _listed(words: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def sentence(text: str) -> str:
    """A text that ends as a sentence does, once."""
    text = text.strip()
    return text if text[-1:] in ".!?。！？…" else f"{text}."


def _pronouns(together: Mapping[str, list[str]]) -> str:
    """Those that are clearly most frequent where the records speak of the person."""
    text = " ".join(
        one for field in ("history", "coping_strategies", "behavior") for one in together[field]
    )
    counts = {pronouns: _count(text, words) for pronouns, words in PRONOUNS.items()}
    first, second = sorted(counts, key=lambda pronouns: -counts[pronouns])
    return first if counts[first] > 2 * counts[second] else "they/them"
