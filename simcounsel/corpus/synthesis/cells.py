"""Syntheses in a sweep: conditions x seeds, and what each would take."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import model_validator

from simcounsel.corpus.synthesis.kind import SYNTHESIS
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.settings import Synthesis
from simcounsel.corpus.synthesis.settings_file import synthesis_of
from simcounsel.errors import SpecError
from simcounsel.lab.rules import Rule
from simcounsel.lab.shares import Forecast, Shares
from simcounsel.llm.switchboard import Switchboard
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.experiment_file import ExperimentKind
from simcounsel.specs.load import Lines, line_of

if TYPE_CHECKING:
    from simcounsel.corpus.synthesis.workshop import Workshop

CORPUS = "corpus"
"""Whom a cell is about that writes dialogues with many clients."""
ONLY_IN_WORLDS = (
    "worlds",
    "clients",
    "in_place_of",
    "paired_at",
    "past",
    "ticks",
    "models",
    "measurements",
    "hypotheses",
    "multiverse",
)
A_QUESTION = Rule(requests=(1, 1), sent_bytes=(2_600, 4_000))
"""Of a question: 2,200 as tests/benchmarks/synthesis.py counts, and the schema."""
REVISED = (0.02, 0.22)
"""The share of lines that are revised (MindCorpus, Table V)."""


class SynthesisExperiment(Experiment):
    """An experiment with corpora: conditions x seeds of a synthesis, for ablations and for groups
    of models.
    """

    synthesis: dict[str, Any]
    """The settings of the synthesis, in place of worlds; the conditions patch them."""

    @model_validator(mode="after")
    def _has_runs(self) -> "SynthesisExperiment":
        arms = [arm.set for arm in self.conditions]
        if any("seed" in settings for settings in (self.synthesis, self.set, *arms)):
            raise ValueError(
                "in an experiment write `seeds: [...]` beside `synthesis`, not `seed` in it"
            )
        lived = [key for key in ONLY_IN_WORLDS if getattr(self, key)]
        if lived:
            raise ValueError(
                f"`{lived[0]}` is for people who live in worlds; a synthesis is set under"
                " `synthesis` or in a condition"
            )
        return self


def _cells(experiment: SynthesisExperiment, path: Path, lines: Lines) -> Iterator[Cell]:
    """A synthesis under each condition, with each seed."""
    for arm in experiment.conditions:
        changes = json.loads(json.dumps({**experiment.set, **arm.set}, default=str))
        data = {"name": experiment.name, **experiment.synthesis}
        try:
            settings = synthesis_of(data, path, lines, changes, ("synthesis",))
        except SpecError as error:
            place = f"{path}:{line_of(lines, ('conditions',))}: with condition {arm.name!r}"
            raise SpecError([f"{place}: {error.problems[0]}", *error.problems[1:]]) from None
        for seed in experiment.all_seeds:
            yield Cell(
                name=f"s{seed}-{arm.name}",
                about=settings.model_copy(update={"seed": seed}),
                kind=SYNTHESIS,
                client=CORPUS,
                arm=arm.name,
                seed=seed,
                pair=f"s{seed}",
                ticks=settings.waves,
                changes=dict(arm.set),
            )


def _with_models(experiment: SynthesisExperiment, models: Mapping[str, str]) -> SynthesisExperiment:
    """The one that answers is the `default` of all."""
    kept = {k: v for k, v in experiment.set.items() if k != "models"}
    named = experiment.synthesis | {"models": {"default": models["reason"]}}
    return experiment.model_copy(update={"set": kept, "synthesis": named})


EXPERIMENT = ExperimentKind(spec=SynthesisExperiment, cells=_cells, with_models=_with_models)


def going(
    cell: Cell, record: SynthesisRecord, models: Switchboard, report: Callable[[int], None]
) -> "tuple[Workshop, None]":
    """What writes a synthesis, to its end. report: is told how many waves are complete."""
    from simcounsel.corpus.synthesis.workshop import Workshop

    return Workshop(record, models=models, on_wave=report), None


def plan_lines(cells: Sequence[Cell], days: float) -> Iterator[str]:
    """How many situations and sessions."""
    settings = [cell.about for cell in cells if isinstance(cell.about, Synthesis)]
    yield f"situations   {len(settings[0].situations)}"
    yield f"sessions     {sum(one.count for one in settings)}"


def by_rule(settings: Synthesis, waves: int, since: int = 0) -> Forecast:
    """What a whole synthesis would take."""
    low, high = (_of_sessions(settings, end) for end in (False, True))
    return Forecast(low=low, high=high, basis="by a rule, from earlier syntheses of ours")


def _of_sessions(settings: Synthesis, high: bool) -> Shares:
    """Each turn asks seeker, supporter and evaluator, and some the corrector; a session begins with
    the extractor and ends with the manager.
    """
    turns = settings.count * (settings.turns if high else settings.fewest_turns)
    asked = {"seeker": turns, "supporter": turns, "extractor": settings.count}
    if "evaluator" not in settings.without:
        asked["evaluator"] = turns
        if "corrector" not in settings.without:
            asked["corrector"] = round(turns * REVISED[high])
        if "manager" not in settings.without:
            asked["manager"] = settings.count
    return {role: A_QUESTION.share(high, count) for role, count in asked.items()}
