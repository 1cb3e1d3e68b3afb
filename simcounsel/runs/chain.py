"""The hashes by which a log can be verified: each tick's end carries one over the tick's lines and
the hash of the tick before.

The first begins from what in the manifest decides the run: its world with people and seed, and the
prompts; but not its models, times, name and versions. So the same world, seed and
replies give the same log in a replay and on any machine. A fork's past goes on from its parent's
start; its `forked` event carries the fork's own.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simcounsel.events import SCHEMA_VERSION, Entry, TickEnded
from simcounsel.runs.jsonl import parsed_line

Fields = Mapping[str, Any]
_NUMBERED = re.compile(rb'\{"seq":(\d{1,18}),"tick":(\d{1,9}),')
_END = re.compile(
    rb'\{"seq":(\d{1,18}),"tick":(\d{1,9}),"minute":-?\d{1,18},"kind":"tick_ended"'
    rb',"hash":"([0-9a-f]{64})"\}\n'
)
_ENDS = re.compile(rb'\{"seq":\d{1,18},"tick":\d{1,9},"minute":-?\d{1,18},"kind":"tick_ended"')
_TAIL = b'"kind":"tick_ended","hash":"' + b"." * 64 + b'"}\n'
"""How a log ends; a dot stands for any byte."""
_ALIKE = 3
"""So many bytes of it may differ in a damaged end of a tick; in what a crash left, more do."""


def start_hash(manifest: Fields, about: str = "world") -> str:
    """Of what decides a run, out of its manifest as it is on disk. about: the field that holds
    it.
    """
    decides = _without_models(manifest.get(about))
    return _hash_of({"about": decides, "prompts": manifest.get("prompts")})


def fields_digest(fields: Fields) -> str:
    """SHA-256 over a file's fields as they are on disk, but for the digest itself."""
    return _hash_of({key: value for key, value in fields.items() if key != "digest"})


def _hash_of(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _without_models(about: object) -> object:
    """A world but for its models, those of residents, and what only stops a run."""
    if not isinstance(about, Mapping):
        return about
    residents = about.get("residents")
    kept = {key: value for key, value in about.items() if key not in ("models", "fallbacks")}
    if isinstance(residents, list):
        kept["residents"] = [_without_models(one) for one in residents]
    return kept


def chain_start(manifest: Fields, about: str = "world") -> str:
    """The hash from which a run's first tick goes on: for a fork its parent's, since it shares the
    past.
    """
    return parents_start(manifest) or start_hash(manifest, about)


def parents_start(manifest: Fields) -> str | None:
    """The hash from which a fork's shared past begins; None in a run that began by itself."""
    parent = manifest.get("parent")
    shared = parent.get("start_hash") if isinstance(parent, Mapping) else None
    return shared if isinstance(shared, str) else None


def manifest_damage(manifest: Fields) -> str | None:
    """What is wrong with a manifest of this version as it is on disk; None when nothing is."""
    if manifest.get("digest") == fields_digest(manifest):
        return None
    return "it was changed after it was written (its digest does not fit)"


def other_version(manifest: Fields) -> str | None:
    """That a run's log has another version than this simcounsel reads, and what to do; None when it
    has the same.
    """
    version = manifest.get("schema_version")
    if version == SCHEMA_VERSION:
        return None
    versions = manifest.get("versions")
    wrote = versions.get("simcounsel", "unknown") if isinstance(versions, Mapping) else "unknown"
    remedy = (
        "install a newer simcounsel"
        if isinstance(version, int) and version > SCHEMA_VERSION
        else f"install the simcounsel that wrote it ({wrote}), or run its world again with this one"
    )
    return f"written with log version {version}, this simcounsel reads {SCHEMA_VERSION}; {remedy}"


def tick_hash(before: str, lines: Iterable[bytes], end: bytes) -> str:
    """Of a tick's lines and the beginning of its last one, up to where the hash stands."""
    found = hashlib.sha256(before.encode())
    found.update(b"".join(lines))
    found.update(end)
    return found.hexdigest()


class Chain:
    """Closes ticks with their hashes, one after the other."""

    def __init__(self, last: str) -> None:
        """last: the hash of the tick before, or the run's start."""
        self.last = last

    def close(self, tick: Sequence[Entry]) -> tuple[list[Entry], bytes]:
        """A complete tick, its end with the hash, and its lines."""
        *before, end = tick
        lines = [_bytes(entry) for entry in before]
        blank = _bytes(replace(end, event=TickEnded(hash="")))
        self.last = tick_hash(self.last, lines, blank.removesuffix(b'"}\n'))
        closed = replace(end, event=TickEnded(hash=self.last))
        return [*before, closed], b"".join([*lines, _bytes(closed)])


def _bytes(entry: Entry) -> bytes:
    return entry.line().encode("utf-8", "surrogatepass")


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A place where a log is not as it was written."""

    line: int
    """Of events.jsonl, from 1."""
    what: str
    """In words."""


class LogCheck:
    """Follows a log from its beginning, tick by tick, and finds where it is not as it was
    written.
    """

    def __init__(self, start: str | None) -> None:
        """start: the hash from which the first tick's begins; None where the manifest is gone."""
        self.damages: list[Damage] = []
        self.sound_ticks = 0
        """How many ticks hold, from the beginning, before the first damage."""
        self.last_hash = start
        """Of the last tick, from which the next one's goes on; None where it is not known."""
        self._lines = 0
        self._next_seq = 0

    def tick(self, lines: Sequence[bytes]) -> Damage | None:
        """Take in a tick, its end last; what is wrong with it, if anything is."""
        end = _END.fullmatch(lines[-1])
        damage = None if self._holds(lines, end) else self._damage(lines)
        self._lines += len(lines)
        last = end or _NUMBERED.match(lines[-1])
        self._next_seq = int(last[1]) + 1 if last else self._next_seq + len(lines)
        self.last_hash = end[3].decode() if end else None
        if end is not None and not self.damages:
            self.sound_ticks = int(end[2]) + 1
        return damage

    def rest(self, lines: Sequence[bytes]) -> Damage | None:
        """What is wrong with what is behind the last complete tick. Nothing, where it may be
        what a crash left: that is not checked.
        """
        if _like_an_end(b"".join(lines[-2:])):
            return Damage(
                line=self._lines + len(lines), what="the end of a tick is not as it was written"
            )
        return None

    def _holds(self, lines: Sequence[bytes], end: re.Match[bytes] | None) -> bool:
        if end is None or int(end[1]) != self._next_seq + len(lines) - 1:
            return False
        if self.last_hash is None:  # the one before is damaged, or the manifest gone
            return self._misplaced(lines) is None
        begun = lines[-1][: end.start(3)]
        return tick_hash(self.last_hash, lines[:-1], begun) == end[3].decode()

    def _damage(self, lines: Sequence[bytes]) -> Damage:
        """The first place in a tick that does not hold."""
        found = self._misplaced(lines, read=True) or Damage(
            line=self._lines + 1,
            what=f"this tick's {len(lines)} lines are not as they were written"
            if self._lines
            else f"the first tick's {len(lines)} lines, or the world in manifest.json, are not as"
            " they were written",
        )
        self.damages.append(found)
        return found

    def _misplaced(self, lines: Sequence[bytes], *, read: bool = False) -> Damage | None:
        """The first line that is not the next event. read: or that is not JSON."""
        for number, line in enumerate(lines):
            wanted = self._next_seq + number
            head = _NUMBERED.match(line)
            if head is None or not line.endswith(b"}\n") or (read and parsed_line(line) is None):
                what = "this line cannot be read as an event"
            elif int(head[1]) > wanted:
                what = f"{_events(wanted, int(head[1]) - 1)} missing before this line"
            elif int(head[1]) < wanted:
                what = f"event {int(head[1])} is here, where event {wanted} should"
            else:
                continue
            return Damage(line=self._lines + number + 1, what=what)
        return None


def seq_of(line: bytes) -> int:
    """The number of a line's event; -1 when it tells none."""
    found = _NUMBERED.match(line)
    return int(found[1]) if found else -1


def tick_of(line: bytes) -> int:
    """The number of the tick in which a line stands; -1 when it tells none."""
    found = _NUMBERED.match(line)
    return int(found[2]) if found else -1


def ticks_in(lines: Iterable[bytes]) -> Iterator[tuple[list[bytes], bool]]:
    """The lines of each tick, its end last, with True; then what is behind the last complete
    one, if anything does, with False.
    """
    tick: list[bytes] = []
    for line in lines:
        tick.append(line)
        if _ENDS.match(line) and line.endswith(b"\n"):
            yield tick, True
            tick = []
    if tick:
        yield tick, False


def _events(first: int, last: int) -> str:
    return f"event {first} is" if first == last else f"events {first} to {last} are"


def _like_an_end(tail: bytes) -> bool:
    """Whether it is a tick's end but for a few bytes. A crash leaves the beginning of a tick: its
    last bytes, shifted by one at least, are like no end.
    """
    end = tail[-len(_TAIL) :]
    if len(end) < len(_TAIL):
        return False
    differ = sum(a != b for a, b in zip(end, _TAIL, strict=True) if b != ord("."))
    return differ <= _ALIKE
