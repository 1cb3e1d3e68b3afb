"""From runs to a report: everything is computed here, once, and then only written down (see
`writing`).

The charts of a report on runs. Nothing here computes more than means, which the tables show.
"""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis import dialogue
from analysis.channels import Part, channel_table, channels, parts_picture
from analysis.completeness import completeness
from analysis.cuts import cut_minutes
from analysis.embedding import each_once, embedding
from analysis.exploring import Explored, explore
from analysis.finding import find
from analysis.page import any_text, counted
from analysis.pattern_plots import activity_shares, followed, how_many
from analysis.patterns import (
    ActivityPatterns,
    Cut,
    Embed,
    find_patterns,
    periods,
    shares,
    transitions,
)
from analysis.planned import Tested, test_planned
from analysis.raters.comparing import people
from analysis.reading import outcomes_of, read_tables, with_arm
from analysis.results import explored_table, pairs_table, planned_table, runs_table
from analysis.sample import Sample
from analysis.statistics import Spread, spread
from analysis.steps import outcomes_over, step_means, steps
from analysis.stories import Story, tell
from analysis.style import Look, Picture, broken, dots_and_mean, picture, small_multiples
from analysis.time_plots import over_time, step_by_step
from simcounsel.errors import SimcounselError
from simcounsel.specs.experiment import Change

ROLES = ("client", "counselor", "layperson")


def changes(explored: Sequence[Explored]) -> Picture:
    """Each outcome by arm: every run's value, the mean and its 95% interval."""
    chosen = list(explored)
    alt = "; ".join(
        f"{one.title}: {', '.join(_in_words(s) for s in one.spreads)}" for one in chosen
    )

    def draw(look: Look) -> Figure:
        arms = len(chosen[0].spreads)
        figure, panels = small_multiples(look, len(chosen), 2, 0.5 + 0.46 * arms)
        for axes, one in zip(panels, chosen, strict=True):
            for index, whole in enumerate(one.spreads):
                dots_and_mean(axes, look, arms - 1 - index, one.values[whole.name], whole, index)
            axes.set_title(broken(one.title, 44))
            axes.set_yticks(
                range(arms), [f"{broken(s.name, 18)} (n={s.n})" for s in reversed(one.spreads)]
            )
            axes.set_ylim(-0.6, arms - 0.4)
            if one.kind == "change":
                axes.axvline(0, color=look.faint, linewidth=1, zorder=1)
            axes.set_xlabel(
                "level"
                if one.kind == "level"
                else (
                    "after minus before"
                    if one.instrument == "log"
                    else "change from the first point"
                )
            )
            axes.locator_params(axis="x", nbins=5)
        return figure

    return picture("changes", "Outcomes by arm: each run, the mean and its 95% interval", alt, draw)


def _in_words(s: Spread) -> str:
    if s.mean is None:
        return f"{s.name} none"
    return (
        f"{s.name} {s.mean:.3g}"
        + (f" ({s.low:.3g} to {s.high:.3g})" if s.low is not None else "")
        + f", n {s.n}"
    )


def effects(tested: Sequence[Tested]) -> Picture | None:
    """Planned contrasts as Hedges' g with their intervals; None when there is none to draw."""
    shown = [one for one in tested if one.effect is not None and one.effect_name == "g"]
    if not shown:
        return None
    alt = "; ".join(f"{one.hypothesis.id}: g {one.effect:.2f}" for one in shown)

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 0.7 + 0.5 * len(shown))
        for row, one in enumerate(reversed(shown)):
            if one.effect_low is not None and one.effect_high is not None:
                axes.plot(
                    [one.effect_low, one.effect_high],
                    [row, row],
                    color=look.color(0),
                    linewidth=2,
                    solid_capstyle="butt",
                )
            axes.plot([one.effect or 0.0], [row], "D", color=look.color(0), markersize=6)
        axes.axvline(0, color=look.faint, linewidth=1, zorder=0)
        labels = [
            f"{broken(one.hypothesis.id, 26)}\n{', '.join(f'{k} {v}' for k, v in one.n.items())}"
            for one in reversed(shown)
        ]
        axes.set_yticks(
            range(len(shown)),
            labels if look.wide else [broken(one.hypothesis.id, 16) for one in reversed(shown)],
        )
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.set_xlabel("Hedges' g, first arm minus second")
        return figure

    return picture("planned", "Planned contrasts: Hedges' g with 95% intervals", alt, draw)


TALKED = (
    ("characters_per_message", "characters a message", (0.0, np.inf)),
    ("questions_per_message", "question marks a message", (0.0, np.inf)),
    ("sentiment", "sentiment (lexicon), −1 to 1", (-1.0, 1.0)),
)


def talked(speakers: pd.DataFrame, arms: Sequence[str]) -> Picture | None:
    """Lengths, questions and sentiment by role and arm, one dot a run and speaker; `speakers` with
    a column `arm`.
    """
    shown = speakers[speakers["messages"] > 0]
    pairs = [
        (arm, role)
        for arm in arms
        for role in ROLES
        if len(shown[(shown["arm"] == arm) & (shown["role"] == role)])
    ]
    if not pairs:
        return None
    grouped = _by_arm_and_role(shown, pairs)
    alt = "; ".join(
        f"{arm}, {role}, {words}: {_in_words(spread('mean', grouped[arm, role, column]))}"
        for arm, role in pairs
        for column, words, _ in TALKED
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(
            look, len(TALKED), 3, 0.6 + 0.46 * len(pairs), sharey=look.wide
        )
        for axes, (column, words, limits) in zip(panels, TALKED, strict=True):
            for row, (arm, role) in enumerate(reversed(pairs)):
                values = grouped[arm, role, column]
                dots_and_mean(
                    axes, look, row, values, spread(arm, values), ROLES.index(role), limits
                )
            axes.set_title(words)
            axes.set_ylim(-0.6, len(pairs) - 0.4)
            labels = [
                f"{role} (n={len(grouped[arm, role, column])})\nin {broken(arm, 20)}"
                for arm, role in reversed(pairs)
            ]
            axes.set_yticks(range(len(pairs)), labels)
            axes.locator_params(axis="x", nbins=4)
        return figure

    return picture(
        "talk",
        "How they talked: each run's mean, the mean over runs and its 95% interval",
        alt,
        draw,
    )


def _by_arm_and_role(
    speakers: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str, str], list[float]]:
    """The values of each column of TALKED, by arm, role and column."""
    return {
        (arm, role, column): (
            speakers[(speakers["arm"] == arm) & (speakers["role"] == role)][column]
            .astype(float)
            .tolist()
        )
        for arm, role in pairs
        for column, _, _ in TALKED
    }


MOST_PANELS = 12


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What may be chosen."""

    cut: Cut = "days"
    """See `patterns.periods`."""
    clusters: int | None = None
    """None is as many as agree over half samples."""
    embed: str | None = None
    """A model's name; None: hashing when all runs were scripted, else MiniLM."""
    name_with: str | None = None
    """A chat model; None names by medoids."""
    ratings: tuple[Path, ...] = ()
    """CSVs of rating studies."""
    finished_only: bool = False
    damaged: bool = False
    """Whether what can be read of damaged runs counts; else they are an error."""
    shuffles: int = 5000
    stories: int = 12
    """The largest number of stories that are told."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that a report says."""

    sample: Sample
    options: ReportOptions
    cut: Cut
    planned: list[Tested]
    parts: list[Part]
    """Of planned effects, by channel."""
    explored: list[Explored]
    patterns: ActivityPatterns
    pictures: dict[str, Picture]
    stories: list[Story]
    stories_left_out: int
    tables: dict[str, pd.DataFrame]
    """By name, as they go to CSV."""
    notes: tuple[str, ...] = ()
    """What a reader must know, in sentences."""
    people_notes: tuple[str, ...] = ()
    """Which ratings by people could not be compared by arm, in sentences."""
    folders: Mapping[str, Path] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """How a notebook shows it: what it rests on, and the planned tests."""
        runs = f"{len(self.sample.members)} runs, {len(self.sample.excluded)} left out"
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        tests = planned_table(self.planned).to_html(index=False)  # which escapes
        return f"<p>{runs}</p>{tests}<ul>{notes}</ul>"


@any_text
def make(
    places: Sequence[Path],
    options: ReportOptions | None = None,
    tell_user: Callable[[str], None] = lambda _: None,
) -> Report:
    """Read, compute and draw. ReportError when there is nothing to report on."""
    options = options or ReportOptions()
    sample = find(places, finished_only=options.finished_only, damaged=options.damaged)
    tell_user(f"reading {counted(len(sample.members), 'run')} ({len(sample.excluded)} left out)")
    read = read_tables(sample)
    name = embedding_of(sample, options)
    embed = each_once(embedding(name))
    cut_at = cut_minutes(options.cut, sample, read["talk"])
    period = periods(read["activities"], options.cut, cut_at)
    tell_user("grouping activities")
    patterns, notes = _patterns(read["activities"], period, embed, name, options)
    outcomes = outcomes_of(read, period, sample)
    tell_user("testing")
    planned, parts, explored = _tests(sample, outcomes, read["measurements"], options)
    made = {
        **_steps(read["measurements"], sample),
        "speakers": with_arm(dialogue.speakers(read["talk"]), sample),
    }
    said = people(options.ratings, sample, read["measurements"])
    tell_user("drawing")
    stories, left_out = tell(
        sample, read["talk"], read["personas"], read["relations"], options.stories
    )
    return Report(
        sample=sample,
        options=replace(options, embed=name),
        cut=options.cut,
        planned=planned,
        parts=parts,
        explored=explored,
        patterns=patterns,
        pictures={
            p.id: p for p in _pictures(sample, planned, parts, explored, patterns, read | made)
        },
        stories=stories,
        stories_left_out=left_out,
        tables={
            **read,
            "outcomes": outcomes,
            **made,
            "conversations": with_arm(_conversations(read["talk"], embed), sample),
            **_pattern_tables(patterns, sample),
            **_sample_tables(sample),
            "completeness": completeness(read["measurements"]),
            **_test_tables(planned, parts, explored),
            **said.tables,
        },
        notes=notes,
        people_notes=said.notes,
        folders={member.name: member.log.folder for member in sample.members},
    )


def _steps(measurements: pd.DataFrame, sample: Sample) -> dict[str, pd.DataFrame]:
    """Changes from one time of measurement to the next, and their means by arm."""
    made = steps(measurements, sample)
    return {"steps": made, "step_means": step_means(made, sample.arms)}


def _tests(
    sample: Sample, outcomes: pd.DataFrame, measurements: pd.DataFrame, options: ReportOptions
) -> tuple[list[Tested], list[Part], list[Explored]]:
    """What was planned, with its parts, and everything else; nothing without any outcome."""
    if not len(outcomes):
        return [], [], []
    explored = explore(outcomes, sample.arms, shuffles=options.shuffles)
    if not sample.experiment:
        return [], [], explored

    def changed(change: Change) -> pd.DataFrame:
        return outcomes_over(measurements, sample, change)

    planned = test_planned(sample.experiment, outcomes, changed)
    return planned, channels(sample.experiment, outcomes, changed), explored


def _test_tables(
    planned: list[Tested], parts: list[Part], explored: list[Explored]
) -> dict[str, pd.DataFrame]:
    """What was tested; parts of effects where something was cut."""
    return {
        "planned": planned_table(planned),
        **({"channels": channel_table(parts)} if parts else {}),
        "exploratory": explored_table(explored),
        "pairs": pairs_table(explored),
    }


def _sample_tables(sample: Sample) -> dict[str, pd.DataFrame]:
    excluded = [vars(one) for one in sample.excluded]
    return {"runs": runs_table(sample), "excluded": pd.DataFrame(excluded, columns=["run", "why"])}


def embedding_of(sample: Sample, options: ReportOptions) -> str:
    """The name of the model for vectors: the chosen one, else hashing when all runs were scripted,
    else the embedded one.
    """
    scripted = bool(sample.members) and all(
        member.models.get("embed") == "scripted" for member in sample.members
    )
    return options.embed or ("scripted" if scripted else "embedded")


def _patterns(
    activities: pd.DataFrame,
    period: "pd.Series[Any]",
    embed: Embed,
    embedding: str,
    options: ReportOptions,
) -> tuple[ActivityPatterns, tuple[str, ...]]:
    """Patterns and what went wrong in finding and naming them."""
    try:
        found = find_patterns(activities, period, embed, embedding=embedding, k=options.clusters)
        if options.name_with is None or found.reason:
            return found, ()
        return _named(found, options.name_with)
    except SimcounselError as error:
        return ActivityPatterns(embedding=embedding, reason=str(error)), ()


def _named(found: ActivityPatterns, model: str) -> tuple[ActivityPatterns, tuple[str, ...]]:
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


def _pattern_tables(patterns: ActivityPatterns, sample: Sample) -> dict[str, pd.DataFrame]:
    if patterns.reason:
        return {}
    clusters = pd.DataFrame(
        [{**vars(c), "members": "; ".join(c.members)} for c in patterns.clusters]
    )
    return {
        "clusters": clusters,
        "cluster_fits": pd.DataFrame([vars(fit) for fit in patterns.fits]),
        "shares": with_arm(shares(patterns), sample),
        "transitions": with_arm(transitions(patterns), sample),
    }


def shown(explored: Sequence[Explored]) -> list[Explored]:
    """What is drawn: total scores and what the log says, as many as fit on a page."""
    first = [one for one in explored if one.instrument == "log" or one.score == "total"]
    rest = [one for one in explored if one not in first]
    return [one for one in (*first, *rest) if any(s.n for s in one.spreads)][:MOST_PANELS]


def _pictures(
    sample: Sample,
    planned: list[Tested],
    parts: Sequence[Part],
    explored: list[Explored],
    patterns: ActivityPatterns,
    read: Mapping[str, pd.DataFrame],
) -> Iterable[Picture]:
    drawn: list[Picture | None] = [
        effects(planned),
        parts_picture(parts),
        changes(shown(explored)) if shown(explored) else None,
    ]
    if not patterns.reason:
        arm_of = {member.name: member.arm for member in sample.members}
        arms = [
            arm
            for arm in sample.arms
            if (patterns.labels["run"].astype(str).map(arm_of) == arm).any()
        ]
        drawn += [
            activity_shares(patterns, arm_of, arms),
            followed(patterns, arm_of, arms),
            how_many(patterns),
        ]
    drawn += [
        talked(read["speakers"], sample.arms),
        *over_time(read["measurements"], sample.arms),
        step_by_step(read["step_means"], sample.arms),
    ]
    return [one for one in drawn if one is not None]
