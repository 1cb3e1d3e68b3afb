"""A case as a folder: `client.yaml`, and a `plan.yaml` where there is one."""

from pathlib import Path

from simcounsel.errors import SpecError
from simcounsel.specs import shipped
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.therapies.specs.course import CoursePlan, find_plan


def included_cases() -> tuple[str, ...]:
    """Names of the cases that come with simcounsel."""
    return tuple(sorted(file.stem for file in _place().glob("*.md")))


def read_case_folder(folder: Path) -> tuple[ClientPersona, CoursePlan | None]:
    """The client and the plan of a case: its folder, or the name of one that is included. SpecError
    where there is no client in it.
    """
    if not folder.exists() and folder.name == str(folder) and (_place() / folder).is_dir():
        folder = _place() / folder
    file, plan = folder / "client.yaml", folder / "plan.yaml"
    if not file.is_file():
        raise SpecError(
            [
                f"{folder}: no client.yaml there; give a folder that `simcounsel library course"
                f" plan` wrote, or one of {', '.join(included_cases())}"
            ]
        )
    persona = load_persona(file)
    if not isinstance(persona, ClientPersona):
        raise SpecError([f"{file}: role: {persona.role}; a case has a client"])
    return persona, find_plan(plan) if plan.is_file() else None


def _place() -> Path:
    return shipped.folder("personas") / "cases"
