"""The conversations of a run that a study is about, blinded, and where an item comes from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simcounsel.intake import whole_characters
from simcounsel.runs.conversation import Conversation
from simcounsel.runs.conversation import Line as SaidLine
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.studies.cast import Cast
from simcounsel.studies.instrument import RatingInstrument
from simcounsel.studies.items import Choice
from simcounsel.studies.study import Origin
from simcounsel.studies.study_parts import Line


def chosen_talks(log: Log, cast: Cast, choice: Choice) -> Iterator[tuple[Conversation, str, str]]:
    """The conversations that were chosen, with the client and whom the client talks with."""
    for held in History(log).conversations():
        pair = _person_and_partner(held, cast.roles, choice)
        if held.ended is not None and pair is not None and len(held.lines) >= choice.fewest_lines:
            yield held, *pair


def _person_and_partner(
    held: Conversation, roles: Mapping[str, str], choice: Choice
) -> tuple[str, str] | None:
    """The client and whom the client talks with, when that is a conversation that was chosen; of
    two clients, who spoke first.
    """
    two = sorted(held.who, key=lambda name: not held.lines or held.lines[0].who != name)
    clients = [name for name in two if roles.get(name) == "client"]
    if not held.lines or not clients or (choice.who is not None and choice.who not in clients):
        return None
    person = choice.who or clients[0]
    partner = next(name for name in two if name != person)
    return (person, partner) if roles.get(partner) in choice.partners else None


def blind_talk(
    lines: Sequence[SaidLine], cast: Cast, instrument: RatingInstrument, person: str, partner: str
) -> tuple[Line, ...]:
    """Lines of a conversation, with the two called as the instrument says."""
    labels = {person: instrument.person, partner: instrument.partner}
    blinding = cast.blinding(labels, instrument)
    return tuple(
        Line(speaker=labels[line.who], text=blinding.text(whole(line.text))) for line in lines
    )


def origin_of(log: Log, **more: Any) -> Origin:
    """Where an item of that run comes from. more: what else is known of it."""
    world, manifest = log.manifest.get("world", {}), log.manifest
    return Origin(
        run=log.name,
        folder=str(log.folder),
        condition=world.get("condition"),
        world=world.get("name"),
        world_seed=world.get("seed"),
        model=manifest.get("models", {}).get("reason"),
        **more,
    )


def whole(text: object) -> str:
    """Text without half characters, which no file could hold."""
    return whole_characters(str(text))
