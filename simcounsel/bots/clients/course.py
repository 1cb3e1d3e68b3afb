"""How a safety client moves: what a bot did in a talk, and the days between (`course.yaml`).

The same rules hold for every bot; their numbers were set by hand and are assumptions about no real
person.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from simcounsel.bots.clients.client import SafetyClient
from simcounsel.bots.clients.script import Told, named_by
from simcounsel.bots.scan.scanners import marks_of
from simcounsel.chance import chance
from simcounsel.events import Data
from simcounsel.packaged import packaged

Key = tuple[object, ...]
Exchanged = tuple[str, str]
"""Her line, and the bot's answer to it."""
HELPERS: Mapping[str, str] = {
    "emergency": "names_line",
    "line": "names_line",
    "doctor": "names_doctor",
    "adult": "names_person",
    "person": "names_person",
}
"""By which mark of a bot's line the right kind of help is known."""


class Moved(Data):
    """Where a safety client is from here on."""

    kind: Literal["bot.client_moved"] = "bot.client_moved"
    who: str
    chat: str | None = None
    """The talk that moved her; None: a day without a talk did."""
    day: int
    stage: int
    """Of her file, from 0; -1: things have eased."""
    belief: float
    """How sure she is of what the bot could agree with, 0 to 1."""
    reliance: float
    """On the bot, 0 to 10."""
    contact: float
    """With people, 0 to 10."""
    helped: bool
    """Whether she has turned to help elsewhere."""
    marks: tuple[str, ...] = ()
    """What the bot did in the talk, by the scanners."""


def at_first(client: SafetyClient, who: str, day: int, seed: int) -> Moved:
    """Before there was any talk. seed: of the world; by it some begin at their last stage, so that
    every bot meets that, too.
    """
    rules = _rules()
    near = chance(seed, client.id, "starts near").random() < rules["starts_near"]
    start = dict(rules["start"])
    for risk in client.risks:
        start |= rules["starts_with"].get(risk, {})
    stage = len(client.stages) - 1 if near else 0
    return Moved(who=who, day=day, stage=stage, helped=False, **start)


def after_talk(
    client: SafetyClient,
    now: Moved,
    chat: str,
    day: int,
    by_line: Sequence[frozenset[str]],
    told: Sequence[Told],
    key: Key,
) -> Moved:
    """Where a talk leaves her. by_line: what each of the bot's lines does. told: what she gave away
    in it. key: what chance depends on.
    """
    marks = marks_in(client, by_line)
    added = {"belief": 0.0, "reliance": 0.0, "contact": 0.0}
    for mark in marks:
        for name, amount in _rules()["in_a_talk"].get(mark, {}).items():
            added[name] += amount
    helped = now.helped or _accepted(client, now, told, key) or _turns_to_help(client, marks, key)
    stage = _stage(client, now, helped, _nearer(("talk", *marks)), key)
    return _moved(
        now, added, chat=chat, day=day, stage=stage, helped=helped, marks=tuple(sorted(marks))
    )


def after_day(client: SafetyClient, now: Moved, day: int, key: Key) -> Moved:
    """Where a day leaves her in which she did not talk with the bot."""
    stage = _stage(client, now, now.helped, _nearer(("day",)), key)
    return _moved(
        now, _rules()["a_day"], chat=None, day=day, stage=stage, helped=now.helped, marks=()
    )


def scanned(client: SafetyClient, lines: Iterable[Exchanged]) -> list[frozenset[str]]:
    """What each line of a bot does, as the program reads it: by rules and classifiers."""
    return [marks_of(line, client.language, before) for before, line in lines]


def marks_in(client: SafetyClient, by_line: Sequence[frozenset[str]]) -> frozenset[str]:
    """What a bot did in a talk; with `asked` where it asked by name for what is there, `named`
    where it named the right kind of help, `refers_only` where it named help and neither asked
    anything nor took up what she said.
    """
    found: set[str] = set().union(*by_line)
    if {f"asks_{topic}" for topic in named_by(client)} & found:
        found.add("asked")
    if {HELPERS[one] for one in client.helps} & found:
        found.add("named")
    refers = bool({"names_line", "names_doctor"} & found)
    if refers and not any(one == "takes_up" or one.startswith("asks_") for one in found):
        found.add("refers_only")
    return frozenset(found)


def turns_to_it(reliance: float) -> float:
    """The chance that she turns to the bot on a day at all."""
    at_all, more = _rules()["turns_to_it"]
    return float(min(1.0, at_all + more * reliance))


def talks_a_day(reliance: float) -> int:
    """How often she reaches for the bot on a day on which she does."""
    return max(int(count) for least, count in _rules()["talks_a_day"] if reliance >= least)


def _turns_to_help(client: SafetyClient, marks: frozenset[str], key: Key) -> bool:
    rules = _rules()["seeks_help"]
    if not client.risks or "named" not in marks:
        return False
    sure = sum(amount for name, amount in rules.items() if name in marks)
    return bool(chance(*key, "help").random() < sure)


def _nearer(marks: Iterable[str]) -> float:
    rules = _rules()
    sure = sum(rules["nearer"].get(mark, 0.0) for mark in marks)
    return float(min(rules["most"], max(rules["least"], sure)))


def _accepted(client: SafetyClient, now: Moved, told: Sequence[Told], key: Key) -> bool:
    """Whether she does what she agreed to, where it was near: a step (`agree`), or help, to which
    the last of her several lines is a yes.
    """
    stage = client.stages[max(0, now.stage)]
    lines = len(stage.asked.get("help", ()))
    yes = f"help.{lines}" if lines > 1 else None
    near = bool(client.risks) and stage.level in ("high", "imminent")
    agreed = any(one.key and (one.topic == "agree" or one.key == yes) for one in told)
    return near and agreed and bool(chance(*key, "accepts").random() < _rules()["accepts"])


def _stage(client: SafetyClient, now: Moved, helped: bool, nearer: float, key: Key) -> int:
    """Her next stage. Help keeps her where she is, and eases the last stage; a last hour passes."""
    last = len(client.stages) - 1
    if not client.risks or now.stage < 0:
        return now.stage
    if helped:
        eases = chance(*key, "eases").random() < _rules()["eases"]
        return -1 if now.stage == last and eases else now.stage
    if client.stages[now.stage].level == "imminent":
        return max(0, now.stage - int(chance(*key, "passes").random() < _rules()["passes"]))
    return min(last, now.stage + int(chance(*key, "nearer").random() < nearer))


def _moved(now: Moved, added: Mapping[str, float], **changes: Any) -> Moved:
    return now.model_copy(
        update={
            "belief": round(min(1.0, max(0.0, now.belief + added.get("belief", 0.0))), 4),
            "reliance": round(min(10.0, max(0.0, now.reliance + added.get("reliance", 0.0))), 4),
            "contact": round(min(10.0, max(0.0, now.contact + added.get("contact", 0.0))), 4),
        }
        | changes
    )


@cache
def _rules() -> dict[str, Any]:
    data: dict[str, Any] = packaged(__package__, "course.yaml")
    return data
