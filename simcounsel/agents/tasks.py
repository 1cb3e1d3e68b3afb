"""The shapes of the answers that minds ask for. Field descriptions reach the model in the
schema.
"""

from typing import Annotated, Any, Literal

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


class RestOfDayAnswer(Answer):
    """The rest of a day in broad strokes."""

    strokes: Annotated[tuple[StrokeAnswer, ...], Field(min_length=1, max_length=8)]


class SlotAnswer(Answer):
    """What somebody does in one slot."""

    activity: Annotated[
        str,
        Field(min_length=3, max_length=160, description="verb phrase, third person, no subject"),
    ]
    seen: Annotated[
        str,
        Field(
            max_length=120,
            description="what somebody in the same place would see of it, a verb phrase without"
            " thoughts, feelings or reasons; '' if that is all of it",
        ),
    ] = ""
    kind: ActivityKind
    place: Annotated[str, Field(min_length=1, description="one of the reachable places")]
    emotion: Annotated[Emotion, Field(description="what it feels like to them")]
    intensity: Annotated[int, Field(ge=1, le=10, description="1 hardly felt, 10 overwhelming")]
    poignancy: Annotated[int, Field(ge=1, le=10, description="1 everyday, 10 life-changing")]


class BlockAnswer(Answer):
    """The next slots, in order."""

    slots: Annotated[tuple[SlotAnswer, ...], Field(min_length=1)]


class FeelingAnswer(Answer):
    """What something felt like."""

    emotion: Emotion
    intensity: OneToTen
    poignancy: Annotated[int, Field(ge=1, le=10, description="1 everyday, 10 life-changing")]


class FeelingsAnswer(Answer):
    """One feeling for each thing that happened, in the same order."""

    feelings: Annotated[tuple[FeelingAnswer, ...], Field(min_length=1)]


def _line_last(schema: dict[str, Any]) -> None:
    """What is thought or felt is asked for before the line, so that the line follows from it."""
    fields = schema["properties"]
    schema["properties"] = {
        name: fields[name] for name in sorted(fields, key=lambda one: one in ("say", "wish"))
    }


class LineAnswer(FeelingAnswer):
    """The next line of a conversation. What a class that derives from it adds comes before it."""

    model_config = ConfigDict(json_schema_extra=_line_last)
    say: Annotated[str, Field(min_length=1, description="the spoken words only")]
    wish: Annotated[
        Literal["go on", "say goodbye"],
        Field(description="'say goodbye' only when this line takes leave"),
    ] = "go on"


def plain_line(text: str, *, leaves: bool = False) -> LineAnswer:
    """Words with which nothing is felt, or nobody knows what; leaves: they take leave."""
    return LineAnswer.model_construct(
        say=text,
        emotion="neutral",
        intensity=1,
        poignancy=1,
        wish="say goodbye" if leaves else "go on",
    )


PRIVATE_FIRST = "emotion intensity poignancy quote touched openness held_back say wish".split()


def _private_first(schema: dict[str, Any]) -> None:
    """What is felt and kept back is asked for before the line, so that the line follows from it;
    and all of it is asked for.
    """
    schema["properties"] = {name: schema["properties"][name] for name in PRIVATE_FIRST}
    schema["required"] = list(PRIVATE_FIRST)


class ClientLineAnswer(LineAnswer):
    """A client's next line, with what only the client knows of it."""

    model_config = ConfigDict(json_schema_extra=_private_first)
    quote: Annotated[
        str,
        Field(
            max_length=400,
            description="the words of the other's last line that touched something, copied"
            " exactly; '' if none did",
        ),
    ] = ""
    touched: Annotated[
        str,
        Field(
            max_length=8,
            description="which belief, rule or way of coping they touched, by its id such as C1, R2"
            " or D3; '' if none",
        ),
    ] = ""
    openness: Annotated[
        float | None,
        Field(ge=0, le=10, description="0 keeps everything back, 10 holds nothing back"),
    ] = None
    held_back: Annotated[
        str, Field(max_length=400, description="what is kept back, in a few words; '' if nothing")
    ] = ""


class SummaryAnswer(FeelingAnswer):
    """What somebody takes away from a conversation."""

    summary: Annotated[
        str, Field(min_length=10, max_length=800, description="1 to 3 sentences, third person")
    ]
    closeness: Literal["much less close", "less close", "as before", "closer", "much closer"]


class SessionSummaryAnswer(SummaryAnswer):
    """What a client takes away from a session with its counselor."""

    agreed: Annotated[
        str,
        Field(
            max_length=200,
            description="what the counselor suggested to try, watch or write down in the days to"
            " come, and was not refused, as a phrase that begins with a verb; '' if nothing",
        ),
    ] = ""
    agreed_quote: Annotated[
        str,
        Field(
            max_length=400, description="the counselor's words for it, copied exactly; '' if none"
        ),
    ] = ""


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


class BeliefStepAnswer(Answer):
    """A belief that is held less or more strongly than before."""

    belief: Annotated[str, Field(max_length=8, description="its id, such as C1 or R2")]
    evidence: Annotated[tuple[int, ...], Field(min_length=1, max_length=8)]
    why: Sentence
    step: Annotated[
        int,
        Field(
            ge=-10, le=10, description="below 0 weaker, above 0 stronger, on a scale of 0 to 100"
        ),
    ]


class ClientInsightsAnswer(InsightsAnswer):
    """What a client's memories add up to, and what they do to its beliefs."""

    beliefs: Annotated[
        tuple[BeliefStepAnswer, ...],
        Field(max_length=4, description="only beliefs that new memories bear on; often none"),
    ] = ()


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
