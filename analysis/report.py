"""From runs to a report: everything is computed here, once, and then only written down (see
`writing`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis import agreement, dialogue, tables
from analysis.exploring import Explored, explore
from analysis.outcomes import logged_outcomes, measured_outcomes
from analysis.page import any_text
from analysis.patterns import (
    Cut,
    Embed,
    Patterns,
    find_patterns,
    first_sessions,
    periods,
    shares,
    transitions,
)
from analysis.planned import Tested, test_planned
from analysis.plots import Picture, activity_shares, changes, effects, elbow, talked
from analysis.results import (
    explored_table,
    model_and_people,
    pairs_table,
    planned_table,
    runs_table,
)
from analysis.sample import Sample, find
from analysis.stories import Story, tell
from simcounsel.errors import SimcounselError

MOST_PANELS = 12


@dataclass(frozen=True, kw_only=True)
class Options:
    """What may be chosen."""

    cut: Cut = "days"
    """See `patterns.periods`."""
    clusters: int | None = None
    """None is the elbow."""
    embed: str | None = None
    """A model's name; None: hashing when all runs were scripted, else MiniLM."""
    name_with: str | None = None
    """A chat model; None names by medoids."""
    ratings: Path | None = None
    """CSV of the rating pages."""
    finished_only: bool = False
    shuffles: int = 5000
    stories: int = 12
    """The largest number of stories that are told."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that a report says."""

    sample: Sample
    options: Options
    cut: Cut
    planned: list[Tested]
    explored: list[Explored]
    patterns: Patterns
    pictures: dict[str, Picture]
    stories: list[Story]
    stories_left_out: int
    tables: dict[str, pd.DataFrame]
    """By name, as they go to CSV."""
    notes: tuple[str, ...] = ()
    """What a reader must know, in sentences."""
    folders: Mapping[str, Path] = field(default_factory=dict)


@any_text
def make(
    places: Sequence[Path],
    options: Options | None = None,
    tell_user: Callable[[str], None] = lambda _: None,
) -> Report:
    """Read, compute and draw. ReportError when there is nothing to report on."""
    options = options or Options()
    sample = find(places, finished_only=options.finished_only)
    tell_user(f"reading {len(sample.members)} runs ({len(sample.excluded)} left out)")
    read = {name: _with_arm(getattr(tables, name)(sample.logs), sample) for name in READ}
    embed, embedding = open_embedding(sample, options)
    cut = options.cut
    period = periods(read["activities"], cut, _cut_minutes(cut, sample, read["talk"]))
    tell_user("grouping activities")
    patterns, notes = _patterns(read["activities"], period, embed, embedding, options)
    outcomes = pd.concat(
        [
            part
            for part in (
                measured_outcomes(read["measurements"], sample),
                logged_outcomes(read["activities"], period, sample),
            )
            if len(part)
        ]
        or [pd.DataFrame(columns=["arm"])],
        ignore_index=True,
    )
    tell_user("testing")
    planned = (
        test_planned(sample.experiment, outcomes) if sample.experiment and len(outcomes) else []
    )
    explored = explore(outcomes, sample.arms, shuffles=options.shuffles) if len(outcomes) else []
    speakers = _with_arm(dialogue.speakers(read["talk"]), sample)
    talks = _with_arm(_conversations(read["talk"], embed), sample)
    tell_user("drawing")
    stories, left_out = tell(
        sample, read["talk"], read["personas"], read["relations"], options.stories
    )
    written = {
        **read,
        "outcomes": outcomes,
        "speakers": speakers,
        "conversations": talks,
        **_pattern_tables(patterns, sample),
    }
    written |= {
        "runs": runs_table(sample),
        "excluded": pd.DataFrame([vars(one) for one in sample.excluded], columns=["run", "why"]),
    }
    written |= {
        "planned": planned_table(planned),
        "exploratory": explored_table(explored),
        "pairs": pairs_table(explored),
    }
    if options.ratings:
        ratings = agreement.read_ratings(options.ratings)
        written |= {
            "agreement": agreement.agreements(ratings),
            "model_and_people": model_and_people(ratings, read["measurements"]),
        }
    return Report(
        sample=sample,
        options=replace(options, embed=embedding),
        cut=cut,
        planned=planned,
        explored=explored,
        patterns=patterns,
        pictures={p.id: p for p in _pictures(sample, planned, explored, patterns, speakers)},
        stories=stories,
        stories_left_out=left_out,
        tables=written,
        notes=notes,
        folders={member.name: member.log.folder for member in sample.members},
    )


READ = ("activities", "talk", "measurements", "relations", "warnings", "costs", "personas")


def _with_arm(table: pd.DataFrame, sample: Sample) -> pd.DataFrame:
    """With the column `arm`, and the pair that the experiment names."""
    arm = {member.name: member.arm for member in sample.members}
    table = table.assign(arm=table["run"].astype(str).map(arm).astype("object"))
    if "pair" in table:
        table["pair"] = (
            table["run"]
            .astype(str)
            .map({member.name: member.pair for member in sample.members})
            .astype("object")
        )
    return table


def open_embedding(sample: Sample, options: Options) -> tuple[Embed, str]:
    """A function from texts to vectors, each text embedded once, and the model's name."""
    from simcounsel.llm.catalog import open_embed

    scripted = bool(sample.members) and all(
        member.models.get("embed") == "scripted" for member in sample.members
    )
    name = options.embed or ("scripted" if scripted else "embedded")
    model = open_embed(name)
    known: dict[str, Any] = {}

    def embed(texts: Sequence[str]) -> Any:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            import asyncio

            made = (
                model.embed_now(new)
                if hasattr(model, "embed_now")
                else asyncio.run(model.embed(new))
            )
            known.update(zip(new, made, strict=True))
        return np.array([known[text] for text in texts])

    return embed, name


def _cut_minutes(cut: Cut, sample: Sample, talk: pd.DataFrame) -> dict[str, int]:
    """Where `session` and `fork` cut each run. A run without a session of its own is cut where the
    others are, at the median.
    """
    if cut == "session":
        found = first_sessions(talk)
        middle = int(np.median(list(found.values()))) if found else None
        return {
            m.name: found.get(m.name, middle)  # type: ignore[misc]
            for m in sample.members
            if found.get(m.name, middle) is not None
        }
    if cut == "fork":
        return {
            member.name: minute
            for member in sample.members
            if (minute := _forked_at(member.manifest)) is not None
        }
    return {}


def _forked_at(manifest: Mapping[str, Any]) -> int | None:
    from datetime import datetime

    from simcounsel.clock import minute_of_tick

    parent, world = manifest.get("parent"), manifest["world"]
    return (
        minute_of_tick(
            int(parent["at_tick"]),
            datetime.fromisoformat(world["start"]),
            int(world["tick_minutes"]),
        )
        if parent
        else None
    )


def _patterns(
    activities: pd.DataFrame,
    period: "pd.Series[Any]",
    embed: Embed,
    embedding: str,
    options: Options,
) -> tuple[Patterns, tuple[str, ...]]:
    """Patterns and what went wrong in finding and naming them."""
    try:
        found = find_patterns(activities, period, embed, embedding=embedding, k=options.clusters)
        if options.name_with is None or found.reason:
            return found, ()
        return _named(found, options.name_with)
    except SimcounselError as error:
        return Patterns(embedding=embedding, reason=str(error)), ()


def _named(found: Patterns, model: str) -> tuple[Patterns, tuple[str, ...]]:
    from analysis.naming import name_clusters
    from simcounsel.llm.catalog import open_chat
    from simcounsel.llm.embeddings import HashEmbeddings
    from simcounsel.llm.switchboard import Switchboard

    chat = open_chat(model)
    models = Switchboard({"reason": chat, "quick": chat, "judge": chat}, HashEmbeddings())
    try:
        return name_clusters(found, models)
    finally:
        models.close()


def _conversations(talk: pd.DataFrame, embed: Embed) -> pd.DataFrame:
    """Without drift where vectors cannot be had; then the column is empty."""
    try:
        return dialogue.conversations(talk, embed)
    except SimcounselError:
        return dialogue.conversations(talk)


def _pattern_tables(patterns: Patterns, sample: Sample) -> dict[str, pd.DataFrame]:
    if patterns.reason:
        return {}
    clusters = pd.DataFrame(
        [{**vars(c), "members": "; ".join(c.members)} for c in patterns.clusters]
    )
    return {
        "clusters": clusters,
        "cluster_fits": pd.DataFrame([vars(fit) for fit in patterns.fits]),
        "shares": _with_arm(shares(patterns), sample),
        "transitions": _with_arm(transitions(patterns), sample),
    }


def shown(explored: Sequence[Explored]) -> list[Explored]:
    """What is drawn: total scores and what the log says, as many as fit on a page."""
    first = [one for one in explored if one.instrument == "log" or one.score == "total"]
    rest = [one for one in explored if one not in first]
    return [one for one in (*first, *rest) if any(s.n for s in one.spreads)][:MOST_PANELS]


def _pictures(
    sample: Sample,
    planned: list[Tested],
    explored: list[Explored],
    patterns: Patterns,
    speakers: pd.DataFrame,
) -> Iterable[Picture]:
    drawn: list[Picture | None] = [
        effects(planned),
        changes(shown(explored)) if shown(explored) else None,
    ]
    if not patterns.reason:
        arm_of = {member.name: member.arm for member in sample.members}
        arms = [
            arm
            for arm in sample.arms
            if (patterns.labels["run"].astype(str).map(arm_of) == arm).any()
        ]
        drawn += [activity_shares(patterns, arm_of, arms), elbow(patterns)]
    drawn.append(talked(speakers, sample.arms))
    return [one for one in drawn if one is not None]
