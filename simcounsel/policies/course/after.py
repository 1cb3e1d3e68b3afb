"""After a session: the note on it, what was learned of the client and how it stands to what was
known, and how the course goes on.
"""

from simcounsel.agents.talk import TalkView
from simcounsel.events import PracticeEvent
from simcounsel.llm.question import Ask
from simcounsel.policies.course.learning import formulate, learn
from simcounsel.policies.course.progress import go_on
from simcounsel.policies.course.review import review_of
from simcounsel.policies.course.state import CourseState
from simcounsel.specs.course import CoursePlan
from simcounsel.specs.therapy import Therapy


def look_back(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState
) -> Ask[tuple[PracticeEvent, ...]]:
    """All that a counselor writes when a session is over."""
    review = yield from review_of(view, plan, state)
    facts = yield from learn(view, state)
    rows = yield from formulate(view, therapy, state)
    step = yield from go_on(view, therapy, plan, state, review)
    return (review, *facts, *rows, step)
