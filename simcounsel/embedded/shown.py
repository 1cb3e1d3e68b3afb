"""What a client's sentence shows by its own words: a rule, a picture of oneself, a way of coping, a
support. For notes and conceptualizations without a capable model: what no rule knows stays open.
"""

import re
from collections.abc import Mapping, Sequence

_ANY = re.IGNORECASE
RULE = re.compile(
    r"(?<!what )(?<!how )(?<!when )(?<!before )\bI (must|mustn't|have to|should|shouldn't|ought to"
    r"|can't let|can't allow) (?!(think|feel|have|be|say|stop|admit|look|smell|seem|go|leave|run"
    r"|add|tell|like|know|keep you|grumble)\b)"
    r"|\bif I (don't|do not|stop|let|ever)\b"
    r"|\bI (take it|believe|assume|go by the rule)( as settled)? that\b"
    r"|\bI've (decided|been assuming) that (?!by\b)|\bif I'm [^,]+, (I'll|I'm|then)\b",
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
    r"|lie (awake|there|still|quite still|on my back)|don't (answer|tell|ask)|didn't (answer|tell)"
    r"|go over (it|stuff|those|the)|read it again|stay up|look up|ring too often|laugh anyway"
    r"|put it off)(ed|ing|s)?\b",
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
TROUBLED = re.compile(
    r"^(?=.*\b(yesterday|last (night|week|weekend|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday)|this morning|the other (day|night)|tonight"
    r"|at ((ten|twenty|a quarter|half) (to|past) )?(one|two|three|four|five|\d[\d:]*))\b)"
    r"(?=.*\b(afraid|scared|ashamed|panic\w*|cried|crying|shouted|quarrel\w*|awake|woke|wake|couldn't"
    r"|can't|could not|hurt|alone|worr\w+|check\w*)\b)",
    _ANY,
)
PROBLEM = re.compile(
    r"\b(wide awake|sleep badly|can't sleep|don't sleep|haven't slept|don't think I've slept"
    r"|wears? me (down|out)|I'm (afraid|frightened|scared|ashamed|worn)|I panic|can't (stop|bear)"
    r"|tired in a way|don't know who I am|I'm (so )?lonely)\b",
    _ANY,
)
CYCLE = re.compile(
    r"\bbecause\b.*\bbecause\b|,? so [^,]+, so\b|\bmyself, out of fear\b"
    r"|\bI (\w+), and \1ing\b",
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
    re.compile(r"^(problems and goals|target behaviors|the problem story)", _ANY): PROBLEM,
    re.compile(r"^situations\b", _ANY): TROUBLED,
    re.compile(r"^(what keeps it going|the shared cycle)", _ANY): CYCLE,
    re.compile(r"^(formative|.*\bhistory\b)", _ANY): PAST,
    re.compile(r"^(rules|conditions of worth|ideas that feed)", _ANY): RULE,
    re.compile(r"^(core beliefs|self-concept|inner images of self)", _ANY): SELF,
    re.compile(r"^(coping|defenses)", _ANY): COPING,
    re.compile(r"^(strengths|resources)", _ANY): SUPPORT,
}
"""What belongs into a field, by the field's name, and what a sentence for it looks like."""
GOALS: Mapping[re.Pattern[str], re.Pattern[str]] = {
    re.compile(r"^The client has named .*(strength|support|resource)", _ANY): SUPPORT,
    re.compile(r"^The client.*(recent, concrete situation|concrete recent moment)", _ANY): TROUBLED,
    re.compile(r"^The client has (said|told) .*what they have (learned|understood)", _ANY): LEARNED,
    re.compile(r"^The client has told .*early family", _ANY): PAST,
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
