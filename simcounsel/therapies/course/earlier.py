"""Sessions that were held before the run began, as what their counselor would have written."""

from collections.abc import Iterator

from simcounsel.agents.talk import TalkView
from simcounsel.events import (
    CourseAdvanced,
    FactLearned,
    MaterialOpened,
    PracticeEvent,
    SessionReviewed,
)
from simcounsel.therapies.specs.course import CoursePlan

UNCERTAIN = 3
"""The alliance of a session of which nothing says how firm it was, 1 to 5."""


def earlier(view: TalkView, plan: CoursePlan) -> Iterator[PracticeEvent]:
    """Notes on the plan's `held` sessions, what was learned in them, and the stage that follows."""
    stages = [stage.id for stage in plan.stages for _ in stage.sessions]
    number = 0
    for session, held in enumerate(plan.held, 1):
        of = {"who": view.me, "chat": f"before-{session}", "about": view.other, "session": session}
        yield SessionReviewed(
            **of,  # type: ignore[arg-type]
            stage=held.stage,
            summary=held.summary,
            goals=(),
            client_state=held.client_state,
            alliance=UNCERTAIN,
            unresolved=held.unresolved,
            homework=held.homework or None,
        )
        for fact in plan.facts:
            if fact.told == session:
                number += 1
                yield FactLearned(
                    **of,  # type: ignore[arg-type]
                    id=f"F{number}",
                    text=fact.text,
                    quote=fact.quote,
                    realm="reality",
                    status="fact",
                )
                yield MaterialOpened(
                    **of,  # type: ignore[arg-type]
                    of="fact",
                    text=fact.text,
                    rests_on=(fact.id,),
                    quotes=(fact.quote,) if fact.quote else (),
                )
        following = stages[min(session, len(stages) - 1)]
        yield CourseAdvanced(
            **of,  # type: ignore[arg-type]
            step="repeat" if following == held.stage else "advance",
            options=("repeat", "advance"),
            origin=held.stage,
            stage=following,
            focus=next(iter(held.unresolved), held.homework) or plan.sessions[session - 1].theme,
            reason="held before this run",
        )
