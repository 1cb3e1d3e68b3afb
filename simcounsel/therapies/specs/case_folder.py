"""A case as a folder: `client.yaml`, and where there are some `plan.yaml` and `therapy.yaml`."""

from dataclasses import dataclass
from pathlib import Path

from simcounsel.errors import SpecError
from simcounsel.specs import shipped
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.texts.quotes import is_chinese, units
from simcounsel.therapies.specs.course import CoursePlan, find_plan
from simcounsel.therapies.specs.therapy import Therapy, find_therapy


def cases_that_are_played() -> tuple[str, ...]:
    """Names of the cases that come with simcounsel, with a client and a plan."""
    return tuple(sorted(file.parent.name for file in _place().glob("*/client.yaml")))


@dataclass(frozen=True, kw_only=True)
class Case:
    """A client, and where there are some a plan and a therapy of its own."""

    client: ClientPersona
    plan: CoursePlan | None
    therapy: Therapy | None

    @property
    def school(self) -> Therapy:
        """The therapy of its own, else that of its plan, else CBT."""
        return self.therapy or find_therapy(self.plan.therapy if self.plan else "cbt")

    @property
    def language(self) -> str:
        """In which it is written."""
        return "zh" if is_chinese(units(self.client.history)) else "en"

    def from_session(self, number: int) -> CoursePlan | None:
        """The plan as of a session, from 1: those before it were held. SpecError where the case
        does not have them.
        """
        if self.plan is None or number == 1:
            return self.plan and self.plan.model_copy(update={"held": ()})
        if not 1 <= number <= min(self.plan.length, len(self.plan.held) + 1):
            raise SpecError(
                [
                    f"--from-session {number}: the case holds {len(self.plan.held)} sessions of"
                    f" {self.plan.length}; give a number from 1 to"
                    f" {min(self.plan.length, len(self.plan.held) + 1)}"
                ]
            )
        return self.plan.model_copy(update={"held": self.plan.held[: number - 1]})


def read_case_folder(folder: Path) -> Case:
    """A case from its folder, or the name of one that is included. SpecError where there is no
    client in it.
    """
    if not folder.exists() and folder.name == str(folder) and (_place() / folder).is_dir():
        folder = _place() / folder
    file, plan = folder / "client.yaml", folder / "plan.yaml"
    if not file.is_file():
        raise SpecError(
            [
                f"{folder}: no client.yaml there; give a folder that `simcounsel library course"
                f" plan` wrote, or one of {', '.join(cases_that_are_played())}"
            ]
        )
    persona = load_persona(file)
    if not isinstance(persona, ClientPersona):
        raise SpecError([f"{file}: role: {persona.role}; a case has a client"])
    therapy = folder / "therapy.yaml"
    return Case(
        client=persona,
        plan=find_plan(plan) if plan.is_file() else None,
        therapy=find_therapy(str(therapy)) if therapy.is_file() else None,
    )


def _place() -> Path:
    return shipped.folder("personas") / "cases"
