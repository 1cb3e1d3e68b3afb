"""What participants read, by language."""

from collections.abc import Mapping
from functools import cache
from string import Template
from typing import Any

from simcounsel.packaged import packaged
from simcounsel.safety.help import Help
from simcounsel.trial.plan import LANGUAGES, Trial, texts_of

RIGHT_TO_LEFT = frozenset({"fa"})


@cache
def all_texts(language: str) -> dict[str, Any]:
    """Everything that is included in a language."""
    data: dict[str, Any] = packaged("simcounsel.trial", "texts", f"{language}.yaml")
    return data


def page_texts(language: str) -> dict[str, str]:
    """Labels, buttons, errors."""
    texts: dict[str, str] = all_texts(language)["pages"]
    return texts


def direction(language: str) -> str:
    """`ltr` or `rtl`."""
    return "rtl" if language in RIGHT_TO_LEFT else "ltr"


def template(trial: Trial, key: str, language: str, **slots: object) -> str:
    """A longer text, the study's own where it has one; unknown slots stay as they are."""
    text = texts_of(trial, language).get(key) or all_texts(language)["templates"][key]
    given = {
        "title": title_of(trial, language),
        "contact": trial.contact.said,
        "watched": texts_of(trial, language).get("watched", trial.watched),
        "organisation": trial.organisation,
        "days": trial.days,
    }
    return Template(str(text)).safe_substitute(given | slots)


def title_of(trial: Trial, language: str) -> str:
    """The study's title, in the language where the study has it."""
    return texts_of(trial, language).get("title", trial.title)


def consent_items(language: str) -> list[list[str]]:
    """What is ticked before taking part, each with its id."""
    items: list[list[str]] = all_texts(language)["templates"]["consent_items"]
    return items


def help_lines(trial: Trial, language: str | None) -> str:
    """Where help is, a line each."""
    return Help(locale=trial.locale, language=language or trial.languages[0]).listed()


def reminder(language: str, **slots: object) -> tuple[str, str]:
    """Subject and body of a message that today's talk is waiting."""
    texts = all_texts(language)["reminder"]
    subject, body = (Template(texts[key]).safe_substitute(slots) for key in ("subject", "body"))
    return subject, body


def surveys(name: str) -> Mapping[str, dict[str, Any]]:
    """An included survey by language; {} where none is called so."""
    found = {code: all_texts(code).get("surveys", {}).get(name) for code in LANGUAGES}
    return {code: {"id": name} | data for code, data in found.items() if data}
