"""Before each line: a trace of thought that is never said, and what it means for the line."""

import re

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.unsaid import read_out, without
from simcounsel.events import PracticeEvent, Reasoned
from simcounsel.llm.ask import Ask
from simcounsel.policies.course.answers import ReasoningAnswer, one_of
from simcounsel.policies.course.asking import agenda, asked, known_text, listed, recent, sayable
from simcounsel.policies.course.state import CourseState
from simcounsel.policies.manual import aims
from simcounsel.prompts import prompt_text, render
from simcounsel.specs.therapy import MetaSkill, Skill

CUT = "(cut: it repeated the agenda)"
ACTS = (
    ("viewpoint", r"\bfriend|\banother (view|thought|side)|\bsomebody else|\bother people|perspective|\bin (their|the other's) place"),
    ("evidence", r"\bevidence|\bfacts?\b|\bspeaks? (for|against)|\bfor and against|\btest|\bprediction"),
    ("consequence", r"\bfollow(s|ed)? from|\bconsequence|\bcosts?\b|\bwould happen|\bworst|\bleads? to|\btask|\bexperiment|\bpractis|\bplan\b"),
    ("assumption", r"\brules?\b|\bassum|\bbelie[fv]|\bmust\b|\bmeans? (about|to)|\bguess|\binterpret|\bpattern"),
    ("question", r"\bfeedback|\bbetween you|\bmatters|\bwhy now|\bwhat brings|\bwork together|\bthe talk\b"),
    ("clarify", r"\bconcrete|\bexact|\bwhat (was|is|it)|\bmoment|\bsituation|\bname\b|\brate\b|\bdescribe|\bbody|\bpicture"),
)
"""Which of a counselor's hand-written forms comes nearest to a skill, by its own words; the first that fits."""


def reason(view: TalkView, state: CourseState, skills: dict[str, MetaSkill | Skill]) -> Ask[Reasoned]:
    """The trace. One that quotes the agenda is asked for once more, then what quotes it is cut out."""
    ids = tuple(skills)
    fallback = _plain(view, state, ids)
    model = one_of(ReasoningAnswer, "skill", ids)
    forbidden, free = agenda(state), sayable(view, state)
    answer, again = fallback, ""
    cued = {one: _cued(skill) for one, skill in skills.items()}
    for attempt in range(2):
        reply = yield from asked(
            view, "course_reason", model, fallback,
            {
                "objective": listed(agenda(state)), "known": known_text(state), "skills": listed(cued),
                "used": ", ".join(state.used) or "-", "talk": recent(view), "left": view.turns_left, "again": again,
                "homework": (state.last.homework if state.last else None) or "-",
            },
            {"skills": cued, "used": state.used}, temperature=0.4, max_tokens=350, again=attempt,
        )
        answer = reply.value
        quoted = read_out(" . ".join((answer.assessment, answer.client_state, answer.strategy)), forbidden, free)
        if quoted is None:
            break
        again = "\n" + render("course_reason_again", view.language, quoted=quoted)[1]
    return Reasoned(
        who=view.me, chat=view.chat, skill=answer.skill, assessment=without(answer.assessment, forbidden, free) or CUT,
        client_state=without(answer.client_state, forbidden, free) or CUT, strategy=without(answer.strategy, forbidden, free) or CUT,
    )


def _cued(skill: MetaSkill | Skill) -> str:
    return f"{skill.name}. Cue: {skill.cue}" if skill.cue else f"{skill.name}. {skill.description}"


def _plain(view: TalkView, state: CourseState, ids: tuple[str, ...]) -> ReasoningAnswer:
    """Without a model's help: the skill of the session that was used least so far."""
    skill = min(ids, key=lambda one: (state.used.count(one), ids.index(one)))
    return ReasoningAnswer(
        assessment=f"{view.other} has said something that should be taken up." if view.heard else f"{view.other} has not spoken yet.",
        client_state="not clear from the words alone", strategy="stay close to the client's words and go slowly", skill=skill,
    )


def decide(
    view: TalkView, state: CourseState, skills: dict[str, MetaSkill | Skill], trace: Reasoned, events: tuple[PracticeEvent, ...]
) -> Decision:
    """What the line is to be: the opening, the close, or the skill that was chosen for it."""
    assert trace.skill is not None
    skill = skills[trace.skill]
    closing, opening = view.parting or view.turns_left <= 2, not view.moves
    move = "close" if closing else "open" if opening else trace.skill
    kind = "close" if closing else "open" if opening else "work"
    brief = render(
        "course_brief", view.language, skill=skill.name, does=skill.description, when=skill.when or "-", cue=skill.cue or "-",
        strategy=trace.strategy, objective=" ".join(state.planned.objective) if state.planned else "-", known=known_text(state),
        homework=(state.last.homework if state.last else None) or "-",
    )[1]
    return Decision(
        move=move, options=(move,) if closing or opening else tuple(skills), reason=trace.strategy, aim=aims("course", view.language)[kind],
        act="close" if closing else "greet" if opening else act_of(skill), brief=brief, manner=prompt_text("course_manner", view.language),
        leaves=bool(closing), events=events,
        unsaid=(*agenda(state), trace.assessment, trace.client_state, trace.strategy, skill.description), free=sayable(view, state),
    )


def act_of(skill: MetaSkill | Skill) -> str:
    """The kind of hand-written form that comes nearest to a skill; an invitation to tell more where none does."""
    words = f"{skill.name}. {skill.description}".lower()
    return next((act for act, pattern in ACTS if re.search(pattern, words)), "ask")
