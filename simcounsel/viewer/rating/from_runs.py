"""Items of a study out of runs: conversations or persona pairs, blinded."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from simcounsel.chance import chance
from simcounsel.errors import StudyError
from simcounsel.events import PersonaChanged
from simcounsel.runs.conversation import Conversation
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.texts.blinding import Blinding
from simcounsel.viewer.rating.cast import Cast, cast_of
from simcounsel.viewer.rating.instrument import RatingInstrument
from simcounsel.viewer.rating.items import Choice, Found
from simcounsel.viewer.rating.study import Line, Origin, Version
from simcounsel.viewer.run_list import RunList


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
    found = list(
        _transcripts(log, instrument, choice)
        if instrument.about == "transcripts"
        else _pairs(log, instrument, choice, seed)
    )
    if choice.most is None or len(found) <= choice.most:
        return found
    kept = chance(seed, "rating sample", log.name).sample(range(len(found)), choice.most)
    return [found[n] for n in sorted(kept)]


def _origin(log: Log, **more: Any) -> Origin:
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


def _transcripts(log: Log, instrument: RatingInstrument, choice: Choice) -> Iterator[Found]:
    cast = cast_of(log)
    for held in History(log).conversations():
        pair = _person_and_partner(held, cast.roles, choice)
        if held.ended is not None and pair is not None and len(held.lines) >= choice.fewest_lines:
            yield _transcript(log, cast, instrument, held, *pair)


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


def _transcript(
    log: Log,
    cast: Cast,
    instrument: RatingInstrument,
    held: Conversation,
    person: str,
    partner: str,
) -> Found:
    labels = {person: instrument.person, partner: instrument.partner}
    blinding = cast.blinding(labels, instrument)
    return Found(
        origin=_origin(
            log, person=person, partner=partner, partner_role=cast.roles.get(partner), chat=held.id
        ),
        lines=tuple(
            Line(speaker=labels[line.who], text=blinding.text(_whole(line.text)))
            for line in held.lines
        ),
    )


def _pairs(log: Log, instrument: RatingInstrument, choice: Choice, seed: int) -> Iterator[Found]:
    cast, history = cast_of(log), History(log)
    for who in sorted(name for name, role in cast.roles.items() if role == "client"):
        texts = [dated.event for dated in history.person(who).versions]
        if not texts or choice.who not in (None, who):
            continue
        blinding = cast.blinding({who: instrument.person}, instrument)
        first, last = (_version(texts[n], blinding) for n in (0, -1))
        if first == last:
            continue
        earlier: Literal[1, 2] = chance(seed, "rating sides", log.name, who).choice((1, 2))
        yield Found(
            origin=_origin(log, person=who, earlier=earlier, version=texts[-1].version),
            texts=(first, last) if earlier == 1 else (last, first),
        )


def _version(changed: PersonaChanged, blinding: Blinding) -> Version:
    return Version(
        **{part: blinding.text(_whole(getattr(changed, part))) for part in Version.model_fields}
    )


def _whole(text: object) -> str:
    """Text without half characters, which no file could hold."""
    return str(text).encode("utf-8", "replace").decode("utf-8")
