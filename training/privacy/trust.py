"""Who is protected from whom: an epsilon holds against those who see no more than it was counted
for, and the noise against those who cannot take it away.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from training.plan import TrainingPlan
from training.privacy.budget import total_epsilon


@dataclass(frozen=True, kw_only=True)
class Protection:
    """From one kind of onlooker."""

    whom: str
    epsilon: float | None
    """For the plan's unit and delta, over all rounds; None: not protected."""
    because: str
    """What it rests on."""


def protections(
    plan: TrainingPlan, multiplier: float, rounds: int, source: str, *, central: bool = False
) -> tuple[Protection, ...]:
    """From outsiders, other sites, a server that follows the steps and looks, and one that lies.

    multiplier: of the agreed noise. source: of the noise, `seeded` or `secure`. central: one place
    has all sessions, and there is no server.
    """
    if source == "seeded":
        why = "the noise is seeded, on data declared public: who knows the seed takes it away"
        return (Protection(whom="anybody", epsilon=None, because=why),)
    total = total_epsilon(plan, rounds, multiplier)
    if central:
        return (
            Protection(whom="outsiders", epsilon=total, because="they see the adapter only"),
            Protection(
                whom="whoever trains", epsilon=None, because="all sessions lie there in one place"
            ),
        )
    if plan.privacy.noise_at == "sum":
        return _of_sum(plan, multiplier, rounds, total)
    code = (
        "a site clips, adds noise and counts by its own recipe and answers each agreed round once;"
        " but Flower runs the app that the server sends, unless a site has `--trusted-entities`"
    )
    noisy = "updates have all their noise when they leave a site"
    return (
        Protection(whom="outsiders", epsilon=total, because=noisy),
        Protection(whom="other sites", epsilon=total, because=noisy),
        Protection(whom="curious server", epsilon=total, because=noisy),
        Protection(whom="lying server", epsilon=total, because=code),
    )


def _of_sum(
    plan: TrainingPlan, multiplier: float, rounds: int, total: float
) -> tuple[Protection, ...]:
    shares = plan.answering
    others = total_epsilon(plan, rounds, multiplier * math.sqrt((shares - 1) / shares))
    alone = total_epsilon(plan, rounds, multiplier / math.sqrt(shares))
    in_sum = f"sums only are seen, each of {shares} sites' shares of the noise at least"
    return (
        Protection(whom="outsiders", epsilon=total, because=in_sum),
        Protection(
            whom="other sites",
            epsilon=others,
            because="one of them knows its own share of the noise, and takes it away",
        ),
        Protection(whom="curious server", epsilon=total, because=in_sum),
        Protection(
            whom="lying server",
            epsilon=alone,
            because=(
                "keys are not signed, so it may stand in for all other sites and see one site's"
                " update with that one's share of the noise; each agreed round once, and as long as"
                " the site's app is not the server's (`--trusted-entities`)"
            ),
        ),
    )


def as_rows(found: Sequence[Protection]) -> list[dict[str, Any]]:
    """As it is in a card."""
    return [asdict(one) for one in found]


def said(epsilon: float | None) -> str:
    """In a table."""
    return "none" if epsilon is None else f"{epsilon:.4g}"


def markdown(rows: Sequence[Mapping[str, Any]], unit: str, delta: float) -> list[str]:
    """A card's rows as a table of a README."""
    return [
        f"| one {unit} is protected from | epsilon (delta {delta:g}) | because |",
        "|---|---|---|",
        *[f"| {row['whom']} | {said(row['epsilon'])} | {row['because']} |" for row in rows],
    ]
