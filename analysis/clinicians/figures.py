"""What clinicians said of a pack, as numbers: among themselves, with judges, with the rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.clinicians.coefficients import Floats, agreement
from analysis.clinicians.freezing import TALKS, Pack
from analysis.clinicians.plan import DIMENSIONS
from analysis.judge_figures import Figure
from analysis.statistics.contrasts import Contrast, paired_t
from simcounsel.corpus.rated import folder_of, read_rated, text_hash
from simcounsel.corpus.reading import read_dialogues
from simcounsel.studies.study import open_study
from simcounsel.studies.table import rows

QUESTIONS = tuple(one for pair in DIMENSIONS.values() for one in pair)
POINTS = 3
CLINICAL = ("psychologist, counselor or psychotherapist", "another health profession")
"""Who counts as a clinician, by what they say of themselves."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """A rater, by number only."""

    number: int
    profession: str | None
    """As they said; None where they did not say."""
    practice: str | None
    rated: int
    """Talks."""
    failed: int
    """Checks of attention."""

    @property
    def clinician(self) -> bool:
        """Whether they say that they are one."""
        return self.profession in CLINICAL


@dataclass(frozen=True, kw_only=True)
class Answers:
    """All that was said of the talks of a pack, in its order."""

    values: Floats
    """Talks by questions by raters; NaN where nothing was said, or "cannot say"."""
    people: tuple[Person, ...]
    judges: dict[str, Floats]
    """By model: talks by questions, whole numbers; NaN where it gave none."""


def read_pack_answers(folder: Path, pack: Pack) -> Answers:
    """Of all sittings and all judges."""
    place = {one.id: at for at, one in enumerate(pack.talks)}
    asked = {one: at for at, one in enumerate(QUESTIONS)}
    values = np.full((len(place), len(asked), pack.plan.raters), np.nan)
    said: dict[int, dict[str, Any]] = {}
    rated: dict[int, set[str]] = {}
    failed: dict[tuple[int, str], int] = {}
    for sitting in pack.sittings:
        names = [one.name for one in open_study(folder / sitting.folder).raters]
        for row in rows(folder / sitting.folder):
            who = names.index(row["rater"])
            if row["value"] is not None:
                values[place[row["chat"]], asked[row["question"]], who] = row["value"]
            rated.setdefault(who, set()).add(row["chat"])
            failed[who, sitting.folder] = row["checks_failed"]
            said.setdefault(who, {}).update(_facts(row["about_rater"]))
    people = tuple(
        Person(
            number=who + 1,
            profession=said.get(who, {}).get("profession"),
            practice=said.get(who, {}).get("practice"),
            rated=len(rated.get(who, ())),
            failed=sum(count for (one, _), count in failed.items() if one == who),
        )
        for who in range(pack.plan.raters)
    )
    return Answers(values=values, people=people, judges=_judges(folder, pack, place, asked))


def _facts(text: str) -> dict[str, str]:
    return dict(one.split(": ", 1) for one in text.split("; ") if ": " in one)


def _judges(
    folder: Path, pack: Pack, place: dict[str, int], asked: dict[str, int]
) -> dict[str, Floats]:
    """The first rating of each judge, of the talks as they are; what lies between two answers is
    rounded.
    """
    texts = {one.id: text_hash(one) for one in read_dialogues(folder / TALKS)}
    found: dict[str, Floats] = {}
    for one in read_rated(folder_of(folder / TALKS)):
        same = one.round == 0 and one.instrument == pack.plan.instrument
        if not same or texts.get(one.dialogue) != one.text:
            continue
        grid = found.setdefault(one.judge, np.full((len(place), len(asked)), np.nan))
        for item, value in one.items.items():
            if value is not None and item in asked:
                grid[place[one.dialogue], asked[item]] = np.floor(value + 0.5)
    return found


def consensus(values: Floats) -> Floats:
    """The median of two or more raters; NaN where fewer said anything. Between two numbers where
    two raters differ by one and the third said nothing.
    """
    known = (~np.isnan(values)).sum(axis=-1)
    filled = np.where((known > 1)[..., None], values, 0)
    return np.where(known > 1, np.nanmedian(filled, axis=-1), np.nan)


def ties(values: Floats) -> int:
    """How often the consensus lies between two answers."""
    found = consensus(values)
    return int((np.nan_to_num(found) % 1 != 0).sum())


def beside(answers: Answers, judge: str) -> Floats:
    """Talks by questions by two: the consensus, and a judge."""
    return np.stack([consensus(answers.values), answers.judges[judge]], axis=-1)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of a table: the same part of the talks or questions, for all who are compared."""

    part: str
    figures: dict[str, list[Figure]]
    """By `clinicians` or the judge's name: alpha, kappa, the same answers."""


def all_rows(pack: Pack, answers: Answers) -> dict[str, list[Row]]:
    """Tables by title; each row is a part of the talks or of the questions."""
    every = list(range(len(pack.talks)))
    return {
        "All together": [_row("all talks, all questions", every, None, answers)],
        "By question": [_row(one, every, at, answers) for at, one in enumerate(QUESTIONS)],
        "By danger": [_row(name, some, None, answers) for name, some in _dangers(pack)],
        "By counselor": [
            _row(name, [n for n in every if pack.talks[n].counselor == at], None, answers)
            for at, name in enumerate(pack.plan.counselors)
        ],
    }


def _dangers(pack: Pack) -> Iterator[tuple[str, list[int]]]:
    names = [
        "ordinary session"
        if one.kind == "session"
        else {"none": "nothing wrong"}.get(one.danger, one.danger)
        for one in pack.talks
    ]
    for name in dict.fromkeys(names):
        yield name, [at for at, other in enumerate(names) if other == name]


def _row(part: str, talks: Sequence[int], question: int | None, answers: Answers) -> Row:
    def picked(values: Floats) -> Floats:
        some = values[list(talks)]
        return some if question is None else some[:, [question]]

    figures = {"clinicians": agreement(picked(answers.values), part, POINTS)}
    for judge in answers.judges:
        figures[judge] = agreement(picked(beside(answers, judge)), part, POINTS)
    return Row(part=part, figures=figures)


def with_rules(pack: Pack, answers: Answers) -> list[Row]:
    """By dimension of the crises: whether the rules found it to hold, with whether the consensus
    of both questions is the best answer.
    """
    best = consensus(answers.values)
    found = []
    for name, pair in DIMENSIONS.items():
        own = best[:, [QUESTIONS.index(one) for one in pair]]
        known = np.asarray(~np.isnan(own).all(axis=1))
        whole = np.nanmin(np.where(known.reshape(-1, 1), own, 0), axis=1) >= POINTS
        people = np.where(known, np.where(whole, 2.0, 1.0), np.nan)
        rules = np.array([_code(one.checks.get(name)) for one in pack.talks])
        both = np.stack([people, rules], axis=-1)[:, None, :]
        found.append(Row(part=name, figures={"rules": agreement(both, name, 2)}))
    return found


def _code(holds: bool | None) -> float:
    return np.nan if holds is None else 2.0 if holds else 1.0


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The second counselor against the first, as clinicians see them, over the same crises."""

    part: str
    means: tuple[float, float] | None
    """Of the first and the second, 1 to 3; None without pairs."""
    contrast: Contrast


def differences(pack: Pack, answers: Answers) -> list[Difference]:
    """Over all questions and by dimension: the mean of the consensus in each crisis, paired."""
    best = consensus(answers.values)
    found = []
    for name, pair in {"all questions": QUESTIONS, **DIMENSIONS}.items():
        own = best[:, [QUESTIONS.index(one) for one in pair]]
        known = (~np.isnan(own)).sum(axis=1)
        mean = np.where(known > 0, np.nansum(own, axis=1) / np.maximum(known, 1), np.nan)
        pairs = _paired(pack, mean)
        first, second = ([one[at] for one in pairs] for at in (0, 1))
        means = (float(np.mean(first)), float(np.mean(second))) if pairs else None
        names = (pack.plan.counselors[1], pack.plan.counselors[0])
        contrast = paired_t(second, first, names=names)
        found.append(Difference(part=name, means=means, contrast=contrast))
    return found


def _paired(pack: Pack, mean: Floats) -> list[tuple[float, float]]:
    sides: dict[str, dict[int, float]] = {}
    for one, value in zip(pack.talks, mean, strict=True):
        if one.kind == "crisis" and not np.isnan(value):
            sides.setdefault(one.case, {})[one.counselor] = float(value)
    return [(one[0], one[1]) for one in sides.values() if len(one) == 2]
