"""The next line of a conversation, from persona and recalled memories."""

import re
from dataclasses import replace
from typing import Literal, TypedDict

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.agents.facts import LineFacts
from simcounsel.agents.mind import Scene, Spoken
from simcounsel.agents.recollection import recollect
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, Requirement, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.agents.views import bullets, feeling, talk_text, talked_before, theme_of, whoami
from simcounsel.chance import chance, seed_of
from simcounsel.clock import date_text
from simcounsel.llm.answers import speech_problem
from simcounsel.llm.question import Ask, Example, Question, ask, traced
from simcounsel.prompts import prompt_text, render
from simcounsel.specs.persona import (
    ClientPersona,
    CounselorPersona,
    Form,
    LaypersonPersona,
    VoiceLine,
    fill_slots,
)
from simcounsel.texts.overlap import read_out

SILENCE: dict[str, dict[str, str]] = {
    "en": {
        "client": "I don't quite know how to say it.",
        "counselor": "Take your time. What would you like to say about it?",
        "layperson": "I see. Well, I'm glad you told me.",
    },
    "zh": {
        "client": "我不太知道该怎么说。",
        "counselor": "不着急，慢慢来。关于这件事，你想说些什么？",
        "layperson": "这样啊。你肯告诉我，我很高兴。",
    },
}
LEAVE: dict[str, dict[str, str]] = {
    "en": {
        "client": "I should go now. Thanks for listening.",
        "counselor": "Let us stop here for today. I look forward to seeing you again.",
        "layperson": "I have to get going. Take care of yourself!",
    },
    "zh": {
        "client": "我该走了，谢谢你听我说。",
        "counselor": "我们今天就到这里吧，期待下次见到你。",
        "layperson": "我得走了，你多保重！",
    },
}


def speak(resident: Resident, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
    """The line, with what came to mind before it."""
    heard = view.heard
    recalled = yield from recollect(
        resident, scene, "speak", heard.text if heard else f"{view.other} at {view.place}"
    )
    role = resident.spec.role
    system, prompt = render(
        f"line_{role}",
        view.language,
        whoami=whoami(resident),
        name=resident.name,
        other=view.other,
        place=view.place,
        now=date_text(scene.minute, scene.start),
        meetings=talked_before(view.meeting - 1),
        feeling=feeling(resident.emotion, resident.intensity),
        memories=bullets(resident.memory.texts(recalled.hits)),
        talk=talk_text(view.lines),
        aim=decision.aim,
        move=decision.move,
        brief=f"\n{decision.brief}" if decision.brief else "",
        manner=_manner(role, view, decision),
    )
    said = tuple(resident.said[-60:]) + tuple(
        line.text for line in view.lines if line.who == view.me
    )
    reply = yield from ask(
        Question(
            verb="fill",
            purpose=f"line_{role}",
            who=resident.name,
            system=system,
            prompt=prompt,
            schema=LineAnswer,
            check=lambda answer: (
                line_problem(answer, view, decision.must) or agenda_problem(answer.say, decision)
            ),
            fallback=_fallback(resident, view, decision),
            temperature=0.8,
            max_tokens=decision.max_tokens,
            seed=seed_of(*view.key, resident.name, "line", len(view.lines)),
            examples=examples_for(resident, view, decision),
            facts=LineFacts(
                chat=view.chat,
                me=view.me,
                role=role,
                other=view.other,
                other_role=view.other_role,
                place=view.place,
                meeting=view.meeting,
                closeness=view.closeness,
                lines=view.lines,
                turns_left=view.turns_left,
                move=decision.act or decision.move,
                aim=decision.aim,
                leaves=bool(decision.leaves),
                emotion=resident.emotion,
                said=said,
                memories=resident.memory.texts(recalled.hits),
                **heard_slots(view),
                theme=theme_of(resident),
            ),
        )
    )
    answer = reply.value
    line = answer.model_copy(
        update={"say": spoken(answer.say, view), "wish": _wish(answer, view, decision)}
    )
    stressed = reply.notes.get("stressed", "")
    return Spoken(
        line=line,
        stressed=stressed if stressed and stressed in line.say else None,
        source=reply.source,
        events=(recalled,),
        **traced(reply),
    )


def _manner(role: str, view: TalkView, decision: Decision) -> str:
    """How a counselor words a line; the others' prompts say it themselves."""
    return (
        decision.manner or prompt_text("manner_counselor", view.language)
        if role == "counselor"
        else ""
    )


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
    return "say goodbye" if leaves and not decision.holds else "go on"


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
        rf"(?:^|\s)(?:{re.escape(view.me)}|{re.escape(view.other)}):\s",
        answer.say.strip()[len(view.me) + 1 :],
    ):
        return f"the answer held more than {view.me}'s next line; give that line only"
    if any(text.casefold() == line.text.casefold() for line in view.lines):
        return "this line was said before in this conversation; say something new"
    return must.problem(text) if must else None


def agenda_problem(text: str, decision: Decision) -> str | None:
    """Whether a line reads out what its speaker only thought."""
    quoted = read_out(text, decision.unsaid, decision.free) if decision.unsaid else None
    return (
        f"the line read out what is only thought (“{quoted}”); say it in plain words to the other"
        " person"
        if quoted
        else None
    )


def examples_for(resident: Resident, view: TalkView, decision: Decision) -> tuple[Example, ...]:
    """Lines written by hand: the decision's own, tagged `own`, then those of this move or stage,
    then the rest, in an order drawn for this turn.
    """
    persona = resident.persona
    if isinstance(persona, ClientPersona):
        about = _words_for(resident, view.other)
        sayable = [line for line in persona.voice if not about & set(re.findall(r"\w+", line.text))]
        lines = [
            (line.stage == (decision.act or decision.move), _client_example(line))
            for line in sayable
        ]
    elif isinstance(persona, CounselorPersona):
        lines = [
            (move == (decision.act or decision.move), _form_example(move, form))
            for move, forms in persona.forms.items()
            for form in forms
        ]
    else:
        assert isinstance(persona, LaypersonPersona)
        lines = [
            (
                line.act == decision.move,
                Example(
                    text=line.text, tags=line.model_dump(include={"act", "theme", "emotion", "say"})
                ),
            )
            for line in persona.voice
        ]
    chance(*view.key, "examples", resident.name, len(view.lines)).shuffle(lines)
    own = (replace(example, tags={**example.tags, "own": True}) for example in decision.lines)
    return (*own, *(example for _, example in sorted(lines, key=lambda pair: not pair[0])))


def _words_for(resident: Resident, other: str) -> set[str]:
    """How somebody calls another when speaking about, not to, them: by name and by relation."""
    words = {other}
    for person in resident.persona.people:
        if person.name.split()[0] == other:
            words |= {word for word in re.findall(r"\w+", person.relation) if len(word) > 4}
    return words


def _client_example(line: VoiceLine) -> Example:
    return Example(
        text=line.text,
        stressed=line.stressed,
        tags={
            "theme": line.theme,
            "stage": line.stage,
            "emotion": line.emotion,
            "answers": line.answers,
        },
    )


def _form_example(move: str, form: Form) -> Example:
    return Example(
        text=form.text,
        tags={"move": move, "theme": form.theme, "emotion": form.emotion, "when": form.when},
    )


class Slots(TypedDict):
    """What fills the slots of a form, beside the other's name; None: nothing was heard."""

    words: str | None
    feeling: str | None


def heard_slots(view: TalkView) -> Slots:
    """What was heard, for the slots of a form: the words stressed last, the feeling in them."""
    heard = view.heard
    feels = None if heard is None or heard.emotion == "neutral" else ADJECTIVE[heard.emotion]
    return Slots(words=heard.stressed if heard else None, feeling=feels)


def _fallback(resident: Resident, view: TalkView, decision: Decision) -> LineAnswer:
    """A line that was written by hand and not yet said; a plain one when there is none."""
    leaving = (
        (decision.act or decision.move) in ("close", "ending")
        if decision.leaves is None
        else decision.leaves
    )
    plain = (LEAVE if leaving else SILENCE)[view.language][resident.spec.role]
    said = {line.text for line in view.lines}
    said |= set(resident.said)
    if decision.must:
        return LineAnswer(
            say=_sayable(decision, view, said),
            emotion="neutral",
            intensity=1,
            poignancy=1,
            wish="say goodbye" if leaving else "go on",
        )
    wanted = {"close", "ending"} if leaving else {decision.act or decision.move}
    texts = (
        fill_slots(str(e.tags.get("say", e.text)), name=view.other, **heard_slots(view))
        for e in examples_for(resident, view, decision)
        if e.tags.get("own") or e.tags.get("move", e.tags.get("act", e.tags.get("stage"))) in wanted
    )
    unused = (
        text
        for text in texts
        if text
        and text not in said
        and (view.language == "en" or not speech_problem(text, view.language))
    )
    return LineAnswer(
        say=next(unused, plain),
        emotion="neutral",
        intensity=1,
        poignancy=1,
        wish="say goodbye" if leaving else "go on",
    )


def _sayable(decision: Decision, view: TalkView, said: set[str]) -> str:
    """Where a line must keep to something: one of the decision's own, which do, if need be one that
    was said already.
    """
    texts = [
        text
        for e in decision.lines
        if (text := fill_slots(e.text, name=view.other, **heard_slots(view)))
    ]
    return next((text for text in texts if text not in said), texts[0])
