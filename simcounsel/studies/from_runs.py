"""Items of a study out of runs, blinded: conversations, alone or beside the persona, persona pairs,
moments of recall.

Items of a study that show a person more closely: a talk beside the persona and the day, and what
comes to mind at one moment in two ways.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.chance import chance
from simcounsel.clock import day_of, time_text
from simcounsel.engine.recalling import Recollected, recalled_in_ways
from simcounsel.errors import StudyError
from simcounsel.events import PersonaChanged
from simcounsel.instruments.material import sheet
from simcounsel.runs.conversation import Conversation
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.studies.cast import Cast, cast_of
from simcounsel.studies.instrument import RatingInstrument
from simcounsel.studies.items import Choice, Found
from simcounsel.studies.study_parts import Passage, Seen, Version
from simcounsel.studies.talks import blind_talk, chosen_talks, origin_of, whole
from simcounsel.texts.blinding import Blinding
from simcounsel.viewer.run_list import RunList

WAYS = ("emotion_aware", "generative_agents")
"""Ways of recall that a study sets side by side (see `MemorySettings.recall`)."""
LINES_BEFORE = 6
"""So many lines before a moment of recall are shown."""


def beside_persona(
    log: Log,
    cast: Cast,
    instrument: RatingInstrument,
    held: Conversation,
    person: str,
    partner: str,
) -> Seen:
    """A talk, with the client's file as the run began and what the client did on that day until
    then.
    """
    blinding = cast.blinding({person: instrument.person, partner: instrument.partner}, instrument)
    world = Run.open(log.folder, damaged=True).world
    persona = next(one.persona for one in world.residents if one.name == person)
    return Seen(
        lines=blind_talk(held.lines, cast, instrument, person, partner),
        sheet=tuple(
            Passage(heading=heading, text=blinding.text(whole(text)))
            for heading, text in sheet(persona)
        ),
        did=tuple(_did(log, held, person, blinding)),
    )


def _did(log: Log, held: Conversation, person: str, blinding: Blinding) -> Iterator[Passage]:
    """What somebody did on the day of a talk until it began; what goes on is told once."""
    last = ""
    for one in History(log).activities():
        if one.who != person or day_of(one.minute) != day_of(held.minute):
            continue
        if one.minute >= held.minute:
            return
        if one.activity != last:
            last = one.activity
            yield Passage(heading=time_text(one.minute), text=blinding.text(whole(last)))


def moments(
    log: Log, cast: Cast, instrument: RatingInstrument, choice: Choice, seed: int
) -> Iterator[Found]:
    """The moments before a client's lines at which the two ways of recall bring other memories to
    mind: what was said, what is felt, and both lists, the sides drawn.
    """
    run = Run.open(log.folder, damaged=True)
    settings = {way: run.world.memory.model_copy(update={"recall": way}) for way in WAYS}
    talks = {
        held.id: (held, person, other) for held, person, other in chosen_talks(log, cast, choice)
    }
    for client in sorted({person for _, person, _ in talks.values()}):
        for found in recalled_in_ways(run, client, settings):
            if found.chat in talks and talks[found.chat][1] == client:
                yield from _moment(log, cast, instrument, *talks[found.chat], found, seed)


def _moment(
    log: Log,
    cast: Cast,
    instrument: RatingInstrument,
    held: Conversation,
    person: str,
    partner: str,
    found: Recollected,
    seed: int,
) -> Iterator[Found]:
    """Nothing where both ways say the same, or nobody has said anything yet."""
    at = next(
        n for n, line in enumerate(held.lines) if line.recalled and line.recalled.seq == found.seq
    )
    first, second = (found.texts[way] for way in WAYS)
    if not at or set(first) == set(second):
        return
    ways = WAYS if chance(seed, "rating sides", log.name, found.seq).getrandbits(1) else WAYS[::-1]
    blinding = cast.blinding({person: instrument.person, partner: instrument.partner}, instrument)
    before = held.lines[max(0, at - LINES_BEFORE) : at]
    yield Found(
        origin=origin_of(
            log,
            person=person,
            partner=partner,
            partner_role=cast.roles.get(partner),
            chat=held.id,
            ways=ways,
            message=held.lines[at].message,
        ),
        seen=Seen(
            lines=blind_talk(before, cast, instrument, person, partner),
            mood=f"{instrument.person} feels {ADJECTIVE[found.emotion]}.",
            recalls=tuple(
                tuple(blinding.text(whole(text)) for text in found.texts[way]) for way in ways
            ),
        ),
    )


def of_runs(
    paths: Sequence[Path], instrument: RatingInstrument, choice: Choice, seed: int
) -> Iterator[Found]:
    """The chosen items of runs and folders of runs. StudyError for a folder without one."""
    for log in _logs(paths):
        yield from _drawn(log, instrument, choice, seed)


def _logs(runs: Sequence[Path]) -> Iterator[Log]:
    """The runs, each once, by name."""
    seen: set[Path] = set()
    for path in runs:
        run_list = RunList(path)
        if not run_list.names():
            raise StudyError(f"{path}: no runs in it; name a run's folder or a folder of runs")
        for name in sorted(run_list.names()):
            log = run_list.log(name)
            if log.folder.resolve() not in seen:
                seen.add(log.folder.resolve())
                log.refresh()
                yield log


def _drawn(log: Log, instrument: RatingInstrument, choice: Choice, seed: int) -> list[Found]:
    found = list(_found(log, instrument, choice, seed))
    if choice.most is None or len(found) <= choice.most:
        return found
    kept = chance(seed, "rating sample", log.name).sample(range(len(found)), choice.most)
    return [found[n] for n in sorted(kept)]


def _found(log: Log, instrument: RatingInstrument, choice: Choice, seed: int) -> Iterator[Found]:
    if instrument.about == "personas":
        yield from _pairs(log, instrument, choice, seed)
        return
    cast = cast_of(log)
    if instrument.about == "recalls":
        yield from moments(log, cast, instrument, choice, seed)
        return
    for held, person, partner in chosen_talks(log, cast, choice):
        if instrument.about == "transcripts":
            seen = Seen(lines=blind_talk(held.lines, cast, instrument, person, partner))
        else:
            seen = beside_persona(log, cast, instrument, held, person, partner)
        origin = origin_of(
            log, person=person, partner=partner, partner_role=cast.roles.get(partner), chat=held.id
        )
        yield Found(origin=origin, seen=seen)


def _pairs(log: Log, instrument: RatingInstrument, choice: Choice, seed: int) -> Iterator[Found]:
    cast, history = cast_of(log), History(log)
    for who in sorted(name for name, role in cast.roles.items() if role == "client"):
        texts = [dated.event for dated in history.person(who).versions]
        if not texts or choice.who not in (None, who):
            continue
        blinding = cast.blinding({who: instrument.person}, instrument)
        first, last = (_version(texts[n], blinding) for n in (0, -1))
        if first == last and instrument.order == "hidden":
            continue  # which is later could only be guessed; told the order, no change is one too
        drawn: Literal[1, 2] = chance(seed, "rating sides", log.name, who).choice((1, 2))
        earlier = 1 if instrument.order == "told" else drawn
        yield Found(
            origin=origin_of(log, person=who, earlier=earlier, version=texts[-1].version),
            seen=Seen(texts=(first, last) if earlier == 1 else (last, first)),
        )


def _version(changed: PersonaChanged, blinding: Blinding) -> Version:
    return Version(
        **{part: blinding.text(whole(getattr(changed, part))) for part in Version.model_fields}
    )
