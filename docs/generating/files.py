"""Every key of every file that people write."""

from pydantic import BaseModel

from docs.generating.fields import keys, within
from docs.generating.text import page, prose, table
from simcounsel.corpus.synthesis.cells import SynthesisExperiment
from simcounsel.corpus.synthesis.settings import Synthesis
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.persona import ClientPersona, CounselorPersona, LaypersonPersona
from simcounsel.specs.scale import Scale
from simcounsel.specs.world import World
from simcounsel.therapies.files import ByManualFile, ByTherapyFile
from simcounsel.therapies.specs.course import CoursePlan
from simcounsel.therapies.specs.exercises import Exercises
from simcounsel.therapies.specs.manual import Manual
from simcounsel.therapies.specs.therapy import Therapy
from training.recipe import Recipe

KINDS: dict[str, tuple[type[BaseModel], ...]] = {
    "World": (World,),
    "Persona": (ClientPersona, CounselorPersona, LaypersonPersona),
    "Experiment": (Experiment,),
    "Synthesis": (Synthesis, SynthesisExperiment),
    "Policy `staged` or `single`": (ByManualFile,),
    "Policy `course`": (ByTherapyFile,),
    "Manual": (Manual,),
    "Therapy": (Therapy,),
    "Plan of a course": (CoursePlan,),
    "Exercises": (Exercises,),
    "Scale": (Scale,),
    "Recipe of a training": (Recipe,),
}


def by_file() -> dict[str, list[type[BaseModel]]]:
    """The models of each kind of file; one that several share stands where it comes first."""
    seen: set[type[BaseModel]] = set()
    found: dict[str, list[type[BaseModel]]] = {}
    roots = {root for kinds in KINDS.values() for root in kinds}
    for title, kinds in KINDS.items():
        mine = [one for kind in kinds for one in within(kind)]
        found[title] = [
            one
            for one in dict.fromkeys(mine)
            if one not in seen and (one in kinds or one not in roots)
        ]
        seen |= set(found[title])
    return found


def files() -> str:
    """The page."""
    parts = []
    for title, models in by_file().items():
        parts.append(f"## {title}")
        for model in models:
            rows = [(f"`{one.name}`", one.takes, one.default, one.meaning) for one in keys(model)]
            parts.append(
                f"### {model.__name__}\n\n{prose(model.__doc__)}\n\n{table(('key', 'takes', 'default', 'meaning'), rows)}"
            )
    about = (
        "Every key of the YAML files that you write, made of what reads them. `simcounsel check FILE` tells what is wrong with one, with"
        " its line; `simcounsel init` writes files to start from. A key that is not known is an error, with the one that was meant."
    )
    return page("Files", about, *parts)
