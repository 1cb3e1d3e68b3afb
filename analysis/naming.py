"""Clusters named by a model from their members; where it does not answer as asked, by their
medoid.
"""

from dataclasses import replace
from typing import Literal

from analysis.patterns import ActivityPatterns, Cluster
from simcounsel.llm.question import Ask, PromptOnly, Question, ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.prompts import phrase, render
from simcounsel.texts.chinese import is_chinese

Purpose = Literal["name_activities", "name_themes"]
"""The prompt: for what people do, or what they say of something."""
MOST_WORDS = 6
MOST_CHARACTERS = 14
"""Of a Chinese name."""


def name_clusters(
    patterns: ActivityPatterns, models: Switchboard, purpose: Purpose = "name_activities"
) -> tuple[ActivityPatterns, tuple[str, ...]]:
    """The same patterns with names, and in words what the model failed at."""
    asks = {
        f"{cluster.number:03d}": _name(cluster, patterns.clusters, purpose)
        for cluster in patterns.clusters
    }
    outcomes = models.ask(asks)
    named = tuple(outcomes[f"{cluster.number:03d}"].value for cluster in patterns.clusters)
    troubles = tuple(
        f"{t.who}: {t.cause}; its medoid is its name"
        for one in outcomes.values()
        for t in one.troubles
    )
    return replace(patterns, clusters=named), troubles


def _name(cluster: Cluster, others: tuple[Cluster, ...], purpose: Purpose) -> Ask[Cluster]:
    """The cluster with its name; `named_by` says who gave it."""
    reply = yield from ask(question_for(cluster, others, purpose))
    if reply.source == "fallback":
        return cluster
    return replace(cluster, name=_tidy(reply.value), named_by=reply.model)


def question_for(
    cluster: Cluster, others: tuple[Cluster, ...], purpose: Purpose = "name_activities"
) -> Question[str]:
    """What is asked about one cluster."""
    language = "zh" if is_chinese("".join(cluster.members)) else "en"
    rest = [one.medoid for one in others if one.number != cluster.number]
    none = phrase("activities_words", "none", language)
    system, prompt = render(
        purpose,
        language,
        members="\n".join(f"- {text}" for text in cluster.members),
        others="\n".join(f"- {text}" for text in rest) or f"- {none}",
    )
    return Question(
        verb="write",
        purpose=purpose,
        who=f"cluster {cluster.number}",
        tier="reason",
        language=language,
        system=system,
        prompt=prompt,
        check=_wrong,
        fallback=cluster.medoid,
        temperature=0.0,
        max_tokens=24,
        seed=cluster.number,
        facts=PromptOnly(),
    )


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(" .。\"'“”")


def _wrong(text: str) -> str | None:
    name = _tidy(text)
    if is_chinese(name):
        few, count = 1 <= len(name) <= MOST_CHARACTERS, len(name)
        return None if few else f"a name has 4 to 10 characters; this has {count}"
    words = name.split()
    return (
        None if 1 <= len(words) <= MOST_WORDS else f"a name has 2 to 5 words; this has {len(words)}"
    )
