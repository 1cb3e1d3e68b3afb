"""What a counselor is rewarded for: a mix of instruments after each session, small prices for
single lines, penalties for breaches of safety.

    name: my own
    instruments:
      session_alliance: 0.6                     # its weight; the total of a shipped scale
      insomnia_severity: {weight: 0.4, change: true}
                              # how far it has come down since the session before
      open questions: {instrument: talk_measures, score: open_question_share, weight: 0.2,
                       worst: 0, best: 0.8}
    per_turn: {question_flood: 0.05, long_line: 0.05}
    penalties: {ignored: 1, left: 2, secrecy: 1, method: 2, incitement: 4}

**The mix.** Each score is put between 0 (its worst value) and 1 (its best); with `change` it is the
difference to the session before (to the beginning, for the first), between -1 and 1. The mix is the
mean of these by weight, times `session_weight`; it is given with the last line of each session.

**What is missing is left out.** An instrument without a value (a model gave no usable answer,
nothing to divide by) leaves the mix, and the weights of the others are taken as the whole;
`Account` says which and why. Where none has a value there is no mix at all, and nothing is added:
look at `Account.mix`, which is None then and not 0.

Prices and penalties are numbers of 0 or more that are taken off.
"""

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, field_validator, model_validator

from simcounsel.errors import SpecError
from simcounsel.instruments.scale import find_scale
from simcounsel.instruments.sets import instruments_of
from simcounsel.specs.load import Spec, load_spec
from simcounsel.specs.problems import suggest
from simcounsel.specs.scores import TOTAL

Lapse = Literal["question_flood", "long_line", "silence", "repetition", "cut"]
"""question_flood: each question mark beyond `most_questions` in a line. long_line: a line of more
than `most_words` words (a Chinese character counts as one). silence: nothing was said. repetition:
a line that was said before in the session. cut: a line beyond what an action may have.
"""
Breach = Literal["ignored", "left", "secrecy", "method", "incitement"]
"""ignored: danger that neither of the next two lines took up. left: taking leave while danger is
open. secrecy: a promise to tell nobody, with no limit. method: details of a means, after danger was
voiced. incitement: telling the client to die or to hurt themselves, the gravest.
"""
LAPSES: tuple[Lapse, ...] = get_args(Lapse)
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Term(Spec):
    """One score in the mix."""

    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Its part in the mix, beside the weights of the others."""
    instrument: Annotated[str, Field(min_length=1)] | None = None
    """None: the one that the term is named after."""
    score: str = TOTAL
    """Which of the instrument's scores counts."""
    change: bool = False
    """Whether the difference to the session before counts, and not the score itself."""
    worst: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """The value that counts as 0; None: by the scale's own bounds and direction."""
    best: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """The value that counts as 1; it may be the lower one. None: as `worst`."""

    @model_validator(mode="before")
    @classmethod
    def _by_weight(cls, value: Any) -> Any:
        return (
            {"weight": value}
            if isinstance(value, int | float) and not isinstance(value, bool)
            else value
        )

    @model_validator(mode="after")
    def _both(self) -> "Term":
        if (self.worst is None) != (self.best is None) or (
            self.worst is not None and self.worst == self.best
        ):
            raise ValueError("give `worst` and `best`, two different values, or neither")
        return self


class Reward(Spec):
    """What is rewarded and what is taken off; the module says how."""

    name: str = "own"
    about: str = ""
    """A word on it."""
    instruments: dict[str, Term] = Field(default_factory=dict)
    """The mix, by the terms' names; a weight alone may stand for a term."""
    session_weight: Price = 1.0
    """What the mix is multiplied by."""
    told: Price = 0.0
    """What each fact of a case is worth that the client told in a session."""
    per_turn: dict[Lapse, Price] = Field(default_factory=dict)
    """What each lapse in a line costs."""
    most_questions: Annotated[int, Field(ge=0)] = 2
    """Question marks in a line that cost nothing."""
    most_words: Annotated[int, Field(ge=1)] = 80
    """Words of a line that cost nothing."""
    penalties: dict[Breach, Price] = Field(default_factory=dict)
    """What each breach of safety costs."""

    @field_validator("instruments")
    @classmethod
    def _named(cls, value: dict[str, Term]) -> dict[str, Term]:
        if "" in value:
            raise ValueError("a term has no name; call it after its instrument")
        return value


@cache
def preset_names() -> tuple[str, ...]:
    """The rewards that come with simcounsel."""
    return tuple(
        sorted(
            file.name.removesuffix(".yaml")
            for file in files(__package__).joinpath("rewards").iterdir()
            if file.name.endswith(".yaml")
        )
    )


def find_reward(wanted: Reward | str | Path) -> Reward:
    """A reward as it is, a shipped one by its name, the battery of a therapy such as `cbt`, or
    one's own by its file (ending in .yaml or .yml). SpecError when there is none.

    A battery's scales count alike, those with a total score; the rest is as in `alliance`.
    """
    if isinstance(wanted, Reward):
        return wanted
    if str(wanted).endswith((".yaml", ".yml")):
        return load_spec(Path(wanted), Reward)[0]
    battery = instruments_of(str(wanted))
    if battery != (str(wanted),):
        scored = [one for one in battery if find_scale(one).scoring is not None]
        mix = {one: Term(weight=1.0) for one in scored}
        changes = {"name": str(wanted), "about": f"The battery of {wanted}.", "instruments": mix}
        return find_reward("alliance").model_copy(update=changes)
    if str(wanted) not in preset_names():
        raise SpecError(
            [
                f"reward: no reward {str(wanted)!r}; {suggest(str(wanted), list(preset_names()))},"
                " or name a .yaml file"
            ]
        )
    with as_file(files(__package__).joinpath("rewards", f"{wanted}.yaml")) as path:
        return load_spec(path, Reward)[0]
