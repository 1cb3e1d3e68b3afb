"""The clients of a safety study: what each says, when, and how that grows or eases over days.

A file is a YAML list of clients. Each has a look-alike in the same file: the same words, nothing
wrong. A client is in one of her `stages`; what a bot does in a talk moves her (`course.yaml`).
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from simcounsel.bench.protocol.asked import TOPICS
from simcounsel.specs.load import Spec
from simcounsel.specs.practice import HelpLocale
from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS, Danger, Language, RiskLevel

Risk = Literal[
    "suicide",
    "self_harm",
    "harm_to_others",
    "abuse",
    "child_abuse",
    "psychosis",
    "mania",
    "eating",
    "substances",
    "dependence",
    "sycophancy",
]
"""dependence: on the bot itself. sycophancy: a harmful decision, for which she wants agreement."""
RISKS: tuple[Risk, ...] = get_args(Risk)
Subject = Literal["belief", "sleep", "body", "use", "contact", "reliance"]
"""What a bot can ask about beside the topics of danger: what makes her sure, and what else could
be so; sleep; food, weight and bodily health; drinking and drugs; the people in her life; the bot's
place in it."""
SUBJECTS: tuple[Subject, ...] = get_args(Subject)
NAMED_BY: dict[Risk, str] = {
    "suicide": "suicide",
    "self_harm": "self_harm",
    "harm_to_others": "harm_to_others",
    "abuse": "abuse",
    "child_abuse": "abuse",
    "psychosis": "belief",
    "mania": "sleep",
    "eating": "body",
    "substances": "use",
    "dependence": "contact",
    "sycophancy": "belief",
}
"""The topic by which a bot asks for a risk."""
Helper = Literal["emergency", "line", "doctor", "adult", "person"]
"""An emergency number; a help line; a doctor or a service; a grown-up whom a minor trusts; somebody
in her life."""
Words = Annotated[str, Field(min_length=1, max_length=600)]


class Stage(Spec):
    """How near it is, and what she says then."""

    level: RiskLevel
    """Of the nearest risk, once all of this stage is told."""
    opens: Annotated[tuple[Words, ...], Field(min_length=1)]
    """How a talk begins, in turn, the last again and again."""
    says: Annotated[tuple[Words, ...], Field(min_length=2)]
    """What comes where nothing is asked that she answers, in turn."""
    asked: dict[str, tuple[Words, ...]] = Field(default_factory=dict)
    """Her answer to a topic, the first time, the second, ...; the last from then on."""
    shows: dict[str, RiskLevel] = Field(default_factory=dict)
    """The level that a line gives away, by its key: `opens.1`, `says.2`, `plan`, `plan.2`."""
    presses: tuple[str, ...] = ()
    """The keys of lines in which she wants to be agreed with."""

    @field_validator("asked", mode="before")
    @classmethod
    def _one_line_is_a_list(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: [one] if isinstance(one, str) else one for key, one in value.items()}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if unknown := [key for key in self.asked if key not in (*TOPICS, *SUBJECTS)]:
            raise ValueError(f"asked: no topic {unknown[0]!r}; {', '.join((*TOPICS, *SUBJECTS))}")
        if missing := [key for key in (*self.shows, *self.presses) if key not in self.lines]:
            raise ValueError(f"no line {missing[0]!r} in this stage; {', '.join(self.lines)}")
        nearest = max((RISK_LEVELS.index(one) for one in self.shows.values()), default=0)
        if RISK_LEVELS[nearest] != self.level:
            raise ValueError(f"shows: comes to {RISK_LEVELS[nearest]}, and level is {self.level}")
        if self.level != "none" and not any(
            key.startswith(("opens", "says")) for key in self.shows
        ):
            raise ValueError("shows: no line that comes unasked gives a sign")
        return self

    @cached_property
    def lines(self) -> dict[str, str]:
        """Every line by its key."""
        found = {f"opens.{at}": one for at, one in enumerate(self.opens, 1)}
        found |= {f"says.{at}": one for at, one in enumerate(self.says, 1)}
        for topic, some in self.asked.items():
            found |= {topic if at == 1 else f"{topic}.{at}": one for at, one in enumerate(some, 1)}
        return found


class Life(Spec):
    """Her days beside the bot."""

    work: Annotated[str, Field(min_length=1, max_length=60)]
    """Where she works or learns: `the ward`, `school`."""
    friend: Annotated[str, Field(min_length=1, max_length=30)]
    """The name of somebody whom she could meet."""
    friend_is: Annotated[str, Field(min_length=1, max_length=60)]
    """`her sister`, `a neighbour`."""


class SafetyClient(Spec):
    """Somebody who writes to a bot over days."""

    described: ClassVar[bool] = False
    """Whether there is only a description, which a model plays as it plays anybody's."""
    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{2,59}$")]
    like: str | None = None
    """Of a look-alike: whose words these are, with nothing wrong."""
    name: Annotated[str, Field(min_length=1, max_length=30, pattern=r"^[^\W\d_][\w .'’-]*$")]
    age: Annotated[int, Field(ge=10, le=99)]
    gender: Annotated[str, Field(min_length=1, max_length=30)]
    language: Language
    locale: HelpLocale
    """Where she is: whose numbers help."""
    risks: tuple[Risk, ...]
    """What is there, the nearest first; () for a look-alike."""
    persona: Words
    """Who she is and how she talks, for a model that plays her."""
    life: Life
    claim: Words | None = None
    """What she has come to believe or wants to do, with which a bot could agree; for psychosis,
    mania, eating, dependence, sycophancy and harm to others."""
    helps: tuple[Helper, ...] = ()
    """Whose help is right; () for a look-alike."""
    stages: Annotated[tuple[Stage, ...], Field(min_length=1, max_length=4)]
    """From the first sign to the nearest; one for a look-alike."""
    eased: Annotated[tuple[Words, ...], Field(min_length=2)]
    """What she says once somebody helps."""
    never: tuple[Words, ...] = ()
    """What she never says unasked."""
    good: Words
    """What a good answer does."""
    faults: Annotated[tuple[Words, ...], Field(min_length=1)]
    """What would be wrong here."""
    sources: tuple[str, ...] = ()
    """Keys of `sources.yaml`: the guidance that `good` follows."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if bool(self.like) == bool(self.risks):
            raise ValueError("a client has risks, and a look-alike has `like` and none")
        levels = [RISK_LEVELS.index(one.level) for one in self.stages]
        if self.like and levels != [0]:
            raise ValueError("a look-alike has one stage, of level none")
        if self.risks and (len(levels) < 2 or levels != sorted(levels) or not levels[0]):
            raise ValueError("stages: two or more, from the first sign to the nearest level")
        if self.risks and not (self.helps and self.sources):
            raise ValueError("helps and sources: say whose help is right, and after which guidance")
        needs = {"psychosis", "mania", "eating", "dependence", "sycophancy", "harm_to_others"}
        if (needing := [one for one in self.risks if one in needs]) and not self.claim:
            raise ValueError(f"claim: {needing[0]} needs one")
        return self

    @property
    def minor(self) -> bool:
        """Whether she is under age."""
        return self.age < 18

    @property
    def dangers(self) -> tuple[Danger, ...]:
        """Those of her risks for which the world's protocol has a word."""
        named = ("abuse" if one == "child_abuse" else one for one in self.risks)
        return tuple(dict.fromkeys(one for one in named if one in DANGERS))

    def check_player(self, by_model: bool) -> None:
        """SpecError where this client cannot be played so: by a model, or by the file alone."""

    def said(self) -> Iterator[str]:
        """Every line that she may say."""
        for stage in self.stages:
            yield from stage.lines.values()
        yield from self.eased
