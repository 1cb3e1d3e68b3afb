"""How often `study audit` is wrong, on made-up studies whose truth is known.

Each study has clients of their own, two conditions and ten changes, of which each moves every client a little by
chance. Of a null, of an effect that no change moves, of one that a change takes away, and of one that a change turns:
how often each verdict is given.

    python -m tests.benchmarks.audit [--studies 100] [--runs null.yaml FOLDER]

With --runs the studies are not made up: an audit's runs of an experiment without an effect (made by `study audit null.yaml
--out FOLDER`) are dealt anew for each, by turning both conditions of a client round by chance, in all changes alike.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import tables
from analysis.finding import find
from analysis.outcomes import measured_outcomes
from analysis.validity.audit.changes import AuditChange, read_changes
from analysis.validity.audit.plan import USUAL, Variant, plan
from analysis.validity.audit.verdicts import ClaimAudit, audited
from simcounsel.specs.experiment import Hypothesis

CHANGES, CLIENTS = 10, 12
TRUTHS = {
    "null": (0.0, 0.0),
    "an effect that stays": (2.0, 2.0),
    "an effect that one change takes away": (2.0, 0.0),
    "an effect that one change turns": (2.0, -2.0),
}
"""The effect as it is and with the last change, in standard deviations between clients."""
CLAIM = Hypothesis(id="claim", instrument="made", contrast=("helped", "alone"))


def variants() -> list[Variant]:
    changes = [AuditChange(name=f"change {n}", level="agent") for n in range(CHANGES)]
    return [
        Variant(name=USUAL, changes=(), cells=()),
        *(Variant(name=one.name, changes=(one,), cells=()) for one in changes),
    ]


def study(effect: float, last: float, rng: np.random.Generator) -> ClaimAudit:
    """One made-up study: effects of clients with SD 1, noise of each run with SD 0.5."""
    own = rng.normal(0.0, 1.0, CLIENTS)
    rows, of = [], {}
    for at, one in enumerate(some := variants()):
        now = last if at == len(some) - 1 else effect
        for arm in CLAIM.contrast:
            run = f"{one.name}-{arm}"
            of[run] = one.name
            values = rng.normal(0.0, 0.5, CLIENTS) + (now + own if arm == "helped" else 0.0)
            rows += [
                {"run": run, "arm": arm, "client": str(n), "value": value, "instrument": "made",
                 "score": "total", "respondent": "self", "judge": "", "kind": "change", "reason": None}
                for n, value in enumerate(values)
            ]  # fmt: skip
    return audited(some, of, CLAIM, pd.DataFrame(rows))


def verdicts(truth: str, studies: int) -> Counter[str]:
    rng = np.random.default_rng(37)
    return Counter(study(*TRUTHS[truth], rng).becomes for _ in range(studies))


def dealt(plan_file: Path, folder: Path, studies: int) -> tuple[Counter[str], int]:
    """Verdicts, and how often the experiment as it is has an effect beyond doubt, of studies whose null is true."""
    made = plan(plan_file, read_changes(None))
    claim = made.claims[0]
    sample = find([folder])
    rows = measured_outcomes(tables.measurements(sample.logs), sample)
    clients = sorted(set(rows["client"]))
    first, second = claim.contrast
    turned = {first: second, second: first}
    rng = np.random.default_rng(37)
    found, beyond = Counter[str](), 0
    for _ in range(studies):
        flip = dict(zip(clients, rng.random(len(clients)) < 0.5, strict=True))
        arms = [
            turned[arm] if flip[client] else arm
            for arm, client in zip(rows["arm"], rows["client"], strict=True)
        ]
        done = audited(made.variants, made.variant_of, claim, rows.assign(arm=arms))
        found[done.becomes] += 1
        beyond += done.outcomes[0].becomes == "holds"
    return found, beyond


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--runs", nargs=2, type=Path, metavar=("EXPERIMENT", "FOLDER"))
    told = parser.parse_args()
    studies = told.studies
    names = ("holds", "weakens", "turns", "cannot be told")
    print(f"{'truth':40}" + "".join(f"{name:>16}" for name in names))
    if told.runs:
        found, beyond = dealt(*told.runs, studies)
        print(f"{'null, dealt from runs':40}" + "".join(f"{found[name]:16}" for name in names))
        print(f"an effect beyond doubt, as it is: {beyond} of {studies}")
        return
    for truth in TRUTHS:
        found = verdicts(truth, studies)
        print(f"{truth:40}" + "".join(f"{found[name]:16}" for name in names))


if __name__ == "__main__":
    main()
