"""The manuals that come with simcounsel, by name and language."""

from functools import cache
from importlib.resources import as_file, files

from simcounsel.errors import SpecError
from simcounsel.policies.staged.exercises import library
from simcounsel.specs.manual import Manual
from simcounsel.specs.manual_file import load_manual
from simcounsel.specs.soundness import unsound
from simcounsel.specs.suggestion import suggest
from simcounsel.specs.vocabulary import Language

DEFAULT_MANUAL = "attachment_selfcare"
_FOLDER = files("simcounsel.policies").joinpath("manuals")


def names(language: Language) -> tuple[str, ...]:
    """Of the manuals in a language."""
    return tuple(
        sorted(
            path.name.removesuffix(".yaml")
            for path in _FOLDER.joinpath(language).iterdir()
            if path.name.endswith(".yaml")
        )
    )


@cache
def shipped(name: str, language: Language) -> Manual:
    """The manual of that name. SpecError when there is none in the language."""
    if name not in names(language):
        raise SpecError(
            [
                f"manual: no manual {name!r} in the language {language!r};"
                f" {suggest(name, list(names(language)))}, or name a file of your own, such as"
                f" {name}.yaml"
            ]
        )
    with as_file(_FOLDER.joinpath(language, f"{name}.yaml")) as path:
        return load_manual(path)


def manual_of(wanted: Manual | str | None, language: Language) -> Manual:
    """The manual itself, by whatever it is named. SpecError when there is none, or when it cannot
    be lived.
    """
    if not isinstance(wanted, Manual):
        return shipped(wanted or DEFAULT_MANUAL, language)
    known = [one.id for one in library(language).contraindications]
    problems = [
        *unsound(wanted),
        *(
            ((*at, "not_when"), f"no contraindication {name!r}; {suggest(name, known)}")
            for at, _, state in wanted.walk()
            for name in state.not_when
            if name not in known
        ),
    ]
    if problems:
        raise SpecError(
            [f"manual {wanted.name}: {'.'.join(map(str, at))}: {what}" for at, what in problems]
        )
    return wanted
