"""Lines written by hand: examples for whoever words the next line, and what is said when no model
gives one that can be said.
"""

import re
from dataclasses import replace
from typing import TypedDict

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.chance import chance
from simcounsel.llm.answers import speech_problem
from simcounsel.llm.question import Example, Tags
from simcounsel.specs.persona import ClientPersona, CounselorPersona, LaypersonPersona
from simcounsel.specs.voice import ChatLine, Form, VoiceLine, fill_slots

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
        "counselor": "Let us stop here for today. Take good care of yourself.",
        "layperson": "I have to get going. Take care of yourself!",
    },
    "zh": {
        "client": "我该走了，谢谢你听我说。",
        "counselor": "我们今天就到这里吧，请好好照顾自己。",
        "layperson": "我得走了，你多保重！",
    },
}


def examples_for(resident: Resident, view: TalkView, decision: Decision) -> tuple[Example, ...]:
    """Lines written by hand: the decision's own, tagged `own`, then those of this move or stage,
    then the rest, in an order drawn for this turn.
    """
    persona = resident.persona
    if isinstance(persona, ClientPersona):
        about = _words_for(resident, view.other)
        sayable = [line for line in persona.voice if not about & set(re.findall(r"\w+", line.text))]
        lines = [
            (line.stage == (decision.wording.act or decision.move), _client_example(line))
            for line in sayable
        ]
    elif isinstance(persona, CounselorPersona):
        lines = [
            (move == (decision.wording.act or decision.move), _form_example(move, form))
            for move, forms in persona.forms.items()
            for form in forms
        ]
    else:
        assert isinstance(persona, LaypersonPersona)
        lines = [(line.act == decision.move, _chat_example(line)) for line in persona.voice]
    chance(*view.key, "examples", resident.name, len(view.lines)).shuffle(lines)
    own = (
        replace(example, tags=replace(example.tags, own=True)) for example in decision.wording.lines
    )
    return (*own, *(example for _, example in sorted(lines, key=lambda pair: not pair[0])))


def _words_for(resident: Resident, other: str) -> set[str]:
    """How somebody calls another when speaking about, not to, them: by name and by relation."""
    words = {other}
    for person in resident.persona.people:
        if person.name.split()[0] == other:
            words |= {word for word in re.findall(r"\w+", person.relation) if len(word) > 4}
    return words


def _client_example(line: VoiceLine) -> Example:
    tags = Tags(theme=line.theme, emotion=line.emotion, move=line.stage, answers=line.answers)
    return Example(text=line.text, emphasis=line.emphasis, tags=tags)


def _form_example(move: str, form: Form) -> Example:
    tags = Tags(theme=form.theme, emotion=form.emotion, move=move, when=form.when)
    return Example(text=form.text, tags=tags)


def _chat_example(line: ChatLine) -> Example:
    tags = Tags(theme=line.theme, emotion=line.emotion, move=line.act, form=line.say)
    return Example(text=line.text, tags=tags)


class Slots(TypedDict):
    """What fills the slots of a form, beside the other's name; None: nothing was heard."""

    words: str | None
    feeling: str | None


def heard_slots(view: TalkView) -> Slots:
    """What was heard, for the slots of a form: the words emphasized last, the feeling in them."""
    heard = view.heard
    feels = None if heard is None or heard.emotion == "neutral" else ADJECTIVE[heard.emotion]
    return Slots(words=heard.emphasis if heard else None, feeling=feels)


def fallback_line(resident: Resident, view: TalkView, decision: Decision) -> LineAnswer:
    """A line that was written by hand and not yet said; a plain one when there is none."""
    leaving = (
        (decision.wording.act or decision.move) in ("close", "ending")
        if decision.leaves is None
        else decision.leaves
    )
    plain = (LEAVE if leaving else SILENCE)[view.language][resident.spec.role]
    said = {line.text for line in view.lines}
    said |= set(resident.said)
    if decision.wording.must:
        return LineAnswer(
            say=_sayable(decision, view, said),
            emotion="neutral",
            intensity=1,
            poignancy=1,
            wish="say goodbye" if leaving else "go on",
        )
    wanted = {"close", "ending"} if leaving else {decision.wording.act or decision.move}
    texts = (
        fill_slots(e.tags.form or e.text, name=view.other, **heard_slots(view))
        for e in examples_for(resident, view, decision)
        if e.tags.own or e.tags.move in wanted
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
        for e in decision.wording.lines
        if (text := fill_slots(e.text, name=view.other, **heard_slots(view)))
    ]
    return next((text for text in texts if text not in said), texts[0])
