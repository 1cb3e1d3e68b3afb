"""The settings of a world: how its people remember and talk, and which models think for them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from simcounsel.secret import HIDDEN, credentials_in
from simcounsel.specs.load import Spec
from simcounsel.specs.timeouts import Timeouts


def _without_credentials(name: str) -> str:
    """A model's name; ValueError when its address holds a password or a key. One that was hidden
    in a run's manifest is none.
    """
    problem = None if HIDDEN in name else credentials_in(name)
    if problem:
        raise ValueError(problem)
    return name


ModelName = Annotated[
    str, Field(min_length=1, max_length=4096), AfterValidator(_without_credentials)
]


ClientStateMode = Literal["moves", "still", "off"]
"""`moves`: what is said and lived moves a client's openness and beliefs; `still`: it has them, and
nothing moves them; `off`: its prompts say nothing of them."""


class Openness(Spec):
    """How a client opens up to whom it talks with, from 0 (keeps all back) to 10. The defaults were
    set by hand, after the thought that trust is won slowly and lost fast (Slovic 1993); `study fit`
    finds others in sessions.
    """

    start: Annotated[float, Field(ge=0, le=10)] = 1.0
    """With a stranger, before anything was said."""
    per_closeness: Annotated[float, Field(ge=0, le=10)] = 0.7
    """So much more for each point of closeness."""
    up: Annotated[float, Field(ge=0, le=10)] = 1.0
    """So much at most with one line that touches something."""
    down: Annotated[float, Field(ge=0, le=10)] = 2.0
    """So much less at most with one line that does harm."""
    fades: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of the distance from where it began that is lost with each line."""

    def begins(self, closeness: float) -> float:
        """Before anything was said, with somebody so close."""
        return round(min(10.0, max(0.0, self.start + self.per_closeness * closeness)), 2)


BY_HAND = Openness()
"""As long as a world says nothing else."""


class OwnModels(Spec):
    """Which models answer what a resident thinks, says and decides, in place of the world's. What
    others ask about the resident (judges, the listening for danger) stays with the world's, and so
    do vectors.
    """

    reason: ModelName | None = None
    """Plans, talks and reflects; None: the world's."""
    quick: ModelName | None = None
    """Names emotions and makes small choices; None: `reason`, or the world's where that is None."""


class RecallWeights(Spec):
    """What counts in recall. The defaults are the paper's (SimCounsel, appendix A.1.2)."""

    recency: Annotated[float, Field(ge=0)] = 0.10
    poignancy: Annotated[float, Field(ge=0)] = 0.40
    emotion_score: Annotated[float, Field(ge=0)] = 0.15
    emotion_relevance: Annotated[float, Field(ge=0)] = 0.10
    relevance: Annotated[float, Field(ge=0)] = 0.25

    @model_validator(mode="after")
    def _sum_to_one(self) -> "RecallWeights":
        total = (
            self.recency
            + self.poignancy
            + self.emotion_score
            + self.emotion_relevance
            + self.relevance
        )
        if abs(total - 1) > 1e-6:
            raise ValueError(
                f"the five weights add up to {total:g}; they must add up to 1, so that scores lie"
                " in [0, 1]"
            )
        return self


class MemorySettings(Spec):
    """How memories fade, are recalled and become reflections."""

    recall: Literal["emotion_aware", "generative_agents"] = "emotion_aware"
    """`emotion_aware` uses `weights`; `generative_agents` is the baseline of Park et al. 2023:
    recency, importance and relevance, each scaled over the candidates, count alike, and emotion
    does not.
    """
    weights: RecallWeights = RecallWeights()
    decay_per_hour: Annotated[float, Field(gt=0, le=1)] = 0.995
    """Recency falls by this factor per simulated hour since the last recall."""
    top_k: Annotated[int, Field(ge=1, le=50)] = 5
    short_term_hours: Annotated[float, Field(gt=0)] = 24
    """Older short-term memories are not recalled any more."""
    only_lived: bool = True
    """Plans do not come to mind, only experiences: an act is remembered once it is done, a slot
    that is planned is not laid down, and a day's plan has its own place in the prompts of planning.
    False: planned slots are memories too and everything comes to mind, as in the paper.
    """
    habituation_lines: Annotated[int, Field(ge=0)] = 2
    """What came to mind before one of one's last so many lines of a conversation stands back behind
    what did not, unless it is the nearest of all to what was just said. 0: it does not, as in the
    paper.
    """
    initial_most: Annotated[int, Field(ge=0)] | None = 2
    """Of the situations of a client's file at most so many come to mind at once: the nearest to the
    query, whatever their poignancy. None: no limit, as in the paper.
    """
    initial_age_hours: Annotated[float, Field(ge=0)] = 720
    """How long before their first day these situations were last on a client's mind; 0: just now,
    as in the paper.
    """
    conclusions_replace: bool = True
    """A conclusion that says nearly the same as an earlier one, or rests on it and says something
    near to it, takes its place: the earlier one no longer comes to mind. False: all stay, as in the
    paper.
    """
    reflect_after_memories: Annotated[int, Field(ge=1)] = 40
    """This many memories start a reflection, or `reflect_after_poignancy`, whichever is first."""
    reflect_after_poignancy: Annotated[int, Field(ge=1)] = 120
    emotion_of: Literal["mood", "query"] = "mood"
    """To what an emotion is near in recall: `mood`, what the person feels at that moment; `query`,
    what the words express that call memories up (in a conversation the line just heard), as in the
    paper. Where they express nothing, as when a day is planned, it is the mood.
    """
    slots_from: Literal["thoughts", "recall"] = "thoughts"
    """What is in the prompt when the next slots are planned: the latest `thoughts`, or what
    comes to mind at what the day's plan has next (`recall`), as in the paper.
    """


class ConversationSettings(Spec):
    """When people begin to talk, for how long, and when that makes them replan."""

    max_turns: Annotated[int, Field(ge=2, le=200)] = 10
    """Lines in all."""
    chance: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Probability per tick that two people who share a place and are as close as can be (10) begin
    to talk; it falls in proportion to their score.
    """
    cool_down_ticks: Annotated[int, Field(ge=0)] = 16
    """How long the two then leave each other alone."""
    replan_from_poignancy: Annotated[int, Field(ge=1, le=10)] = 7
    """A conversation that moved someone this much (1-10) makes them replan."""


class FallbackLimits(Spec):
    """When so many answers are unusable that a run stops: the tick (or wave) is not written."""

    most: Annotated[float, Field(ge=0, le=1)] = 0.2
    """The largest share of a run's questions that may end in fallbacks; 1: a run never stops for
    them, nor for a conversation of which half the lines are fallbacks."""
    over: Annotated[int, Field(ge=0)] = 50
    """The share counts once more questions than this were asked."""


class ModelRoles(Spec):
    """Which model does what. See `simcounsel models`."""

    reason: ModelName = "embedded"
    """Plans, talks and reflects."""
    quick: ModelName | None = None
    """Names emotions and makes small choices; None: `reason`."""
    judge: ModelName | None = None
    """Measures; None: `reason`."""
    embed: ModelName = "embedded"
    """Turns text to vectors."""
    timeouts: dict[ModelName, Timeouts] = Field(default_factory=dict)
    """By a model's name, or a provider's (`openai`, `http`): how long its requests may take."""

    def resolved(self) -> dict[str, str]:
        """All four, by role."""
        return {
            "reason": self.reason,
            "quick": self.quick or self.reason,
            "judge": self.judge or self.reason,
            "embed": self.embed,
        }
