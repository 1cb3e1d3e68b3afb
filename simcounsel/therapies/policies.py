"""The policies of this part, as they are registered."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from simcounsel.policies.policy import PolicyKind
from simcounsel.policies.prompt_scope import PromptScope
from simcounsel.therapies.course import Course
from simcounsel.therapies.single import Single
from simcounsel.therapies.specs.course import CoursePlan
from simcounsel.therapies.specs.exercises import Exercises
from simcounsel.therapies.specs.manual import Manual
from simcounsel.therapies.specs.therapy import Therapy, shipped_therapy
from simcounsel.therapies.specs.therapy_words import in_language
from simcounsel.therapies.staged.manuals import manual_of
from simcounsel.therapies.staged.policy import Staged


class ByManual(PromptScope):
    """Of a policy that goes by a manual."""

    manual: Manual | str | None = None
    """Itself, or the name of one that comes with simcounsel; None: the default one."""
    exercises: Exercises | None = None
    """A catalogue; None: the one that comes with simcounsel."""


class ByStates(ByManual):
    """Of one that is led through the manual's states."""

    notes: bool = True
    """Whether notes on the client are kept, for this session and the next ones."""


class ByTherapy(BaseModel):
    """Of a course of sessions."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    therapy: Therapy | None = None
    """None: CBT."""
    sessions: int | None = None
    """None: as the plan says, or the therapy."""
    plan: CoursePlan | None = None
    """None: made in the first session."""
    objectives: Annotated[int, Field(ge=1, le=12)] | None = None
    """The most points that a session is for; None: one for about six lines."""
    skills: Annotated[int, Field(ge=3, le=60)] | None = None
    """The most skills that are chosen for a session; None: one for two lines, at least six."""


SINGLE = PolicyKind(
    make=lambda settings, lang: Single(
        manual_of(settings.manual, lang, settings.exercises), settings, exercises=settings.exercises
    ),
    settings=ByManual,
)
STAGED = PolicyKind(
    make=lambda settings, lang: Staged(
        manual_of(settings.manual, lang, settings.exercises),
        settings,
        notes=settings.notes,
        exercises=settings.exercises,
    ),
    settings=ByStates,
)
COURSE = PolicyKind(
    make=lambda settings, lang: Course(
        in_language(settings.therapy or shipped_therapy("cbt"), lang),
        settings.sessions,
        settings.plan,
        settings.objectives,
        settings.skills,
    ),
    settings=ByTherapy,
)
