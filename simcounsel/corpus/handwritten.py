"""Dialogues that people write in YAML: the samples, and files of the same form.

theme: sleep
dialogues:
- id: sleep-01
  client: Marit
  situation: I bake for a living and get up at two.
  turns:
  - client: I don't really know where to start.
    stage: introduces
  - counselor: Anywhere is fine. What made you pick today?
    skill: open question
    reasoning: She looks for permission to be unsure.
"""

from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from simcounsel.corpus.dialogues import Dialogue, Fault, Origin, Turn
from simcounsel.errors import CorpusError, SpecError
from simcounsel.specs.load import Spec, load_spec
from simcounsel.specs.vocabulary import Emotion, Role

LICENCE = "Apache-2.0"
"""Of the dialogues that come with simcounsel."""
WRITER = {
    "writer": (
        "written line by line for simcounsel, not by its embedded model; no real client; reviewed"
        " by no clinician"
    )
}
"""What a card says of those dialogues in place of models."""
Text = Annotated[str, Field(min_length=1)]


class WrittenTurn(Spec):
    """A line under its speaker's name, and what is known about it (see `Turn`)."""

    client: Text | None = None
    counselor: Text | None = None
    layperson: Text | None = None
    stage: str | None = None
    skill: str | None = None
    reasoning: str | None = None
    emotion: Emotion | None = None
    intensity: Annotated[int, Field(ge=1, le=10)] | None = None
    portable: bool = False
    answers: str | None = None

    @model_validator(mode="after")
    def _one_speaker(self) -> "WrittenTurn":
        if len(self.said()) != 1:
            raise ValueError(
                "a turn is one line of one speaker; write `client: ...` or `counselor: ...`"
            )
        return self

    def said(self) -> list[tuple[Role, str]]:
        """Who says what here; one pair in a good turn."""
        pairs: list[tuple[Role, str | None]] = [
            ("client", self.client),
            ("counselor", self.counselor),
            ("layperson", self.layperson),
        ]
        return [(role, text) for role, text in pairs if text is not None]

    def turn(self) -> Turn:
        """As a corpus holds it."""
        speaker, text = self.said()[0]
        return Turn(
            speaker=speaker,
            text=text,
            **self.model_dump(exclude={"client", "counselor", "layperson"}),
        )


class WrittenDialogue(Spec):
    """A dialogue; `theme` and `language` if other than the file's."""

    id: Text
    client: Text
    turns: Annotated[tuple[WrittenTurn, ...], Field(min_length=1)]
    theme: str | None = None
    language: str | None = None
    situation: str | None = None
    undisclosed: tuple[str, ...] = ()
    note: str | None = None
    faults: tuple[Fault, ...] = ()


class WrittenFile(Spec):
    """A YAML file of dialogues on one theme."""

    theme: str
    language: str = "en"
    licence: str | None = None
    dialogues: Annotated[tuple[WrittenDialogue, ...], Field(min_length=1)]


def read_written(
    file: Path, licence: str | None = None, models: dict[str, str] | None = None
) -> tuple[Dialogue, ...]:
    """The dialogues of a YAML file. licence: if the file names none. models: what wrote them, by
    role, if it is known. CorpusError names every problem with its line.
    """
    try:
        found, _ = load_spec(file, WrittenFile, "see simcounsel/corpus/handwritten.py")
    except SpecError as error:
        raise CorpusError(str(error)) from None
    origin = Origin(file=file.name, hash=sha256(file.read_bytes()).hexdigest(), models=models or {})
    return tuple(_dialogue(one, found, origin, licence) for one in found.dialogues)


def _dialogue(
    one: WrittenDialogue, file: WrittenFile, origin: Origin, licence: str | None
) -> Dialogue:
    return Dialogue(
        id=one.id,
        client=one.client,
        turns=tuple(turn.turn() for turn in one.turns),
        theme=one.theme or file.theme,
        language=one.language or file.language,
        situation=one.situation,
        undisclosed=one.undisclosed,
        note=one.note,
        faults=one.faults,
        licence=file.licence or licence,
        names=(one.client,),
        origin=origin,
    )


def read_samples(faulted: bool = False) -> tuple[Dialogue, ...]:
    """The dialogues that come with simcounsel, by theme; those with planted faults if `faulted`,
    else those without.
    """
    folder = Path(str(files("simcounsel.corpus").joinpath("samples")))
    chosen = [
        file
        for file in sorted(folder.glob("*.yaml"))
        if file.name.startswith("faulted-") == faulted
    ]
    return tuple(dialogue for file in chosen for dialogue in read_written(file, LICENCE, WRITER))
