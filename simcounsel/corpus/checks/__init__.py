"""What may be wrong with a corpus, rule by rule.

findings    one finding, and all of them         checking       every rule over every dialogue
rules       what a rule is, and the limits       wordlists/     the phrases that rules look for
shape       who speaks when, and how much        lists          replies that are leaflets
templates   replies cut to one pattern           roles          whose client it is; labels in a line
overlap     near-duplicates, leaks of splits     shingles       MinHash
risk        danger that nobody takes up          language       lines in another one
facts       what a line states of the client     contradiction  what the file says otherwise
naming      who and where is named               identifying    contacts, numbers, addresses, names
leaks       agenda, reasoning, prompts aloud     as_text, page  findings as lines, JSON and HTML
"""

from simcounsel.corpus.checks.checking import RULES, check_dialogues
from simcounsel.corpus.checks.findings import Checked, Count, Finding, Severity
from simcounsel.corpus.checks.rules import Limits, Rule

__all__ = ["RULES", "Checked", "Count", "Finding", "Limits", "Rule", "Severity", "check_dialogues"]
