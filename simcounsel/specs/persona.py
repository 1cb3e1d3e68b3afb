"""Who a resident is: a client's cognitive conceptualization, a counselor's forms, a layperson's
lines.

A client's file follows the cognitive conceptualization diagram (Beck 2020), as Patient-Psi's
cognitive models do. What only the client knows about itself (everything but its name) never
reaches another resident's prompt except through what was said.
"""

from typing import Annotated, Literal, TypeVar

from pydantic import Field, ValidationInfo, field_validator, model_validator

from simcounsel.clock import MINUTES_PER_DAY, minutes_of_day
from simcounsel.specs.load import Spec
from simcounsel.specs.vocabulary import ACTS, QUESTIONS, ActivityKind, Emotion, PlaceKind
from simcounsel.specs.voice import ChatLine, Form, Line, Text, VoiceLine

Intensity = Annotated[int, Field(ge=1, le=10)]
FEWEST_CLIENT_LINES, FEWEST_LAY_LINES, FEWEST_FORMS = 40, 30, 15

CHINESE_PRONOUNS = {"她": "she/her", "他": "he/him", "TA": "they/them"}
"""What a persona in Chinese may write for its pronouns; a world that speaks Chinese writes them so
in its prompts, too.
"""


class Stroke(Spec):
    """One broad stroke of a day's plan: from when, and what."""

    at: str
    do: Text

    @field_validator("at")
    @classmethod
    def _is_time(cls, value: str) -> str:
        minutes_of_day(value)
        return value


class Routine(Spec):
    """What this person often does at an hour, without the subject: 'waters the tomatoes'.

    `since` and `until` may cross midnight.
    """

    since: str
    until: str
    place: PlaceKind
    """The world says which place of that kind."""
    kind: ActivityKind
    do: Text
    seen: str = ""
    """What somebody in the same place sees of it, without the subject; '': all of it."""
    emotion: Emotion | None = None
    """The mood in which it is likely; None: in any."""

    @field_validator("since", "until")
    @classmethod
    def _is_time(cls, value: str) -> str:
        minutes_of_day(value)
        return value

    def covers(self, minute: int) -> bool:
        """Whether the time of day of `minute` lies in [since, until)."""
        start, end = minutes_of_day(self.since), minutes_of_day(self.until)
        now = minute % MINUTES_PER_DAY
        return start <= now < end if start <= end else now >= start or now < end


class Belief(Spec):
    """A core belief (helpless, unlovable, worthless) or an intermediate one."""

    kind: Literal["helpless", "unlovable", "worthless", "rule", "attitude", "assumption"]
    belief: Text
    strength: Annotated[int, Field(ge=0, le=100)] = 80
    """How strongly it is held as the world begins, 0 (not at all) to 100 (wholly)."""


class Situation(Spec):
    """A situation with what goes through the mind, what is felt, and what is done."""

    situation: Text
    thought: Text
    emotion: Emotion
    intensity: Intensity
    behavior: Text


class CasePart(Spec):
    """What a therapy works on with a client, in its own terms."""

    kind: Annotated[str, Field(pattern=r"^[a-z_]+$", max_length=40)]
    """Such as `core_conflict`."""
    name: Text
    """What that is called, for the client's own prompts."""
    text: Text
    strength: Annotated[int, Field(ge=0, le=100)] | None = None
    """How strongly it holds as the world begins, 0 to 100; None where it does not move."""


class Acquaintance(Spec):
    """Somebody in this person's life who may or may not live in the world."""

    name: Text
    relation: Text
    note: str = ""


class Portrait(Spec):
    """How this person comes across, and has felt of late, before the world begins."""

    characteristic: Text
    recent_feeling: Text


class Thought(Spec):
    """A conclusion this person could come to about itself, in the third person."""

    say: Text
    theme: str = "any"
    emotion: Emotion = "neutral"


class Persona(Spec):
    """What all residents have."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\W\d_][\w .'’-]*$")]
    age: Annotated[int, Field(ge=16, le=110)]
    gender: Text
    pronouns: Literal["she/her", "he/him", "they/them"]
    culture: Text
    occupation: Text
    background: Text
    history: Text
    style: Text
    habits: Annotated[tuple[Text, ...], Field(min_length=1)]
    people: tuple[Acquaintance, ...] = ()
    portrait: Portrait
    days: Annotated[tuple[tuple[Stroke, ...], ...], Field(min_length=1)]
    routines: Annotated[tuple[Routine, ...], Field(min_length=1)]
    thoughts: tuple[Thought, ...] = ()

    @field_validator("pronouns", mode="before")
    @classmethod
    def _in_chinese(cls, value: object) -> object:
        return CHINESE_PRONOUNS.get(value, value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _every_hour_has_a_routine(self) -> "Persona":
        free = set(range(0, MINUTES_PER_DAY, 15))
        for routine in self.routines:
            free -= {minute for minute in free if routine.covers(minute)}
        if free:
            minute = min(free)
            raise ValueError(
                f"no routine covers {minute // 60:02d}:{minute % 60:02d}; every quarter of an hour"
                " needs one"
            )
        return self

    @field_validator("days")
    @classmethod
    def _five_to_eight(cls, days: tuple[tuple[Stroke, ...], ...]) -> tuple[tuple[Stroke, ...], ...]:
        for day in days:
            if not 5 <= len(day) <= 8:
                raise ValueError(f"a day has 5 to 8 broad strokes, this one {len(day)}")
        return days


class Drawn(Spec):
    """What a drawn client was drawn from; see `personas draw`."""

    of: Text
    """The name of the written client."""
    seed: int
    number: Annotated[int, Field(ge=1)]
    """Among those drawn together."""
    talk: Literal["little", "as written", "much"] = "as written"
    openness: Literal["little", "as written", "much"] = "as written"
    insight: Literal["little", "as written", "much"] = "as written"


class ClientPersona(Persona):
    """A client: a cognitive conceptualization, a voice, a day."""

    role: Literal["client"]
    theme: Literal[
        "insomnia", "anxiety", "grief", "work stress", "depression", "family conflict", "loneliness"
    ]
    case: Annotated[tuple[CasePart, ...], Field(exclude_if=lambda case: not case)] = ()
    """In the terms of another therapy than CBT, in place of the three that follow."""
    core_beliefs: tuple[Belief, ...] = Field(default=(), validate_default=True)
    intermediate_beliefs: tuple[Belief, ...] = Field(default=(), validate_default=True)
    coping_strategies: tuple[Text, ...] = Field(default=(), validate_default=True)
    situations: Annotated[tuple[Situation, ...], Field(min_length=1)]
    voice: tuple[VoiceLine, ...] = ()
    drawn: Annotated[Drawn | None, Field(exclude_if=lambda drawn: drawn is None)] = None
    """None for a client that somebody wrote."""

    @field_validator("core_beliefs", "intermediate_beliefs", "coping_strategies")
    @classmethod
    def _some_without_a_case(cls, value: tuple[object, ...], info: ValidationInfo) -> object:
        if not value and not info.data.get("case"):
            raise ValueError("missing; a client has some, or a `case` in another therapy's terms")
        return value

    @property
    def inner(self) -> tuple[str, ...]:
        """What the client holds to be true or what a therapy works on, as texts."""
        beliefs = (*self.core_beliefs, *self.intermediate_beliefs)
        return tuple(one.text for one in self.case) or tuple(one.belief for one in beliefs)

    @field_validator("voice")
    @classmethod
    def _no_slots(cls, voice: tuple[VoiceLine, ...]) -> tuple[VoiceLine, ...]:
        for line in voice:
            if "{" in line.say:
                raise ValueError(f"{line.say!r}: a client's line has no {{slots}}")
        return _enough(voice, FEWEST_CLIENT_LINES)


class CounselorPersona(Persona):
    """A counselor: at least fifteen forms for each kind of question and each act."""

    role: Literal["counselor"]
    forms: dict[str, tuple[Form, ...]] = Field(default_factory=dict)

    @field_validator("forms")
    @classmethod
    def _complete(cls, forms: dict[str, tuple[Form, ...]]) -> dict[str, tuple[Form, ...]]:
        if not forms:
            return forms
        wanted = (*QUESTIONS, *ACTS)
        for move in forms:
            if move not in wanted:
                raise ValueError(f"no move {move!r}; there are {', '.join(wanted)}")
        for move in wanted:
            if len(forms.get(move, ())) < FEWEST_FORMS:
                raise ValueError(
                    f"{move!r} has {len(forms.get(move, ()))} forms; a counselor needs at least"
                    f" {FEWEST_FORMS}"
                )
        return forms


class LaypersonPersona(Persona):
    """A layperson: a neighbour or friend who chats, kindly and on the surface."""

    role: Literal["layperson"]
    voice: tuple[ChatLine, ...] = ()

    @field_validator("voice")
    @classmethod
    def _many(cls, voice: tuple[ChatLine, ...]) -> tuple[ChatLine, ...]:
        return _enough(voice, FEWEST_LAY_LINES)


L = TypeVar("L", bound=Line)


def _enough(voice: tuple[L, ...], fewest: int) -> tuple[L, ...]:
    if voice and len(voice) < fewest:
        raise ValueError(
            f"{len(voice)} lines of voice; at least {fewest} keep the embedded model from repeating"
            " itself (or give none)"
        )
    return voice


AnyPersona = ClientPersona | CounselorPersona | LaypersonPersona
