"""What a plan tells before the client has told it: words of its facts that were not said yet."""

from collections.abc import Iterable

from simcounsel.texts.quotes import content
from simcounsel.therapies.specs.course import PlannedFact
from simcounsel.therapies.specs.therapy import Therapy


def own_words(fact: PlannedFact, therapy: Therapy) -> frozenset[str]:
    """What a fact is about, without what is in the therapy's own goals."""
    stages = (text for stage in therapy.stages for text in (stage.name, *stage.goals))
    return content(fact.text, fact.quote) - content(therapy.name, therapy.about, *stages)


def untold(facts: Iterable[PlannedFact], told: Iterable[str], therapy: Therapy) -> frozenset[str]:
    """What the facts are about, without what is in `told` and in the therapy's own goals."""
    words = (own_words(fact, therapy) for fact in facts)
    return frozenset[str]().union(*words) - content(*told)


def leaks_undisclosed(text: str, secret: frozenset[str]) -> bool:
    """Whether a text is about any of it; in doubt it is."""
    return not secret.isdisjoint(content(text))
