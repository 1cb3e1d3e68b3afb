"""What differs in design: the settings in the runs' manifests against those of the paper, and what
was counted in their logs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.page import counted
from analysis.replication.options import Choices
from analysis.replication.published import Published, PublishedSetting
from analysis.replication.tables import PaperTable
from analysis.report import Report
from analysis.sample import Member, roles_of
from simcounsel.runs.history import History

UNSAID = "?"
"""In place of a value of the paper's: it does not say."""
STRUCTURAL = (
    "name", "about", "start", "ticks", "seed", "condition", "places", "residents", "appointments",
    "relationships", "models", "fallbacks", "measurements", "safety.locale", "safety.ask",
)  # fmt: skip
"""Keys of a world that say who, where and how long, which other rows say, and how a run is kept."""


@dataclass(frozen=True, kw_only=True)
class DesignRow:
    """One line of the comparison."""

    what: str
    published: str
    ours: str


def rows_of(
    paper: Published,
    report: Report,
    wanted: Choices,
    tables: Sequence[PaperTable],
    *,
    people: bool = False,
) -> Iterator[DesignRow]:
    """First what was counted, then each setting of the worlds that is not the paper's. people:
    whether people took part, of whom settings of simulated clients say nothing.
    """
    facts = facts_of(report, wanted, tables)
    for one in paper.design:
        ours = (one.people if people else None) or one.ours
        yield DesignRow(what=one.what, published=one.published, ours=ours.format_map(facts))
    worlds = {member.arm: member.manifest["world"] for member in report.sample.members}
    for setting in (one for one in paper.settings if one.people or not people):
        found = {arm: value_at(world, setting.key) for arm, world in worlds.items()}
        if any(differs(setting, value) for value in found.values()):
            yield DesignRow(
                what=setting.what, published=setting.published, ours=_words(setting, found)
            )


def value_at(world: Mapping[str, Any], key: str) -> Any:
    """What lies below the dotted key; None where nothing does."""
    found: Any = world
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def differs(setting: PublishedSetting, value: Any) -> bool:
    """Whether a value is another than the paper's, or the paper does not say."""
    return bool(setting.theirs == UNSAID or value != setting.theirs)


def unsaid(paper: Published, world: Mapping[str, Any]) -> list[str]:
    """Keys of a world of which the comparison says nothing."""
    said = {*STRUCTURAL, *(one.key for one in paper.settings)}
    return [
        key
        for key in _keys(world)
        if not any(key == one or key.startswith(f"{one}.") for one in said)
    ]


def _keys(part: Mapping[str, Any], at: str = "") -> Iterator[str]:
    for key, value in part.items():
        name = f"{at}{key}"
        if isinstance(value, Mapping) and value:
            yield from _keys(value, f"{name}.")
        else:
            yield name


def _words(setting: PublishedSetting, found: Mapping[str, Any]) -> str:
    said = {arm: _said(setting, value) for arm, value in found.items()}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return "; ".join(f"{arm}: {what}" for arm, what in said.items())


def _said(setting: PublishedSetting, value: Any) -> str:
    if value is None or value == () or value == []:
        return "none"
    if isinstance(value, bool):
        value = "yes" if value else "no"
    number = f"{value:g}" if isinstance(value, float) else value
    return setting.ours.format(value=number)


# what was counted


def facts_of(report: Report, wanted: Choices, tables: Sequence[PaperTable]) -> dict[str, str]:
    """What fills the slots of a paper's design."""
    sample = report.sample
    members = sample.members
    clients = {client for member in members for client in member.clients}
    arms = Counter(member.arm for member in members)
    ticks = max((member.ticks for member in members), default=0)
    minutes = max((int(m.manifest["world"]["tick_minutes"]) for m in members), default=0)
    figure = next((table for table in tables if table.id == "figure_5"), None)
    return {
        "clients": counted(len(clients), "client"),
        "groups": ", ".join(f"{arms[arm]} {arm}" for arm in sample.arms),
        "seeds": counted(len({member.seed for member in members}), "run"),
        "length": f"{counted(ticks, 'tick')}, {ticks * minutes / 60:g} hours",
        "talks": _talks(members),
        "begun": _begun(members),
        "judge": wanted.judge or ", ".join(sorted({m.models.get("judge", "?") for m in members})),
        "raters": f"studies for {wanted.raters} are made; answers are taken in as they come",
        "clusters": _clusters(figure),
        "models": _models(members),
        "shuffles": f"{report.options.shuffles:,}",
        "memories": _memories(members),
        "remembers": _remembers(members),
    }


def _clusters(figure: PaperTable | None) -> str:
    if figure is None:
        return "none"
    return f"{figure.source}. {' '.join(figure.notes[:1])}"


def _talks(members: Sequence[Member]) -> str:
    """Conversations by arm, and how many that is for a client and seed."""
    found: dict[str, list[int]] = {}
    for member in members:
        held = sum(1 for _ in History(member.log).conversations())
        found.setdefault(member.arm, []).append(held)
    return _joined(
        f"{arm}: {sum(counts)}, {sum(counts) / len(counts):.1f} a run"
        for arm, counts in found.items()
        if any(counts)
    )


def _begun(members: Sequence[Member]) -> str:
    """How conversations came about."""
    causes: Counter[str] = Counter()
    for member in members:
        for held in History(member.log).conversations():
            causes[held.started.cause] += 1
    said = {"appointment": "by appointment", "draw": "by chance, as people are close"}
    return _joined(f"{count} {said.get(cause, cause)}" for cause, count in causes.most_common())


def _models(members: Sequence[Member]) -> str:
    by_role: dict[str, set[str]] = {}
    for member in members:
        for role, model in member.models.items():
            by_role.setdefault(role, set()).add(model)
    return _joined(f"{role} {', '.join(sorted(some))}" for role, some in by_role.items())


def _memories(members: Sequence[Member]) -> str:
    """How many memories people of each role begin with."""
    found: dict[str, list[int]] = {}
    for member in members:
        roles = roles_of(member.manifest)
        memories = [one.event for one in History(member.log).memories()]
        kept = Counter(one.who for one in memories if one.memory.origin == "initial")
        there = {one.who for one in memories}
        for who, role in roles.items():
            if who in there:
                found.setdefault(role, []).append(kept[who])
    return _joined(
        f"{role} {min(counts)}" + (f" to {max(counts)}" if max(counts) > min(counts) else "")
        for role, counts in found.items()
    )


def _remembers(members: Sequence[Member]) -> str:
    """Whether the counselor of each arm remembers earlier meetings: by recall, by notes."""
    said: dict[str, str] = {}
    for member in members:
        for resident in member.manifest["world"]["residents"]:
            policy = resident.get("policy")
            if isinstance(policy, Mapping) and "settings" in policy:
                settings = policy["settings"] or {}
                ways = ["recall"] if settings.get("recall", True) else []
                if policy.get("name") == "staged" and settings.get("notes", True):
                    ways.append("notes")
                said[member.arm] = " and ".join(ways) or "nothing"
    return _joined(f"{arm} {what}" for arm, what in said.items())


def _joined(parts: "Iterator[str]") -> str:
    return "; ".join(parts) or "none"
