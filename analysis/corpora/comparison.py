"""From corpora to a report: everything is computed here, once, and then only written down (see
`writing`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from analysis.corpora import people as raters
from analysis.corpora import pictures, quality
from analysis.corpora.counted import Counted, count, curves_table
from analysis.corpora.sources import Group, Sources, judges_of, read_sources
from analysis.embedding import embedding
from analysis.page import any_text
from analysis.style import Picture
from simcounsel.instruments.scale import find_scale
from simcounsel.runs.measurements import is_trial

Table = pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class Options:
    """What may be chosen."""

    ratings: Path | None = None
    """CSV of the rating pages."""
    rated: tuple[Path, ...] = ()
    """Folders of judges' ratings beside those that lie beside the corpora."""
    judge: str | None = None
    """Only this one."""
    embed: str | None = None
    """A model for the spread of embeddings; None: none."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What one judge, or people (judge: `people`), said."""

    judge: str
    ratings: Table
    """One row a dialogue, round (or rater) and dimension; the other tables are made of them."""
    dialogues: Table
    summary: Table
    themes: Table
    contrasts: Table
    retests: Table
    by_dialogue: Table | None = None
    by_corpus: Table | None = None

    @property
    def trial(self) -> bool:
        """Whether it only shows that the software works."""
        return is_trial(self.judge)


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that a report says."""

    sources: Sources
    options: Options
    counted: Counted
    judged: list[Judged]
    people: Judged | None
    raters_agree: Table | None
    pictures: dict[str, Picture]
    """By id."""
    tables: dict[str, Table]
    """By name, as they go to CSV."""
    notes: tuple[str, ...] = field(default=())
    """What a reader must know, in sentences."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """What is compared."""
        return self.sources.groups


@any_text
def make(
    paths: Sequence[Path],
    options: Options | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Read, compute and draw. CorpusError, ReportError say what cannot be read."""
    options = options or Options()
    sources = read_sources(paths, options.rated)
    groups = sources.groups
    names = [group.name for group in groups]
    tell(f"{sum(len(group.dialogues) for group in groups)} dialogues in {len(groups)} groups")
    counted = count(groups, embedding(options.embed) if options.embed else None, tell)
    table = raters.people_table(options.ratings, sources) if options.ratings else None
    people = _of_people(table, groups) if table is not None else None
    scale = find_scale(quality.INSTRUMENT)
    judges = [
        judge for judge in judges_of(groups, scale.id, scale.hash) if options.judge in (None, judge)
    ]
    judged = [_of_judge(judge, groups, people) for judge in judges]
    drawn = _drawn(counted, judged, people, names)
    agree = raters.raters_agree(table) if table is not None else None
    return Report(
        sources=sources,
        options=options,
        counted=counted,
        judged=judged,
        people=people,
        raters_agree=agree,
        notes=_notes(sources, options, judged),
        pictures={one.id: one for one in drawn},
        tables=_tables(counted, judged, people, agree),
    )


def _drawn(
    counted: Counted, judged: Sequence[Judged], people: Judged | None, names: Sequence[str]
) -> list[Picture]:
    """The figures in the order of the page; the first judge's in full."""
    drawn: list[Picture | None] = [
        pictures.distributions(counted, names),
        pictures.opening_up(counted.curves),
    ]
    for number, one in enumerate(judged):
        drawn.append(_quality(f"quality_{number}", one, names))
        if number == 0:
            drawn.append(pictures.differences(one.contrasts))
            if people:
                both = raters.both(one.dialogues, people.dialogues)
                drawn.append(pictures.agreement(both, names))
    if people:
        drawn.append(_quality("quality_people", people, names))
    return [one for one in drawn if one is not None]


def _quality(id: str, one: Judged, names: Sequence[str]) -> Picture | None:
    return pictures.quality(
        id,
        f"Five dimensions as rated by {one.judge}",
        one.dialogues,
        one.summary,
        _rated(one, names),
    )


def _of_judge(judge: str, groups: Sequence[Group], people: Judged | None) -> Judged:
    ratings = quality.judged(groups, judge)
    dialogues = quality.by_dialogue(ratings)
    pairs = raters.both(dialogues, people.dialogues) if people else None
    return Judged(
        judge=judge,
        ratings=ratings,
        dialogues=dialogues,
        summary=quality.summary(dialogues, groups),
        themes=quality.themes(dialogues),
        contrasts=quality.contrasts(dialogues, _with_ratings(groups, dialogues)),
        retests=quality.retests(ratings),
        by_dialogue=raters.agreement_by_dialogue(pairs) if pairs is not None else None,
        by_corpus=raters.agreement_by_corpus(dialogues, people.dialogues) if people else None,
    )


def _of_people(table: Table, groups: Sequence[Group]) -> Judged:
    dialogues = raters.by_people(table)
    return Judged(
        judge="people",
        ratings=table,
        dialogues=dialogues,
        summary=quality.summary(dialogues, groups),
        themes=quality.themes(dialogues),
        contrasts=quality.contrasts(dialogues, _with_ratings(groups, dialogues)),
        retests=pd.DataFrame(),
    )


def _with_ratings(groups: Sequence[Group], dialogues: Table) -> list[Group]:
    rated = set(dialogues.dropna(subset=["value"])["corpus"].astype(str))
    return [group for group in groups if group.name in rated]


def _rated(one: Judged, names: Sequence[str]) -> list[str]:
    """Groups of which something was rated; all, if none was."""
    known = set(one.summary.dropna(subset=["value"])["corpus"].astype(str))
    return [name for name in names if name in known] or list(names)


def _tables(
    counted: Counted, judged: Sequence[Judged], people: Judged | None, agree: Table | None
) -> dict[str, Table]:
    tables = {
        "measures": counted.corpora,
        "dialogues": counted.dialogues,
        "distributions": counted.distributions,
        "opening_up": curves_table(counted),
    }
    every = [*judged, *([people] if people else [])]
    for name in ("ratings", "summary", "themes", "contrasts", "retests"):
        parts = [
            getattr(one, name).assign(judge=one.judge) for one in every if len(getattr(one, name))
        ]
        if parts:
            tables[name] = pd.concat(parts, ignore_index=True)
    levels = [
        part.assign(judge=one.judge)
        for one in judged
        for part in (one.by_dialogue, one.by_corpus)
        if part is not None
    ]
    if levels:
        tables["judge_and_people"] = pd.concat(levels, ignore_index=True)
    if agree is not None:
        tables["raters"] = agree
    return tables


def _notes(sources: Sources, options: Options, judged: Sequence[Judged]) -> tuple[str, ...]:
    scale = find_scale(quality.INSTRUMENT)
    notes = list(sources.notes)
    old = sum(
        (one.instrument == scale.id and one.hash != scale.hash)
        for group in sources.groups
        for one in group.rated
    )
    if old:
        notes.append(
            f"{old} ratings were made with another version of {scale.id} and are left out; rate"
            " anew."
        )
    if options.judge and not judged:
        known = judges_of(sources.groups, scale.id, scale.hash)
        notes.append(
            f"Nothing was rated by {options.judge}; there is"
            f" {', '.join(known) or 'no rating at all'}."
        )
    unrated = [group.name for group in sources.groups if not group.rated]
    if unrated and judged:
        notes.append(f"Not rated by any judge: {', '.join(unrated)}.")
    return tuple(notes)
