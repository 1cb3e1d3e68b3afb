"""What the safety protocol knows so far, in words for every prompt of it, so that none asks as if
nothing had been told.
"""

from simcounsel.agents.talk import TalkView
from simcounsel.danger.protection.client_words import lived_for
from simcounsel.danger.protection.data import told, words
from simcounsel.danger.protection.state import ProtocolState
from simcounsel.specs.vocabulary import Danger


def known(protocol: ProtocolState, view: TalkView, kind: Danger, *, to_read: bool = False) -> str:
    """A line for each thing that is known. kind: of the danger that the prompt is about. to_read:
    for a prompt that reads an answer, not for one that words a line.
    """
    said, about = told(view.language), words(view.language)["about"]
    kinds = [one for one in protocol.open_kinds if one != kind and protocol.named.get(one) != "no"]
    lines = [said["it_is"].format(about=about[kind])]
    lines += [said["also"].format(about=about[one]) for one in kinds]
    if protocol.of_another:
        lines.append(said["whose"].format(whom=protocol.whom))
    if near := said["near"].get("imminent" if protocol.urgent else protocol.level):
        lines.append(near)
    begins = said["known_to_read" if to_read else "known"]
    return "\n".join([begins, *("- " + one for one in [*lines, *_told(protocol, view, to_read)])])


def afterwards(protocol: ProtocolState, view: TalkView) -> str:
    """The same for the lines after the danger was met, with how it stays what the talk is about."""
    kind = next(iter(protocol.met_kinds), protocol.kind)
    return "\n".join((known(protocol, view, kind), told(view.language)["afterwards"]))


def _told(protocol: ProtocolState, view: TalkView, to_read: bool) -> list[str]:
    """to_read: without the line that is read, and without what is for the counselor."""
    said, tells = told(view.language), protocol.told
    between, last = said["lists"], view.heard.text if view.heard else ""
    lines = []
    some = [one for one in tells.quotes if not (to_read and last.startswith(one))]
    if some:
        quotes = between.join(said["quote"].format(text=one) for one in some)
        lines.append(said["words_of"].format(quotes=quotes))
    if tells.when:
        name = "named_today" if tells.today else "named_to_read" if to_read else "named"
        lines.append(said[name].format(when=tells.when))
    if tells.means:
        name = "means_to_read" if to_read else "means_told"
        lines.append(said[name].format(means=between.join(tells.means)))
    if protocol.about.done:
        lines.append(said["done_already"])
    if tells.people:
        lines.append(said["people"].format(who=between.join(tells.people)))
    if tells.named:
        lines.append(said["others"].format(who=between.join(tells.named)))
    if tells.alone:
        lines.append(said["is_alone"])
    if whom := lived_for(view):
        lines.append(said["live_for"].format(whom=whom))
    if answers := _answers(protocol, view.language):
        lines.append(said["answered"].format(answers=between.join(answers)))
    return lines


def _answers(protocol: ProtocolState, language: str) -> list[str]:
    """What was answered to each question, the one by name first."""
    said = told(language)
    named = protocol.named.get(protocol.kind)
    opening = "follow_up" if protocol.followed else "ask_directly"
    given = ({opening: named} if named else {}) | protocol.answers
    if protocol.urgent and given.get("intent") != "yes":
        given.pop("intent", None)  # what made it urgent came after that answer
    return [
        said["answer"].format(step=said["steps"][step], verdict=said["verdicts"][verdict])
        for step, verdict in given.items()
        if step in said["steps"]
    ]
