"""Making a study out of runs and corpora: choosing conversations or persona pairs, blinding them,
drawing orders.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from simcounsel.chance import chance
from simcounsel.errors import StudyError
from simcounsel.runs.log import Log
from simcounsel.specs.vocabulary import Condition
from simcounsel.texts.blinding import Blinding
from simcounsel.viewer.rating.from_corpus import is_corpus, of_corpus
from simcounsel.viewer.rating.instrument import RatingInstrument
from simcounsel.viewer.rating.items import Choice, Found
from simcounsel.viewer.rating.study import (
    Key,
    Line,
    Origin,
    Rater,
    Shown,
    Study,
    Version,
    refuse_taken,
    write_study,
)
from simcounsel.viewer.run_list import RunList


@dataclass(kw_only=True)
class Cast:
    """Who and what occurs in a run: people with their roles, and all that must not be told."""

    roles: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def blinding(self, speakers: Mapping[str, str], instrument: RatingInstrument) -> Blinding:
        """What is taken out of an item in which these speak."""
        return Blinding(
            speakers,
            others=sorted(self.names),
            places=sorted(self.places),
            words=(*instrument.mask, *sorted(self.words)),
        )


def make_study(
    runs: Sequence[Path],
    instrument: RatingInstrument,
    out: Path,
    *,
    raters: int | None = None,
    seed: int = 0,
    choice: Choice | None = None,
) -> Study:
    """Draw a blind study from runs, folders of runs and corpora, and write it to `out`.

    The order of each rater comes from (seed, rater); so the same runs and seed give the same study,
    but for its tokens. StudyError when nothing is found, or the folder is taken.
    """
    refuse_taken(out)
    wanted = choice or Choice()
    corpora = [path for path in runs if is_corpus(path)]
    lived = [
        item
        for log in _logs([path for path in runs if path not in corpora])
        for item in _drawn(log, instrument, wanted, seed)
    ]
    found = _once(
        [*lived, *(item for path in corpora for item in of_corpus(path, instrument, wanted, seed))]
    )
    if not found:
        raise StudyError(_nothing(instrument, wanted, runs))
    chance(seed, "rating items").shuffle(found)
    ids = [
        f"{'P' if instrument.about == 'personas' else 'T'}{number:0{len(str(len(found)))}d}"
        for number in range(1, len(found) + 1)
    ]
    names = [f"rater-{number:02d}" for number in range(1, (raters or instrument.raters) + 1)]
    study = Study(
        study=secrets.token_hex(6),
        instrument=instrument,
        items=tuple(
            Shown(id=id, lines=item.lines, texts=item.texts)
            for id, item in zip(ids, found, strict=True)
        ),
        raters=tuple(
            Rater(name=name, token=secrets.token_urlsafe(18), order=order_of(ids, seed, name))
            for name in names
        ),
    )
    made = datetime.now(UTC).isoformat(timespec="seconds")
    write_study(
        out,
        study,
        Key(
            study=study.study,
            made=made,
            seed=seed,
            items={id: item.origin for id, item in zip(ids, found, strict=True)},
        ),
    )
    return study


def order_of(ids: Sequence[str], seed: int, rater: str) -> tuple[str, ...]:
    """The order in which one rater meets the items."""
    drawn = list(ids)
    chance(seed, "rating order", rater).shuffle(drawn)
    return tuple(drawn)


def _nothing(instrument: RatingInstrument, choice: Choice, runs: Sequence[Path]) -> str:
    where = ", ".join(map(str, runs))
    if instrument.about == "personas":
        return (
            f"{where}: no client whose persona changed; a longer run has reflections that change it"
        )
    whom = " or ".join(choice.partners)
    who = choice.who or "a client"
    return (
        f"{where}: no finished conversation of {who} with a {whom} of {choice.fewest_lines} lines"
        " or more; see --who, --with and --min-lines"
    )


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


def _once(found: Sequence[Found]) -> list[Found]:
    """The same text once only: nobody should judge a shared past twice."""
    kept: dict[Any, Found] = {}
    for item in found:
        same = (item.lines, frozenset(item.texts))
        first = kept.setdefault(same, item)
        if first is not item:
            origin = first.origin.model_copy(
                update={"also_in": (*first.origin.also_in, item.origin.run)}
            )
            kept[same] = Found(origin=origin, lines=first.lines, texts=first.texts)
    return list(kept.values())


# what is in a run


def cast_of(log: Log) -> Cast:
    """Who and what occurs in a run, from its manifest and from what happened."""
    world, found = log.manifest.get("world", {}), Cast()
    for entry in log.fields(("joined", "conversation_started", "moved")):
        if entry["kind"] == "joined":
            found.roles[entry["who"]] = entry["role"]
            found.places |= {entry["home"]}
        found.places |= {entry["place"]} | (
            {entry["origin"]} if entry["kind"] == "moved" else set()
        )
    for resident in world.get("residents", ()):
        persona = resident.get("persona")
        persona = persona if isinstance(persona, dict) else {}
        found.names |= {name for name in (resident.get("name"), persona.get("name")) if name}
    found.names |= set(found.roles)
    found.places |= set(_place_names(world.get("places", ())))
    models = [str(model) for model in log.manifest.get("models", {}).values()]
    telling = [
        log.name,
        *get_args(Condition),
        *models,
        *(part for model in models for part in re.split(r"[/:+]", model)),
    ]
    found.words = {
        word
        for word in telling
        if len(word) > 3 and re.search(r"[^\W\d_]", word) and re.search(r"\w[\W_\d]", word)
    }
    return found


def _place_names(places: Any) -> Iterator[str]:
    for place in places if isinstance(places, list) else ():
        if isinstance(place, dict) and place.get("name"):
            yield str(place["name"])
            yield from _place_names(place.get("places", ()))


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
    cast, lines = cast_of(log), dict[str, list[dict[str, Any]]]()
    for entry in log.fields(("said", "conversation_started", "conversation_ended")):
        chat = entry["chat"]
        if entry["kind"] == "conversation_started":
            lines[chat] = []
        elif entry["kind"] == "said":
            lines.setdefault(chat, []).append(entry)
        else:
            said = lines.pop(chat, [])
            pair = _person_and_partner(said, cast.roles, choice)
            if pair is not None and len(said) >= choice.fewest_lines:
                yield _transcript(log, cast, instrument, chat, said, *pair)


def _person_and_partner(
    said: Sequence[dict[str, Any]], roles: Mapping[str, str], choice: Choice
) -> tuple[str, str] | None:
    """The client and whom the client talks with, when that is a conversation that was chosen; of
    two clients, who spoke first.
    """
    two = list(dict.fromkeys(name for line in said for name in (line["who"], line["to"])))
    clients = [name for name in two if roles.get(name) == "client"]
    if len(two) != 2 or not clients or (choice.who is not None and choice.who not in clients):
        return None
    person = choice.who or clients[0]
    partner = next(name for name in two if name != person)
    return (person, partner) if roles.get(partner) in choice.partners else None


def _transcript(
    log: Log,
    cast: Cast,
    instrument: RatingInstrument,
    chat: str,
    said: Sequence[dict[str, Any]],
    person: str,
    partner: str,
) -> Found:
    labels = {person: instrument.person, partner: instrument.partner}
    blinding = cast.blinding(labels, instrument)
    return Found(
        origin=_origin(
            log, person=person, partner=partner, partner_role=cast.roles.get(partner), chat=chat
        ),
        lines=tuple(
            Line(speaker=labels[line["who"]], text=blinding.text(_whole(line["text"])))
            for line in said
        ),
    )


def _pairs(log: Log, instrument: RatingInstrument, choice: Choice, seed: int) -> Iterator[Found]:
    cast, versions = cast_of(log), dict[str, list[dict[str, Any]]]()
    for entry in log.fields(("persona_changed",)):
        versions.setdefault(entry["who"], []).append(entry)
    for who, texts in sorted(versions.items()):
        if cast.roles.get(who) != "client" or choice.who not in (None, who):
            continue
        blinding = cast.blinding({who: instrument.person}, instrument)
        first, last = (_version(texts[n], blinding) for n in (0, -1))
        if first == last:
            continue
        earlier: Literal[1, 2] = chance(seed, "rating sides", log.name, who).choice((1, 2))
        yield Found(
            origin=_origin(log, person=who, earlier=earlier, version=texts[-1]["version"]),
            texts=(first, last) if earlier == 1 else (last, first),
        )


def _version(entry: Mapping[str, Any], blinding: Blinding) -> Version:
    return Version(**{part: blinding.text(_whole(entry[part])) for part in Version.model_fields})


def _whole(text: object) -> str:
    """Text without half characters, which no file could hold."""
    return str(text).encode("utf-8", "replace").decode("utf-8")
