"""The client's policy over a course: it changes, but slowly and not in a line.

All it knows is what was said to it and what it kept itself; of the counselor's plan, objective and
skills it sees nothing.
"""

from typing import ClassVar

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.events import ClientShifted, PracticeEvent
from simcounsel.llm.question import Ask, Reply, ask, traced
from simcounsel.policies.changing import questions
from simcounsel.policies.changing.moves import MOVES, aim_of, next_move
from simcounsel.policies.changing.state import ClientState, in_course, moved, state_of, today
from simcounsel.texts.quotes import stands_in


class Changing:
    """Guarded, then less so where a defense of its was met; with better and worse weeks, homework
    done or not, and what it has seen, it keeps.
    """

    name: ClassVar[str] = "changing"

    def decide(self, view: TalkView) -> Ask[Decision]:
        """Where it stands after what was just said to it, and how it speaks from there."""
        before = today(view, state_of(view))
        touched, replies = yield from _touched(view)
        state = moved(view, before, touched)
        move, reason = next_move(view, state)
        shifted = ClientShifted(
            who=view.me,
            chat=view.chat,
            resistance=state.resistance,
            mood=state.mood,
            defense=touched,
            softened=state.softened,
            agreed=state.agreed,
            homework=state.homework,
            **traced(*replies),
        )
        return Decision(
            move=move,
            options=tuple(MOVES),
            reason=reason,
            aim=aim_of(view, state, move),
            act=MOVES[move],
            events=(shifted,),
            leaves=_leaves(view, state, move),
        )

    def conclude(self, view: TalkView) -> Ask[tuple[PracticeEvent, ...]]:
        """What it takes home from a session: what was agreed, and what has become clear if a
        defense has loosened today.
        """
        if not in_course(view):
            return ()
        state = state_of(view)
        agreed = yield from ask(questions.agreed(view))
        replies: tuple[Reply[questions.AgreedAnswer] | Reply[questions.InsightAnswer], ...]
        replies, insight = (agreed,), None
        if len(state.insights) < len(state.loosened):
            defense = view.defenses[state.loosened[len(state.insights)]]
            clear = yield from ask(questions.insight(view, defense))
            replies, insight = (agreed, clear), clear.value.insight
        return (
            ClientShifted(
                who=view.me,
                chat=view.chat,
                resistance=state.resistance,
                mood=state.mood,
                softened=state.softened,
                agreed=_agreed(view, agreed.value),
                insight=insight,
                **traced(*replies),
            ),
        )


def _touched(view: TalkView) -> Ask[tuple[int | None, tuple[Reply[str], ...]]]:
    """Which defense was touched, from 0, and the reply that says so; None where
    none was, or nothing could be.
    """
    if not (in_course(view) and view.defenses and view.heard):
        return None, ()
    question = questions.touched(view, view.heard.text)
    reply = yield from ask(question)
    touched = question.options.index(reply.value) - 1
    return (touched if touched >= 0 else None), (reply,)


def _agreed(view: TalkView, answer: questions.AgreedAnswer) -> str | None:
    """What was agreed, if the words that suggested it really stand in the other's lines."""
    there = any(stands_in(answer.quote, line.text) for line in view.lines if line.who == view.other)
    return answer.agreed if answer.agreed and there else None


def _leaves(view: TalkView, state: ClientState, move: str) -> bool | None:
    """A session is left before its time only in anger, and only by one who is very much on their
    guard.
    """
    if move == "ending":
        return True
    return None if not in_course(view) or (move == "angry" and state.resistance > 8) else False
