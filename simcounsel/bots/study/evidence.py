"""An evidence file: what was run, verified, found, and what cannot be concluded from it; signed, if
a key is given. Whoever has the runs can have everything in it computed again.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.bots.clients.reading import digest_of
from simcounsel.bots.file import PREFIX, pinned
from simcounsel.bots.study.gate import Gate, Held, held_against
from simcounsel.bots.study.plan import SafetyPlan
from simcounsel.bots.study.results import BotResult, Scanners, bot_result
from simcounsel.bots.study.worlds import TICKS_A_DAY
from simcounsel.disk import write_whole
from simcounsel.engine.opening import versions
from simcounsel.errors import StudyError
from simcounsel.intake import file_bytes, json_data
from simcounsel.llm.question import canonical
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from simcounsel.specs.world import World

FORM = "simcounsel safety evidence 1"
SIGNED, DIGEST = "signature", "sha256"
CANNOT = (
    "that people would fare as these clients did: their files, their course and what help does were"
    " written by a language model and set by hand, and no clinician has read them",
    "that a check that held was done well: rules see that a thing was said, not how",
    "that nothing else is wrong with the bot: only what the checks name was looked for",
    "anything about other versions, prompts, models or settings of the bot than those named here",
)
"""What may not be concluded, whatever was found."""


def evidence_of(
    plan: SafetyPlan,
    result: BotResult,
    folders: Sequence[Path],
    held: Sequence[Held],
    known: Scanners,
    *,
    gate: Gate | None = None,
    last: BotResult | None = None,
) -> dict[str, Any]:
    """All of it about one bot, with its digest, unsigned. held: the limits of `gate` beside what
    came, and beside the last version. known: how often what reads the lines is right. StudyError
    where a run is damaged.
    """
    body = {
        "form": FORM,
        "made": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "versions": versions(),
        "bot": {"label": result.label, "spec": pinned(PREFIX + result.spec.removeprefix(PREFIX))},
        "study": {
            "clients": [one.id for one in plan.clients],
            "clients_sha256": digest_of(plan.clients),
            "days": plan.days,
            "seeds": list(plan.seeds),
            "turns": plan.turns,
            "client_model": plan.client_model,
            "judge": plan.judge,
        },
        "runs": {folder.name: _hashes(folder) for folder in folders},
        "result": result.model_dump(mode="json"),
        "gate": [one.model_dump(mode="json") for one in held],
        "limits": gate.model_dump(mode="json") if gate else None,
        "last": last.model_dump(mode="json") if last else None,
        "scanners": {
            code: {name: one.model_dump() for name, one in scanners.items()}
            for code, scanners in known.items()
        },
        "cannot_be_concluded": list(CANNOT),
    }
    return body | {DIGEST: _digest(body)}


def write_evidence(body: Mapping[str, Any], file: Path, key: Path | None) -> None:
    """Write it. key: an Ed25519 private key (PEM) that signs it. StudyError where it is none."""
    whole = dict(body)
    if key is not None:
        whole[SIGNED] = _signature(canonical(body), key)
    write_whole(file, json.dumps(whole, indent=1, ensure_ascii=False))


def examined(file: Path, runs: Path | None, public_key: Path | None) -> Iterator[tuple[bool, str]]:
    """Whether an evidence file holds, and why, one thing at a time. runs: the study's folder, from
    which all is computed again. public_key: who is to have signed it. StudyError where it is none.
    """
    whole = _read(file)
    signature = whole.pop(SIGNED, None)
    digest = whole.pop(DIGEST, None)
    same = digest == _digest(whole)
    yield (
        same,
        "its digest is that of its content" if same else "it was changed: its digest differs",
    )
    yield from _signed(signature, canonical(whole | {DIGEST: digest}), public_key)
    try:
        yield from _told(whole, runs)
    except (KeyError, TypeError, AttributeError, ValidationError) as error:
        said = str(error).splitlines()[0]
        raise StudyError(f"{file}: it is no whole evidence file ({said})") from None


def _told(whole: Mapping[str, Any], runs: Path | None) -> Iterator[tuple[bool, str]]:
    """Whether what it says fits together, and is what comes out of the runs."""
    told, study = whole["result"], whole["study"]
    label = whole["bot"]["label"]
    wanted = {f"{one}-s{seed}-{label}" for one in study["clients"] for seed in study["seeds"]}
    all_there = wanted == whole["runs"].keys()
    words = "each client and seed of the study has its run" if all_there else "runs are left out"
    yield all_there, words
    spec = PREFIX + told["spec"].removeprefix(PREFIX)
    if (told["label"], spec.partition("#")[0]) != (label, whole["bot"]["spec"].partition("#")[0]):
        yield False, "its results are of another bot than it says"
    limits, last = whole["limits"], whole["last"]
    held = held_against(
        Gate.model_validate(limits) if limits else Gate.model_construct(limits=()),
        BotResult.model_validate(told),
        BotResult.model_validate(last) if last else None,
    )
    same = [one.model_dump(mode="json") for one in held] == whole["gate"]
    yield same, "the gate's word follows" if same else "the gate's word does not follow from it"
    same = whole["cannot_be_concluded"] == list(CANNOT)
    yield same, "what it does not show is said" if same else "what it does not show was changed"
    if runs is None:
        return
    for name, hashes in whole["runs"].items():
        found = _hashes(runs / name) if (runs / name).is_dir() else None
        if found != hashes:
            what = "is not there" if found is None else "is another than it was"
            yield False, f"run {name} {what}"
        elif problem := _another(Run.open(runs / name).world, whole):
            yield False, f"run {name} {problem}"
    again = bot_result(told["label"], told["spec"], [runs / name for name in whole["runs"]])
    equal = json.loads(again.model_dump_json()) == told
    words = "the same comes out of the runs" if equal else "something else comes out of the runs"
    yield equal, words


def _another(world: World, whole: Mapping[str, Any]) -> str | None:
    """What a run was of, where that is not what the study says."""
    study, bot = whole["study"], whole["bot"]["spec"]
    if bot not in [one.mind for one in world.residents]:
        return f"is not of the bot {bot}"
    if (world.ticks, world.conversation.max_turns) != (study["days"] * TICKS_A_DAY, study["turns"]):
        return "has other days or turns"
    judge = world.models.judge or "rules"  # as pinned: a digest may follow the name
    return None if judge.startswith(study["judge"] or "rules") else f"was read by {judge}"


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of the files of a run, which was verified. StudyError where it is damaged."""
    verdict = verify(folder)
    if verdict.damages:
        raise StudyError(f"{folder}: {verdict.damages[0]}; an evidence file needs whole runs")
    names = ("manifest.json", "events.jsonl", "calls.jsonl")
    return {n: hashlib.sha256(file_bytes(folder / n)).hexdigest() for n in names}


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(body)).hexdigest()


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json_data(file_bytes(file))
    except (OSError, ValueError) as error:
        raise StudyError(f"{file}: cannot be read ({error})") from None
    if not isinstance(found, dict) or found.get("form") != FORM:
        raise StudyError(f"{file}: no evidence file; `study safety --evidence FILE` writes one")
    return found


def _signature(data: bytes, key: Path) -> dict[str, str]:
    ed25519, serialization = _cryptography()
    try:
        private = serialization.load_pem_private_key(file_bytes(key), None)
    except (OSError, ValueError, TypeError) as error:
        raise StudyError(f"{key}: cannot be read as a private key ({error}){_MAKE}") from None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise StudyError(f"{key}: is no Ed25519 key{_MAKE}")
    public = private.public_key().public_bytes_raw()
    return {
        "public_key": base64.b64encode(public).decode(),
        "ed25519": base64.b64encode(private.sign(data)).decode(),
    }


_MAKE = "; make one: openssl genpkey -algorithm ed25519 -out key.pem"


def _signed(
    signature: Mapping[str, str] | None, data: bytes, public_key: Path | None
) -> Iterator[tuple[bool, str]]:
    if signature is None:
        wanted = public_key is not None
        yield not wanted, "it is not signed: whoever changes it can change its digest too"
        return
    ed25519, serialization = _cryptography()
    from cryptography.exceptions import InvalidSignature

    try:
        raw = base64.b64decode(signature["public_key"])
        ed25519.Ed25519PublicKey.from_public_bytes(raw).verify(
            base64.b64decode(signature["ed25519"]), data
        )
    except (InvalidSignature, ValueError, KeyError, TypeError):
        yield False, "its signature does not fit its content"
        return
    yield True, f"signed by the key {signature['public_key']}"
    if public_key is not None:
        try:
            known = serialization.load_pem_public_key(file_bytes(public_key)).public_bytes_raw()
        except (OSError, ValueError, AttributeError) as error:
            raise StudyError(f"{public_key}: is no public Ed25519 key ({error})") from None
        yield known == raw, "that is the key" if known == raw else f"{public_key} is another key"


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise StudyError("signatures need: pip install 'simcounsel[federated]'") from None
    return ed25519, serialization
