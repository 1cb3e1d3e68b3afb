"""The client's policy over a course: it changes, but slowly and not in a line.

All it knows is what was said to it and what it kept itself; of the counselor's plan, objective and
skills it sees nothing.
"""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import Answer
from simcounsel.agents.views import talk_text
from simcounsel.chance import chance, seed_of
from simcounsel.events import ClientShifted, PracticeEvent
from simcounsel.llm.question import Ask, Question, ask
from simcounsel.policies.manual import aims
from simcounsel.prompts import phrase, render
from simcounsel.specs.vocabulary import Stage
from simcounsel.texts.quotes import stands_in

TOUCHES_TO_SOFTEN = 3
"""So often a way of guarding oneself must have been touched before it loosens; half of it shows
earlier.
"""
SOFTENS, HARDENS, HARDENS_HOW_OFTEN, DIGRESSES = 0.6, 0.2, 0.3, 0.1
"""How far resistance (0 to 10) falls with a touch, rises at most without one, and how often; how
often a line goes off the point.
"""
GUARDED_FROM, OPEN_BELOW = 5.5, 3.5
BETWEEN_DRIFT, BETWEEN_SWING, WITHIN_SWING = 0.12, 1.1, 0.35
"""Of the mood (0 to 10): pull of the closeness, and standard deviation of the swing, between two
sessions; swing within one.
"""
MOVES: dict[str, Stage] = {
    "guard": "doubting",
    "digress": "telling",
    "homework": "telling",
    "insight": "hopeful",
    "early": "early",
    "telling": "telling",
    "doubting": "doubting",
    "angry": "angry",
    "hopeful": "hopeful",
    "ending": "ending",
}
"""What each move sounds like, as the stages of hand-written lines go."""


class AgreedAnswer(Answer):
    """What was agreed. Both empty when there was nothing."""

    agreed: Annotated[str, Field(max_length=200)] = ""
    quote: Annotated[str, Field(max_length=400)] = ""


class InsightAnswer(Answer):
    """What has become clear."""

    insight: Annotated[str, Field(min_length=8, max_length=240)]


@dataclass(frozen=True, kw_only=True)
class ClientState:
    """resistance, mood: 0 to 10. softened: touches of each way of guarding, in the persona's order.
    agreed: what was agreed last time; homework: what came of it; insights: what has become clear so
    far, which stays.
    """

    resistance: float
    mood: float
    softened: tuple[int, ...]
    agreed: str | None
    homework: Literal["done", "partly", "not done"] | None
    insights: tuple[str, ...]
    fresh: bool

    @property
    def loosened(self) -> tuple[int, ...]:
        """The ways of guarding that have loosened."""
        return tuple(
            index for index, touches in enumerate(self.softened) if touches >= TOUCHES_TO_SOFTEN
        )


class Changing:
    """Guarded, then less so where its guard was met; with better and worse weeks, homework done or
    not, and what it has seen, it keeps.
    """

    name: ClassVar[str] = "changing"

    def decide(self, view: TalkView) -> Ask[Decision]:
        """Where it stands after what was just said to it, and how it speaks from there."""
        before = _today(view, state_of(view))
        touched = yield from _touched(view)
        state = _moved(view, before, touched)
        move, reason = _move(view, state)
        shifted = ClientShifted(
            who=view.me,
            chat=view.chat,
            resistance=state.resistance,
            mood=state.mood,
            guard=touched,
            softened=state.softened,
            agreed=state.agreed,
            homework=state.homework,
        )
        return Decision(
            move=move,
            options=tuple(MOVES),
            reason=reason,
            aim=_aim(view, state, move),
            act=MOVES[move],
            events=(shifted,),
            leaves=_leaves(view, state, move),
        )

    def conclude(self, view: TalkView) -> Ask[tuple[PracticeEvent, ...]]:
        """What it takes home from a session: what was agreed, and what has become clear if a guard
        has loosened today.
        """
        if not _in_course(view):
            return ()
        state = state_of(view)
        agreed = yield from _agreed(view)
        insight = None
        if len(state.insights) < len(state.loosened):
            insight = yield from _insight(view, state)
        return (
            ClientShifted(
                who=view.me,
                chat=view.chat,
                resistance=state.resistance,
                mood=state.mood,
                softened=state.softened,
                agreed=agreed,
                insight=insight,
            ),
        )


def _leaves(view: TalkView, state: ClientState, move: str) -> bool | None:
    """A session is left before its time only in anger, and only by one who is very much on their
    guard.
    """
    if move == "ending":
        return True
    return None if not _in_course(view) or (move == "angry" and state.resistance > 8) else False


def _in_course(view: TalkView) -> bool:
    return view.appointment and view.other_role == "counselor"


def state_of(view: TalkView) -> ClientState:
    """Folded from what it kept; at the very first, drawn by the world's seed."""
    before = [entry.event for entry in view.kept if isinstance(entry.event, ClientShifted)]
    here = [event for event in view.own if isinstance(event, ClientShifted)]
    kept = [*before, *here]
    draw = chance(view.key[0], view.me, view.other, "changing")
    start = draw.uniform(6.0, 8.5), draw.uniform(2.5, 5.0)
    last = kept[-1] if kept else None
    touches = last.softened if last else ()
    return ClientState(
        resistance=last.resistance if last else round(start[0], 2),
        mood=last.mood if last else round(start[1], 2),
        softened=(*touches, *[0] * (len(view.guards) - len(touches))),
        agreed=last.agreed if last else None,
        homework=here[-1].homework if here else None,
        insights=tuple(event.insight for event in kept if event.insight),
        fresh=not here,
    )


def _today(view: TalkView, state: ClientState) -> ClientState:
    """As the session begins: a week has moved the mood, and what was agreed was done or was not."""
    if not state.fresh or not view.kept:
        return state
    draw = chance(*view.key, view.me, "since then")
    mood = state.mood + BETWEEN_DRIFT * (view.closeness - 4) + draw.gauss(0, BETWEEN_SWING)
    outcome: Literal["done", "partly", "not done"] | None = None
    if state.agreed and _in_course(view):
        likely = min(0.85, max(0.15, 0.35 + 0.06 * view.closeness - 0.04 * (state.resistance - 5)))
        outcome = (
            "done" if draw.random() < likely else "partly" if draw.random() < 0.4 else "not done"
        )
    return replace(state, mood=_bounded(mood), homework=outcome)


def _moved(view: TalkView, state: ClientState, touched: int | None) -> ClientState:
    """After the other's line. Resistance falls only where a guard was touched; else it stays, or
    rises a little.
    """
    draw = chance(*view.key, view.me, "moved", len(view.lines))
    mood = _bounded(state.mood + draw.gauss(0.15 if touched is not None else 0.0, WITHIN_SWING))
    if touched is None:
        hardens = _in_course(view) and view.heard is not None and draw.random() < HARDENS_HOW_OFTEN
        rise = draw.uniform(0, HARDENS) if hardens else 0.0
        return replace(state, mood=mood, resistance=_bounded(state.resistance + rise))
    softened = tuple(touches + (index == touched) for index, touches in enumerate(state.softened))
    fall = SOFTENS * (0.5 + view.closeness / 10)
    return replace(
        state, mood=mood, softened=softened, resistance=_bounded(state.resistance - fall)
    )


def _bounded(value: float) -> float:
    return round(min(10.0, max(0.0, value)), 2)


def _touched(view: TalkView) -> Ask[int | None]:
    """Which way of guarding itself the counselor's last line touched, by what was said alone."""
    if not (_in_course(view) and view.guards and view.heard):
        return None
    options = ("none", *(f"guard {number}" for number in range(1, len(view.guards) + 1)))
    listed = "\n".join(f"guard {number}: {guard}" for number, guard in enumerate(view.guards, 1))
    system, prompt = render(
        "client_touched",
        view.language,
        me=view.me,
        other=view.other,
        heard=view.heard.text,
        guards=listed,
    )
    reply = yield from ask(
        Question(
            verb="choose",
            purpose="client_touched",
            tier="quick",
            who=view.me,
            system=system,
            prompt=prompt,
            options=options,
            fallback="none",
            temperature=0.0,
            max_tokens=10,
            seed=seed_of(*view.key, view.me, "touched", len(view.lines)),
            hints={
                "heard": view.heard.text,
                "guards": view.guards,
                "before": tuple(line.text for line in view.lines if line.who == view.me)[-1:],
            },
        )
    )
    return options.index(reply.value) - 1 if reply.value != "none" else None


def _move(view: TalkView, state: ClientState) -> tuple[str, str]:
    """How it speaks now, and why."""
    reason = f"resistance {state.resistance:.1f}, mood {state.mood:.1f}"
    if view.parting or view.turns_left <= 1:
        return "ending", "the talk is ending"
    spoken = len(view.moves)
    draw = chance(*view.key, view.me, "changing", len(view.lines))
    if state.homework and "homework" not in view.moves and spoken <= 1:
        return "homework", f"{reason}; what was agreed: {state.homework}"
    if spoken and view.moves[-1] != "digress" and view.turns_left > 4 and draw.random() < DIGRESSES:
        return "digress", f"{reason}; goes off the point"
    if state.insights and "insight" not in view.moves and spoken >= 2 and draw.random() < 0.4:
        return "insight", f"{reason}; holds on to what it has seen"
    odds = _odds(view, state, spoken)
    return draw.choices(list(odds), list(odds.values()))[0], reason


def _odds(view: TalkView, state: ClientState, spoken: int) -> dict[str, float]:
    """Weights of the moves: closed at the start and where resistance is high, hopeful where it is
    low and the mood allows it.
    """
    odds = {"telling": 4.0, "doubting": 1.0 + (5 - state.mood) * 0.2 if state.mood < 5 else 0.8}
    if view.meeting == 1 and spoken < 2:
        odds["early"] = 4.0
    if state.resistance >= GUARDED_FROM and view.guards:
        odds["guard"] = state.resistance - GUARDED_FROM + 1.5
    if view.emotion in ("anger", "disgust") or (state.resistance > 7 and state.mood < 4):
        odds["angry"] = 1.0
    if state.resistance < OPEN_BELOW or state.mood > 6:
        odds["hopeful"] = 1.5 if state.mood > 4 else 0.5
    return odds


def _aim(view: TalkView, state: ClientState, move: str) -> str:
    """The move's aim, with what of oneself belongs to it now."""

    def told(key: str, **slots: object) -> str:
        return phrase("client_words", key, view.language, **slots)

    parts = [aims("changing", view.language)[move]]
    if move == "guard":
        closed = [
            guard for index, guard in enumerate(view.guards) if index not in state.loosened
        ] or list(view.guards)
        parts.append(
            told("guard", guard=chance(*view.key, view.me, "guard", len(view.lines)).choice(closed))
        )
    if move == "homework":
        parts.append(told("homework", agreed=state.agreed, outcome=told(str(state.homework))))
    if state.insights:
        parts.append(told("insight", insight=state.insights[-1]))
    mood = "low" if state.mood < 3.5 else "middling" if state.mood < 6.5 else "good"
    parts.append(told("standing", mood=told(mood), openness=told(_openness(state.resistance))))
    return ("" if view.language == "zh" else " ").join(parts)


def _openness(resistance: float) -> str:
    return (
        "guarded" if resistance >= GUARDED_FROM else "open" if resistance < OPEN_BELOW else "half"
    )


def _agreed(view: TalkView) -> Ask[str | None]:
    """What was agreed for the time until the next session, if the words that suggested it really
    stand in the other's lines.
    """
    system, prompt = render(
        "client_agreed", view.language, me=view.me, other=view.other, talk=talk_text(view.lines)
    )
    reply = yield from ask(
        Question(
            verb="fill",
            purpose="client_agreed",
            tier="quick",
            who=view.me,
            system=system,
            prompt=prompt,
            schema=AgreedAnswer,
            fallback=AgreedAnswer(),
            temperature=0.0,
            max_tokens=160,
            seed=seed_of(*view.key, view.me, "agreed"),
            hints={"lines": tuple(line.text for line in view.lines if line.who == view.other)},
        )
    )
    answer: AgreedAnswer = reply.value
    return (
        answer.agreed
        if answer.agreed
        and any(stands_in(answer.quote, line.text) for line in view.lines if line.who == view.other)
        else None
    )


def _insight(view: TalkView, state: ClientState) -> Ask[str]:
    """What has become clear about the guard that loosened first of those without an insight."""
    guard = view.guards[state.loosened[len(state.insights)]]
    fallback = InsightAnswer(
        insight=phrase("client_words", "clear", view.language, guard=guard)[:240]
    )
    system, prompt = render(
        "client_insight",
        view.language,
        me=view.me,
        other=view.other,
        guard=guard,
        talk=talk_text(view.lines[-12:]),
    )
    reply = yield from ask(
        Question(
            verb="fill",
            purpose="client_insight",
            who=view.me,
            system=system,
            prompt=prompt,
            schema=InsightAnswer,
            fallback=fallback,
            temperature=0.5,
            max_tokens=120,
            seed=seed_of(*view.key, view.me, "insight"),
            hints={"guard": guard, "fallback": fallback},
        )
    )
    answer: InsightAnswer = reply.value
    return answer.insight
