"""What may be wrong with a corpus, rule by rule.

    findings    one finding, and all of them        screening      every rule over every dialogue
    shape       who speaks when, and how much       rules          what a rule is, and the limits
"""

from simcounsel.corpus.screens.findings import Count, Finding, Screened, Severity
from simcounsel.corpus.screens.rules import Limits, Rule
from simcounsel.corpus.screens.screening import RULES, screen

__all__ = ["RULES", "Count", "Finding", "Limits", "Rule", "Screened", "Severity", "screen"]
