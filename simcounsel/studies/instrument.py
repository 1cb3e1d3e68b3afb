"""What raters are asked: an instrument, read from YAML or shipped with simcounsel."""

import difflib
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from simcounsel.errors import SpecError
from simcounsel.specs.load import Spec, load_spec
from simcounsel.studies.entry import (
    ATTENTION,
    STANDARD,
    STANDARD_CONSENT,
    STANDARD_FACTS,
    Fact,
    Training,
)

SHIPPED = Path(str(files("simcounsel.studies") / "instruments"))
About = Literal["transcripts", "personas", "persona and talk", "recalls"]
"""`persona and talk`: a persona beside what the person said and did; `recalls`: what came to mind
at one moment, in two ways.
"""
Label = Annotated[str, Field(min_length=1, max_length=80)]


class RatingItem(Spec):
    """One question with a Likert scale from 1 to `points`."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    text: Annotated[str, Field(min_length=1, max_length=400)]
    points: Annotated[int, Field(ge=2, le=11)] = 5
    low: Label
    high: Label
    compares: bool = False
    """The low end is the first of two and the high end the second; the CSV then also has the value
    turned so that high means the later version of a persona, or the emotion-aware recall.
    """
    each: bool = False
    """Asked of each of two recalls by itself, so twice; the CSV says which way of recall it was."""
    of: Literal[1, 2] | None = None
    """In a study, of which of the two it is asked; None: not of one by itself."""


class RatingInstrument(Spec):
    """The questions about each transcript or pair, and how the two speakers are called."""

    title: Label
    instructions: Annotated[str, Field(min_length=1, max_length=6000)]
    about: About
    order: Literal["hidden", "told"] = "hidden"
    """Of two versions of a persona: whether raters are told which one is the earlier."""
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
    consent: Annotated[str, Field(min_length=1, max_length=6000)] | None = None
    """What a rater agrees to before anything is shown; `standard`: a text of ours. None: nothing is
    asked.
    """
    about_you: Literal["standard"] | Annotated[tuple[Fact, ...], Field(max_length=10)] = ()
    """What a rater may say of themselves, asked once; `standard`: profession, practice,
    language.
    """
    checks_every: Annotated[int, Field(ge=0, le=100)] = 0
    """With one of so many items a rater is asked to choose a certain number, to show that they
    read. 0: never. Who chooses another is told apart in the CSV, and not left out.
    """
    training: Training | None = None
    """An item to train on, with feedback; it counts in nothing."""

    @model_validator(mode="after")
    def _agrees(self) -> "RatingInstrument":
        ids = [item.id for item in self.items]
        if ATTENTION in ids:
            raise ValueError(
                f"{ATTENTION!r} is what a check of attention is called; choose another id"
            )
        unknown = set(self.training.answers) - set(ids) if self.training else set()
        if unknown:
            raise ValueError(f"training answers {sorted(unknown)[0]!r}, which is no item's id")
        twice = next((id for id in ids if ids.count(id) > 1), None)
        if twice is not None:
            raise ValueError(f"two items have the id {twice!r}; give each its own")
        if self.person == self.partner:
            raise ValueError(
                f"person and partner are both {self.person!r}; raters could not tell them apart"
            )
        if self.order == "told" and self.about != "personas":
            raise ValueError("`order: told` is for two versions of a persona (about: personas)")
        two = self.about == "recalls" or (self.about == "personas" and self.order == "hidden")
        if not two and any(item.compares for item in self.items):
            raise ValueError(
                "`compares` is for two whose order is hidden; a transcript has nothing to be"
                " compared with (about: personas, or recalls)"
            )
        if self.about != "recalls" and any(item.each for item in self.items):
            raise ValueError("`each` is asked of two recalls (about: recalls)")
        return self

    def of_each(self) -> "RatingInstrument":
        """As a study asks it: what is asked of each of two is two questions, `fits_1` and
        `fits_2`.
        """
        items = tuple(part for item in self.items for part in _of_each(item))
        consent = STANDARD_CONSENT if self.consent == STANDARD else self.consent
        facts = STANDARD_FACTS if self.about_you == STANDARD else self.about_you
        return self.model_copy(update={"items": items, "consent": consent, "about_you": facts})


def _of_each(item: RatingItem) -> tuple[RatingItem, ...]:
    if not item.each:
        return (item,)
    return tuple(
        item.model_copy(
            update={
                "id": f"{item.id}_{number}",
                "text": f"Recall {number}: {item.text}",
                "each": False,
                "of": number,
            }
        )
        for number in (1, 2)
    )


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
