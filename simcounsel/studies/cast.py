"""Who and what occurs in a run, so that an item of it can be blinded."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from simcounsel.runs.log import Log
from simcounsel.specs.vocabulary import Condition
from simcounsel.studies.instrument import RatingInstrument
from simcounsel.texts.blinding import Blinding


@dataclass(kw_only=True)
class Cast:
    """Who and what occurs in a run: people with their roles, and all that must not be told."""

    roles: dict[str, str] = field(default_factory=dict)
    """Each resident's role, by name."""
    full: dict[str, str] = field(default_factory=dict)
    """The name of each resident's persona, `Omar Haddad` of Omar."""
    names: set[str] = field(default_factory=set)
    """Of residents and of their personas."""
    places: set[str] = field(default_factory=set)
    """All places of the world, by name."""
    words: set[str] = field(default_factory=set)
    """What would tell the run, its condition or its models."""

    def blinding(self, speakers: Mapping[str, str], instrument: RatingInstrument) -> Blinding:
        """What is taken out of an item in which these speak; each is called the same by the whole
        name.
        """
        whole = {self.full[name]: label for name, label in speakers.items() if name in self.full}
        return Blinding(
            {**speakers, **{name: label for name, label in whole.items() if name not in speakers}},
            others=sorted(self.names),
            places=sorted(self.places),
            words=(*instrument.mask, *sorted(self.words)),
        )


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
        if resident.get("name") and persona.get("name"):
            found.full[resident["name"]] = persona["name"]
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
