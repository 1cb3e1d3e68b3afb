"""Before a session: what it is for, and the skills for it, chosen from coarse to fine."""

from typing import Any

from simcounsel.agents.appointments import clock_text
from simcounsel.agents.talk import TalkView
from simcounsel.agents.tasks import Answer
from simcounsel.events import PracticeEvent, Retrieved, SessionPlanned
from simcounsel.llm.question import Ask, Reply, Traced, traced
from simcounsel.prompts import phrase
from simcounsel.therapies.course.facts import Library, PreparationFacts
from simcounsel.therapies.course.library import Shelf, SkillsChosen, chosen, shelf_of
from simcounsel.therapies.course.material import opened_text
from simcounsel.therapies.course.measure import Measure
from simcounsel.therapies.course.prompting import (
    asked,
    before_text,
    formulation_text,
    known_text,
    labelled,
    listed,
    worded,
)
from simcounsel.therapies.course.schemas import (
    MOST_GOALS,
    FineAnswer,
    GroupsAnswer,
    ObjectiveAnswer,
    PreparedAnswer,
    PreparedGroupsAnswer,
    SkillsAnswer,
    TherapiesAnswer,
    at_most,
    narrowed,
    some_of,
)
from simcounsel.therapies.course.state import CourseState
from simcounsel.therapies.course.withholding import leaks_undisclosed, untold
from simcounsel.therapies.specs.course import CoursePlan
from simcounsel.therapies.specs.therapy import Therapy

MOST_THERAPIES = 2
"""How many a session draws on."""


def prepare(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState, measure: Measure
) -> Ask[tuple[PracticeEvent, ...]]:
    """The session's objective and its skills: in one reply where the library is small, else first
    meta skills, then skills of these. Where several therapies may be combined, these come with the
    objective, before both.
    """
    if not therapy.drawn:
        shelf = shelf_of(view, therapy, (), state.stage, measure)
        coarse = shelf
        if not shelf.small:
            about = "\n".join((*_open_points(state), *_open_goals(plan, state)))
            coarse = yield from shelf.groups().near(about)
        reply = yield from _with_skills(view, therapy, plan, state, measure, coarse)
        answer, calls = reply.value, traced(reply)
        planned = _planned(view, therapy, plan, state, answer, calls)
        found = coarse.retrieved(answer, calls)
        fine = yield from _finer(view, planned, shelf, coarse, answer)
        return (planned, *found, *fine)
    planned_schools = state.planned_for(plan).schools
    if schools := tuple(one for one in therapy.drawn if one.id in planned_schools):
        therapy = therapy.model_copy(update={"drawn": schools})
    combined = yield from _with_therapies(view, therapy, plan, state, measure)
    planned = _planned(view, therapy, plan, state, combined.value, traced(combined))
    options = {other.id: f"{other.name}. {other.about}" for other in therapy.drawn}
    taken = tuple(dict.fromkeys(combined.value.therapies))
    drawn = chosen(view, "therapy", options, taken, combined.value.why, traced(combined))
    schools = tuple(other for other in therapy.drawn if other.id in taken)
    shelf = shelf_of(view, therapy, schools, state.stage, measure)
    coarse = shelf
    if not shelf.small:
        coarse = yield from shelf.groups().near("\n".join((*planned.objective, *planned.goals)))
    skills = yield from _skills(view, planned, coarse)
    found = coarse.retrieved(skills.value, traced(skills))
    fine = yield from _finer(view, planned, shelf, coarse, skills.value)
    return (planned, drawn, *found, *fine)


def _finer(
    view: TalkView, planned: SessionPlanned, shelf: Shelf, coarse: Shelf, answer: SkillsChosen
) -> Ask[tuple[Retrieved, ...]]:
    """The skills of the meta skills that were chosen; () where they came with these."""
    if coarse.part == "all":
        return ()
    metas = coarse.taken(answer)[0]
    fine = yield from shelf.within(metas).near("\n".join((*planned.objective, *planned.goals)))
    reply = yield from _skills(view, planned, fine)
    return fine.retrieved(reply.value, traced(reply))


def _with_skills(
    view: TalkView,
    therapy: Therapy,
    plan: CoursePlan,
    state: CourseState,
    measure: Measure,
    shelf: Shelf,
) -> Ask[Reply[PreparedAnswer | PreparedGroupsAnswer]]:
    """What a session is for and which skills serve it, or which meta skills."""
    plain = _next_objective(view, state, _open_goals(plan, state), measure)
    metas, skills = shelf.first()
    why = "the first, not used lately"
    schema: type[Any] = PreparedAnswer
    fallback: Any = PreparedAnswer(**plain.model_dump(), intentions=metas, skills=skills, why=why)
    if shelf.part == "groups":
        schema = PreparedGroupsAnswer
        fallback = PreparedGroupsAnswer(**plain.model_dump(), intentions=metas, why=why)
    return (
        yield from asked(
            view,
            "course_objective",
            narrowed(schema, objective=at_most(measure.objectives), **_choices(shelf)),
            fallback,
            _slots(view, therapy, plan, state, measure)
            | {"options": f"\n\n{shelf.text}", "choose": f"\n3. {shelf.task}"},
            _facts(plan, state, plain, library=shelf.library),
            max_tokens=_tokens(measure),
            check=shelf.problem,
        )
    )


def _with_therapies(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState, measure: Measure
) -> Ask[Reply[TherapiesAnswer]]:
    """What a session is for and which therapies it draws on."""
    plain = _next_objective(view, state, _open_goals(plan, state), measure)
    options = {other.id: f"{other.name}. {other.about}" for other in therapy.drawn}
    fallback = TherapiesAnswer(
        **plain.model_dump(), therapies=tuple(options)[:1], why="the first of the therapy"
    )
    listing = labelled(view, "schools", listed(options))
    return (
        yield from asked(
            view,
            "course_objective",
            narrowed(
                TherapiesAnswer,
                objective=at_most(measure.objectives),
                therapies=some_of(tuple(options), 1, MOST_THERAPIES),
            ),
            fallback,
            _slots(view, therapy, plan, state, measure)
            | {
                "options": f"\n\n{listing}",
                "choose": f"\n3. {worded(view, 'choose schools', most=MOST_THERAPIES)}",
            },
            _facts(plan, state, plain, therapies=options),
            max_tokens=_tokens(measure),
        )
    )


def _skills(view: TalkView, planned: SessionPlanned, shelf: Shelf) -> Ask[Reply[SkillsChosen]]:
    """Which skills serve a session whose objective is settled."""
    schema: type[Any] = SCHEMAS[shelf.part]
    metas, skills = shelf.first()
    plain = {"intentions": metas, "skills": skills, "why": "the first, not used lately"}
    fallback = schema(**{key: plain[key] for key in schema.model_fields})
    return (
        yield from asked(
            view,
            "course_skills",
            narrowed(schema, **_choices(shelf)),
            fallback,
            {
                "objective": listed(planned.objective),
                "goals": listed(planned.goals),
                "options": shelf.text,
                "choose": shelf.task,
            },
            PreparationFacts(
                goals=(),
                aims=(*planned.objective, *planned.goals),
                therapies={},
                most_therapies=0,
                library=shelf.library,
            ),
            tier="quick",
            temperature=0.2,
            max_tokens=200 + TOKENS_AN_ID * (shelf.library.most + shelf.library.most_metas),
            check=shelf.problem,
        )
    )


SCHEMAS: dict[str, type[Answer]] = {
    "all": SkillsAnswer,
    "groups": GroupsAnswer,
    "skills": FineAnswer,
}
TOKENS_AN_ID, TOKENS_A_POINT = 12, 60
"""Most of the reply for an id, and for a point that a session is for."""


def _tokens(measure: Measure) -> int:
    return (
        300 + TOKENS_A_POINT * measure.objectives + TOKENS_AN_ID * (measure.skills + measure.metas)
    )


def _choices(shelf: Shelf) -> dict[str, object]:
    """The types of the fields that name meta skills and skills."""
    of = shelf.library
    fields = {
        "intentions": some_of(tuple(of.metas), of.fewest_metas, of.most_metas),
        "skills": some_of(tuple(of.skills), of.fewest, of.most) if of.skills else None,
    }
    without = {"all": "", "groups": "skills", "skills": "intentions"}[shelf.part]
    return {key: kind for key, kind in fields.items() if key != without}


def _facts(
    plan: CoursePlan,
    state: CourseState,
    plain: ObjectiveAnswer,
    *,
    therapies: dict[str, str] | None = None,
    library: Library | None = None,
) -> PreparationFacts:
    goals = _open_goals(plan, state)
    return PreparationFacts(
        goals=goals,
        aims=(*plain.objective, *(goals[number - 1] for number in plain.goals)),
        therapies=therapies or {},
        most_therapies=MOST_THERAPIES,
        library=library,
    )


def _open_goals(plan: CoursePlan, state: CourseState) -> tuple[str, ...]:
    """Those that nothing has shown to be met; all of the stage's when each has been."""
    return state.unmet(plan) or plan.stage(state.stage).aims


def _open_points(state: CourseState) -> tuple[str, ...]:
    """What the next session is to take up first, and what the last one left open; each once."""
    last, step = state.last, state.steps[-1] if state.steps else None
    points = (*((step.focus,) if step else ()), *(last.unresolved if last else ()))
    return tuple(dict.fromkeys(points))


def _slots(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState, measure: Measure
) -> dict[str, object]:
    """What the prompt says: from the plan, what is known, and the goals that nothing has yet shown
    to be met. Of the plan nothing is taken that the client has yet to tell.
    """
    last, stage = state.last, therapy.stage(state.stage).name
    theme = theme_of(view, therapy, plan, state)
    return {
        "therapy": therapy.name,
        "about": therapy.about,
        "session": state.session,
        "length": plan.length,
        "stage": stage,
        "theme": "\n" + worded(view, "theme", text=theme) if theme != stage else "",
        "clock": clock_text(view),
        "goals": listed(_open_goals(plan, state)),
        "known": labelled(view, "known so far", known_text(view, state)),
        "formulation": labelled(view, "filled in", formulation_text(state, therapy)),
        "before": labelled(view, "before", before_text(view, state)),
        "open": labelled(view, "left open", listed(_open_points(state))),
        "opened": opened_text(view, state),
        "most": measure.objectives,
        "homework": labelled(view, "in between", (last.homework if last else None) or ""),
    }


def _planned(
    view: TalkView,
    therapy: Therapy,
    plan: CoursePlan,
    state: CourseState,
    answer: ObjectiveAnswer,
    calls: Traced,
) -> SessionPlanned:
    """What a session is for, as an event; a goal that is none of the open ones is left out."""
    unmet = _open_goals(plan, state)
    aimed = (
        tuple(dict.fromkeys(unmet[number - 1] for number in answer.goals if number <= len(unmet)))
        or unmet[:1]
    )
    return SessionPlanned(
        who=view.me,
        chat=view.chat,
        about=view.other,
        session=state.session,
        stage=state.stage,
        theme=theme_of(view, therapy, plan, state),
        objective=answer.objective,
        goals=aimed,
        reason=answer.reason,
        **calls,
    )


def theme_of(view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState) -> str:
    """The session's theme, as planned; the stage's name where that would foretell what the client
    has yet to tell.
    """
    planned = state.planned_for(plan).theme
    facts = (fact for fact in plan.facts if fact.id not in state.told)
    secret = untold(facts, _told_by(view, state), therapy)
    return therapy.stage(state.stage).name if leaks_undisclosed(planned, secret) else planned


def _next_objective(
    view: TalkView, state: CourseState, unmet: tuple[str, ...], measure: Measure
) -> ObjectiveAnswer:
    """Without a model: the open points, and the goals that were aimed at least so far."""
    next_goals = sorted(range(len(unmet)), key=lambda index: state.aimed.count(unmet[index]))
    towards = next_goals[: max(2, measure.objectives // 2)]
    room = max(1, measure.objectives - len(towards))
    points = (
        *(("back", point) for point in _open_points(state)[:room]),
        *(("towards", unmet[index]) for index in towards),
    )
    return ObjectiveAnswer(
        objective=tuple(
            phrase("course_words", key, view.language, what=what)[:400] for key, what in points
        )[: measure.objectives],
        goals=tuple(index + 1 for index in towards[:MOST_GOALS]),
        reason="the goals still unmet that were aimed at least so far",
    )


def _told_by(view: TalkView, state: CourseState) -> tuple[str, ...]:
    """What the client has told so far."""
    facts = (text for fact in state.facts for text in (fact.text, fact.quote))
    return (view.other, *(line.text for line in view.lines if line.who != view.me), *facts)
