"""The manuals that come with simcounsel, by name and language."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import as_file, files

from simcounsel.errors import SpecError
from simcounsel.specs.problems import suggest
from simcounsel.specs.vocabulary import Language
from simcounsel.therapies.specs.exercises import Exercises
from simcounsel.therapies.specs.manual import At, Manual
from simcounsel.therapies.specs.manual_file import load_manual
from simcounsel.therapies.specs.soundness import unsound
from simcounsel.therapies.staged.exercises import library

DEFAULT_MANUAL = "attachment_selfcare"
_FOLDER = files("simcounsel.therapies").joinpath("manuals")


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


def manual_of(
    wanted: Manual | str | None, language: Language, exercises: Exercises | None = None
) -> Manual:
    """The manual itself, by whatever it is named. exercises: a catalogue in place of the one that
    is included. SpecError when there is none, or when it cannot be run, with this catalogue.
    """
    if isinstance(wanted, Manual):
        manual, problems = wanted, list(unsound(wanted))
    else:
        manual, problems = shipped(wanted or DEFAULT_MANUAL, language), []
    problems += _unknown(manual, exercises, language)
    if problems:
        raise SpecError(
            [f"manual {manual.name}: {'.'.join(map(str, at))}: {what}" for at, what in problems]
        )
    return manual


def _unknown(manual: Manual, own: Exercises | None, language: Language) -> Iterator[tuple[At, str]]:
    """Contraindications that pass a state by and would never be heard."""
    known = [one.id for one in (own or library(language)).contraindications]
    remedy = " (or add it to the catalogue of exercises, under `contraindications:`)" if own else ""
    for at, _, state in manual.walk():
        for name in state.not_when:
            if name not in known:
                there = suggest(name, known) if known else "there are none"
                yield (*at, "not_when"), f"no contraindication {name!r}; {there}{remedy}"
