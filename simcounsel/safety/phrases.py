"""What a counselor must not say where there is danger, as far as words can tell it: a promise of secrecy, a means, a leave-taking."""

import re
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

_SENTENCE = re.compile(r"[^.!?。！？；;\n]+")


@cache
def _phrases(language: str) -> tuple[re.Pattern[str], ...]:
    data: dict[str, dict[str, Any]] = yaml.safe_load(files(__package__).joinpath("phrases.yaml").read_text(encoding="utf-8"))
    words = data.get(language, data["en"])
    edge = r"\b" if language != "zh" else ""

    def any_of(name: str) -> re.Pattern[str]:
        return re.compile(edge + "(?:" + "|".join(words[name]) + ")" + edge, re.IGNORECASE)

    return any_of("secrecy"), re.compile(words["takes_back"], re.IGNORECASE), any_of("means"), any_of("leave"), any_of("help")


def secrecy_promised(text: str, language: str) -> str | None:
    """The words that promise to tell nobody; None when there are none, or the sentence takes them back ("I can't promise ...")."""
    secrecy, takes_back, *_ = _phrases(language)
    for sentence in _SENTENCE.findall(text):
        found = secrecy.search(sentence)
        if found and not takes_back.search(sentence[: found.start() + 12]):
            return found.group().strip()
    return None


def means_named(text: str, language: str) -> str | None:
    """The first word that names a way of harming; None when there is none."""
    found = _phrases(language)[2].search(text)
    return found.group() if found else None


def leave_taken(text: str, language: str) -> str | None:
    """The words that end a talk; None when there are none."""
    found = _phrases(language)[3].search(text)
    return found.group() if found else None


def help_named(text: str, language: str) -> str | None:
    """The words that name help outside the talk; None when there are none."""
    found = _phrases(language)[4].search(text)
    return found.group().strip() if found else None


def has_number(text: str, number: str) -> bool:
    """Whether a number, or a page, stands in a text by itself; spaces and hyphens within a number do not count."""
    if not any(c.isdigit() for c in number):
        return number.casefold() in text.casefold()
    digits = r"[\s\-]?".join(re.escape(c) for c in number if c not in " -")
    return re.search(rf"(?<![\d])(?<!\d[\s\-]){digits}(?!\d)", text) is not None
