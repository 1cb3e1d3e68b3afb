"""A library of exercises: what each is for, on which days it may be offered, and what speaks
against it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from simcounsel.errors import SpecError
from simcounsel.specs.load import Spec, line_of, load_spec
from simcounsel.specs.problems import suggest
from simcounsel.specs.vocabulary import Emotion

ExerciseStage = Literal["beginning", "intermediate", "advanced"]
STAGES: tuple[ExerciseStage, ...] = ("beginning", "intermediate", "advanced")
Text = Annotated[str, Field(min_length=1, max_length=1000)]
Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,40}$")]
Day = Annotated[int, Field(ge=1, le=366)]


class Contraindication(Spec):
    """Something for which some exercises are wrong."""

    id: Id
    what: Text
    cues: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Words of a client that suggest it, lower case."""


class Exercise(Spec):
    """An exercise."""

    id: Id
    name: Text
    kind: Text
    goal: Text
    days: tuple[Day, Day]
    """First and last day of a protocol on which it may be offered."""
    stage: ExerciseStage
    minutes: Annotated[int, Field(ge=1, le=120)]
    suits: Annotated[tuple[Emotion, ...], Field(min_length=1)]
    """What the client feels."""
    not_when: tuple[Id, ...] = ()
    """Ids of contraindications."""
    steps: Annotated[tuple[Text, ...], Field(min_length=1, max_length=12)]
    afterwards: Text
    """The question with which to ask how it was."""


class Exercises(Spec):
    """A library."""

    contraindications: tuple[Contraindication, ...] = ()
    denials: tuple[Text, ...] = ()
    """Words that deny a cue where they are right before it, in the language of the cues; those of
    English and Chinese are known.
    """
    exercises: Annotated[tuple[Exercise, ...], Field(min_length=1)]

    def named(self, name: str) -> Exercise | None:
        """The exercise of that id; None when it is not, or no longer, in the library."""
        return next((exercise for exercise in self.exercises if exercise.id == name), None)

    def problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """What the parts say against each other, with the path in the file."""
        known = [one.id for one in self.contraindications]
        for index, name in enumerate(known):
            if known.index(name) != index:
                yield (
                    ("contraindications", index, "id"),
                    f"a second contraindication has the id {name!r}; ids must differ",
                )
        for index, exercise in enumerate(self.exercises):
            at = ("exercises", index)
            if [one.id for one in self.exercises].index(exercise.id) != index:
                yield (*at, "id"), f"a second exercise has the id {exercise.id!r}; ids must differ"
            if exercise.days[0] > exercise.days[1]:
                yield (
                    (*at, "days"),
                    f"the first day, {exercise.days[0]}, comes after the last, {exercise.days[1]}",
                )
            for name in exercise.not_when:
                if name not in known:
                    yield (
                        (*at, "not_when"),
                        f"no contraindication {name!r}; {_remedy(name, known)}",
                    )


def _remedy(name: str, known: list[str]) -> str:
    if not known:
        return "there are none: add it under `contraindications:`, with `what` and `cues`"
    return suggest(name, known)


def load_exercises(path: Path) -> Exercises:
    """A library's file; SpecError names every problem in it with its line."""
    library, lines = load_spec(path, Exercises)
    problems = [
        f"{path}:{line_of(lines, at)}: {'.'.join(map(str, at))}: {what}"
        for at, what in library.problems()
    ]
    if problems:
        raise SpecError(problems)
    return library
