"""A counselor's note on a session: which goals it met, by words that are in the talk."""

from simcounsel.agents.talk import TalkView
from simcounsel.events import GoalReview, SessionReviewed
from simcounsel.llm.question import Traced
from simcounsel.texts.quotes import stands_in
from simcounsel.therapies.course.schemas import ReviewAnswer
from simcounsel.therapies.course.state import CourseState
from simcounsel.therapies.specs.course import CoursePlan


def judged(plan: CoursePlan, state: CourseState) -> tuple[str, ...]:
    """The goals that a note judges: those that the session aimed at, then the others still
    unmet.
    """
    aimed = state.planned.goals if state.planned else ()
    return tuple(dict.fromkeys((*aimed, *state.unmet(plan))))


def review_of(
    view: TalkView, plan: CoursePlan, state: CourseState, answer: ReviewAnswer, calls: Traced
) -> SessionReviewed:
    """A goal counts as met when the words that show it are in the talk."""
    reviewed, dropped = [], []
    for number, goal in enumerate(judged(plan, state), 1):
        given = [one for one in answer.goals if one.number == number and one.met]
        quotes = tuple(dict.fromkeys(one.quote for one in given if stands(one.quote, view)))
        dropped += [one.quote or "(no quote)" for one in given if not stands(one.quote, view)]
        reviewed.append(GoalReview(goal=goal, met=bool(quotes), quotes=quotes))
    return SessionReviewed(
        who=view.me,
        chat=view.chat,
        about=view.other,
        session=state.session,
        stage=state.stage,
        summary=answer.summary,
        goals=tuple(reviewed),
        client_state=answer.client_state,
        alliance=answer.alliance,
        unresolved=answer.unresolved,
        homework=answer.homework or None,
        dropped=tuple(dropped),
        **calls,
    )


def stands(quote: str, view: TalkView, who: str | None = None) -> bool:
    """Whether the words are in one line of the talk. who: only in this one's lines."""
    return any(stands_in(quote, line.text) for line in view.lines if who in (None, line.who))
