"""After a conversation: what each takes away, and how the relationship moves."""

from simcounsel.agents.facts import SummaryFacts
from simcounsel.agents.mind import Effects, Scene
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import TalkView
from simcounsel.agents.tasks import CLOSENESS_STEP, SessionSummaryAnswer, SummaryAnswer
from simcounsel.agents.ties import together
from simcounsel.agents.views import so_far, whoami
from simcounsel.clock import date_text, time_text
from simcounsel.events import Appraised, HomeworkAgreed, Memory, RelationChanged
from simcounsel.llm.question import Ask, Question, Reply, ask, traced
from simcounsel.prompts import phrase, render
from simcounsel.texts.quotes import stands_in


def take_away(resident: Resident, scene: Scene, view: TalkView) -> Ask[Effects]:
    """One's own summary as a thought, the feeling that stays, and the new relationship score."""
    reply = yield from ask(_question(resident, scene, view))
    return Effects(events=_events(resident, view, reply), drafts=(_draft(view, reply),))


def _question(resident: Resident, scene: Scene, view: TalkView) -> Question[SummaryAnswer]:
    """How the conversation is summed up, and what it did to the two."""
    system, prompt = render(
        "summarize",
        scene.language,
        whoami=whoami(resident, scene.language),
        name=resident.name,
        other=view.other,
        place=view.meeting.place,
        now=date_text(view.clock.ended or scene.minute, scene.start, scene.language),
        began=time_text(scene.minute),
        together=together(resident, scene, view),
        talk=so_far(view),
        home=phrase("moment", "take_home", scene.language, other=view.other)
        if takes_home(resident, view)
        else "",
    )
    kind = SessionSummaryAnswer if takes_home(resident, view) else SummaryAnswer
    fallback = kind(
        summary=phrase(
            "lived",
            "talked",
            scene.language,
            name=resident.name,
            other=view.other,
            place=view.meeting.place,
        ),
        closeness="as before",
        emotion="neutral",
        intensity=1,
        poignancy=1,
    )
    return Question(
        verb="fill",
        **scene.asks(resident.name, "summarize", view.chat),
        system=system,
        prompt=prompt,
        schema=type(fallback),
        fallback=fallback,
        temperature=0.3,
        max_tokens=250,
        facts=SummaryFacts(
            name=resident.name,
            other=view.other,
            role=resident.spec.role,
            lines=view.lines,
            takes_home=takes_home(resident, view),
        ),
    )


def takes_home(resident: Resident, view: TalkView) -> bool:
    """Whether something may have been agreed: a client after a session."""
    return (
        resident.spec.role == "client"
        and view.meeting.appointment
        and view.meeting.role == "counselor"
    )


def _agreed(view: TalkView, reply: Reply[SummaryAnswer]) -> tuple[HomeworkAgreed, ...]:
    """What was agreed, if the words that suggested it really are in the other's lines."""
    answer = reply.value
    if not isinstance(answer, SessionSummaryAnswer) or not answer.agreed:
        return ()
    said = (line.text for line in view.lines if line.who == view.other)
    if not answer.agreed_quote or not any(stands_in(answer.agreed_quote, text) for text in said):
        return ()
    return (
        HomeworkAgreed(
            who=view.me,
            chat=view.chat,
            agreed=answer.agreed,
            quote=answer.agreed_quote,
            **traced(reply),
        ),
    )


def closeness_after(before: float, moved: str) -> float:
    """The relationship score (0 to 10) after a conversation: the closer two are already, the less
    one more conversation adds; a loss counts in full.
    """
    step = CLOSENESS_STEP[moved]
    return round(max(0.0, before + (step * (1 - before / 10) if step > 0 else step)), 2)


def _events(
    resident: Resident, view: TalkView, reply: Reply[SummaryAnswer]
) -> tuple[Appraised | RelationChanged | HomeworkAgreed, ...]:
    answer = reply.value
    before = view.meeting.closeness
    after = closeness_after(before, answer.closeness)
    return (
        Appraised(
            who=resident.name,
            about=answer.summary,
            emotion=answer.emotion,
            intensity=answer.intensity,
            poignancy=answer.poignancy,
            **traced(reply),
        ),
        RelationChanged(
            who=resident.name,
            other=view.other,
            before=before,
            after=after,
            why=answer.closeness,
            **traced(reply),
        ),
        *_agreed(view, reply),
    )


def _draft(view: TalkView, reply: Reply[SummaryAnswer]) -> Memory:
    answer = reply.value
    return Memory(
        id="",
        type="thought",
        text=answer.summary,
        emotion=answer.emotion,
        intensity=answer.intensity,
        poignancy=answer.poignancy,
        place=view.meeting.place,
        present=(view.other,),
        chat=view.chat,
        origin="summary",
        calls=traced(reply)["calls"],
    )
