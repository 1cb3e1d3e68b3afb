"""An exercise for this client: filtered by rule, chosen by a model, and all of it written down."""

from simcounsel.events import Candidate, Judged, PracticeEvent, Retrieved
from simcounsel.llm.question import Ask, Reply, ask, traced
from simcounsel.policies.staged import questions
from simcounsel.policies.staged.exercises import WIDER, cues_in, fitting
from simcounsel.policies.staged.session import CONTRAINDICATION, Session


def heard_against(now: Session) -> tuple[Judged, ...]:
    """Contraindications in the client's lines and in the notes that were not heard before, each
    with the words that suggest it.

    They are events, so that they hold in every later session, where the lines themselves are no
    longer known.
    """
    view = now.view
    known, before = now.exercises, set(now.against)
    state = now.state.id if now.state else now.manual.start.id
    found: dict[str, str] = {}
    for text in (*(line.text for line in view.lines if line.who != view.me), now.notes):
        found |= {
            name: cue
            for name, cue in cues_in(text, known, view.language)
            if name not in before | set(found)
        }
    return tuple(
        Judged(
            who=view.me,
            chat=view.chat,
            state=state,
            question=CONTRAINDICATION,
            verdict=name,
            by="words",
            reason=f"“{cue}”",
        )
        for name, cue in found.items()
    )


def choose_exercise(now: Session) -> Ask[tuple[PracticeEvent, ...]]:
    """Filtered by day, stage, contraindications and what was done; of what is left the model takes
    one. Of nothing, none.
    """
    fit = fitting(
        now.exercises,
        day=now.day,
        against=tuple(now.against),
        earlier=now.offered_before,
        here=now.offered_here,
        danger=now.danger,
    )
    if not fit.kept:
        reason = (
            f"danger was assessed as {now.danger}"
            if now.danger
            else "nothing is left that may be offered"
        )
        return (_retrieved(now, fit.candidates, (), reason),)
    if len(fit.kept) == 1:
        return (
            _retrieved(now, fit.candidates, (fit.kept[0].id,), "the only one that may be offered"),
        )
    reply = yield from ask(questions.exercise(now, fit.kept))
    reason = (
        reply.notes.get("why")
        or reply.problem
        or "chosen by the model, by what the client feels and the notes"
    )
    return (
        _retrieved(
            now,
            fit.candidates,
            (reply.value,),
            f"{reason}; {WIDER[fit.wider]}" if fit.wider else reason,
            reply,
        ),
    )


def _retrieved(
    now: Session,
    candidates: tuple[Candidate, ...],
    chosen: tuple[str, ...],
    reason: str,
    *replies: Reply[str],
) -> Retrieved:
    return Retrieved(
        who=now.view.me,
        chat=now.view.chat,
        of="exercise",
        candidates=candidates,
        chosen=chosen,
        reason=reason,
        **traced(*replies),
    )
