"""Events of other packages are kept as data, byte for byte, and come back as what they were."""

import json
from typing import Literal

import pytest
from pydantic import ValidationError

from simcounsel.errors import PluginError
from simcounsel.events import Data, Entry, Foreign, Moved, as_event, parse_entry, written
from tests.stage import Alone

CHAT = "8:Dr. Hanna Lind+Ines"


class Told(Data):
    kind: Literal["mine.told"] = "mine.told"
    who: str
    chat: str | None = None
    depths: dict[str, float]
    words: tuple[str, ...] = ()


TOLD = Told(who="Ines", chat=CHAT, depths={"b": 0.1, "a": 1e-7}, words=("né", "\u2028"))


def test_it_is_kept_byte_for_byte() -> None:
    line = Entry(3, 1, 500, as_event(TOLD)).line()
    read = parse_entry(json.loads(line))
    assert read.line() == line and TOLD.model_dump_json()[1:] in line
    assert read.event == as_event(TOLD) and isinstance(read.event, Foreign)
    assert (read.event.kind, read.event.who, read.event.chat) == ("mine.told", "Ines", CHAT)
    assert read.event.fields["words"] == ["né", "\u2028"]
    assert written([read.event, Moved(who="Ines", origin="a", place="b")], Told) == (TOLD,)


def test_ours_stay_ours() -> None:
    moved = Moved(who="Ines", origin="a", place="b")
    assert as_event(moved) is moved
    with pytest.raises(ValidationError, match="place"):
        parse_entry(
            {"seq": 0, "tick": 0, "minute": 0, "kind": "moved", "who": "Ines", "origin": "a"}
        )
    with pytest.raises(ValidationError, match="kind"):
        parse_entry({"seq": 0, "tick": 0, "minute": 0, "who": "Ines"})


def test_a_kind_of_ours_cannot_be_taken() -> None:
    class Moves(Data):
        kind: Literal["moved"] = "moved"
        who: str

    class Nameless(Data):
        who: str

    for event, shown in ((Moves(who="Ines"), "'moved'"), (Nameless(who="Ines"), "None")):
        with pytest.raises(PluginError, match=f"an event of one's own has a `kind`.*{shown}"):
            as_event(event)


def test_whom_it_names_observes_it() -> None:
    ines = Alone()
    alone = Told(who="Ines", depths={})
    ines.observe(as_event(TOLD))
    ines.observe(as_event(alone))
    assert ines.resident.written(Told) == (TOLD, alone)
    assert [entry.event for entry in ines.resident.practice["Dr. Hanna Lind"]] == [as_event(TOLD)]
    assert set(ines.resident.practice) == {"Dr. Hanna Lind"}
