"""An experiment: which clients live through which worlds under which conditions."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from simcounsel.chance import chance
from simcounsel.specs.load import Spec
from simcounsel.specs.multiverse import Multiverse
from simcounsel.specs.residents import Name
from simcounsel.specs.world_settings import ModelRoles

Point = Annotated[str, Field(min_length=1)]
"""A time of measurement, as measurements name it: `baseline`, `after session 2`, `end`."""
Change = Literal["whole", "adjacent"] | tuple[Point, Point]
"""`whole`: the last measurement minus the first. `adjacent`: the mean change from one to the next.
Two points: the second minus the first.
"""
Slug = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z0-9][a-z0-9_-]*$")]
LEAST_CLIENTS = 6
"""With fewer no test is made: of five differences a sign-flip test cannot come below p = 0.0625."""


class Arm(Spec):
    """A condition: a name, and the patches on the world by which it differs from the other
    conditions.
    """

    name: Slug
    about: str = ""
    set: dict[str, Any] = Field(default_factory=dict)
    do: tuple[str, ...] = ()
    """What is cut in people, as `fork --do` has it; from the fork on where there is a shared past.
    """


class Hypothesis(Spec):
    """A planned test: of how `score` in `instrument` changed."""

    id: Slug
    says: str = ""
    instrument: str
    score: str = "total"
    contrast: Annotated[tuple[Slug, ...], Field(min_length=2)]
    """Two arms, or all that an ANOVA compares."""
    test: Literal["clients", "paired_t", "welch", "anova", "permutation", "mixed"] = "clients"
    change: Change | None = None
    """Which change. None: from the baseline to the last measurement, or the mean level of what is
    asked after each session. `whole`: the last measurement minus the first, of whatever is asked
    again. `adjacent`: the mean change from one measurement to the next. Two points, such as `[after
    session 1, after session 3]`: the second minus the first.
    """
    direction: Literal["lower", "higher", "differs"] = "differs"
    """What the first arm is expected to be beside the second."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    respondent: str | None = None
    """Whose answers are tested, such as `self` or `observer`; needed where several answer the
    instrument.
    """
    judge: str | None = None
    """The model that answered, by its name; needed where several models did."""
    family: str = ""
    """Tests of one family are corrected together (Holm 1979); without one, all that have none."""

    @model_validator(mode="after")
    def _two_sides(self) -> "Hypothesis":
        if len(self.contrast) > 2 and (
            self.test not in ("anova", "permutation", "mixed") or self.direction != "differs"
        ):
            raise ValueError(
                "more than two arms are compared by `anova`, `permutation` or `mixed`, with"
                " direction `differs`"
            )
        if isinstance(self.change, tuple) and self.change[0] == self.change[1]:
            raise ValueError(
                f"change: from {self.change[0]!r} to itself nothing changes; name two points"
            )
        return self


class Budget(Spec):
    """What the whole sweep may cost: no request is sent that may take more than what is left."""

    usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """0: only what is free is asked."""
    calls: Annotated[int, Field(ge=1)] | None = None
    """Requests on the wire."""


class Experiment(Spec):
    """clients x conditions x seeds, in each world."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    about: str = ""
    worlds: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    """Persona files, each of which takes the part of the resident `in_place_of`; none: the world's
    own client.
    """
    in_place_of: Name | None = None
    conditions: Annotated[tuple[Arm, ...], Field(min_length=1)]
    design: Literal["crossed", "parallel"] = "crossed"
    """crossed: each client lives under every condition. parallel: each under one, as in a trial
    with groups; clients are dealt to conditions by chance, in groups as equal as can be.
    """
    allocation: Annotated[int, Field(ge=0)] = 1
    """The seed by which a parallel design deals clients."""
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = ()
    repetitions: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Seeds 1, 2, ..., in place of `seeds`."""
    paired_at: Annotated[int, Field(ge=1)] | None = None
    """Live each client's first ticks once, in the world as `past` patches it, then fork them into
    every condition, so that the arms of a pair share their past.
    """
    past: dict[str, Any] = Field(default_factory=dict)
    set: dict[str, Any] = Field(default_factory=dict)
    """Patches for all conditions."""
    ticks: Annotated[int, Field(ge=1)] | None = None
    models: ModelRoles | None = None
    measurements: tuple[Any, ...] = ()
    """As in a world file, for all conditions."""
    hypotheses: tuple[Hypothesis, ...] = ()
    budget: Budget = Budget()
    multiverse: Multiverse | None = None
    """The choices that `simcounsel study validity multiverse` holds the result against; a sweep
    does not look at it.
    """

    @model_validator(mode="after")
    def _has_runs(self) -> "Experiment":
        if not self.worlds:
            raise ValueError("an experiment needs `worlds` to live in")
        return self

    @model_validator(mode="after")
    def _holds_together(self) -> "Experiment":
        if self.seeds and self.repetitions:
            raise ValueError("`seeds` and `repetitions` say the same thing; keep one")
        if self.clients and not self.in_place_of:
            raise ValueError("`clients` need `in_place_of`: whose part in the world they take")
        if self.design == "parallel":
            if self.paired_at:
                raise ValueError(
                    "in a `parallel` design no client lives under two conditions; leave `paired_at`"
                    " out"
                )
            if self.worlds and len(self.clients) < len(self.conditions):
                raise ValueError(
                    f"a `parallel` design with {len(self.conditions)} conditions needs as many"
                    f" `clients` at least, and there are {len(self.clients)}"
                )
        if self.past and not self.paired_at:
            raise ValueError("`past` is run before a fork; add `paired_at`")
        names = [arm.name for arm in self.conditions]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise ValueError(f"two conditions are called {twice!r}")
        return self

    def arms_of(self, client: str | None) -> tuple[Arm, ...]:
        """The conditions under which a client (its file) lives."""
        if self.design == "crossed" or client is None:
            return self.conditions
        order = sorted(self.clients)
        chance(self.allocation, "allocation").shuffle(order)
        return (self.conditions[order.index(client) % len(self.conditions)],)

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """The seeds, one repetition each."""
        return self.seeds or tuple(range(1, (self.repetitions or 1) + 1))
