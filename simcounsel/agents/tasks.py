"""The shapes of the answers that minds ask for. Field descriptions reach the model in the
schema.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from simcounsel.specs.vocabulary import ActivityKind, Emotion

OneToTen = Annotated[int, Field(ge=1, le=10)]
Sentence = Annotated[str, Field(min_length=2, max_length=600)]


class Answer(BaseModel):
    """Base: whatever else a model adds is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)


class PortraitAnswer(Answer):
    """How somebody comes across, and has felt of late."""

    characteristic: Annotated[
        str, Field(min_length=10, max_length=2000, description="3 to 5 sentences, third person")
    ]
    recent_feeling: Annotated[
        str, Field(min_length=10, max_length=1200, description="2 to 3 sentences, third person")
    ]


class StrokeAnswer(Answer):
    """One broad stroke of a day."""

    at: Annotated[
        str, Field(pattern=r"^([01]?\d|2[0-3]):[0-5]\d$", description="time of day, like 07:30")
    ]
    do: Annotated[
        str,
        Field(min_length=3, max_length=200, description="verb phrase, third person, no subject"),
    ]


class DayAnswer(Answer):
    """A day in broad strokes."""

    strokes: Annotated[tuple[StrokeAnswer, ...], Field(min_length=5, max_length=8)]


class SlotAnswer(Answer):
    """What somebody does in one slot."""

    activity: Annotated[
        str,
        Field(min_length=3, max_length=160, description="verb phrase, third person, no subject"),
    ]
    kind: ActivityKind
    place: Annotated[str, Field(min_length=1, description="one of the reachable places")]


class BlockAnswer(Answer):
    """The next slots, in order."""

    slots: Annotated[tuple[SlotAnswer, ...], Field(min_length=1, max_length=96)]


class FeelingAnswer(Answer):
    """What something felt like."""

    emotion: Emotion
    intensity: OneToTen
    poignancy: Annotated[int, Field(ge=1, le=10, description="1 everyday, 10 life-changing")]


class FeelingsAnswer(Answer):
    """One feeling for each thing that happened, in the same order."""

    feelings: Annotated[tuple[FeelingAnswer, ...], Field(min_length=1)]


class LineAnswer(FeelingAnswer):
    """The next line of a conversation."""

    say: Annotated[str, Field(min_length=1, description="the spoken words only")]
    wish: Annotated[
        Literal["go on", "say goodbye"],
        Field(description="'say goodbye' only when this line takes leave"),
    ] = "go on"


class SummaryAnswer(FeelingAnswer):
    """What somebody takes away from a conversation."""

    summary: Annotated[
        str, Field(min_length=10, max_length=800, description="1 to 3 sentences, third person")
    ]
    closeness: Literal["much less close", "less close", "as before", "closer", "much closer"]


class QuestionsAnswer(Answer):
    """The most salient questions that the memories raise."""

    questions: Annotated[tuple[Sentence, ...], Field(min_length=1, max_length=3)]


class InsightAnswer(FeelingAnswer):
    """A conclusion, with the numbers of the memories it rests on."""

    text: Sentence
    evidence: Annotated[tuple[int, ...], Field(min_length=1, max_length=8)]


class InsightsAnswer(Answer):
    """What the memories add up to."""

    insights: Annotated[tuple[InsightAnswer, ...], Field(min_length=1, max_length=5)]


class SkippedDayAnswer(FeelingAnswer):
    """One day in short."""

    day: Annotated[
        str,
        Field(
            min_length=10, max_length=400, description="1 or 2 sentences, third person, past tense"
        ),
    ]


class SkippedDaysAnswer(Answer):
    """Days in short, in order."""

    days: Annotated[tuple[SkippedDayAnswer, ...], Field(min_length=1, max_length=31)]


CLOSENESS_STEP = {
    "much less close": -2.0,
    "less close": -1.0,
    "as before": 0.0,
    "closer": 0.5,
    "much closer": 1.0,
}
"""How far a conversation moves the relationship score (0 to 10): trust is lost faster than won."""
