"""Do the claims of a multiverse keep their promise? How often each is borne, or refuted, where the truth is known.

    python -m tests.benchmarks.multiverse [--draws 400] [--clients 8] [--seeds 3]

Effects of clients are drawn; each of four ways to live adds noise by run, `choice` points a way, and two analyses of the
same runs differ by a little. Printed: how often the curve's p falls below 0.05, and each claim's verdicts, with Wilson's
interval of the one that is an error where the effect, or what choices do, is 0.
"""

import argparse
from collections import Counter

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.validity.multiverse.effects import CHOICES, SEED, Specification
from analysis.validity.multiverse.making import choices, curve, sign, size
from analysis.validity.multiverse.shares import shares

OF_CLIENTS, OF_RUNS, OF_ANALYSES = 2.0, 1.5, 0.5
"""Standard deviations: of clients' effects, of what a run adds to each, of what an analysis does."""
WAYS = 4
TRUTHS = ((0.0, 0.0), (2.0, 0.0), (2.0, 0.6))
"""Mean effect, and by how much each way moves it."""


def drawn(
    rng: np.random.Generator, effect: float, choice: float, clients: int, seeds: int
) -> list[Specification]:
    """All effects of one experiment."""
    own = effect + rng.normal(0, OF_CLIENTS, clients)
    found = []
    for way in range(WAYS):
        for seed in range(seeds):
            run = own + choice * way + rng.normal(0, OF_RUNS, clients)
            for time in ("last", "mean"):
                seen = run + (rng.normal(0, OF_ANALYSES, clients) if time == "mean" else 0)
                found.append(
                    Specification(
                        levels=dict.fromkeys(CHOICES, "usual")
                        | {"prompts": str(way), SEED: str(seed), "time": time},
                        estimate=float(seen.mean()),
                        p=float(stats.ttest_1samp(seen, 0).pvalue),
                        clients=clients,
                        means=pd.DataFrame(
                            {"first": seen, "second": 0.0},
                            index=[f"client {at:02}" for at in range(clients)],
                        ),
                    )
                )
    return found


def verdicts(
    effect: float, choice: float, draws: int, clients: int, seeds: int
) -> tuple[dict[str, Counter[str]], float]:
    """By claim, how often each verdict came, and how often p of the median was below 0.05."""
    rng, below = np.random.default_rng(1), 0
    said: dict[str, Counter[str]] = {"sign": Counter(), "size": Counter(), "choices": Counter()}
    for _ in range(draws):
        found = drawn(rng, effect, choice, clients, seeds)
        whole = curve(found)
        assert whole is not None
        below += whole.p_median is not None and whole.p_median < 0.05
        table = pd.DataFrame([one.levels | {"estimate": one.estimate} for one in found])
        parts = shares(table, ["prompts", SEED, "time"])
        of_sign = sign(("first", "second"), whole).verdict
        said["sign"][of_sign] += 1
        said["size"][size(whole, of_sign).verdict] += 1
        said["choices"][choices(parts, whole).verdict] += 1
    return said, below / draws


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    for effect, choice in TRUTHS:
        said, below = verdicts(effect, choice, asked.draws, asked.clients, asked.seeds)
        print(
            f"effect {effect:g}, {choice:g} more with each way: p of the median < .05: {below:.3f}"
        )
        for claim, counts in said.items():
            words = ", ".join(
                f"{verdict} {count / asked.draws:.3f}" for verdict, count in counts.most_common()
            )
            print(f"  {claim}: {words}")
        wrong = said["sign"]["holds"] if effect == 0 else said["choices"]["does not hold"]
        if effect == 0 or choice == 0:
            low, high = proportion_confint(wrong, asked.draws, method="wilson")
            print(f"  error: {wrong / asked.draws:.3f} [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
