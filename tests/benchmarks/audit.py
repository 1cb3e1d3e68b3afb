"""How often `study audit` is wrong, on made-up studies whose truth is known.

Each study has clients of their own, two conditions and ten changes, of which each moves every client a little by
chance. Of a null, of an effect that no change moves, of one that a change takes away, and of one that a change turns:
how often each verdict is given.

    python -m tests.benchmarks.audit [--studies 100]
"""

import argparse
from collections import Counter

import numpy as np
import pandas as pd

from analysis.validity.audit.changes import AuditChange
from analysis.validity.audit.plan import USUAL, Variant
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    studies = parser.parse_args().studies
    names = ("holds", "weakens", "turns", "cannot be told")
    print(f"{'truth':40}" + "".join(f"{name:>16}" for name in names))
    for truth in TRUTHS:
        found = verdicts(truth, studies)
        print(f"{truth:40}" + "".join(f"{found[name]:16}" for name in names))


if __name__ == "__main__":
    main()
