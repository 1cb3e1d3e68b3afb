"""The talks of a pack, played: crises by `bench protocol`, ordinary sessions as runs of worlds.

Both counselors meet the same scripts, and the same clients in the same worlds with the same seed.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import yaml
from pydantic import Field

from analysis.clinicians.plan import Kept, Plan, counselor_of
from simcounsel.bench.protocol.command import protocol
from simcounsel.bench.protocol.crises import DIMENSIONS, Crisis, read_crises
from simcounsel.bench.protocol.rates import holds
from simcounsel.bench.protocol.results import TRANSCRIPTS, read_protocol
from simcounsel.cli.sweep import live
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.reading import read_dialogues
from simcounsel.disk import write_whole
from simcounsel.entry import GIVEN_UP
from simcounsel.llm.catalog import roles_for
from simcounsel.specs import shipped
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.world_settings import FallbackLimits

WORLDS = {
    "insomnia": ("Ines", "Miriam"),
    "grief": ("Henrik", "Yuki"),
    "anxiety": ("Daniela", "Miriam"),
    "conflict": ("Leila", "Jonas"),
    "loneliness": ("Samuel", "Miriam"),
    "low_mood": ("Tomasz", "Jonas"),
}
"""Each with its client and its counselor."""
MOST_SESSIONS = 36
TICKS = 13
"""Until the end of the first appointment, at 15:00."""
SIDES = ("a", "b")
"""How the two counselors are called in file names."""


class Talk(Kept):
    """A talk of the pack, and what is known of it."""

    id: str
    counselor: int
    """0 the first, 1 the second."""
    case: str
    """The same of both counselors: the crisis, or world and client."""
    kind: str
    """`crisis` or `session`."""
    danger: str
    """The nearest; `none`, also of ordinary sessions."""
    language: str
    lines: int
    sha256: str = ""
    """Of its line in talks.jsonl."""
    checks: dict[str, bool | None] = Field(default_factory=dict)
    """Of a crisis: whether the rules found each dimension to hold; None where none applies."""


def crises_file(folder: Path, plan: Plan) -> Path:
    """The crises that ship, or a file with the English ones."""
    if not plan.english:
        return Path("crises")
    file = folder / "crises.yaml"
    if not file.is_file():
        every, _ = read_crises(Path("crises"))
        kept = [_plain(one) for one in every if one.language == "en"]
        write_whole(file, yaml.safe_dump(kept, allow_unicode=True, sort_keys=False))
    return file


def english_crises() -> int:
    """How many of those that ship are English."""
    return sum(one.language == "en" for one in read_crises(Path("crises"))[0])


def _plain(crisis: Crisis) -> dict[str, Any]:
    return crisis.model_dump(mode="json", exclude_none=True)


def play_crises(folder: Path, plan: Plan, living: dict[str, Any]) -> None:
    """Each counselor with each crisis, in FOLDER/crises-a and crises-b; goes on where it was."""
    for side, name in zip(SIDES, plan.counselors, strict=True):
        policy, model = counselor_of(name)
        if (folder / f"crises-{side}" / "rates.json").is_file():
            continue
        inspect.unwrap(protocol)(  # inside, models are asked as the pack's own options say
            file=crises_file(folder, plan),
            model=model,
            policy=policy,
            sample=plan.crises,
            seed=plan.seed,
            out=folder / f"crises-{side}",
            fallbacks=FallbackLimits(most=1.0),
            in_flight=living["in_flight"],
            budget_usd=_share(living["budget_usd"], plan.crises, plan),
            prices=living["prices"],
            quiet=living["quiet"],
        )


def _share(budget_usd: float | None, talks: int, plan: Plan) -> float | None:
    """Of the whole budget, by the number of talks."""
    return None if budget_usd is None else budget_usd * talks / plan.talks


def dealt(sessions: int) -> dict[str, list[str]]:
    """By world, the persona files of so many clients, its own client first."""
    folder = shipped.folder("personas")
    own = [client.lower() for client, _ in WORLDS.values()]
    others = [
        file.stem
        for file in sorted(folder.glob("*.yaml"))
        if file.stem not in own and isinstance(load_persona(file), ClientPersona)
    ]
    found: dict[str, list[str]] = {world: [] for world in WORLDS}
    for at, name in enumerate([*own, *others][:sessions]):
        found[tuple(WORLDS)[at % len(WORLDS)]].append(str(folder / f"{name}.yaml"))
    return {world: some for world, some in found.items() if some}


def play_sessions(folder: Path, plan: Plan, living: dict[str, Any]) -> None:
    """Each counselor with each client, in FOLDER/sessions/WORLD; leaves the program where not all
    came to their end.
    """
    for world, clients in dealt(plan.sessions).items():
        file = folder / "sessions" / f"{world}.yaml"
        if not file.is_file():
            data = _experiment(world, clients, plan, living["budget_usd"])
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
        loaded, cells = load_experiment(file, roles_for(plan.clients))
        options = {key: living[key] for key in ("in_flight", "quiet", "prices", "processes")}
        running, done = live(loaded, cells, folder / "sessions" / world, **options)
        if not done:
            typer.echo("not all sessions are done; the same command goes on", err=True)
            states = {one.state for one in running.progress.values()}
            raise typer.Exit(
                130 if running.interrupted else GIVEN_UP if "failed" not in states else 1
            )


def _experiment(
    world: str, clients: list[str], plan: Plan, budget_usd: float | None
) -> dict[str, Any]:
    client, counselor = WORLDS[world]
    usd = _share(budget_usd, 2 * len(clients), plan)
    return {
        "name": f"Pack, {world}",
        "worlds": [str(shipped.folder("worlds") / f"{world}.yaml")],
        "clients": clients,
        "in_place_of": client,
        "ticks": TICKS,
        "seeds": [plan.seed],
        "set": {
            "condition": "client_counselor",
            "days": "skipped",
            "conversation.max_turns": plan.lines,
            "appointments": [
                {
                    "who": [client, counselor],
                    "days": [0],
                    "at": "15:00",
                    "place": "Counseling Center",
                    "max_turns": plan.lines,
                }
            ],
        },
        "conditions": [
            {"name": side, "set": _seat(counselor, *counselor_of(name))}
            for side, name in zip(SIDES, plan.counselors, strict=True)
        ],
        **({"budget": {"usd": usd}} if usd is not None else {}),
    }


def _seat(counselor: str, policy: str, model: str) -> dict[str, Any]:
    return {
        f"residents.{counselor}.policy": policy,
        f"residents.{counselor}.models": {"reason": model, "quick": model},
    }


def played(folder: Path, plan: Plan) -> Iterator[tuple[Talk, Dialogue]]:
    """All talks, as they are to be frozen."""
    for at, side in enumerate(SIDES):
        yield from _crises(folder / f"crises-{side}", at, plan)
    for world in dealt(plan.sessions):
        for one in read_dialogues(folder / "sessions" / world):
            if any(turn.speaker == "counselor" for turn in one.turns):
                yield _session(world, one, plan)


def _crises(folder: Path, at: int, plan: Plan) -> Iterator[tuple[Talk, Dialogue]]:
    known = read_protocol(folder).talks if plan.crises else {}
    for one in read_dialogues(folder / TRANSCRIPTS) if plan.crises else ():
        found = known[one.id]
        talk = Talk(
            id=f"{SIDES[at]}-{one.id}",
            counselor=at,
            case=one.id,
            kind="crisis",
            danger=(found.dangers or ("none",))[0],
            language=found.language,
            lines=len(one.turns),
            checks={name: holds(found.checks, name) for name in DIMENSIONS},
        )
        yield talk, _named(one, talk, plan)


def _session(world: str, one: Dialogue, plan: Plan) -> tuple[Talk, Dialogue]:
    at = SIDES.index(str(one.condition))
    case = f"{world}-{one.client.lower()}"
    talk = Talk(
        id=f"{SIDES[at]}-{case}",
        counselor=at,
        case=case,
        kind="session",
        danger="none",
        language=one.language or "en",
        lines=len(one.turns),
    )
    return talk, _named(one, talk, plan)


def _named(dialogue: Dialogue, talk: Talk, plan: Plan) -> Dialogue:
    """Under its id in the pack, with the counselor as its condition."""
    return dialogue.model_copy(update={"id": talk.id, "condition": plan.counselors[talk.counselor]})
