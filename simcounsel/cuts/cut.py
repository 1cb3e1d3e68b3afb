"""What may be cut, as `--do` and a condition's `do` have it, and as a mind's name keeps it."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.specs.problems import suggest
from simcounsel.specs.residents import LONGEST_MIND, ResidentSpec
from simcounsel.specs.world import World

NAME = "cut"
FROZEN = ("beliefs", "openness", "persona", "plans", "relationships")
BLOCKED = ("memory", "recall")
RULES = ("silent", "listens", "echoes")
PARTS = {"freeze": FROZEN, "block": BLOCKED, "scramble": ("recall",), "swap": ("model",)}
FORMS = """freeze:beliefs|openness|persona|plans|relationships[=WHO], block:memory|recall[=WHO],
scramble:recall[=WHO], mute:WHO, swap:model=[WHO=]MODEL, say:[WHO=]"TEXT",
rule:WHO=silent|listens|echoes"""
FAMILIES = (("block", "scramble"), ("rule",), ("say",))
"""Of each there is one at a time; a later fork's takes the place of an earlier one's."""
OF_CLIENTS = ("freeze:beliefs", "freeze:openness")
VERBS = ("freeze", "block", "scramble", "mute", "say", "rule")
_ESCAPED = {"%": "%25"} | {one: f"%{ord(one):02X}" for one in ";|@:#\n"}
"""In a text, so that the name is one line, is read as it was, and is plain in YAML."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """One thing that is cut in one person."""

    verb: str
    """`freeze`, `block`, `scramble`, `mute`, `say` or `rule`."""
    what: str = ""
    """What of them; the text of `say`, the rule of `rule`."""
    since: int = 0
    """The first tick in which it holds."""

    @property
    def name(self) -> str:
        """As events and tables name it."""
        return f"{self.verb}:{self.what}" if self.what else self.verb


def mind_name(cuts: Iterable[Cut], inner: str | None) -> str:
    """The name of the mind that has these cuts, around another one; None: a person's."""
    kept = ";".join(f"{one.verb}:{_escaped(one.what)}@{one.since}" for one in cuts)
    return f"{NAME}:{kept}" + (f"|{inner}" if inner else "")


def read_mind(name: str) -> tuple[tuple[Cut, ...], str | None]:
    """The cuts of a mind's name and the name inside; no cuts for another mind's name."""
    if not name.startswith(f"{NAME}:"):
        return (), name or None
    held, _, inner = name.removeprefix(f"{NAME}:").partition("|")
    found = []
    for one in held.split(";"):
        if not (told := re.fullmatch(r"(\w+):([^@]*)@(\d+)", one)):
            raise SpecError([f"mind: {name!r}: {one!r} is no cut; use --do"])
        what = told[2]
        for plain, escaped in reversed(_ESCAPED.items()):
            what = what.replace(escaped, plain)
        if told[1] not in VERBS or (told[1] in PARTS and what not in PARTS[told[1]]):
            raise SpecError([f"mind: {name!r}: {told[1]}:{what} is no cut; use --do"])
        found.append(Cut(verb=told[1], what=what, since=int(told[3])))
    return tuple(found), inner or None


def changes(values: Iterable[str], world: World, at: int) -> dict[str, Any]:
    """What these cuts change in a world, from a tick on, by key. SpecError names what is wrong."""
    found: dict[str, Any] = {}
    cuts: dict[str, list[Cut]] = {}
    for value in values:
        for who, cut in _read(value, world, at, found):
            cuts.setdefault(who, []).append(cut)
    for who, own in cuts.items():
        spec = next(one for one in world.residents if one.name == who)
        _check_own(spec, own)
        before, inner = read_mind(spec.mind or "")
        name = mind_name((*before, *own), _inside(spec, inner, own, found))
        if len(name) > LONGEST_MIND:
            raise SpecError(
                [f"--do: what is done to {who} is {len(name) - LONGEST_MIND} characters too long"]
            )
        found[f"residents.{who}.mind"] = name
        if spec.role == "counselor" and any(one.verb == "rule" for one in own):
            if world.safety.counselors == "protocol":
                found["safety.counselors"] = "assess"
            if spec.policy is not None:
                found[f"residents.{who}.policy"] = None
    return found


def _check_own(spec: ResidentSpec, own: list[Cut]) -> None:
    """SpecError for two that exclude each other, and for what somebody has not."""
    for family in FAMILIES:
        some = [one.name for one in own if one.verb in family]
        if len(some) > 1:
            raise SpecError([f"--do: {spec.name}: {some[0]} and {some[1]} exclude each other"])
    for one in own:
        if one.name in OF_CLIENTS and spec.role != "client":
            raise SpecError([f"--do {one.name}={spec.name}: only clients have {one.what}"])


def _inside(
    spec: ResidentSpec, inner: str | None, own: Iterable[Cut], found: Mapping[str, Any]
) -> str | None:
    """The mind inside. A bot's is there only as it is, so a rule takes its place."""
    if spec.mind_model is None:
        return inner
    if any(one.verb in ("rule", "mute") for one in own):
        return None
    raise SpecError(
        [f"--do: {spec.name} is played by {spec.mind}, whose mind is not ours to cut;"
         f" mute:{spec.name}, or rule:{spec.name}=silent"]
    )  # fmt: skip


def _read(value: str, world: World, at: int, found: dict[str, Any]) -> Iterable[tuple[str, Cut]]:
    """The cuts of one value, by whose they are. found: takes changes that are no cuts."""
    verb, _, rest = value.strip().partition(":")
    if verb == "mute":
        yield _who(rest, world, value), Cut(verb=verb, since=at)
        return
    if verb == "rule":
        name, _, rule = rest.rpartition("=")
        if rule not in RULES:
            raise _wrong(value, f"no rule {rule!r}; there are {', '.join(RULES)}")
        yield _who(name, world, value), Cut(verb=verb, what=rule, since=at)
        return
    if verb == "say":
        name, text = _named(rest, world, value)
        text = text.strip().strip('"“”').strip()
        if not text or text in {one.name for one in world.residents}:
            raise _wrong(value, 'say what, as in say:Ines="I slept."')
        yield _who(name, world, value), Cut(verb=verb, what=text, since=at)
        return
    what, _, rest = rest.partition("=")
    if verb not in PARTS:
        raise _wrong(value, f"no {verb!r}; {' '.join(FORMS.split())}")
    if what not in PARTS[verb]:
        raise _wrong(value, f"{verb}: no {what!r}; there is {', '.join(PARTS[verb])}")
    if verb != "swap":
        yield _who(rest, world, value), Cut(verb=verb, what=what, since=at)
        return
    name, model = _named(rest, world, value)
    if not model:
        raise _wrong(value, "name the model, as in swap:model=openai:gpt-4o-mini")
    whose = f"residents.{_who(name, world, value)}.models" if name else "models"
    found |= {f"{whose}.reason": model, f"{whose}.quick": model}


def _named(text: str, world: World, value: str) -> tuple[str, str]:
    """`WHO=REST`, or the rest alone where nobody is named. SpecError for a name that nobody has."""
    told = re.match(r"\s*([^\W\d_][\w .'’-]*)=(.*)", text, re.DOTALL)
    if told is None:
        return "", text
    return _who(told[1], world, value), told[2]


def _who(name: str, world: World, value: str) -> str:
    """The resident of that name, or the first of that role; nobody named: the client."""
    name = name.strip()
    if not name and not any(one.role == "client" for one in world.residents):
        raise _wrong(value, f"nobody is a client here; name one, as in {value}=NAME")
    name = name or "client"
    people = sorted(world.residents, key=lambda one: one.name)
    found = next((one.name for one in people if name in (one.name, one.role)), None)
    if found is None:
        raise _wrong(value, f"nobody is named {name!r}; {suggest(name, [p.name for p in people])}")
    return found


def _escaped(text: str) -> str:
    for plain, escaped in _ESCAPED.items():
        text = text.replace(plain, escaped)
    return text


def _wrong(value: str, what: str) -> SpecError:
    return SpecError([f"--do {value}: {what}"])


def sets_of(found: Mapping[str, Any]) -> list[str]:
    """Changes as `--set` has them."""
    return [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in found.items()
    ]
