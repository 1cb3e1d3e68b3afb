"""What a plan would give away before the client has told it."""

from collections.abc import Collection, Iterable

from simcounsel.texts.quotes import content
from simcounsel.therapies.specs.course import CoursePlan, PlannedFact, PlannedPart
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


def opening(
    part: PlannedPart,
    facts: Collection[PlannedFact],
    told: Collection[str],
    therapy: Therapy,
    name: str,
) -> tuple[str, ...] | None:
    """The facts by which a part may be known, () where it gives nothing away; None while it is
    closed. told: ids of the facts that the client has told. name: the client's.

    Where the plan does not say what it rests on, each word that it shares with a fact must be in
    one that was told.
    """
    if part.rests_on is not None:
        return part.rests_on if set(part.rests_on) <= set(told) else None
    words = {fact.id: own_words(fact, therapy) - content(name) for fact in facts}
    needed = content(part.text) & frozenset().union(*words.values())
    by = tuple(one for one in words if one in told and words[one] & needed)
    return by if needed <= frozenset().union(*(words[one] for one in by)) else None


def as_told(plan: CoursePlan, therapy: Therapy, told: Collection[str], name: str) -> CoursePlan:
    """The plan with the goals that the counselor may know; a stage without one has the therapy's
    own.
    """
    stages = []
    for stage in plan.stages:
        goals = tuple(
            goal
            for goal in stage.goals
            if opening(goal, plan.facts, told, therapy, name) is not None
        )
        own = tuple(PlannedPart(text=goal, rests_on=()) for goal in therapy.stage(stage.id).goals)
        stages.append(stage.model_copy(update={"goals": goals or own}))
    return plan.model_copy(update={"stages": tuple(stages)})
