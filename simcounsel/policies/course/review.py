"""A counselor's note on a session: which goals it met, by words that stand in the talk."""

from simcounsel.agents.talk import TalkView
from simcounsel.agents.views import talk_text
from simcounsel.events import GoalReview, SessionReviewed
from simcounsel.llm.question import Ask, traced
from simcounsel.policies.course.facts import ReviewFacts
from simcounsel.policies.course.prompting import asked, listed
from simcounsel.policies.course.schemas import ReviewAnswer
from simcounsel.policies.course.state import CourseState
from simcounsel.prompts import phrase
from simcounsel.specs.course import CoursePlan
from simcounsel.texts.quotes import stands_in


def review_of(view: TalkView, plan: CoursePlan, state: CourseState) -> Ask[SessionReviewed]:
    """A goal counts as met when the words that show it stand in the talk."""
    unmet = state.unmet(plan)
    aimed = state.planned.goals if state.planned else ()
    goals = tuple(dict.fromkeys((*aimed, *unmet)))
    fallback = ReviewAnswer(
        summary=phrase("course_words", "no note", view.language, me=view.me, other=view.other),
        goals=(),
        client_state=phrase("course_words", "not noted", view.language),
        alliance=3,
    )
    reply = yield from asked(
        view,
        "course_review",
        ReviewAnswer,
        fallback,
        {"goals": listed(goals), "talk": talk_text(view.lines), "session": state.session},
        ReviewFacts(
            me=view.me,
            other=view.other,
            session=state.session,
            lines=view.lines,
            closeness=view.closeness,
            goals=goals,
        ),
        max_tokens=900,
    )
    answer = reply.value
    reviewed, dropped = [], []
    for number, goal in enumerate(goals, 1):
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
        **traced(reply),
    )


def stands(quote: str, view: TalkView, who: str | None = None) -> bool:
    """Whether the words stand in one line of the talk. who: only in this one's lines."""
    return any(stands_in(quote, line.text) for line in view.lines if who in (None, line.who))
