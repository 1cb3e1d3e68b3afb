"""The settings of a synthesis: from which situations, in which waves, by which models, without
which roles.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from simcounsel.errors import SpecError
from simcounsel.specs.load import Lines, Spec, explain, line_of, load_spec, parse_spec, read_yaml
from simcounsel.specs.patching import patch
from simcounsel.specs.situations import SHIPPED, Situation, read_situations
from simcounsel.specs.vocabulary import SYNTHESIS_ROLES, SynthesisRole
from simcounsel.specs.world_settings import ModelName

FEWEST_TURNS = 5
STRATEGY_WORDS = 40
"""A strategy has at most so many (MindCorpus, appendix B)."""
Spared = Literal["evaluator", "corrector", "manager"]


class SynthesisModels(Spec):
    """Which model plays which role; one that is not named is played by `default`. `embed` turns
    strategies to vectors.
    """

    default: ModelName = "embedded"
    extractor: ModelName | None = None
    seeker: ModelName | None = None
    supporter: ModelName | None = None
    evaluator: ModelName | None = None
    corrector: ModelName | None = None
    manager: ModelName | None = None
    embed: ModelName | None = None

    def of(self, role: SynthesisRole) -> str:
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
        return {role: self.of(role) for role in SYNTHESIS_ROLES} | {"embed": embed}


class Synthesis(Spec):
    """A synthesis, complete: what its file says with the situations it names.

    sessions: how many dialogues; None: one of each situation. They are dealt over the themes by
    turns; more sessions than situations begin again with the first, with other luck. wave: so many
    at once; what they teach serves the next wave, so that timing changes nothing; 1 is the strict
    loop of the paper. turns: at most so many lines of the supporter; fewest_turns: no session ends
    before. line_words: the length that lines are asked to keep to. without: roles that do not take
    part; without the evaluator there is nothing to correct or to distil. strategies: what the
    supporter carries from the beginning. dropped: ids of strategies that it no longer carries.
    language: in which all is written, in English words.
    """

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[\w][\w .-]*$")] = (
        "synthesis"
    )
    about: str = ""
    seed: Annotated[int, Field(ge=0)] = 1
    situations: Annotated[tuple[Situation, ...], Field(min_length=1)]
    sessions: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    wave: Annotated[int, Field(ge=1, le=10_000)] = 8
    turns: Annotated[int, Field(ge=2, le=60)] = 10
    fewest_turns: Annotated[int, Field(ge=1, le=60)] = FEWEST_TURNS
    line_words: Annotated[int, Field(ge=10, le=300)] = 40
    language: Annotated[str, Field(min_length=2, max_length=40)] = "English"
    without: tuple[Spared, ...] = ()
    models: SynthesisModels = SynthesisModels()
    strategies: tuple[Annotated[str, Field(min_length=3, max_length=600)], ...] = ()
    dropped: tuple[str, ...] = ()

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

    @property
    def length(self) -> int:
        """How many waves there will be: a synthesis' ticks."""
        return self.waves

    def next_tick(self, tick: int) -> int:
        """The first wave that is written, from `tick` on: that one, since none is skipped."""
        return tick

    @property
    def condition(self) -> str:
        """The ablation in a word: `full`, or what is left out."""
        if "evaluator" in self.without:
            return "no_evaluator"
        return "full" if not self.without else "_".join(f"no_{role}" for role in self.without)

    def dealt(self) -> tuple[Situation, ...]:
        """The situation of each session: the themes by turns, and over again when they are used
        up.
        """
        themes = dict.fromkeys(situation.theme for situation in self.situations)
        decks = [[s for s in self.situations if s.theme == theme] for theme in themes]
        order = [s for s in chain.from_iterable(zip_longest(*decks)) if s is not None]
        return tuple(order[number % len(order)] for number in range(self.count))


def load_synthesis(path: Path, **changes: Any) -> Synthesis:
    """A synthesis from its file, with changes by KEY=VALUE. SpecError names every problem with
    file, line and remedy.
    """
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: expected `key: value` lines, found {type(data).__name__}"])
    return synthesis_of(data, path, lines, changes)


def synthesis_of(
    data: dict[str, Any],
    path: Path,
    lines: Lines,
    changes: dict[str, Any],
    at: tuple[str | int, ...] = (),
) -> Synthesis:
    """The same from data that stands in a file, at a place in it; `situations` and `themes` there
    become the situations.
    """
    data = dict(data)
    for key, value in changes.items():
        patch(data, key, value)
    named = data.pop("situations", SHIPPED)
    themes = data.pop("themes", None)
    if not isinstance(named, list | tuple):
        named = [named]
    if all(isinstance(one, str | Path) for one in named):
        place = f"{path}:{line_of(lines, (*at, 'situations'))}"
        found = _chosen(
            _situations(named, path.parent, place),
            themes,
            f"{path}:{line_of(lines, (*at, 'themes'))}",
        )
        data["situations"] = [situation.model_dump() for situation in found]
    else:
        data["situations"] = named
    inner = {place[len(at) :]: line for place, line in lines.items() if place[: len(at)] == at}
    return parse_spec(data, Synthesis, path, inner)


def settings_from(
    seeds: Sequence[Path],
    changes: dict[str, Any],
    *,
    model: str | None = None,
    roles: Mapping[str, str] | None = None,
    models: Path | None = None,
    themes: Sequence[str] | None = None,
    without: Sequence[str] | None = None,
    strategies: Path | None = None,
) -> Synthesis:
    """A synthesis as the command line asks for it: a YAML file, or seeds, with what is said beside
    it.

    Of models what is more special goes before: those of the settings' file, then `model` for every
    role in their place, then `models`, a YAML file of some roles, then `roles`, then `changes`.
    """
    named = dict(roles or {})
    unknown = [role for role in named if role not in SynthesisModels.model_fields]
    if unknown:
        raise SpecError(
            [
                f"--role {unknown[0]}: no such role; there are"
                f" {', '.join(SynthesisModels.model_fields)}"
            ]
        )
    asked: dict[str, Any] = {"models": {"default": model}} if model else {}
    if models is not None:
        asked |= {
            f"models.{role}": name
            for role, name in (
                load_spec(models, SynthesisModels)[0].model_dump(exclude_unset=True).items()
            )
        }
    changes = asked | {f"models.{role}": name for role, name in named.items()} | changes
    if themes:
        changes["themes"] = list(themes)
    if without:
        changes["without"] = list(without)
    if strategies is not None:
        changes["strategies"] = list(load_spec(strategies, StrategyFile)[0].strategies)
    if len(seeds) == 1 and seeds[0].suffix in (".yaml", ".yml"):
        return load_synthesis(seeds[0], **changes)
    stem = seeds[0].stem if len(seeds) == 1 and seeds[0].stem.isascii() else "synthesis"
    data = {"name": stem, "situations": [str(Path(seed).absolute()) for seed in seeds] or [SHIPPED]}
    return synthesis_of(data, Path("synthesize"), {(): 1}, changes)


class StrategyFile(Spec):
    """What `strategies RUN -o FILE` writes."""

    strategies: tuple[str, ...]


def _situations(named: list[str], beside: Path, place: str) -> tuple[Situation, ...]:
    try:
        return read_situations(named, beside)
    except SpecError as error:
        raise SpecError(
            [f"{place}: situations: {error.problems[0]}", *error.problems[1:]]
        ) from None


def _chosen(found: tuple[Situation, ...], themes: Any, place: str) -> tuple[Situation, ...]:
    if themes is None:
        return found
    wanted = [themes] if isinstance(themes, str) else list(themes)
    there = sorted({situation.theme for situation in found if situation.theme})
    for theme in wanted:
        if theme not in there:
            raise SpecError(
                [
                    f"{place}: themes: no situation on {theme!r}; there are"
                    f" {', '.join(there) or 'no themes at all'}"
                ]
            )
    return tuple(situation for situation in found if situation.theme in wanted)


def changed(synthesis: Synthesis, changes: dict[str, Any]) -> Synthesis:
    """The settings with changes by KEY=VALUE. SpecError when a key leads nowhere or a value does
    not fit.
    """
    data = synthesis.model_dump(mode="json")
    for key, value in changes.items():
        patch(data, key, value)
    try:
        return Synthesis.model_validate(data)
    except ValidationError as error:
        raise SpecError(
            [
                explain(e, Synthesis, Path("--set"), {}).replace("--set:1:", "--set", 1)
                for e in error.errors(include_url=False)
            ]
        ) from None
