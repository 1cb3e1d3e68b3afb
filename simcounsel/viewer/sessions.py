"""A synthesis as its page shows it: sessions with their loops (draft, critique, revision), and what was learned. Pure."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from simcounsel.specs.vocabulary import DISCLOSURES, QUALITIES, SYNTHESIS_ROLES

Fields = dict[str, Any]
OVERVIEW = frozenset({"extracted", "drafted", "revised", "session_ended", "strategy_learned", "strategy_known", "strategy_dropped", "warned"})
"""Kinds of events that the overview needs."""


def is_synthesis(manifest: Fields) -> bool:
    """Whether a run is a synthesis, by its manifest."""
    return bool(manifest.get("synthesis"))


def overview(manifest: Fields, entries: Iterable[Fields], waves: int) -> Fields:
    """All sessions in a line each, all strategies, and the settings."""
    settings, models = manifest.get("synthesis") or {}, manifest.get("models") or {}
    count = settings.get("sessions") or len(settings.get("situations") or ())
    sessions: dict[str, Fields] = {}
    strategies: dict[str, Fields] = {}
    warnings = 0
    for fields in entries:
        warnings += fields["kind"] == "warned"
        _take_in(fields, sessions, strategies)
    return {
        "name": settings.get("name"), "about": settings.get("about"), "seed": settings.get("seed"), "without": sorted(settings.get("without") or ()),
        "wave_size": settings.get("wave"), "waves": waves, "waves_planned": -(-count // (settings.get("wave") or 1)), "sessions_planned": count,
        "roles": {role: models[role] for role in SYNTHESIS_ROLES if role in models}, "parent": (manifest.get("parent") or {}).get("run"),
        "sessions": list(sessions.values()), "strategies": list(strategies.values()), "warnings": warnings,
        "stages": list(DISCLOSURES), "qualities": list(QUALITIES),
    }


def _take_in(fields: Fields, sessions: dict[str, Fields], strategies: dict[str, Fields]) -> None:
    kind, session = fields["kind"], sessions.get(fields.get("session", ""))
    match kind:
        case "extracted":
            sessions[fields["session"]] = {
                "session": fields["session"], "wave": fields["tick"], "theme": fields["theme"], "situation": fields["situation"],
                "drafts": 0, "revised": 0, "messages": 0, "cause": None,
            }
        case "drafted" if session:
            session["drafts"] += 1
        case "revised" if session:
            session["revised"] += 1
        case "session_ended" if session:
            session |= {"cause": fields["cause"], "messages": fields["messages"]}
        case "strategy_learned":
            strategies[fields["id"]] = {
                "id": fields["id"], "text": fields["text"], "session": fields["session"], "wave": fields["tick"], "advice": fields["advice"],
                "found": [], "dropped": None,
            }
        case "strategy_known" if fields["id"] in strategies:
            strategies[fields["id"]]["found"].append({key: fields[key] for key in ("session", "text", "cosine")} | {"wave": fields["tick"]})
        case "strategy_dropped" if fields["id"] in strategies:
            strategies[fields["id"]]["dropped"] = fields["tick"]


def session(manifest: Fields, entries: Iterable[Fields], name: str) -> Fields | None:
    """One session: its situation, its file, and its turns, each of the supporter's with all that became of it. None when there is none."""
    found: Fields = {"session": name, "turns": [], "warnings": [], "learned": []}
    for fields in entries:
        turns = found["turns"]
        match fields["kind"]:
            case "extracted":
                text = _situation(manifest, fields["situation"])
                found |= {"wave": fields["tick"], "situation": fields["situation"], "text": text, "theme": fields["theme"]}
                found |= {"facts": [fact | {"told": None} for fact in fields["facts"]], "strategies": fields["strategies"]}
            case "disclosed":
                turns.append({"who": "client"} | {key: fields[key] for key in ("message", "text", "stage", "facts", "source")})
                for fact in found.get("facts", ()):
                    if fact["id"] in fields["facts"]:
                        fact["told"] = fields["message"]
            case "drafted":
                turns.append({"who": "counselor", "judged": None, "revised": None} | {
                    key: fields[key] for key in ("message", "text", "stage", "skill", "reasoning", "strategies", "source")
                })
            case "evaluated" if turns:
                turns[-1]["judged"] = {key: fields[key] for key in ("ratings", "revise", "advice", "go_on", "source")}
            case "revised" if turns:
                turns[-1]["revised"] = {key: fields[key] for key in ("text", "source")}
            case "session_ended":
                found |= {"cause": fields["cause"], "messages": fields["messages"]}
            case "warned":
                found["warnings"].append({key: fields[key] for key in ("purpose", "cause")})
            case "strategy_learned" | "strategy_known":
                found["learned"].append({"id": fields["id"], "text": fields["text"], "new": fields["kind"] == "strategy_learned"})
    if "facts" not in found:
        return None
    return found | {"mean_ratings": _means(found["turns"])}


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
    return {quality: sums[quality] / counts[quality] if counts[quality] else None for quality in QUALITIES}
