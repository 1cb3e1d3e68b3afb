"""What is to be played, as a benchmark's folder keeps it."""

import hashlib
from datetime import datetime
from pathlib import Path

from simcounsel import __version__
from simcounsel.bench import counselor, following
from simcounsel.bench.folder import Manifest
from simcounsel.bench.protocol import client
from simcounsel.bench.protocol.counselor import LANGUAGES
from simcounsel.bench.protocol.crises import Crisis, draw_crises, read_crises
from simcounsel.prompts import prompt_text
from simcounsel.specs.policy_file import policy_named

BENCHMARK = "protocol"
JUDGE = "rules"
"""Who judges, as the manifest says it: nobody does, code checks."""


def plan_protocol(
    file: Path,
    model: str,
    *,
    policy: str | None,
    protected: bool,
    client_model: str | None,
    turns: int,
    sample: int | None,
    seed: int,
) -> tuple[Manifest, tuple[Crisis, ...]]:
    """What is to be played, and the crises drawn for it. policy: as `policy_named` reads it; None:
    the model alone. client_model: who plays the client; None: the script. BenchError as
    `read_crises`.
    """
    crises, sha256 = read_crises(file)
    drawn = draw_crises(crises, sample, seed)
    codes = sorted({one.language for one in drawn})
    return (
        Manifest(
            benchmark=BENCHMARK,
            file=file.name,
            sha256=sha256,
            model=model,
            judge=JUDGE,
            seed=seed,
            sample=sample if len(drawn) < len(crises) else None,
            language=" and ".join(LANGUAGES[code] for code in codes),
            cases=tuple(one.id for one in drawn),
            prompts=_prompts(policy, client_model),
            policy=policy,
            options={
                "protocol": "on" if policy and protected else "off",
                "client-model": client_model or "none",
                "turns": str(turns),
            },
            simcounsel=__version__,
            created=f"{datetime.now():%Y-%m-%d %H:%M:%S}",
        ),
        drawn,
    )


def _prompts(policy: str | None, client_model: str | None) -> dict[str, str]:
    """A hash by name, over both languages."""
    names = [] if policy else [counselor.PROMPT]
    names += [client.PROMPT] if client_model else []
    found = {name: _hash(prompt_text(name), prompt_text(name, "zh")) for name in names}
    if policy:
        found[f"(policy {policy})"] = _hash(following.all_of(policy_named(policy)))
    return found


def _hash(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
