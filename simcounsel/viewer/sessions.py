"""A synthesis as its page shows it: sessions with their loops (draft, critique, revision), and what
was learned. Pure.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from simcounsel.chance import seed_of
from simcounsel.specs.vocabulary import DISCLOSURES, QUALITIES, SYNTHESIS_ROLES

Fields = dict[str, Any]
OVERVIEW = frozenset(
    {
        "extracted",
        "session_ended",
        "strategy_learned",
        "strategy_known",
        "strategy_dropped",
        "warned",
    }
)
"""Kinds of events that the overview needs."""
LEARNED = frozenset({"strategy_learned", "strategy_known"})
"""Kinds that tell what came of a session; they stand at the end of its wave, and do not begin with
its name.
"""
TASKS = {
    "extract": "extractor",
    "seek": "seeker",
    "support": "supporter",
    "evaluate": "evaluator",
    "correct": "corrector",
    "distil": "manager",
}
"""What each role is asked for, in the order in which it happens."""


def overview(manifest: Fields, entries: Iterable[Fields], waves: int) -> Fields:
    """All sessions in a line each, all strategies, and the settings.

    A session's theme and situation are None where the log lost its beginning, and its counts where
    it lost its end. Of the lines every second is the supporter's, so that there are half as many
    drafts.
    """
    settings, models = manifest.get("synthesis") or {}, manifest.get("models") or {}
    count = settings.get("sessions") or len(settings.get("situations") or ())
    sessions: dict[str, Fields] = {}
    strategies: dict[str, Fields] = {}
    warnings = 0
    for fields in entries:
        warnings += fields["kind"] == "warned"
        _take_in(fields, sessions, strategies)
    return {
        "name": settings.get("name"),
        "about": settings.get("about"),
        "seed": settings.get("seed"),
        "without": sorted(settings.get("without") or ()),
        "wave_size": settings.get("wave"),
        "waves": waves,
        "waves_planned": -(-count // (settings.get("wave") or 1)) or None,
        "sessions_planned": count or None,
        "roles": {role: models[role] for role in SYNTHESIS_ROLES if role in models},
        "parent": (manifest.get("parent") or {}).get("run"),
        "sessions": list(sessions.values()),
        "strategies": list(strategies.values()),
        "warnings": warnings,
        "stages": list(DISCLOSURES),
        "qualities": list(QUALITIES),
    }


def _take_in(fields: Fields, sessions: dict[str, Fields], strategies: dict[str, Fields]) -> None:
    match fields["kind"]:
        case "extracted":
            _begun(fields, sessions).update(theme=fields["theme"], situation=fields["situation"])
        case "session_ended":
            counts = {
                "messages": fields["messages"],
                "drafts": fields["messages"] // 2,
                "revised": fields["revised"],
            }
            _begun(fields, sessions).update(cause=fields["cause"], **counts)
        case "strategy_learned":
            strategies[fields["id"]] = {
                "id": fields["id"],
                "text": fields["text"],
                "session": fields["session"],
                "wave": fields["tick"],
                "advice": fields["advice"],
                "found": [],
                "dropped": None,
            }
        case "strategy_known" if fields["id"] in strategies:
            strategies[fields["id"]]["found"].append(
                {key: fields[key] for key in ("session", "text", "cosine")}
                | {"wave": fields["tick"]}
            )
        case "strategy_dropped" if fields["id"] in strategies:
            strategies[fields["id"]]["dropped"] = fields["tick"]


def _begun(fields: Fields, sessions: dict[str, Fields]) -> Fields:
    empty = dict.fromkeys(("theme", "situation", "messages", "drafts", "revised", "cause"))
    return sessions.setdefault(
        fields["session"], {"session": fields["session"], "wave": fields["tick"]} | empty
    )


def session(manifest: Fields, entries: Iterable[Fields], name: str) -> Fields | None:
    """One session: its situation, its file, and its turns, each of the supporter's with all that
    became of it.

    None when nothing of it is there. Where the log lost its beginning, `facts` is None.
    """
    found: Fields = {
        "session": name,
        "theme": None,
        "situation": None,
        "text": None,
        "facts": None,
        "strategies": [],
        "turns": [],
    }
    found |= {"warnings": [], "learned": [], "cause": None, "messages": None}
    for fields in entries:
        if fields.get("session", fields.get("who")) == name:
            found.setdefault("wave", fields["tick"])
            _follow(manifest, fields, found)
    if "wave" not in found:
        return None
    return found | {"mean_ratings": _means(found["turns"])}


def _follow(manifest: Fields, fields: Fields, found: Fields) -> None:
    turns = found["turns"]
    match fields["kind"]:
        case "extracted":
            found |= {
                "situation": fields["situation"],
                "text": _situation(manifest, fields["situation"]),
                "theme": fields["theme"],
            }
            found |= {
                "facts": [fact | {"told": None} for fact in fields["facts"]],
                "strategies": fields["strategies"],
            }
        case "disclosed":
            turns.append(
                {"who": "client"}
                | {key: fields[key] for key in ("message", "text", "stage", "facts", "source")}
            )
            for fact in found["facts"] or ():
                if fact["id"] in fields["facts"]:
                    fact["told"] = fields["message"]
        case "drafted":
            turns.append(
                {"who": "counselor", "judged": None, "revised": None}
                | {
                    key: fields[key]
                    for key in (
                        "message",
                        "text",
                        "stage",
                        "skill",
                        "reasoning",
                        "strategies",
                        "source",
                    )
                }
            )
        case "evaluated" if _drafted(turns, fields):
            turns[-1]["judged"] = {
                key: fields[key] for key in ("ratings", "revise", "advice", "go_on", "source")
            }
        case "revised" if _drafted(turns, fields):
            turns[-1]["revised"] = {key: fields[key] for key in ("text", "source")}
        case "session_ended":
            found |= {"cause": fields["cause"], "messages": fields["messages"]}
        case "warned":
            found["warnings"].append({key: fields[key] for key in ("purpose", "cause")})
        case "strategy_learned" | "strategy_known":
            found["learned"].append(
                {
                    "id": fields["id"],
                    "text": fields["text"],
                    "new": fields["kind"] == "strategy_learned",
                }
            )


def _drafted(turns: list[Fields], fields: Fields) -> bool:
    """Whether the draft that is meant is there: of a damaged log it may be gone."""
    return (
        bool(turns)
        and turns[-1]["message"] == fields["message"]
        and turns[-1]["who"] == "counselor"
    )


def _situation(manifest: Fields, id: str) -> str | None:
    situations = (manifest.get("synthesis") or {}).get("situations") or ()
    return next((one["text"] for one in situations if one.get("id") == id), None)


def _means(turns: Iterable[Fields]) -> dict[str, float | None]:
    """Each quality's mean over the drafts of a session; None where nothing was judged."""
    sums: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for turn in turns:
        for rating in (turn.get("judged") or {}).get("ratings") or ():
            if rating["value"] is not None:
                sums[rating["quality"]] += rating["value"]
                counts[rating["quality"]] += 1
    return {
        quality: sums[quality] / counts[quality] if counts[quality] else None
        for quality in QUALITIES
    }


CALL = (
    "purpose",
    "model",
    "source",
    "system",
    "prompt",
    "reply",
    "problem",
    "complaint",
    "tokens_in",
    "tokens_out",
    "cost_usd",
    "latency_s",
    "tries",
)


def asked(manifest: Fields, found: Fields, calls: Iterable[Fields]) -> dict[str, list[Fields]]:
    """The requests behind a session: by the number of a line, in order; under "extract" and
    "distil" those before and after all lines.

    found: the session. calls: those of its wave. A request is known by the luck that it was asked
    with, which no other has; a fork's calls may hold an older one as well, with strategies that
    were dropped: the last counts.
    """
    seed, number = (manifest.get("synthesis") or {}).get("seed"), found["session"][1:]
    if seed is None or not number.isdecimal():
        return {}
    key = (seed, "session", int(number) - 1, found["situation"])
    by_seed = {(call.get("purpose"), call.get("seed")): call for call in calls}

    def of(task: str, message: int) -> list[Fields]:
        call = by_seed.get((task, seed_of(*key, TASKS[task], message)))
        return (
            [{name: call.get(name) for name in CALL} | {"seed": str(call["seed"])}] if call else []
        )

    lines = {
        str(turn["message"]): (
            of("seek", turn["message"])
            if turn["who"] == "client"
            else [
                call
                for task in ("support", "evaluate", "correct")
                for call in of(task, turn["message"])
            ]
        )
        for turn in found["turns"]
    }
    return {"extract": of("extract", 0)} | lines | {"distil": of("distil", 0)}
