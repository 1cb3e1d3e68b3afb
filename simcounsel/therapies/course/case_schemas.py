"""The shapes of what is read out of a case report. Field descriptions reach the model in the
schema.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from simcounsel.agents.tasks import Answer, StrokeAnswer
from simcounsel.llm.schemas import Limits
from simcounsel.specs.persona import Acquaintance, Belief, Situation
from simcounsel.therapies.specs.course import FEWEST_SESSIONS, MOST_SESSIONS
from simcounsel.therapies.specs.therapy import COURSE_STAGES, CourseStage

Theme = Literal[
    "insomnia", "anxiety", "grief", "work stress", "depression", "family conflict", "loneliness"
]
Short = Annotated[str, Field(min_length=1, max_length=500)]


MOST_HISTORY = 3_800
"""Characters of what a client has lived through."""


class ClientAnswer(Answer):
    """A client as they were before the first session, with all of their life until then."""

    name: Annotated[
        str,
        Field(
            max_length=60,
            pattern=r"^[^\W\d_][\w .'’-]*$",
            description="first and last name, invented if the report has none",
        ),
    ]
    age: Annotated[int, Field(ge=16, le=110)]
    gender: Short
    pronouns: Literal["she/her", "he/him", "they/them"]
    culture: Short
    occupation: Short
    theme: Theme
    background: Annotated[str, Field(min_length=10, max_length=2000)]
    history: Annotated[str, Field(min_length=10, max_length=MOST_HISTORY)]
    style: Annotated[str, Field(min_length=2, max_length=1000, description="how the client speaks")]
    habits: Annotated[tuple[Short, ...], Field(min_length=1, max_length=8)]
    people: Annotated[tuple[Acquaintance, ...], Field(max_length=16)] = ()
    characteristic: Annotated[str, Field(min_length=10, max_length=1500)]
    recent_feeling: Annotated[str, Field(min_length=10, max_length=1000)]
    core_beliefs: Annotated[tuple[Belief, ...], Field(min_length=1, max_length=5)]
    intermediate_beliefs: Annotated[tuple[Belief, ...], Field(min_length=1, max_length=6)]
    coping_strategies: Annotated[tuple[Short, ...], Field(min_length=1, max_length=6)]
    situations: Annotated[tuple[Situation, ...], Field(min_length=4, max_length=12)]
    days: Annotated[
        tuple[Annotated[tuple[StrokeAnswer, ...], Field(min_length=5, max_length=8)], ...],
        Field(min_length=1, max_length=3, description="ordinary days, in strokes by their time"),
    ]


class ToldAnswer(Answer):
    """A fact, words of the report that say it, and the session in which the client told it."""

    text: Short
    quote: Short
    told: Annotated[int, Field(ge=1, le=MOST_SESSIONS)]
    before: Annotated[
        bool, Field(description="whether it was so before the first session began")
    ] = False


class ToldAnswers(Answer):
    """What the client told, in order."""

    facts: Annotated[tuple[ToldAnswer, ...], Field(min_length=1, max_length=40)]


class PartAnswer(Answer):
    """A text of the plan, and the facts without which it would give something away."""

    text: Short
    rests_on: Annotated[
        tuple[str, ...] | None,
        Field(max_length=8, description="ids of facts; none where it gives nothing away"),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value


class SessionAnswer(Answer):
    """One session of the plan."""

    stage: CourseStage
    theme: Short
    objectives: Annotated[tuple[PartAnswer, ...], Field(max_length=6)] = ()
    links: Annotated[tuple[PartAnswer, ...], Field(max_length=6)] = ()
    uses: Annotated[tuple[str, ...], Field(max_length=12)] = ()
    material: Annotated[tuple[PartAnswer, ...], Field(max_length=6)] = ()
    rationale: PartAnswer | None = None
    psychoeducation: Annotated[tuple[PartAnswer, ...], Field(max_length=4)] = ()

    @field_validator("rationale", mode="before")
    @classmethod
    def _none(cls, value: Any) -> Any:
        return value or None


Goals = Annotated[tuple[PartAnswer, ...], Field(max_length=6)]


class GoalsAnswer(Answer):
    """What each stage is to reach with this client."""

    case_conceptualization: Goals = ()
    core_intervention: Goals = ()
    consolidation: Goals = ()


class PlanAnswer(Answer):
    """The whole course."""

    goals: GoalsAnswer = GoalsAnswer()
    sessions: Annotated[
        tuple[SessionAnswer, ...], Field(min_length=FEWEST_SESSIONS, max_length=MOST_SESSIONS)
    ]

    @field_validator("sessions", mode="before")
    @classmethod
    def _in_a_row(cls, sessions: Any) -> Any:
        """Those that came by stage, as `STAGE_BY_STAGE` asks for them, one after the other."""
        if not isinstance(sessions, dict):
            return sessions
        return [
            session | {"stage": stage} if isinstance(session, dict) else session
            for stage in COURSE_STAGES
            for session in sessions.get(stage, ())
        ]


def _sessions(least: int, most: int) -> dict[str, Any]:
    """The schema of the sessions of one stage."""
    item = {"$ref": f"#/$defs/{SessionAnswer.__name__}"}
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


STAGE_BY_STAGE: Limits = {
    "sessions.stage": None,
    "sessions": {
        "type": "object",
        "properties": dict(
            zip(COURSE_STAGES, (_sessions(1, 2), _sessions(3, 6), _sessions(1, 2)), strict=True)
        ),
        "required": [*COURSE_STAGES],
    },
}
"""Sessions as they are asked for where a schema holds the answer: none can say of a list that it
has each stage, in their order.
"""


class TurnAnswer(Answer):
    """A line of the report's own dialogue."""

    who: Literal["client", "counselor"]
    text: Short


class FeatureAnswer(Answer):
    """A stretch of dialogue that stands in the report. style: what it shows of wording, sentences
    and taking turns.
    """

    context: Short
    turns: Annotated[tuple[TurnAnswer, ...], Field(min_length=1, max_length=10)]
    style: Short


class FeaturesAnswer(Answer):
    """Stretches of dialogue; none where the report quotes none."""

    features: Annotated[tuple[FeatureAnswer, ...], Field(max_length=8)] = ()
