"""The settings of a synthesis: from which situations, in which waves, by which models, without
which roles.
"""

from collections.abc import Callable
from itertools import chain, zip_longest
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from simcounsel.corpus.synthesis.situations import Situation
from simcounsel.specs.load import Spec
from simcounsel.specs.world_settings import FallbackLimits, ModelName

FEWEST_TURNS = 5
STRATEGY_WORDS = 40
"""A strategy has at most so many (MindCorpus, appendix B)."""
WriterRole = Literal["extractor", "seeker", "supporter", "evaluator", "corrector", "manager"]
"""Who writes a dialogue (Xue et al. 2026, MindCorpus, section III.A)."""
ROLES: tuple[WriterRole, ...] = get_args(WriterRole)
Spared = Literal["evaluator", "corrector", "manager"]


class SynthesisModels(Spec):
    """Which model plays which role; one that is not named is played by `default`."""

    default: ModelName = "embedded"
    extractor: ModelName | None = None
    seeker: ModelName | None = None
    supporter: ModelName | None = None
    evaluator: ModelName | None = None
    corrector: ModelName | None = None
    manager: ModelName | None = None
    embed: ModelName | None = None
    """Turns strategies to vectors; None: see `resolved`."""

    def of(self, role: WriterRole) -> str:
        """The model that plays a role."""
        named: str | None = getattr(self, role)
        return named or self.default

    def resolved(self) -> dict[str, str]:
        """All seven, by role. Vectors come from the embedded model, unless all is scripted or
        recorded.
        """
        free = self.default == "scripted" or self.default.startswith(("recorded:", "scripted:"))
        embed = self.embed or (
            "embedded"
            if not free
            else "scripted"
            if self.default.startswith("scripted")
            else self.default
        )
        return {role: self.of(role) for role in ROLES} | {"embed": embed}


class Synthesis(Spec):
    """A synthesis, complete: what its file says with the situations it names."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[\w][\w .-]*$")] = (
        "synthesis"
    )
    about: str = ""
    seed: Annotated[int, Field(ge=0)] = 1
    situations: Annotated[tuple[Situation, ...], Field(min_length=1)]
    sessions: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How many dialogues; None: one of each situation. They are dealt over the themes by turns;
    more sessions than situations begin again with the first, with other luck.
    """
    wave: Annotated[int, Field(ge=1, le=10_000)] = 8
    """How many at once; what they teach serves the next wave, so that timing changes nothing; 1 is
    the strict loop of the paper.
    """
    turns: Annotated[int, Field(ge=2, le=60)] = 10
    """Lines of the supporter at most."""
    fewest_turns: Annotated[int, Field(ge=1, le=60)] = FEWEST_TURNS
    """No session ends before."""
    line_words: Annotated[int, Field(ge=10, le=300)] = 40
    """The length that lines are asked to keep to."""
    language: Annotated[str, Field(min_length=2, max_length=40)] = "English"
    """In which all is written, in English words."""
    without: tuple[Spared, ...] = ()
    """Roles that do not take part; without the evaluator nothing is corrected or distilled."""
    informed: bool = False
    """Whether supporter and evaluator know the seeker's file, as in the paper; neither may bring up
    what the seeker has not told.
    """
    models: SynthesisModels = SynthesisModels()
    fallbacks: FallbackLimits = FallbackLimits()
    """When so many answers are unusable that it stops, with a wave that is not written."""
    strategies: tuple[Annotated[str, Field(min_length=3, max_length=600)], ...] = ()
    """What the supporter carries from the beginning."""
    dropped: tuple[str, ...] = ()
    """Ids of strategies that it no longer carries."""

    def model_names(self) -> dict[str, str]:
        """The model of each role."""
        return self.models.resolved()

    def with_models(self, name: Callable[[str], str]) -> Self:
        """With other names for all its models."""
        given = self.models.model_dump(exclude_none=True)
        renamed = {role: name(model) for role, model in given.items()}
        return self.model_copy(update={"models": self.models.model_copy(update=renamed)})

    @field_validator("strategies")
    @classmethod
    def _short(cls, strategies: tuple[str, ...]) -> tuple[str, ...]:
        for strategy in strategies:
            if len(strategy.split()) > STRATEGY_WORDS:
                raise ValueError(
                    f"a strategy of {len(strategy.split())} words ({strategy[:40]!r}...); at most"
                    f" {STRATEGY_WORDS}"
                )
        return strategies

    @field_validator("without")
    @classmethod
    def _sorted(cls, without: tuple[Spared, ...]) -> tuple[Spared, ...]:
        return tuple(sorted(set(without)))

    @model_validator(mode="before")
    @classmethod
    def _no_more_than_turns(cls, data: Any) -> Any:
        """Who asks for few turns need not lower the fewest as well."""
        if (
            isinstance(data, dict)
            and "fewest_turns" not in data
            and str(data.get("turns", "")).isdigit()
        ):
            return {**data, "fewest_turns": min(FEWEST_TURNS, int(data["turns"]))}
        return data

    @model_validator(mode="after")
    def _turns_fit(self) -> "Synthesis":
        if self.fewest_turns > self.turns:
            raise ValueError(f"fewest_turns: {self.fewest_turns} is more than turns: {self.turns}")
        return self

    @property
    def count(self) -> int:
        """How many sessions there will be."""
        return self.sessions or len(self.situations)

    @property
    def waves(self) -> int:
        """How many waves these are."""
        return -(-self.count // self.wave)

    def amount(self, ticks: int) -> int:
        """How many sessions there are in the first waves."""
        return min(self.count, ticks * self.wave)

    def pace(self) -> tuple[object, ...]:
        """What decides how much is asked in a session."""
        return self.without, self.turns, self.fewest_turns

    @property
    def condition(self) -> str:
        """The ablation in a word: `full`, or what is left out, and whether they are informed."""
        left = ("evaluator",) if "evaluator" in self.without else self.without
        said = [*(f"no_{role}" for role in left), *(["informed"] if self.informed else [])]
        return "_".join(said) or "full"

    def dealt(self) -> tuple[Situation, ...]:
        """The situation of each session: the themes by turns, and over again when they are used
        up.
        """
        themes = dict.fromkeys(situation.theme for situation in self.situations)
        decks = [[s for s in self.situations if s.theme == theme] for theme in themes]
        order = [s for s in chain.from_iterable(zip_longest(*decks)) if s is not None]
        return tuple(order[number % len(order)] for number in range(self.count))
