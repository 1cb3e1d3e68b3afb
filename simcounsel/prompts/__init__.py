"""Every text that is sent to a model is a file in this folder: `NAME.txt`, a `string.Template`.

A line `---` in a file parts the system message (above) from the user message (below); a file
without one is all user message. A `$slot` must be filled; a literal dollar is written `$$`. What is
there in another language is `LANGUAGE/NAME.txt`; where there is no such file the English one is
sent, and `LANGUAGE/in_this_language.txt` after it, which asks for an answer in that language.
"""

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template

_RULE = re.compile(r"^---[ \t]*$", re.MULTILINE)
NOTE = "in_this_language"
_GAP = re.compile(r"\n{3,}")


@cache
def prompt_text(name: str, language: str = "en") -> str:
    """The whole of a prompt in a language, or in English where there is none. Raises
    FileNotFoundError when there is no such prompt.
    """
    own = _own(name, language)
    return (own or files(__name__).joinpath(f"{name}.txt")).read_text(encoding="utf-8").strip()


def _own(name: str, language: str) -> Traversable | None:
    file = files(__name__).joinpath(language, f"{name}.txt")
    return file if language != "en" and file.is_file() else None


@cache
def prompt(name: str) -> Template:
    """The whole of `NAME.txt`. Raises FileNotFoundError when there is no such prompt."""
    return Template(prompt_text(name))


@cache
def _parts(name: str, language: str) -> tuple[Template | None, Template]:
    """System part (None when the file has no `---` line) and user part of a prompt file."""
    above, *below = _RULE.split(prompt_text(name, language), maxsplit=1)
    return (Template(above), Template(below[0])) if below else (None, Template(above))


def render(name: str, language: str = "en", /, **slots: object) -> tuple[str, str]:
    """System and user message of `NAME.txt`, its slots filled; runs of blank lines become one.

    The file is parted before it is filled, so a slot may hold any text. The system message is ''
    when the file has none. Raises KeyError with the name of a slot that was not given.
    """
    system, user = _parts(name, language)
    asked = _fill(user, slots)
    if language != "en" and _own(name, language) is None:
        asked = f"{asked}\n\n{prompt_text(NOTE, language)}"
    return ("" if system is None else _fill(system, slots)), asked


@cache
def phrases(name: str, language: str = "en") -> dict[str, str]:
    """The lines `key: text` of a prompt file that holds short phrases."""
    pairs = (
        line.split(":", 1) for line in prompt_text(name, language).splitlines() if line.strip()
    )
    return {key.strip(): text.strip() for key, text in pairs}


def phrase(name: str, key: str, language: str = "en", /, **slots: object) -> str:
    """One of them, its slots filled."""
    return Template(phrases(name, language)[key]).substitute(slots)


def _fill(template: Template, slots: dict[str, object]) -> str:
    return _GAP.sub("\n\n", template.substitute(slots)).strip()
