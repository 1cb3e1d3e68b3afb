"""Prompts in other words, as a world names them: a set that is included, or a folder."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from simcounsel.errors import SpecError
from simcounsel.prompts.sets import USUAL, shipped_set, shipped_sets, texts_in, unlike
from simcounsel.specs.load import Spec
from simcounsel.specs.problems import suggest


class PromptSet(Spec):
    """Texts that are sent in place of those that are included."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    texts: dict[str, str]
    """By prompt, as `zh/NAME` in another language than English; none for the usual ones. Whole, so
    that a run goes on with the texts that it was begun with, wherever they came from.
    """

    def speaks(self, language: str) -> bool:
        """Whether it has a text in that language, or none at all, which are the usual ones."""
        return not self.texts or any(
            (name.rpartition("/")[0] or "en") == language for name in self.texts
        )


def prompts_named(named: str, folder: Path) -> PromptSet:
    """A set by its name, `usual` for none, or from a folder that is seen from `folder`. SpecError
    names every file in it that does not fit into its prompt's place.
    """
    if named == USUAL:
        return PromptSet(name=USUAL, texts={})
    if named in shipped_sets():
        return PromptSet(name=named, texts=shipped_set(named))
    place = folder / named
    if not place.is_dir():
        raise SpecError(
            [f"{place}: no folder of prompts; {suggest(named, [USUAL, *shipped_sets()])}"]
        )
    try:
        texts = texts_in(place)
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError([f"{place}: cannot be read ({error})"]) from None
    problems = [problem for name, text in texts.items() for problem in _problems(place, name, text)]
    if not texts:
        problems = [f"{place}: no prompt there; a set has files such as line_client.txt"]
    if problems:
        raise SpecError(problems)
    return PromptSet(name=place.resolve().name, texts=texts)


def _problems(place: Path, name: str, text: str) -> list[str]:
    file = place / f"{name}.txt"
    try:
        return [f"{file}: {problem}" for problem in unlike(name, text)]
    except FileNotFoundError:
        return [f"{file}: simcounsel has no prompt of that name, so it would never be sent"]
    except ValueError as error:
        return [f"{file}: {error}"]
