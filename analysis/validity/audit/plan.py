"""What an audit runs: the experiment as it is, and once more with each change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.validity.audit.changes import AuditChange, changed, together
from simcounsel.errors import SpecError
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Budget, Experiment, Hypothesis
from simcounsel.specs.experiment_file import load_experiment

USUAL = "as it is"


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The experiment in one way."""

    name: str
    changes: tuple[AuditChange, ...]
    """None for the experiment as it is."""
    cells: tuple[Cell, ...]

    @property
    def ablation(self) -> bool:
        """Whether the effect is to go with it."""
        return any(one.ablation for one in self.changes)

    @property
    def level(self) -> str:
        """Of what is changed; two of a pair with a plus."""
        return " + ".join(one.level for one in self.changes)


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """What is run."""

    file: Path
    experiment: Experiment
    """With the conditions of its claims alone."""
    claims: tuple[Hypothesis, ...]
    variants: tuple[Variant, ...]
    """The first is the experiment as it is."""
    left_out: Mapping[str, str]
    """Changes that are not run, and why."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All runs, shared pasts first."""
        every = (cell for one in self.variants for cell in one.cells)
        return tuple(sorted(every, key=lambda cell: cell.arm is not None))

    def with_budget(self, budget: Budget) -> "AuditPlan":
        """With a budget in place of the experiment's."""
        return replace(self, experiment=self.experiment.model_copy(update={"budget": budget}))

    @property
    def variant_of(self) -> Mapping[str, str]:
        """The variant's name by that of a run."""
        return {cell.name: one.name for one in self.variants for cell in one.cells}


def plan(file: Path, changes: Sequence[AuditChange], *, models: Sequence[str] = ()) -> AuditPlan:
    """The plan of an experiment's file. models: of other people, each a change of its own.
    SpecError where it claims nothing about clients.
    """
    experiment, cells = load_experiment(file)
    claims = tuple(one for one in experiment.hypotheses if len(one.contrast) == 2)
    if not claims:
        raise SpecError([f"{file}: no claim of two conditions is in it; add one as `hypotheses`"])
    arms = {arm for one in claims for arm in one.contrast}
    own = tuple(cell for cell in cells if cell.arm is None or cell.arm in arms)
    others = (AuditChange(name=f"model {n}", level="model", model=one, about=one)
              for n, one in enumerate(models, 1))  # fmt: skip
    variants = [Variant(name=USUAL, changes=(), cells=tuple(_named("usual", own)))]
    left_out: dict[str, str] = {}
    for change in (*changes, *others):
        made = _variant((change,), own, file)
        if isinstance(made, str):
            left_out[change.name] = made
        else:
            variants.append(made)
    return AuditPlan(
        file=file,
        experiment=experiment.model_copy(
            update={
                "conditions": tuple(arm for arm in experiment.conditions if arm.name in arms),
                "hypotheses": claims,
            }
        ),
        claims=claims,
        variants=tuple(variants),
        left_out=left_out,
    )


def with_pairs(made: AuditPlan, largest: Sequence[str]) -> AuditPlan:
    """The same with each pair of these variants run together."""
    own = tuple(cell for cell in load_experiment(made.file)[1] if _has_arm(cell, made.experiment))
    singles = {one.name: one.changes[0] for one in made.variants[1:] if not one.ablation}
    some = tuple(singles[name] for name in largest if name in singles)
    found = [_variant(pair, own, made.file) for pair in together(some)]
    pairs = tuple(one for one in found if isinstance(one, Variant))
    return replace(made, variants=(*made.variants, *pairs))


def _has_arm(cell: Cell, experiment: Experiment) -> bool:
    return cell.arm is None or cell.arm in {arm.name for arm in experiment.conditions}


def _variant(changes: tuple[AuditChange, ...], cells: Sequence[Cell], file: Path) -> Variant | str:
    """The experiment with these changes; or why that cannot be."""
    made: list[Cell] = []
    touched = False
    try:
        for cell in cells:
            world = cell.world
            for one in changes:
                if cell.past is not None or cell.arm is None:
                    _check_past(one)
                world = changed(world, one, cell.at_tick or _fork_of(cell, cells), file.parent)
            touched = touched or world != cell.world
            ticks = cell.ticks if cell.arm is None else world.ticks
            made.append(replace(cell, about=world, ticks=ticks))
    except SpecError as error:
        return error.problems[0]
    if not touched:
        return "it changes nothing here"
    slug = "--".join(one.slug for one in changes)
    name = " + ".join(one.name for one in changes)
    return Variant(name=name, changes=changes, cells=tuple(_named(slug, made)))


def _check_past(one: AuditChange) -> None:
    if one.longer_ticks or one.later_minutes:
        raise SpecError(["the conditions fork a shared past at a tick, which it would move"])


def _fork_of(cell: Cell, cells: Sequence[Cell]) -> int:
    """The tick at which runs fork a past; 0 where they do not."""
    return next((one.at_tick or 0 for one in cells if one.past == cell.name), 0)


def _named(slug: str, cells: Sequence[Cell]) -> Iterator[Cell]:
    for cell in cells:
        yield replace(
            cell,
            name=f"{slug}-{cell.name}",
            pair=f"{slug}-{cell.pair}",
            past=None if cell.past is None else f"{slug}-{cell.past}",
        )


def plan_words(made: AuditPlan) -> Iterator[str]:
    """What will be run, in words."""
    yield f"claims       {', '.join(one.id for one in made.claims)}"
    for one in made.variants[1:]:
        about = "; ".join(change.about for change in one.changes)
        yield f"  {one.level:12} {one.name}{f': {about}' if about else ''}"
    for name, why in made.left_out.items():
        yield f"  left out     {name}: {why}"
