"""What raters are asked: an instrument, read from YAML or shipped with simcounsel."""

import difflib
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from simcounsel.errors import SpecError
from simcounsel.specs.load import Spec, load_spec

SHIPPED = Path(str(files("simcounsel.viewer") / "instruments"))
Label = Annotated[str, Field(min_length=1, max_length=80)]


class RatingItem(Spec):
    """One question with a Likert scale from 1 to `points`."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    text: Annotated[str, Field(min_length=1, max_length=400)]
    points: Annotated[int, Field(ge=2, le=11)] = 5
    low: Label
    high: Label
    compares: bool = False
    """The low end is the first text of a pair and the high end the second; the CSV then also has
    the value turned so that high means the later version.
    """


class RatingInstrument(Spec):
    """The questions about each transcript or pair, and how the two speakers are called."""

    title: Label
    instructions: Annotated[str, Field(min_length=1, max_length=6000)]
    about: Literal["transcripts", "personas"]
    items: Annotated[tuple[RatingItem, ...], Field(min_length=1, max_length=40)]
    person: Annotated[str, Field(min_length=1, max_length=20)] = "A"
    """What stands for the client."""
    partner: Annotated[str, Field(min_length=1, max_length=20)] = "B"
    """For whoever the client talks with, counselor or not."""
    mask: tuple[Annotated[str, Field(pattern=r"^\w[^*]*\*?$", max_length=60)], ...] = ()
    """Words that would tell the condition; `counsel*` stands for every word that begins so."""
    may_skip: bool = True
    """Whether "cannot say" is an answer."""
    raters: Annotated[int, Field(ge=1, le=500)] = 2
    """How many, where the command line says nothing."""

    @model_validator(mode="after")
    def _agrees(self) -> "RatingInstrument":
        ids = [item.id for item in self.items]
        twice = next((id for id in ids if ids.count(id) > 1), None)
        if twice is not None:
            raise ValueError(f"two items have the id {twice!r}; give each its own")
        if self.person == self.partner:
            raise ValueError(
                f"person and partner are both {self.person!r}; raters could not tell them apart"
            )
        if self.about == "transcripts" and any(item.compares for item in self.items):
            raise ValueError(
                "`compares` is for pairs; a transcript has nothing to be compared with (about:"
                " personas)"
            )
        return self


def shipped() -> list[str]:
    """The instruments that come with simcounsel, by name."""
    return sorted(file.stem for file in SHIPPED.glob("*.yaml"))


def load_instrument(name: str) -> RatingInstrument:
    """A shipped instrument by its name, or one of your own by its file. SpecError names every
    problem.
    """
    if name in shipped():
        return load_spec(SHIPPED / f"{name}.yaml", RatingInstrument)[0]
    if name.endswith((".yaml", ".yml")) or Path(name).exists():
        return load_spec(Path(name), RatingInstrument)[0]
    near = difflib.get_close_matches(name, shipped(), n=1)
    remedy = (
        f"did you mean {near[0]}?"
        if near
        else f"known here: {', '.join(shipped())}; or name a YAML file"
    )
    raise SpecError([f"no rating instrument {name!r}; {remedy}"])
