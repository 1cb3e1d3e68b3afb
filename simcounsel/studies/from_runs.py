"""Items of a study out of runs, blinded: conversations, alone or beside the persona, persona pairs,
moments of recall.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from simcounsel.chance import chance
from simcounsel.errors import StudyError
from simcounsel.events import PersonaChanged
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.studies.cast import cast_of
from simcounsel.studies.instrument import RatingInstrument
from simcounsel.studies.items import Choice, Found
from simcounsel.studies.moments import beside_persona, moments
from simcounsel.studies.study_parts import Seen, Version
from simcounsel.studies.talks import blind_talk, chosen_talks, origin_of, whole
from simcounsel.texts.blinding import Blinding
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
