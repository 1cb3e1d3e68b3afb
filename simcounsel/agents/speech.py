"""The next line of a conversation, from persona and recalled memories."""

import re
from typing import Literal

from simcounsel.agents.accessibility import Moment
from simcounsel.agents.appointments import at_the_end, clock_text
from simcounsel.agents.client_state import last_agreed, last_shift, openness, parts, shifted
from simcounsel.agents.facts import LineFacts
from simcounsel.agents.handwritten import examples_for, fallback_line, heard_slots
from simcounsel.agents.lived import beside_the_day
from simcounsel.agents.manner import manner_of_speaking, near_the_moment
from simcounsel.agents.mind import Scene, Spoken
from simcounsel.agents.recollection import recollect
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, Requirement, TalkView
from simcounsel.agents.tasks import ClientLineAnswer, LineAnswer
from simcounsel.agents.ties import together
from simcounsel.agents.views import (
    at_this_moment,
    in_mind,
    in_terms,
    known,
    portrait,
    so_far,
    theme_of,
    today,
    whereabouts,
)
from simcounsel.chance import seed_of
from simcounsel.clock import date_text
from simcounsel.events import Recalled
from simcounsel.llm.answers import speech_problem
from simcounsel.llm.question import SILENT, Ask, Question, ask, traced
from simcounsel.prompts import phrase, prompt_text, render
from simcounsel.specs.vocabulary import Emotion
from simcounsel.texts.overlap import read_out


def speak(resident: Resident, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
    """The line, with what came to mind before it."""
    heard = view.heard
    recalled = yield from recollect(
        resident,
        scene,
        "speak",
        heard.text if heard else f"{view.other} at {view.meeting.place}",
        Moment(
            chat=view.chat,
            lately=tuple(turn.came_to_mind for turn in view.turns),
            emotion=cue(resident, view),
        ),
    )
    reply = yield from ask(_question(resident, scene, view, decision, recalled))
    answer = reply.value
    line = LineAnswer(
        **answer.model_dump(include=set(LineAnswer.model_fields))
        | {"say": spoken(answer.say, view), "wish": _wish(answer, view, decision)}
    )
    moved = (
        (shifted(resident.persona, view, answer, traced(reply)),)
        if isinstance(answer, ClientLineAnswer)
        else ()
    )
    thought = decision.wording.thought
    emphasis = reply.notes.get("emphasis", "")
    return Spoken(
        line=line,
        emphasis=emphasis if emphasis and emphasis in line.say else None,
        source=reply.source,
        events=(recalled, *moved),
        decision=thought.settled(decision, answer, traced(reply)) if thought else None,
        silent=SILENT in reply.notes,
        **traced(reply),
    )


def _question(
    resident: Resident, scene: Scene, view: TalkView, decision: Decision, recalled: Recalled
) -> Question[LineAnswer]:
    """The line that follows in the conversation, as decided."""
    role = resident.spec.role
    system, prompt = _prompt(resident, scene, view, decision, recalled)
    return Question(
        verb="fill",
        purpose=f"line_{role}",
        who=resident.name,
        system=system,
        prompt=prompt,
        language=view.language,
        schema=_schema(resident, decision),
        check=lambda answer: (
            line_problem(answer, view, decision.wording.must)
            or (decision.wording.never.problem(answer.say) if decision.wording.never else None)
            or agenda_problem(answer.say, decision)
        ),
        fallback=_fallback(resident, view, decision),
        temperature=0.8,
        max_tokens=decision.wording.max_tokens,
        seed=seed_of(*view.key, resident.name, "line", len(view.lines)),
        examples=examples_for(resident, view, decision),
        facts=_facts(resident, view, decision, recalled),
    )


def _moves(resident: Resident) -> bool:
    return resident.spec.role == "client" and resident.client_state == "moves"


def _schema(resident: Resident, decision: Decision) -> type[LineAnswer]:
    if decision.wording.thought:
        return decision.wording.thought.schema
    return ClientLineAnswer if _moves(resident) else LineAnswer


def _fallback(resident: Resident, view: TalkView, decision: Decision) -> LineAnswer:
    line = fallback_line(resident, view, decision)
    if decision.wording.thought:
        return decision.wording.thought.with_line(line)
    return ClientLineAnswer(**line.model_dump()) if _moves(resident) else line


def _prompt(
    resident: Resident, scene: Scene, view: TalkView, decision: Decision, recalled: Recalled
) -> tuple[str, str]:
    """The system text and the prompt, of the speaker's role."""
    role = resident.spec.role
    hits = recalled.hits if decision.wording.recalls else ()
    return render(
        "line_bare" if decision.wording.bare else f"line_{role}",
        view.language,
        known=known(resident, scene.language, ids=_moves(resident)),
        portrait=portrait(resident, scene.language, ids=_moves(resident)),
        name=resident.name,
        other=view.other,
        place=whereabouts(view.meeting.place, scene),
        now=date_text(scene.minute, scene.start, scene.language),
        together=together(resident, scene, view, remembers=decision.wording.recalls),
        today=today(resident, scene),
        talk=so_far(view) or phrase("moment", "opens", view.language, name=view.me),
        mind=in_mind(resident, beside_the_day(resident, hits, scene), scene.language),
        voice=manner_of_speaking(resident, view),
        near=near_the_moment(resident, view, decision.move, felt(resident, view)[0]),
        feeling=at_this_moment(resident, *felt(resident, view)),
        aim=decision.aim,
        stands="\n".join(
            part for part in (*_state(resident, view), *at_the_end(view, decision.aim)) if part
        ),
        private=_private(resident, view),
        unheard=_unheard(resident, view),
        move=decision.move,
        clock=clock_text(view, on_a_plan=role != "layperson", closes=bool(decision.leaves)),
        brief=f"\n{decision.wording.brief}" if decision.wording.brief else "",
        background=f"\n{decision.wording.background}" if decision.wording.background else "",
        **_manner(role, view, decision),
    )


def _state(resident: Resident, view: TalkView) -> tuple[str, ...]:
    """How open a client has been with the other so far, what it kept back last and what was agreed;
    () for others, and where its state is off.
    """
    if resident.spec.role != "client" or resident.client_state == "off":
        return ()

    def worded(key: str, **slots: object) -> str:
        return phrase("moment", key, view.language, name=view.me, other=view.other, **slots)

    last = last_shift(view)
    said = [worded("openness", openness=f"{openness(view):g}")]
    if last is not None and last.held_back:
        said.append(worded("held_back", what=last.held_back.rstrip(".。")))
    if agreed := last_agreed(view.kept):
        said.append(worded("agreed", what=agreed.agreed.rstrip(".。")))
    return tuple(said)


def _private(resident: Resident, view: TalkView) -> str:
    """What a client gives before each line; '' where nothing moves it."""
    if not _moves(resident):
        return ""
    return _spaced(
        phrase("moment", in_terms(resident, "private"), view.language, name=view.me), view
    )


def _unheard(resident: Resident, view: TalkView) -> str:
    """What of it goes without saying before the other has spoken; '' later."""
    if view.heard or not _moves(resident):
        return ""
    told = phrase("moment", "unheard", view.language, name=view.me, other=view.other)
    return _spaced(told, view)


def _spaced(text: str, view: TalkView) -> str:
    """A sentence to follow another."""
    return text if view.language == "zh" else f" {text}"


def _facts(resident: Resident, view: TalkView, decision: Decision, recalled: Recalled) -> LineFacts:
    """What a stand-in may know for the line."""
    return LineFacts(
        chat=view.chat,
        me=view.me,
        role=resident.spec.role,
        other=view.other,
        other_role=view.meeting.role,
        place=view.meeting.place,
        meeting=view.meeting.number,
        closeness=view.meeting.closeness,
        lines=view.lines,
        turns_left=view.turns_left,
        move=decision.wording.act or decision.move,
        aim=decision.aim,
        leaves=bool(decision.leaves),
        emotion=felt(resident, view)[0],
        said=tuple(resident.said[-60:])
        + tuple(line.text for line in view.lines if line.who == view.me),
        memories=resident.memory.texts(recalled.hits),
        **heard_slots(view),
        theme=theme_of(resident),
        openness=openness(view) if _moves(resident) else None,
        parts=parts(resident.persona) if _moves(resident) else {},
        thought=decision.wording.thought.facts if decision.wording.thought else None,
    )


def _manner(role: str, view: TalkView, decision: Decision) -> dict[str, str]:
    """How a counselor words its lines: `usual` where it is the same for all of a conversation, so
    that it stands with the rules, `manner` where it is for this line; the others' prompts say it
    themselves.
    """
    if role != "counselor":
        return {}
    zh = view.language == "zh"
    text = decision.wording.manner or prompt_text("manner_counselor", view.language)
    if decision.wording.steady:
        usual = phrase("moment", "usual", view.language, name=view.me, manner=text)
        return {"usual": _spaced(usual, view), "manner": "。" if zh else "."}
    return {"usual": "", "manner": f"：{text}" if zh else f": {text}"}


def _wish(
    answer: LineAnswer, view: TalkView, decision: Decision
) -> Literal["go on", "say goodbye"]:
    """Whether the line takes leave: as decided, or as the speaker likes, but nobody begins with
    it.
    """
    leaves = (
        answer.wish == "say goodbye" and len(view.lines) > 1
        if decision.leaves is None
        else decision.leaves
    )
    return "say goodbye" if leaves else "go on"


def spoken(text: str, view: TalkView) -> str:
    """The words alone: without a name in front, without quotation marks around, on one line."""
    text = " ".join(text.split())
    text = re.sub(
        rf"^(?:{re.escape(view.me)}|{re.escape(view.me.split()[0])})\s*(?:\([^)]*\))?\s*:\s*",
        "",
        text,
    )
    if (
        len(text) > 1
        and (text[0], text[-1]) in {('"', '"'), ("“", "”"), ("'", "'")}
        and text[1:-1].count(text[0]) == 0
    ):
        text = text[1:-1].strip()
    return text


def line_problem(answer: LineAnswer, view: TalkView, must: Requirement | None = None) -> str | None:
    """What is wrong with a line: no speech, another speaker's line, said before, or not what it
    must be.
    """
    text = spoken(answer.say, view)
    problem = speech_problem(text, view.language) if text else "the line was empty"
    if problem:
        return problem
    if re.search(
        rf"(?:^|\n[^\S\n]*|[.!?。！？…”\"]\s*)(?:{re.escape(view.me)}|{re.escape(view.other)}):\s",
        answer.say.strip()[len(view.me) + 1 :],
    ):
        return f"the answer held more than {view.me}'s next line; give that line only"
    if any(text.casefold() == line.text.casefold() for line in view.lines):
        return "this line was said before in this conversation; say something new"
    return must.problem(text) if must else None


def agenda_problem(text: str, decision: Decision) -> str | None:
    """Whether a line reads out what its speaker only thought."""
    quoted = (
        read_out(text, decision.wording.unsaid, decision.wording.free)
        if decision.wording.unsaid
        else None
    )
    return (
        f"the line read out what is only thought (“{quoted}”); say it in plain words to the other"
        " person"
        if quoted
        else None
    )


def felt(resident: Resident, view: TalkView) -> tuple[Emotion, int]:
    """The feeling of one's own last line; before that, the one that one came with."""
    own = next((line for line in reversed(view.lines) if line.who == view.me), None)
    return (own.emotion, own.intensity) if own else (resident.emotion, resident.intensity)


def cue(resident: Resident, view: TalkView) -> Emotion:
    """The emotion to which that of a memory is near or far: what is felt, or what the line just
    heard expresses (see `MemorySettings.emotion_of`).
    """
    heard = view.heard
    if resident.memory.settings.emotion_of == "query" and heard is not None:
        return heard.emotion
    return felt(resident, view)[0]
