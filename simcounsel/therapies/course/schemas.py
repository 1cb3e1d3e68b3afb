"""The shapes of what a course asks a model for. Field descriptions reach the model in the
schema.
"""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, create_model, field_validator

from simcounsel.agents.tasks import Answer, LineAnswer

A = TypeVar("A", bound=Answer)
Short = Annotated[str, Field(min_length=2, max_length=400)]
Long = Annotated[str, Field(min_length=2, max_length=1200)]
MOST_OF_A_LINE, MOST_GOALS = 4, 3
"""As many skills as a line can carry, and as many goals as a session aims at."""
MOST_REVIEWED = 16
"""Goals that a review has room for. A course has more, and of those that are met all must fit."""
Quote = Annotated[str, Field(max_length=400, description="word for word out of a line of the talk")]


class ObjectiveAnswer(Answer):
    """What a session is for."""

    objective: Annotated[
        tuple[Short, ...],
        Field(min_length=1, description="what to find out or work on, in order, one sentence each"),
    ]
    goals: Annotated[
        tuple[Annotated[int, Field(ge=1)], ...],
        Field(min_length=1, max_length=MOST_GOALS, description="numbers of the goals it aims at"),
    ]
    reason: Short


Chosen = tuple[str, ...]


class TherapiesAnswer(ObjectiveAnswer):
    """The same, and the therapies that it draws on."""

    therapies: Chosen
    why: Short


class GroupsAnswer(Answer):
    """The intentions that a session draws on."""

    intentions: Chosen
    why: Short


class FineAnswer(Answer):
    """The skills that a session draws on."""

    skills: Chosen
    why: Short


class SkillsAnswer(Answer):
    """What a session draws on, from coarse to fine."""

    intentions: Chosen
    skills: Chosen
    why: Short


class PreparedAnswer(ObjectiveAnswer):
    """What a session is for, and what it draws on."""

    intentions: Chosen
    skills: Chosen
    why: Short


class PreparedGroupsAnswer(ObjectiveAnswer):
    """What a session is for, and the intentions that it draws on."""

    intentions: Chosen
    why: Short


THOUGHT_FIRST = (
    "assessment client_state skills strategy emotion intensity poignancy say wish".split()
)


def _thought_first(schema: dict[str, Any]) -> None:
    """What is thought is asked for before the line, so that the line follows from it."""
    schema["properties"] = {name: schema["properties"][name] for name in THOUGHT_FIRST}
    schema["required"] = list(THOUGHT_FIRST)


class ReasonedLineAnswer(LineAnswer):
    """A counselor's next line, with what is thought before it and never said."""

    model_config = ConfigDict(json_schema_extra=_thought_first)
    assessment: Annotated[
        str,
        Field(
            min_length=2,
            max_length=600,
            description="private: what the client's last words tell; 1 or 2 sentences",
        ),
    ]
    client_state: Annotated[
        str,
        Field(
            min_length=2,
            max_length=400,
            description="private: how the client is now, and towards the counselor",
        ),
    ]
    skills: Annotated[
        Chosen,
        Field(
            min_length=1,
            max_length=MOST_OF_A_LINE,
            description="ids of the skills that the line uses, the leading one first",
        ),
    ]
    strategy: Annotated[
        str,
        Field(
            min_length=2,
            max_length=400,
            description="private: how the very next line uses them: its tone and its point",
        ),
    ]


class SaidFact(Answer):
    """A fact that was said."""

    number: Annotated[int, Field(ge=1)]
    quote: Annotated[str, Field(min_length=1, max_length=400, description="the words that say it")]


class SaidAnswer(Answer):
    """The facts that were said; usually none."""

    said: Annotated[tuple[SaidFact, ...], Field(max_length=8)] = ()


class GoalAnswer(Answer):
    """One goal, judged by what was said."""

    number: Annotated[int, Field(ge=1)]
    quote: Quote = ""
    met: bool


class ReviewAnswer(Answer):
    """A counselor's note on a session."""

    summary: Long
    goals: Annotated[tuple[GoalAnswer, ...], Field(max_length=MOST_REVIEWED)]
    client_state: Short
    alliance: Annotated[int, Field(ge=1, le=5, description="1 torn, 3 uncertain, 5 firm")]
    unresolved: Annotated[tuple[Short, ...], Field(max_length=4)] = ()
    homework: Annotated[
        str,
        Field(
            max_length=400,
            description=("what was agreed for the time after the session; empty when nothing was"),
        ),
    ] = ""

    @field_validator("goals", mode="before")
    @classmethod
    def _met_alone(cls, goals: Any) -> Any:
        """Of more than there is room for, those that are not met go: so is what nobody names."""
        if not isinstance(goals, list | tuple) or len(goals) <= MOST_REVIEWED:
            return goals
        return [one for one in goals if not isinstance(one, dict) or one.get("met") is not False]


class FactAnswer(Answer):
    """Something that the client told."""

    text: Annotated[
        str, Field(min_length=2, max_length=400, description="third person, one sentence")
    ]
    quote: Quote
    realm: Literal["reality", "treatment"]
    status: Literal["fact", "wish", "plan", "feeling"]
    relation: Annotated[
        Literal["new", "same", "contradicts", "replaces"],
        Field(description="to what is known of the client"),
    ] = "new"
    known: Annotated[
        str, Field(description="the id of what it repeats, contradicts or replaces; '' when new")
    ] = ""


class RowAnswer(Answer):
    """One entry of the conceptualization."""

    field: str
    cells: Annotated[
        tuple[Annotated[str, Field(max_length=300)], ...], Field(min_length=1, max_length=8)
    ]
    quote: Quote


class NextAnswer(Answer):
    """How the course goes on."""

    step: str
    focus: Annotated[
        str,
        Field(
            min_length=2, max_length=300, description="what the next session should take up first"
        ),
    ]
    reason: Short


class AfterAnswer(ReviewAnswer, NextAnswer):
    """All that a counselor writes after a session."""

    facts: Annotated[
        tuple[FactAnswer, ...],
        Field(max_length=12, description="what the client told of themselves or their life"),
    ] = ()
    rows: Annotated[
        tuple[RowAnswer, ...],
        Field(max_length=8, description="what the session adds to the conceptualization"),
    ] = ()


def narrowed(base: type[A], **fields: Any) -> type[A]:
    """The same answer with another type for some of its fields."""
    # no Annotated here: typing would hand out one that was made before for the same ids in another
    # order, since two Literals are equal whatever their order, and the schema is part of a key
    made: dict[str, Any] = {
        name: (kind, Field(description=base.model_fields[name].description))
        for name, kind in fields.items()
    }
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **made)


def some_of(options: tuple[str, ...], least: int, most: int) -> Any:
    """The type of so many ids out of a closed list."""
    return Annotated[
        tuple[Literal[options], ...],  # type: ignore[valid-type]
        Field(min_length=min(least, len(options)), max_length=most),
    ]


def at_most(most: int) -> Any:
    """The type of so many short texts, one at least."""
    return Annotated[tuple[Short, ...], Field(min_length=1, max_length=most)]
