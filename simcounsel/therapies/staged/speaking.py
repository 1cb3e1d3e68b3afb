"""What the agent of a state is asked to do, and the hand-written lines that go with it."""

from simcounsel.agents.talk import Decision, Wording
from simcounsel.events import Judged, Transitioned
from simcounsel.policies.manual import own_example
from simcounsel.prompts import prompt_text, render
from simcounsel.therapies.specs.exercises import Exercise
from simcounsel.therapies.specs.manual import State
from simcounsel.therapies.staged import machine
from simcounsel.therapies.staged.questions import noted, words
from simcounsel.therapies.staged.session import ASKED, Session
from simcounsel.therapies.staged.timing import LAST_TWO

EXERCISE_TOKENS = 420


def decision_of(now: Session, state: State) -> Decision:
    """The move is the state; its agent's prompt, the shared notes and the exercise are the
    brief.
    """
    view = now.view
    if now.time_for is not None:
        return _about_time(now, state, now.time_for)
    exercise = _exercise(now, state)
    nothing = state.exercise is not None and exercise is None
    steps = _steps(now, state, exercise)
    manner = state.manner or (
        prompt_text("manner_exercise", view.language) if state.exercise else None
    )
    listens = not state.start and now.manual.phase_of[state.id] in ("initiation", "exploration")
    lines = (
        _nothing_lines(view.language)
        if nothing
        else tuple(_filled(line, exercise, steps) for line in _fitting(state, now.said_here))
    )
    return Decision(
        move=state.id,
        options=(state.id, *machine.allowed(now.manual, state.id)),
        reason=_reason(now),
        aim=words(view.language)["no_exercise_aim"] if nothing else state.objective,
        wording=Wording(
            act=state.act or "ask",
            brief=_without_exercise(now) if nothing else _brief(now, state, exercise, steps),
            manner=manner,
            steady=False,
            max_tokens=EXERCISE_TOKENS if state.exercise else 220,
            lines=tuple(own_example(line, state.act or "ask", listens=listens) for line in lines),
        ),
        leaves=state.ends,
        events=now.events,
    )


def _about_time(now: Session, state: State, time_for: str) -> Decision:
    """What the rest of the time is for is asked, or it is listened to, in place of what the state
    would do.
    """
    near = now.view.own_lines_left <= LAST_TWO
    key = "goes_on" if time_for != ASKED else "time" if near else "rest"
    phrases, act = words(now.view.language), "ask" if time_for == ASKED else "reflect"
    lines = (line for name, line in phrases.items() if name.startswith(f"{key}_line_"))
    return Decision(
        move=state.id,
        options=(state.id, *machine.allowed(now.manual, state.id)),
        reason=_reason(now),
        aim=phrases[f"{key}_aim"],
        wording=Wording(
            act=act,
            brief=_noted(now, phrases[f"{key}_part"], exercise=""),
            lines=tuple(own_example(line, act, listens=True) for line in lines),
            steady=False,
        ),
        leaves=False,
        events=now.events,
    )


def _fitting(state: State, said_here: int) -> tuple[str, ...]:
    """The first half of a state's lines for its first one; all but the very first for those after
    it.
    """
    return state.lines[1:] if said_here else state.lines[: (len(state.lines) + 1) // 2]


def _reason(now: Session) -> str:
    """The last thing that was decided in this turn."""
    reasons = [event.reason for event in now.events if isinstance(event, Transitioned | Judged)]
    return reasons[-1] if reasons else "the state goes on"


def _exercise(now: Session, state: State) -> Exercise | None:
    name = now.exercise_id
    return now.exercises.named(name) if state.exercise and name else None


def _steps(now: Session, state: State, exercise: Exercise | None) -> tuple[str, ...]:
    """The steps to be said now; all where the state does not part them, () after the last."""
    if exercise is None or state.exercise != "explain":
        return ()
    if not state.steps:
        return exercise.steps if not now.said_here else ()
    first = now.said_here * state.steps
    return exercise.steps[first : first + state.steps]


def _filled(line: str, exercise: Exercise | None, steps: tuple[str, ...]) -> str:
    if exercise is None:
        return line
    fields = {
        "exercise": exercise.name,
        "goal": exercise.goal,
        "afterwards": exercise.afterwards,
        "steps": " ".join(steps),
    }
    for slot, text in fields.items():
        line = line.replace(f"{{{slot}}}", text)
    return " ".join(line.split())


def _brief(now: Session, state: State, exercise: Exercise | None, steps: tuple[str, ...]) -> str:
    phrases = words(now.view.language)
    part = f"{phrases['left_open']} {state.prompt}" if now.left_open else state.prompt
    return _noted(now, part, _about(now, state, exercise, steps, phrases))


def _without_exercise(now: Session) -> str:
    part = render("staged_no_exercise", now.view.language, other=now.view.other)[1]
    return _noted(now, part, exercise="")


def _noted(now: Session, part: str, exercise: str) -> str:
    """What is to be done, beside what all parts of a session know."""
    view = now.view
    phrases = words(view.language)
    _, brief = render(
        "staged_brief",
        view.language,
        name=view.me,
        other=view.other,
        prompt=part,
        day=now.day,
        cap=now.manual.days.cap,
        since=_since(now, phrases),
        notes=noted(now, "known"),
        exercise=exercise,
        lead=phrases["lead" if view.heard else "lead_first"].replace("$other", view.other),
    )
    return "\n".join(line.rstrip() for line in brief.splitlines() if line.strip())


def _since(now: Session, phrases: dict[str, str]) -> str:
    """What the meeting before means for this line."""
    if now.view.moves:
        return ""
    began = next(event for event in now.here if isinstance(event, Transitioned))
    if began.resumed:
        return phrases["same_day"]
    if now.view.meeting.number == 1:
        return phrases["first"]
    return phrases["later" if now.notes else "later_unnoted"]


def _about(
    now: Session,
    state: State,
    exercise: Exercise | None,
    steps: tuple[str, ...],
    phrases: dict[str, str],
) -> str:
    if state.exercise is None or exercise is None:
        return ""
    part = (
        phrases[state.exercise]
        .replace("$afterwards", exercise.afterwards)
        .replace("$steps", " ".join(steps))
    )
    if state.exercise == "explain":
        if not steps:
            part = phrases["explain_again"].replace("$steps", " ".join(exercise.steps))
        else:
            part += (
                " " + phrases["explain_last" if steps[-1] == exercise.steps[-1] else "explain_more"]
            )
    return render(
        "staged_exercise",
        now.view.language,
        exercise=exercise.name,
        minutes=exercise.minutes,
        goal=exercise.goal,
        part=part,
        other=now.view.other,
    )[1]


def _nothing_lines(language: str) -> tuple[str, ...]:
    """What is said when no exercise fits."""
    return tuple(line for key, line in words(language).items() if key.startswith("nothing_"))
