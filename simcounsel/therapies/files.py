"""What files may tell `staged`, `single` and `course`, and what kinds of files they are."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from simcounsel.specs.file_kind import FileKind
from simcounsel.specs.load import Lines, Spec, load_spec, parse_spec
from simcounsel.specs.practice import PolicyFile
from simcounsel.therapies.specs.course import FEWEST_SESSIONS, MOST_SESSIONS, CoursePlan, find_plan
from simcounsel.therapies.specs.exercises import Exercises, load_exercises
from simcounsel.therapies.specs.manual import Manual
from simcounsel.therapies.specs.manual_file import load_manual, sound
from simcounsel.therapies.specs.therapy import Therapy, find_therapy, therapy_named


class ByManualFile(Spec):
    """Of `staged` and `single`."""

    manual: Manual | Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """The name of one that comes with simcounsel, or in a file the path of one's own, which is read
    then.
    """
    exercises: Exercises | None = None
    """A catalogue of one's own in place of the one that comes with simcounsel; in a file it is
    named by its file.
    """


class ByTherapyFile(Spec):
    """Of a `course`."""

    therapy: Therapy | None = None
    """In a file it is named by its id or its file. It is here in full, so that a world is
    complete.
    """
    sessions: Annotated[int, Field(ge=FEWEST_SESSIONS, le=MOST_SESSIONS)] | None = None
    """How many."""
    plan: CoursePlan | None = None
    """In a file it is named by its file."""

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        plan = value.get("plan")
        planned = plan.get("therapy") if isinstance(plan, dict) else getattr(plan, "therapy", None)
        return value | {"therapy": therapy_named(value.get("therapy") or planned or "cbt")}

    @model_validator(mode="after")
    def _plan_fits(self) -> "ByTherapyFile":
        if self.plan and self.sessions not in (None, self.plan.length):
            raise ValueError(
                f"sessions: {self.sessions}, but the plan has {self.plan.length}; leave `sessions:`"
                " out, or change the plan"
            )
        if self.plan and self.therapy and self.therapy.id != self.plan.therapy:
            raise ValueError(
                f"therapy: {self.therapy.id}, but the plan is one of {self.plan.therapy}; leave"
                " `therapy:` out, or change the plan"
            )
        return self


STAGED = PolicyFile(
    settings=ByManualFile,
    reads={"manual": load_manual, "exercises": load_exercises},
    argument="manual",
    by_file=True,
)
SINGLE = PolicyFile(settings=ByManualFile, reads=STAGED.reads, argument="manual")
COURSE = PolicyFile(
    settings=ByTherapyFile,
    reads={"therapy": lambda file: find_therapy(str(file)), "plan": find_plan},
    argument="therapy",
)


def _check_manual(path: Path, data: dict[str, Any], lines: Lines) -> None:
    sound(parse_spec(data, Manual, path, lines), path, lines)


def _graph(path: Path) -> str:
    from simcounsel.therapies.staged.diagram import diagram_of

    return diagram_of(load_manual(path))


MANUAL = FileKind(keys=("phases",), noun="a manual", check=_check_manual, graph=_graph)
THERAPY = FileKind(
    keys=("conceptualization",),
    noun="a therapy",
    check=lambda path, data, lines: load_spec(path, Therapy) and None,
)
PLAN = FileKind(
    keys=("therapy", "stages"),
    noun="a plan",
    check=lambda path, data, lines: load_spec(path, CoursePlan) and None,
)
