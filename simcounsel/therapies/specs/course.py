"""The plan of a course: how many sessions in which stage, and what each is about.

A plan may come from a case report (`simcounsel library course plan`). It then knows what the
client will only tell later. No counselor is ever asked with its facts. Goals, objectives, links,
material, lessons and rationales open to the counselor once the client has said what they rest on.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from simcounsel.specs.load import Spec, load_spec
from simcounsel.therapies.specs.therapy import COURSE_STAGES, CourseStage, Text, Therapy

FEWEST_SESSIONS, MOST_SESSIONS, USUAL_SESSIONS = 5, 10, 8
PlannedKind = Literal["objective", "link", "material", "lesson", "rationale"]
Session = Annotated[int, Field(ge=1, le=MOST_SESSIONS)]


class PlannedFact(Spec):
    """Something about the client, with words of the report that say it."""

    id: Annotated[str, Field(pattern=r"^[\w-]+$")]
    text: Text
    quote: str = ""
    told: Session
    """The session in which the client told it."""


class PlannedPart(Spec):
    """A text of the plan, and what it would give away. In a file a plain text is one, too."""

    text: Text
    rests_on: tuple[str, ...] | None = None
    """Ids of the facts that the client must have told first; () when it gives nothing away. None:
    those facts with which it shares words.
    """

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_serializer(mode="wrap")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> Any:
        return self.text if self.rests_on is None else handler(self)


class PlannedSession(Spec):
    """What a session is about."""

    theme: Text
    objectives: tuple[PlannedPart, ...] = ()
    """What it is to reach."""
    links: tuple[PlannedPart, ...] = ()
    """What of the client it touches."""
    uses: tuple[str, ...] = ()
    """Ids of the facts that it builds on."""
    material: tuple[PlannedPart, ...] = ()
    """Words or tasks of the case."""
    rationale: PlannedPart | None = None
    """Why this now."""
    psychoeducation: tuple[PlannedPart, ...] = ()
    """What the client is to understand."""
    schools: tuple[str, ...] = ()
    """Ids of the therapies to draw on, where several may be combined; () leaves the choice open."""

    @model_validator(mode="before")
    @classmethod
    def _no_rationale(cls, value: Any) -> Any:
        """Plans were written with an empty text for none."""
        if isinstance(value, dict) and value.get("rationale") == "":
            return value | {"rationale": None}
        return value

    @property
    def parts(self) -> tuple[tuple[PlannedKind, PlannedPart], ...]:
        """All that can open to the counselor, each with what it is."""
        kinds: tuple[tuple[PlannedKind, tuple[PlannedPart, ...]], ...] = (
            ("objective", self.objectives),
            ("link", self.links),
            ("material", self.material),
            ("lesson", self.psychoeducation),
            ("rationale", (self.rationale,) if self.rationale else ()),
        )
        return tuple((kind, part) for kind, parts in kinds for part in parts)


class HeldSession(Spec):
    """A session of the plan that was held elsewhere, before the run began."""

    stage: CourseStage
    summary: str = ""
    client_state: str = ""
    unresolved: tuple[Text, ...] = ()
    homework: str = ""


class PlannedStage(Spec):
    """A stage: its sessions in order, and goals that a transcript can show to be met."""

    id: CourseStage
    goals: Annotated[tuple[PlannedPart, ...], Field(min_length=1)]
    sessions: Annotated[tuple[PlannedSession, ...], Field(min_length=1)]

    @property
    def aims(self) -> tuple[str, ...]:
        """The texts of its goals."""
        return tuple(goal.text for goal in self.goals)


class CoursePlan(Spec):
    """A course of 5 to 10 sessions in three stages."""

    therapy: Annotated[str, Field(min_length=1)]
    about: str = ""
    stages: Annotated[tuple[PlannedStage, ...], Field(min_length=3, max_length=3)]
    facts: tuple[PlannedFact, ...] = ()
    held: tuple[HeldSession, ...] = ()
    """Those that were held already, from the first; the course goes on after them."""

    @property
    def length(self) -> int:
        """How many sessions."""
        return sum(len(stage.sessions) for stage in self.stages)

    @property
    def sessions(self) -> tuple[PlannedSession, ...]:
        """All sessions in order."""
        return tuple(session for stage in self.stages for session in stage.sessions)

    def stage(self, name: str) -> PlannedStage:
        """The stage of that id."""
        return next(stage for stage in self.stages if stage.id == name)

    @model_validator(mode="after")
    def _holds_together(self) -> "CoursePlan":
        wrong = self.problems()
        if wrong:
            raise ValueError(wrong[0])
        return self

    def problems(self) -> list[str]:
        """Against the order of the stages, the number of sessions, and time: nothing is used before
        it was told.
        """
        found = []
        if tuple(stage.id for stage in self.stages) != COURSE_STAGES:
            found.append(f"stages: a course has {', '.join(COURSE_STAGES)}, in this order")
        if not FEWEST_SESSIONS <= self.length <= MOST_SESSIONS:
            found.append(
                f"stages: {self.length} sessions in all; a course has {FEWEST_SESSIONS} to"
                f" {MOST_SESSIONS}"
            )
        told = {fact.id: fact.told for fact in self.facts}
        if len(told) < len(self.facts):
            found.append("facts: two have the same id; number them again")
        for where, part in self._placed():
            found += [
                f"{where}: {part.text[:60]!r} rests on {one!r}, which is no fact; add it to"
                " `facts:`, or take it out"
                for one in part.rests_on or ()
                if one not in told
            ]
        for number, session in enumerate(self.sessions, 1):
            for one in session.uses:
                if one not in told:
                    found.append(
                        f"session {number} uses {one!r}, which is no fact; add it to `facts:` with"
                        " the session in which it was told"
                    )
                elif told[one] > number:
                    found.append(
                        f"session {number} uses {one!r}, which is told in session {told[one]} only;"
                        " take it out, or use it from there on"
                    )
        return found

    def _placed(self) -> Iterator[tuple[str, PlannedPart]]:
        """Each part, and where it is."""
        yield from ((stage.id, goal) for stage in self.stages for goal in stage.goals)
        for number, session in enumerate(self.sessions, 1):
            yield from ((f"session {number}", part) for _, part in session.parts)


def default_plan(therapy: Therapy, sessions: int = USUAL_SESSIONS) -> CoursePlan:
    """A plan without a case: the therapy's stages and goals, one or two goals a session. ValueError
    for less than 5 or more than 10.
    """
    if not FEWEST_SESSIONS <= sessions <= MOST_SESSIONS:
        raise ValueError(f"{sessions} sessions: a course has {FEWEST_SESSIONS} to {MOST_SESSIONS}")
    stages = []
    for stage, count in zip(therapy.stages, _spread(therapy, sessions), strict=True):
        themes = [
            f"{stage.name} ({number} of {count})" if count > 1 else stage.name
            for number in range(1, count + 1)
        ]
        stages.append(
            PlannedStage(
                id=stage.id,
                goals=tuple(PlannedPart(text=goal) for goal in stage.goals),
                sessions=tuple(PlannedSession(theme=theme) for theme in themes),
            )
        )
    return CoursePlan(
        therapy=therapy.id,
        about=f"The usual course of {therapy.name}, without a case.",
        stages=tuple(stages),
    )


def _spread(therapy: Therapy, sessions: int) -> list[int]:
    """Sessions for each stage: the usual least of each, then one more to the stage that is furthest
    below its usual most. Fewer than the usual least are taken from the longest stage.
    """
    counts = [stage.sessions[0] for stage in therapy.stages]
    most = [stage.sessions[1] for stage in therapy.stages]
    while sum(counts) > sessions:
        counts[counts.index(max(counts))] -= 1
    while sum(counts) < sessions:
        room = [limit - count for limit, count in zip(most, counts, strict=True)]
        counts[room.index(max(room)) if max(room) > 0 else 1] += 1
    return counts


def find_plan(file: Path) -> CoursePlan:
    """A plan from a file."""
    return load_spec(file, CoursePlan)[0]


def course_of(therapy: Therapy, sessions: int | None, plan: CoursePlan | None) -> CoursePlan:
    """The plan that a course follows: the one given, or the therapy's usual one."""
    return plan if plan is not None else default_plan(therapy, sessions or USUAL_SESSIONS)
