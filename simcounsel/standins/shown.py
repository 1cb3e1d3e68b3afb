"""What a client's sentence shows by its own words: a rule, a picture of oneself, a way of coping, a
support. For notes and conceptualizations without a capable model: what no rule knows stays open.
"""

import re
from collections.abc import Mapping, Sequence

_ANY = re.IGNORECASE
RULE = re.compile(
    r"\bI (must|mustn't|have to|had to|should|shouldn't|ought to|can't let|can't allow)\b"
    r"|\bif I (don't|do not|do|say|stop|let|ever)\b",
    _ANY,
)
SELF = re.compile(
    r"\bI('m| am) (just |only |such |so |too |not |always |never |no )*(a |an )?"
    r"(good enough|weak|stupid|useless|worthless|lazy|selfish|unlovable|nobody|failure|burden|guest"
    r"|fraud|coward|bad \w+)\b"
    r"|\bI feel like (a|an|nobody|nothing)\b",
    _ANY,
)
COPING = re.compile(
    r"\bI (always |just |then |often |still )*(avoid|check|hide|cancel|put (it|things) off"
    r"|stay away|keep (quiet|busy|it to myself)|say yes|say nothing|say I'm fine|pretend|work late"
    r"|lie awake|don't answer|didn't answer|didn't tell|don't tell)(ed|ing|s)?\b",
    _ANY,
)
PAST = re.compile(
    r"\bwhen I was (a |little|small|young|\w+teen|at school|in school)|\b(as a child|growing up)\b"
    r"|\bmy (mother|father|parents|grandmother|grandfather) (always|never|used to|would)\b",
    _ANY,
)
SUPPORT = re.compile(
    r"\b(helps|helped|stands by me|stood by me|listens to me|I('m| am) good at|I can rely on"
    r"|I can talk to|does me good|calms me|makes it easier)\b",
    _ANY,
)
EVENT = re.compile(
    r"\b(yesterday|last (night|week|weekend|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday)|this (morning|week)|the other (day|night)|tonight|today)\b",
    _ANY,
)
LEARNED = re.compile(
    r"\bI('ve| have)? (learned|learnt|noticed|realized|realised|understood|found out"
    r"|come to see)\b",
    _ANY,
)
DENIED = re.compile(r"\b(no one|nobody|nothing|not|never|hardly|\w+n't)\b", _ANY)
MINE = re.compile(r"\b(I|me|my)\b")

FIELDS: Mapping[re.Pattern[str], re.Pattern[str]] = {
    re.compile(r"\brules?\b|\b(they|one) must\b|conditions of worth", _ANY): RULE,
    re.compile(r"true of themselves|believes? they are|see themselves", _ANY): SELF,
    re.compile(r"so as not to|painful things away|behaviors? to change|instead of", _ANY): COPING,
    re.compile(r"formative|histor(y|ies)\b", _ANY): PAST,
    re.compile(r"\bstrengths?\b|\bresources?\b|\bstands by\b", _ANY): SUPPORT,
}
"""What belongs into a field, by the field's own words, and what a sentence for it looks like."""
GOALS: Mapping[re.Pattern[str], re.Pattern[str]] = {
    re.compile(r"^The client has named .*(strength|support|resource)", _ANY): SUPPORT,
    re.compile(r"^The client has said .*recent, concrete situation", _ANY): EVENT,
    re.compile(r"^The client has said .*what they have learned", _ANY): LEARNED,
}
"""Goals that a single sentence of the client's can show, and what it looks like."""


def of_field(described: str, sentences: Sequence[str]) -> list[str]:
    """The sentences that belong into a field, in order; none where no rule knows the field."""
    form = next((form for field, form in FIELDS.items() if field.search(described)), None)
    return [text for text in sentences if form and _shows(text, form)]


def of_goal(goal: str, sentences: Sequence[str]) -> str | None:
    """The first sentence that shows a goal to be met; None when there is none, or no rule knows the
    goal.
    """
    form = next((form for one, form in GOALS.items() if one.search(goal)), None)
    return next((text for text in sentences if form and _shows(text, form)), None)


def _shows(text: str, form: re.Pattern[str]) -> bool:
    """A statement about oneself, of at least four words; help that is denied is none."""
    return bool(
        form.search(text)
        and MINE.search(text)
        and len(text.split()) >= 4
        and not text.endswith("?")
        and not (form is SUPPORT and DENIED.search(text))
    )
