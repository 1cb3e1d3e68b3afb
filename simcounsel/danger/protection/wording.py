"""How a step of the safety protocol is said: its aim, what must be in the line, and lines
written by hand, as data by language.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simcounsel.agents.talk import Decision, TalkView, Wording
from simcounsel.chance import chance
from simcounsel.danger.hearing.answers import Asked
from simcounsel.danger.hearing.phrases import (
    asks_back,
    foreign_number,
    has_number,
    means_named,
    secrecy_promised,
)
from simcounsel.danger.protection.client_words import repeated
from simcounsel.danger.protection.data import told, words
from simcounsel.danger.protection.known import known
from simcounsel.danger.protection.ladder import ASKED, SETTLING, Step
from simcounsel.danger.protection.owed import PROTOCOL
from simcounsel.danger.protection.saying import StepWording, said_in
from simcounsel.danger.protection.state import ProtocolState
from simcounsel.events import PracticeEvent
from simcounsel.llm.question import Example, Tags
from simcounsel.prompts import prompt_text
from simcounsel.safety.help import Help
from simcounsel.specs.vocabulary import Danger
from simcounsel.texts import sentences

LONGEST = 260
_QUOTED = re.compile(r"“[^”]{0,999}”|\"[^\"]*\"|「[^」]{0,999}」")


@dataclass(frozen=True, kw_only=True)
class OwnNumbers:
    """No line may send a client to a number of another country."""

    help: Help
    """Whose numbers may be in it."""

    def problem(self, text: str) -> str | None:
        """What is wrong with a line; None when nothing is."""
        foreign = foreign_number(text, self.help)
        return f"the line must not name {foreign}, a number of another country" if foreign else None


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a line of the protocol must hold and must not."""

    language: str
    numbers: tuple[str, ...] = ()
    """All of these."""
    asks: tuple[str, ...] = ()
    """One of these patterns outside of quotation marks, in a line that asks, unless empty."""
    such_as: tuple[str, str] = ("", "")
    """What it then asks about, and a line that does."""
    says: tuple[str, ...] = ()
    """One of these patterns, unless empty."""
    lacks: str = ""
    """What is wrong with a line in which none of them is."""
    heard: str = ""
    """What the client has said, in small letters: a word for a means that is there may be taken
    up.
    """
    never: tuple[tuple[re.Pattern[str], str], ...] = ()
    """None of these, each with what is then wrong with the line."""

    def problem(self, text: str) -> str | None:
        """What is wrong with a line; None when nothing is."""
        missing = [number for number in self.numbers if not has_number(text, number)]
        if missing:
            return f"the line must hold {' and '.join(missing)}, exactly so"
        own = _QUOTED.sub("", text)
        if self.asks and not _asks(own, self.asks, self.language):
            about, line = self.such_as
            return f"the line must ask plainly and by name about {about}, as “{line}” does"
        if self.says and not _any(self.says, own):
            return self.lacks
        if secret := secrecy_promised(text, self.language):
            return f"the line must promise no secrecy, as “{secret}” does"
        means = means_named(text, self.language)
        if means and means.casefold() not in self.heard:
            return f"the line must not name a means, as “{means}” is"
        wrong = next((why for pattern, why in self.never if pattern.search(text)), None)
        return wrong or (
            "the line must ask one question at most" if len(re.findall("[?？]", text)) > 1 else None
        )


def _asks(text: str, by_name: Sequence[str], language: str) -> bool:
    """Whether a sentence of it asks, by such a name or right after it, and not so that only a no
    is wanted.
    """
    leading, before = words(language)["leading"], ""
    for one in sentences.marked(text):
        named = one if not asks_back(one) else before + one
        if re.search("[?？]", one) and _any(by_name, named) and not _any(leading, named):
            return True
        before = one
    return False


def _any(patterns: Sequence[str], text: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


def decision_for(
    step: Step,
    protocol: ProtocolState,
    view: TalkView,
    reason: str,
    events: tuple[PracticeEvent, ...],
    options: tuple[Step, ...] = (),
) -> Decision:
    """The step as a decision. options: the steps that were open, this one among them; () for this
    one only. An imminent danger in the last line puts the emergency number into every step's line.
    """
    written, help_, kind = words(view.language), help_of(protocol, view), protocol.kind_of(step)
    said = said_in(step, protocol.about, kind, view.language)
    about = said.about
    urgent = protocol.last == "imminent" and not about.get("names_help")
    numbers = _numbers(said, protocol, kind, help_, urgent)
    brief = [
        known(protocol, view, kind),
        _once_more(protocol, view),
        written["rules"],
        *said.rules,
        str(about.get("brief") or ""),
        told(view.language)["openly"] if step == "plan" and protocol.openly else "",
        _about_then(step, protocol, view),
    ]
    brief += [written["help_rule"].format(number=numbers[0])] if numbers else []
    brief += (
        [written["lines_rule"].format(contact=help_.spoken(kind, *protocol.further))]
        if len(numbers) > 1
        else []
    )
    brief += [about["unasked"]] if _unasked(step, protocol) else []
    asks, such_as = _by_name(step, protocol, view, said)
    return Decision(
        move=step,
        options=options or (step,),
        reason=reason,
        aim=about["aim"],
        policy=PROTOCOL,
        leaves=step == "leave_safely",
        events=events,
        wording=Wording(
            brief="\n".join(part.strip() for part in brief if part),
            manner=prompt_text("manner_safety", view.language),
            steady=False,
            max_tokens=LONGEST,
            lines=_lines(step, protocol, view, said, urgent),
            asks=asks_of(step, kind),
            never=OwnNumbers(help=help_),
            must=Wanted(
                language=view.language,
                numbers=tuple(dict.fromkeys(numbers)),
                asks=asks,
                such_as=such_as,
                says=tuple(about.get("says", ())),
                lacks=str(about.get("lacks", "")),
                heard=" ".join(one.text for one in view.lines if one.who == view.other).casefold(),
                never=said.never,
            ),
        ),
    )


def _once_more(protocol: ProtocolState, view: TalkView) -> str:
    """What holds for a question that is asked once more: what its answer left open."""
    if not protocol.repeats or view.heard is None or protocol.state is None:
        return ""
    answered = protocol.answers.get(protocol.state)
    name = "again_if" if answered == "conditional" else "again"
    return str(told(view.language)[name].format(answer=view.heard.text[:LONGEST]))


def _about_then(step: Step, protocol: ProtocolState, view: TalkView) -> str:
    """Where a day after today was named, the question for today is one for that day as well."""
    when = protocol.told.when
    if step != "intent" or not protocol.timed or protocol.told.today or when is None:
        return ""
    return str(told(view.language)["intent_then"].format(when=when))


def _by_name(
    step: Step, protocol: ProtocolState, view: TalkView, said: StepWording
) -> tuple[tuple[str, ...], tuple[str, str]]:
    """How the line has to ask by name, and what about, with a line that does; nothing where it has
    not to. Whoever takes leave before anybody asked is asked then, and who said it by name
    themselves is asked for a plan by name.
    """
    kind, openly = protocol.kind_of(step), step == "plan" and protocol.openly
    borrowed = openly or _unasked(step, protocol)
    asking = said_in("ask_directly", protocol.about, kind, view.language) if borrowed else said
    plainly = asking.about
    asks = tuple(plainly.get("must", {}).get(kind, ()))
    if not asks:
        return (), ("", "")
    lines = said.about["special"]["openly"] if openly else plainly["lines"]
    line = _filled(str(lines[kind][0]), {**said.slots, "{name}": view.other})
    question = next(one.strip() for one in sentences.marked(line) if re.search("[?？]", one))
    return asks, (str(words(view.language)["about"][kind]), question)


def _numbers(
    said: StepWording, protocol: ProtocolState, kind: Danger, help_: Help, urgent: bool
) -> tuple[str, ...]:
    """Those that the line must hold: the emergency number, then one for each danger."""
    if not said.about.get("names_help"):
        return (help_.number(kind),) if urgent else ()
    further = (help_.first_contact(one) for one in protocol.further)
    return (help_.number(kind), help_.first_contact(kind), *further)


def help_of(protocol: ProtocolState, view: TalkView) -> Help:
    """The numbers that hold for this client."""
    return Help(locale=view.meeting.locale, language=view.language, child=protocol.about.minor)


def asks_of(step: Step, kind: Danger) -> tuple[Asked, ...]:
    """The danger that a step's question is about: its own, and none where it asks nothing that a
    yes or no answers.
    """
    if step not in ASKED:
        return ()
    return (Asked(kind=kind, to_yes=step not in SETTLING),)


def _lines(
    step: Step, protocol: ProtocolState, view: TalkView, said: StepWording, urgent: bool
) -> tuple[Example, ...]:
    """The lines of the step that fit the danger, in an order drawn for this turn, those that were
    said in this talk last.
    """
    name, slots = _occasion(step, protocol, view)
    kind, help_ = protocol.kind_of(step), help_of(protocol, view)
    some = list(_written(said.about, kind, help_, name, also=protocol.further))
    drawn = chance(*view.key, "safety", step, len(view.lines))
    drawn.shuffle(some)
    if protocol.repeats:
        between = "" if view.language == "zh" else " "
        before = told(view.language)["again_words"]
        some = [f"{before[drawn.randrange(len(before))]}{between}{line}" for line in some]
    if urgent:
        more = words(view.language)["urgent"].format(emergency=help_.emergency(kind))
        some = [f"{line}{'' if view.language == 'zh' else ' '}{more}" for line in some]
    spoken, slots = {line.text for line in view.lines}, {**said.slots, **slots}
    some.sort(key=lambda line: _filled(line, {**slots, "{name}": view.other}) in spoken)
    tags = Tags(move=step)
    return tuple(Example(text=_filled(line, slots), tags=tags) for line in some)


def _occasion(
    step: Step, protocol: ProtocolState, view: TalkView
) -> tuple[str | None, dict[str, str]]:
    """The name of the special lines that are said, with their slots; None: the ordinary ones."""
    if protocol.by_form and step == "follow_up":
        return "questionnaire", {}
    if _unasked(step, protocol):
        return "unasked", {}
    return repeated(step, protocol, view) or (None, {})


def _unasked(step: Step, protocol: ProtocolState) -> bool:
    """Whether they take leave before anybody asked about the danger by name."""
    return step == "stay" and not protocol.urgent and not protocol.asked_about(step)


def lines_of(
    step: Step, kind: Danger, help_: Help, name: str | None = None, *, also: Sequence[Danger] = ()
) -> tuple[str, ...]:
    """The hand-written lines of a step for a danger, with the numbers of a locale in them. name: of
    the special ones, such as `questionnaire`, where the step has some of that name. also: further
    dangers whose help is named too.
    """
    return _written(words(help_.language)["steps"][step], kind, help_, name, also=also)


def _written(
    about: dict[str, Any], kind: Danger, help_: Help, name: str | None, *, also: Sequence[Danger]
) -> tuple[str, ...]:
    lines = about.get("special", {}).get(name) or about["lines"]
    some = [*lines.get(kind, ()), *lines.get("any", ())]
    said = {"{emergency}": help_.emergency(kind), "{help}": help_.spoken(kind, *also)}
    return tuple(_filled(line, said) for line in some)


def _filled(line: str, said: dict[str, str]) -> str:
    for slot, text in said.items():
        line = line.replace(slot, text)
    return line
