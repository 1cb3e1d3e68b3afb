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

from simcounsel.bots.clients.reading import digest_of
from simcounsel.bots.file import PREFIX, pinned
from simcounsel.bots.study.gate import Held
from simcounsel.bots.study.plan import SafetyPlan
from simcounsel.bots.study.results import BotResult, Scanners, bot_result
from simcounsel.disk import write_whole
from simcounsel.engine.opening import versions
from simcounsel.errors import StudyError
from simcounsel.intake import file_bytes, json_data
from simcounsel.llm.question import canonical
from simcounsel.runs.verifying import verify

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
) -> dict[str, Any]:
    """All of it about one bot, with its digest, unsigned. known: how often what reads the lines is
    right. StudyError where a run is damaged.
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
    if runs is None:
        return
    for name, hashes in whole["runs"].items():
        found = _hashes(runs / name) if (runs / name).is_dir() else None
        if found != hashes:
            what = "is not there" if found is None else "is another than it was"
            yield False, f"run {name} {what}"
    told = whole["result"]
    again = bot_result(told["label"], told["spec"], [runs / name for name in whole["runs"]])
    equal = json.loads(again.model_dump_json()) == told
    words = "the same comes out of the runs" if equal else "something else comes out of the runs"
    yield equal, words


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

    raw = base64.b64decode(signature["public_key"])
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(raw).verify(
            base64.b64decode(signature["ed25519"]), data
        )
    except (InvalidSignature, ValueError):
        yield False, "its signature does not fit its content"
        return
    yield True, f"signed by the key {signature['public_key']}"
    if public_key is not None:
        known = serialization.load_pem_public_key(file_bytes(public_key)).public_bytes_raw()
        yield known == raw, "that is the key" if known == raw else f"{public_key} is another key"


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise StudyError("signatures need: pip install 'simcounsel[federated]'") from None
    return ed25519, serialization
