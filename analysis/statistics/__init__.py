"""Statistics: thin over scipy and statsmodels. Each returns a small frozen result with n per group
and what it assumes; numbers that cannot be had are None with a reason.
"""

from analysis.statistics.clients import ByClient, by_client, client_anova, client_contrast
from analysis.statistics.contrasts import (
    Contrast,
    Effect,
    Power,
    hedges_g,
    holm,
    paired_t,
    power_of_contrast,
    sign_flip_p,
    welch_t,
)
from analysis.statistics.groups import Degenerate, Groups, Spread, spread
from analysis.statistics.mixed_model import Mixed, mixed
from analysis.statistics.repeated import repeated_anova
from analysis.statistics.variance import (
    Anova,
    Pair,
    Tukey,
    anova,
    anova_from_summary,
    eta_squared_from_f,
    permutation_anova,
    tukey,
    welch_anova,
)

__all__ = [
    "Anova",
    "ByClient",
    "Contrast",
    "Degenerate",
    "Effect",
    "Groups",
    "Mixed",
    "Pair",
    "Power",
    "Spread",
    "Tukey",
    "anova",
    "anova_from_summary",
    "by_client",
    "client_anova",
    "client_contrast",
    "eta_squared_from_f",
    "hedges_g",
    "holm",
    "mixed",
    "paired_t",
    "permutation_anova",
    "power_of_contrast",
    "repeated_anova",
    "sign_flip_p",
    "spread",
    "tukey",
    "welch_anova",
    "welch_t",
]
