"""A manual: the states through which a counselor leads a session, what lets it move on, and the
days over which it runs.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from simcounsel.specs.load import Spec
from simcounsel.specs.vocabulary import Act, Language, Question

Phase = Literal["initiation", "exploration", "intervention", "conclusion"]
Intent = Literal["yes", "no", "explain", "another", "done", "tell_more"]
"""What a client can want. explain: asks what it is, or how it goes; another: something else than
this; done: has done or understood it; tell_more: wants to be heard for longer.
"""
Doing = Literal["suggest", "explain", "feedback"]
Text = Annotated[str, Field(min_length=1, max_length=4000)]
Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,40}$")]
At = tuple[str | int, ...]
FEWEST_LINES = 4
"""How many lines keep a state from sounding alike each time."""


class Exit(Spec):
    """What lets a session leave a state."""

    when: Literal["sufficient", "intent", "valence", "said", "end"]
    """sufficient: a model judges that the client's words meet all `criteria`; it goes on to the
    first of `next`, or where one of `intents` leads that is heard as well. intent: what the client
    wants leads to a state of its own. valence: nothing is said here, the mood so far decides. said:
    after the state's own line. end: takes leave.
    """
    criteria: tuple[Text, ...] = ()
    intents: dict[Intent, Id] = Field(default_factory=dict)
    otherwise: Id | None = None
    """Where it goes when what the client wants stays unclear."""
    positive: Id | None = None
    negative: Id | None = None


class State(Spec):
    """One agent's part of a session."""

    id: Id
    objective: Text
    """What it is for."""
    prompt: Text = ""
    """What its agent is told."""
    start: bool = False
    at_least: Annotated[int, Field(ge=0, le=40)] = 1
    """Client messages heard in it before it is asked whether to move on."""
    at_most: Annotated[int, Field(ge=1, le=40)] = 8
    """Client messages after which it moves on in any case."""
    exit: Exit
    next: tuple[Id, ...] = ()
    """The states that may follow."""
    manner: Text | None = None
    lines: tuple[Text, ...] = ()
    """Written by hand, at first those of the first half, later all but the first; with the slots
    {name}, {words}, {feeling}, and in states about an exercise {exercise}, {goal}, {steps} and
    {afterwards}.
    """
    act: Act | Question | None = None
    """Which of a counselor persona's acts or questions it is."""
    exercise: Doing | None = None
    """What is done with one."""
    steps: Annotated[int, Field(ge=1, le=6)] | None = None
    """How many steps of an exercise are said in a line; None: all."""
    not_when: tuple[Id, ...] = ()
    """Contraindications, of those that exercises have, with which the state is passed by, to its
    exit's `otherwise`.
    """

    @property
    def internal(self) -> bool:
        """Whether it is passed without a word."""
        return self.exit.when == "valence"

    @property
    def ends(self) -> bool:
        """Whether its line takes leave."""
        return self.exit.when == "end"

    @cached_property
    def leads_to(self) -> tuple[tuple[str, str], ...]:
        """Its exit as (what it takes, state), in order."""
        e = self.exit
        match e.when:
            case "sufficient":
                first = [("sufficient", self.next[0])] if self.next else []
                return (*first, *e.intents.items())
            case "intent":
                return (*e.intents.items(), *([("unclear", e.otherwise)] if e.otherwise else []))
            case "valence":
                return tuple(
                    (name, to)
                    for name, to in (("positive", e.positive), ("negative", e.negative))
                    if to
                )
            case "said":
                return (("said", self.next[0]),) if self.next else ()
        return ()


class Days(Spec):
    """Which day of the protocol a session is on: the first meeting is on day `first`, each date
    later one more, never above `cap`.
    """

    first: Annotated[int, Field(ge=1)] = 1
    cap: Annotated[int, Field(ge=1, le=366)] = 8


class Manual(Spec):
    """A protocol as data."""

    name: Id
    about: Text
    language: Language = "en"
    days: Days = Days()
    resume: Literal["same_day", "always", "never"] = "same_day"
    """What a further session does. `same_day`: on the same date it goes on where the last one was
    cut off, on a later one it begins again; `always`: it goes on whatever the date; `never`.
    """
    closing: Id
    """The state to which every other may pass when time is short or somebody takes leave."""
    phases: Annotated[
        dict[Phase, Annotated[tuple[State, ...], Field(min_length=1)]], Field(min_length=1)
    ]

    def walk(self) -> Iterator[tuple[At, Phase, State]]:
        """Every state with its path in the file and its phase, in order."""
        for phase, states in self.phases.items():
            for index, state in enumerate(states):
                yield ("phases", phase, index), phase, state

    @cached_property
    def states(self) -> dict[str, State]:
        """By id, in order."""
        return {state.id: state for _, _, state in self.walk()}

    @cached_property
    def phase_of(self) -> dict[str, Phase]:
        """Each state's phase."""
        return {state.id: phase for _, phase, state in self.walk()}

    @property
    def start(self) -> State:
        """Where a session begins."""
        return next(state for state in self.states.values() if state.start)
