"""Before each line: a trace of thought that is never said, and what it means for the line."""

import re

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.events import PracticeEvent, Reasoned
from simcounsel.llm.question import Ask, Reply, traced
from simcounsel.policies.course.facts import ReasoningFacts
from simcounsel.policies.course.prompting import agenda, asked, known_text, listed, recent, sayable
from simcounsel.policies.course.schemas import ReasoningAnswer, one_of
from simcounsel.policies.course.state import CourseState
from simcounsel.policies.manual import acts, aims
from simcounsel.prompts import phrase, prompt_text, render
from simcounsel.specs.therapy import MetaSkill, Skill
from simcounsel.texts.overlap import read_out, without


def reason(
    view: TalkView, state: CourseState, skills: dict[str, MetaSkill | Skill]
) -> Ask[Reasoned]:
    """The trace. One that quotes the agenda is asked for once more, then what quotes it is cut
    out.
    """
    ids = tuple(skills)
    fallback = _plain(view, state, ids)
    schema = one_of(ReasoningAnswer, "skill", ids)
    forbidden, free = agenda(state), sayable(view, state)
    answer, again = fallback, ""
    replies: list[Reply[ReasoningAnswer]] = []
    cued = {one: _cued(skill) for one, skill in skills.items()}
    for attempt in range(2):
        reply = yield from asked(
            view,
            "course_reason",
            schema,
            fallback,
            {
                "objective": listed(agenda(state)),
                "known": known_text(state),
                "skills": listed(cued),
                "used": ", ".join(state.used) or "-",
                "talk": recent(view),
                "left": view.turns_left,
                "again": again,
                "homework": (state.last.homework if state.last else None) or "-",
            },
            ReasoningFacts(
                heard=view.heard, closeness=view.closeness, skills=cued, used=state.used
            ),
            temperature=0.4,
            max_tokens=350,
            again=attempt,
        )
        replies.append(reply)
        answer = reply.value
        quoted = read_out(
            " . ".join((answer.assessment, answer.client_state, answer.strategy)), forbidden, free
        )
        if quoted is None:
            break
        again = "\n" + render("course_reason_again", view.language, quoted=quoted)[1]
    cut = phrase("course_words", "cut", view.language)
    return Reasoned(
        who=view.me,
        chat=view.chat,
        skill=answer.skill,
        assessment=without(answer.assessment, forbidden, free) or cut,
        client_state=without(answer.client_state, forbidden, free) or cut,
        strategy=without(answer.strategy, forbidden, free) or cut,
        **traced(*replies),
    )


def _cued(skill: MetaSkill | Skill) -> str:
    return f"{skill.name}. Cue: {skill.cue}" if skill.cue else f"{skill.name}. {skill.description}"


def _plain(view: TalkView, state: CourseState, ids: tuple[str, ...]) -> ReasoningAnswer:
    """Without a model's help: the skill of the session that was used least so far."""
    skill = min(ids, key=lambda one: (state.used.count(one), ids.index(one)))
    return ReasoningAnswer(
        assessment=phrase(
            "course_words", "heard" if view.heard else "silent", view.language, other=view.other
        ),
        client_state=phrase("course_words", "unclear", view.language),
        strategy=phrase("course_words", "slowly", view.language),
        skill=skill,
    )


def decide(
    view: TalkView,
    state: CourseState,
    skills: dict[str, MetaSkill | Skill],
    trace: Reasoned,
    events: tuple[PracticeEvent, ...],
) -> Decision:
    """What the line is to be: the opening, the close, or the skill that was chosen for it."""
    assert trace.skill is not None
    skill = skills[trace.skill]
    closing, opening = view.parting or view.turns_left <= 2, not view.moves
    move = "close" if closing else "open" if opening else trace.skill
    kind = "close" if closing else "open" if opening else "work"
    brief = render(
        "course_brief",
        view.language,
        skill=skill.name,
        does=skill.description,
        when=skill.when or "-",
        cue=skill.cue or "-",
        strategy=trace.strategy,
        objective=" ".join(state.planned.objective) if state.planned else "-",
        known=known_text(state),
        homework=(state.last.homework if state.last else None) or "-",
    )[1]
    return Decision(
        move=move,
        options=(move,) if closing or opening else tuple(skills),
        reason=trace.strategy,
        aim=aims("course", view.language)[kind],
        act="close" if closing else "greet" if opening else act_of(skill, view.language),
        brief=brief,
        manner=prompt_text("course_manner", view.language),
        leaves=bool(closing),
        events=events,
        unsaid=(
            *agenda(state),
            trace.assessment,
            trace.client_state,
            trace.strategy,
            skill.description,
        ),
        free=sayable(view, state),
    )


def act_of(skill: MetaSkill | Skill, language: str = "en") -> str:
    """The kind of hand-written form that comes nearest to a skill, which may be told in English in
    any world; an invitation to tell more where none does.
    """
    words = f"{skill.name}. {skill.description}".lower()
    patterns = (pair for one in (language, "en") for pair in acts("course", one).items())
    return next((act for act, pattern in patterns if re.search(pattern, words)), "ask")
