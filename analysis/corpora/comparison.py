"""From corpora to a report: everything is computed here, once, and then only written down (see
`writing`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from analysis.corpora import people as raters
from analysis.corpora import pictures, quality, rated_pictures
from analysis.corpora.counted import CorporaCounts, count, curves_table
from analysis.corpora.sources import Group, Sources, judges_of, read_sources, scales_of
from analysis.embedding import embedding
from analysis.page import any_text
from analysis.style import Picture
from simcounsel.corpus.judging import scale_for
from simcounsel.corpus.rated import rated_by
from simcounsel.instruments.from_transcript import is_from_transcript
from simcounsel.runs.measurements import is_trial
from simcounsel.specs.scale import Scale

PEOPLE = "people"
USUAL = "dialogue_quality"
"""Of which people were asked, where nothing else was rated or named."""


@dataclass(frozen=True, kw_only=True)
class CorporaOptions:
    """What may be chosen."""

    ratings: Path | None = None
    """CSV of the rating pages."""
    rated: tuple[Path, ...] = ()
    """Folders of judges' ratings beside those that lie beside the corpora."""
    judge: str | None = None
    """Only this one."""
    instruments: tuple[str, ...] = ()
    """By name or file; none: all with which any dialogue was rated."""
    embed: str | None = None
    """A model for the spread of embeddings; None: none."""


@dataclass(frozen=True, kw_only=True)
class Judgments:
    """What one judge, or people (judge: `people`), said."""

    judge: str
    scale: Scale
    ratings: pd.DataFrame
    """One row a dialogue, round (or rater) and dimension; the other tables are made of them."""
    dialogues: pd.DataFrame
    summary: pd.DataFrame
    themes: pd.DataFrame
    contrasts: pd.DataFrame
    retests: pd.DataFrame
    by_dialogue: pd.DataFrame | None = None
    by_corpus: pd.DataFrame | None = None

    @property
    def trial(self) -> bool:
        """Whether it only shows that the software works."""
        return is_trial(self.judge)

    @property
    def rated(self) -> str:
        """Who gave the numbers, and whether from a transcript for the client."""
        return self.judge if self.judge == PEOPLE else rated_by(self.scale.id, self.judge)

    @property
    def for_client(self) -> bool:
        """Whether an observer answered a questionnaire for the client."""
        return is_from_transcript(self.scale.id)


@dataclass(frozen=True, kw_only=True)
class CorporaReport:
    """All that a report says."""

    sources: Sources
    options: CorporaOptions
    counted: CorporaCounts
    judged: list[Judgments]
    people: Judgments | None
    raters_agree: pd.DataFrame | None
    pictures: dict[str, Picture]
    """By id."""
    tables: dict[str, pd.DataFrame]
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
    options: CorporaOptions | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> CorporaReport:
    """Read, compute and draw. CorpusError, ReportError say what cannot be read."""
    options = options or CorporaOptions()
    sources = read_sources(paths, options.rated)
    groups = sources.groups
    names = [group.name for group in groups]
    tell(f"{sum(len(group.dialogues) for group in groups)} dialogues in {len(groups)} groups")
    counted = count(groups, embedding(options.embed) if options.embed else None, tell)
    scales = _scales(options, groups)
    people, agree = _people(options, sources, scales) if options.ratings else (None, None)
    judged = [
        _of_judge(judge, scale, groups, people)
        for scale in scales
        for judge in judges_of(groups, scale.id, scale.hash)
        if options.judge in (None, judge)
    ]
    drawn = _drawn(counted, judged, people, names)
    return CorporaReport(
        sources=sources,
        options=options,
        counted=counted,
        judged=judged,
        people=people,
        raters_agree=agree,
        notes=_notes(sources, options, scales, judged),
        pictures={one.id: one for one in drawn},
        tables=_tables(counted, judged, people, agree),
    )


def _scales(options: CorporaOptions, groups: Sequence[Group]) -> list[Scale]:
    """Those that were named, or all that were rated."""
    rated = scales_of(groups)
    if not options.instruments:
        return rated
    known = {scale.id: scale for scale in rated}
    return [known.get(name) or scale_for(name) for name in dict.fromkeys(options.instruments)]


def _people(
    options: CorporaOptions, sources: Sources, scales: Sequence[Scale]
) -> tuple[Judgments, pd.DataFrame]:
    """What people said, and how far they agree with each other."""
    assert options.ratings is not None
    usual = [] if options.instruments else [scale_for(USUAL)]
    asked = [*scales, *(one for one in usual if one not in scales)]
    scale = raters.answered_with(options.ratings, [one for one in asked if one.items])
    table = raters.people_table(options.ratings, sources, scale)
    return _of_people(table, scale, sources.groups), raters.raters_agree(table, scale)


def _drawn(
    counted: CorporaCounts,
    judged: Sequence[Judgments],
    people: Judgments | None,
    names: Sequence[str],
) -> list[Picture]:
    """The figures in the order of the page; the first judge of each instrument in full."""
    drawn: list[Picture | None] = [
        pictures.distributions(counted, names),
        pictures.opening_up(counted.curves),
    ]
    seen: dict[str, int] = {}
    for one in judged:
        number = seen.setdefault(one.scale.id, 0)
        seen[one.scale.id] += 1
        drawn.append(_quality(f"{one.scale.id}_{number}", one, names))
        if number == 0:
            drawn.append(rated_pictures.differences(one.scale, one.judge, one.contrasts))
            if people and people.scale.id == one.scale.id:
                both = raters.both(one.dialogues, people.dialogues)
                drawn.append(rated_pictures.agreement(one.scale, one.judge, both, names))
    if people:
        drawn.append(_quality(f"{people.scale.id}_people", people, names))
    return [one for one in drawn if one is not None]


def _quality(id: str, one: Judgments, names: Sequence[str]) -> Picture:
    return rated_pictures.quality(
        id, one.scale, one.judge, one.dialogues, one.summary, _rated(one, names)
    )


def _of_judge(
    judge: str, scale: Scale, groups: Sequence[Group], people: Judgments | None
) -> Judgments:
    ratings = quality.judged(groups, scale, judge)
    dialogues = quality.by_dialogue(ratings)
    by_dialogue, by_corpus = None, None
    if people and people.scale.id == scale.id:
        pairs = raters.both(dialogues, people.dialogues)
        by_dialogue = raters.agreement_by_dialogue(pairs, scale)
        by_corpus = raters.agreement_by_corpus(dialogues, people.dialogues, scale)
    return Judgments(
        judge=judge,
        scale=scale,
        ratings=ratings,
        dialogues=dialogues,
        summary=quality.summary(dialogues, groups, scale),
        themes=quality.themes(dialogues),
        contrasts=quality.contrasts(dialogues, _with_ratings(groups, dialogues), scale),
        retests=quality.retests(ratings, scale),
        by_dialogue=by_dialogue,
        by_corpus=by_corpus,
    )


def _of_people(table: pd.DataFrame, scale: Scale, groups: Sequence[Group]) -> Judgments:
    dialogues = raters.by_people(table)
    return Judgments(
        judge=PEOPLE,
        scale=scale,
        ratings=table,
        dialogues=dialogues,
        summary=quality.summary(dialogues, groups, scale),
        themes=quality.themes(dialogues),
        contrasts=quality.contrasts(dialogues, _with_ratings(groups, dialogues), scale),
        retests=pd.DataFrame(),
    )


def _with_ratings(groups: Sequence[Group], dialogues: pd.DataFrame) -> list[Group]:
    rated = set(dialogues.dropna(subset=["value"])["corpus"].astype(str))
    return [group for group in groups if group.name in rated]


def _rated(one: Judgments, names: Sequence[str]) -> list[str]:
    """Groups of which something was rated; all, if none was."""
    known = set(one.summary.dropna(subset=["value"])["corpus"].astype(str))
    return [name for name in names if name in known] or list(names)


def _tables(
    counted: CorporaCounts,
    judged: Sequence[Judgments],
    people: Judgments | None,
    agree: pd.DataFrame | None,
) -> dict[str, pd.DataFrame]:
    tables = {
        "measures": counted.corpora,
        "dialogues": counted.dialogues,
        "distributions": counted.distributions,
        "opening_up": curves_table(counted),
    }
    every = [*judged, *([people] if people else [])]
    for name in ("ratings", "summary", "themes", "contrasts", "retests"):
        parts = [_signed(getattr(one, name), one) for one in every if len(getattr(one, name))]
        if parts:
            tables[name] = pd.concat(parts, ignore_index=True)
    levels = [
        _signed(part, one)
        for one in judged
        for part in (one.by_dialogue, one.by_corpus)
        if part is not None
    ]
    if levels:
        tables["judge_and_people"] = pd.concat(levels, ignore_index=True)
    if agree is not None:
        tables["raters"] = agree
    return tables


def _signed(table: pd.DataFrame, one: Judgments) -> pd.DataFrame:
    """With what was asked and who answered, in every row."""
    return table.assign(instrument=one.scale.id, judge=one.judge, rated=one.rated)


def _notes(
    sources: Sources, options: CorporaOptions, scales: Sequence[Scale], judged: Sequence[Judgments]
) -> tuple[str, ...]:
    notes = list(sources.notes)
    for scale in scales:
        old = sum(
            (one.instrument == scale.id and one.hash != scale.hash)
            for group in sources.groups
            for one in group.rated
        )
        if old:
            notes.append(
                f"{old} ratings were made with another version of {scale.id} and are left out;"
                " rate again."
            )
        judges = judges_of(sources.groups, scale.id, scale.hash)
        if options.judge and options.judge not in judges:
            there_is = ", ".join(judges) or "no rating at all"
            notes.append(f"{scale.id}: nothing was rated by {options.judge}; there is {there_is}.")
        elif not judges:
            notes.append(f"{scale.id}: no dialogue was rated with it.")
    unrated = [group.name for group in sources.groups if not group.rated]
    if unrated and judged:
        notes.append(f"Not rated by any judge: {', '.join(unrated)}.")
    return tuple(notes)
