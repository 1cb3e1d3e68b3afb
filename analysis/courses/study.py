"""What comes after the runs: the tables, as a page and as CSV, and a card."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.courses.battery import battery
from analysis.courses.counting import sessions_of
from analysis.courses.design import Courses, Part, parts_of
from analysis.courses.imported import Imported, imported
from analysis.courses.leaderboard import CARD, Entered, apart, boards, card_of, names_of
from analysis.courses.tables import Played, tables
from analysis.finding import find
from analysis.page import command_line, write_page
from analysis.reading import read_tables
from analysis.replication.study import reach, shown, single
from analysis.sample import Sample
from simcounsel import __version__
from simcounsel.disk import write_text
from simcounsel.runs.measurements import is_trial
from simcounsel.therapies.specs.therapy import find_therapy


def finish(folder: Path, wanted: Courses, others: Sequence[Path] = ()) -> Iterator[str]:
    """OUT/courses.html, .md, tables/ and card.json; in words what was written. others: folders of
    studies that stand on the leaderboard, too.
    """
    parts = parts_of(wanted) if wanted.counselors else ()
    where = {part.name: part.therapy for part in parts}
    corpora = imported([Path(one) for one in wanted.corpora])
    played = _played(folder, where, corpora, wanted.therapies)
    names = names_of((folder, *others))
    entered = [
        Entered(name=names[0], card=_card(wanted, parts, played), played=played),
        *(_entered(other, name) for other, name in zip(others, names[1:], strict=True)),
    ]
    made = (*boards(entered), *tables(played)) if len(entered) > 1 else tuple(tables(played))
    context = {
        "tables": made,
        "therapies": tuple(one.therapy for one in played),
        "counselors": tuple(dict.fromkeys(arm for one in played for arm in one.arms)),
        "corpora": tuple(one.label for one in corpora),
        "runs": sum(len(one.sample.members) for one in played),
        "excluded": sum(len(one.sample.excluded) for one in played),
        "toys": sorted(
            {toy for one in played for toy in one.sample.toys()}
            | {judge for one in corpora for judge in one.judges if is_trial(judge)}
        ),
        "open_ends": sum(len(one.sample.open_ends) for one in played),
        "differs": battery().differs,
        "apart": tuple(apart(entered)),
        "shown": shown,
        "single": single,
        "reach": reach,
        "command": command_line(),
    }
    frames = {table.id: table.frame() for table in made}
    page = write_page(folder / "courses.html", "courses", context, {}, frames)
    card = json.dumps(entered[0].card, indent=1, ensure_ascii=False)
    write_text(folder / CARD, card + "\n")
    yield f"page         {page}"
    yield f"as text      {page.with_suffix('.md')}"
    yield f"tables       {folder / 'tables'} ({len(made)} CSV files)"
    yield f"card         {folder / CARD}"


def _entered(folder: Path, name: str) -> Entered:
    """Another study, as its card and its runs say."""
    card = card_of(folder)
    return Entered(name=name, card=card, played=_played(folder, card["parts"], (), ()))


def _played(
    folder: Path, where: "dict[str, str]", corpora: Sequence[Imported], otherwise: Sequence[str]
) -> tuple[Played, ...]:
    """By therapy: what was played, in the folders that are named with their therapy, and the
    sessions of corpora that are of it, or of which nobody says which. otherwise: the therapies
    where nothing was played and nobody says which.
    """
    named = (one.sessions["therapy"].dropna().unique() for one in corpora)
    kinds = dict.fromkeys([*where.values(), *(str(one) for some in named for one in some)])
    found = []
    for therapy in kinds or (otherwise if corpora else ()):
        samples = [find([folder / part / "runs"]) for part in where if where[part] == therapy]
        read = [read_tables(sample)["measurements"] for sample in samples]
        talks = [sessions_of(sample) for sample in samples]
        arms = dict.fromkeys(arm for sample in samples for arm in sample.arms)
        for one in corpora:
            own = [_of(table, therapy) for table in (one.measurements, one.sessions)]
            if len(own[1]):
                read, talks = [*read, own[0]], [*talks, own[1]]
                arms[one.label] = None
        found.append(
            Played(
                therapy=therapy,
                sample=_one_of(samples),
                arms=tuple(arms),
                measurements=pd.concat(read, ignore_index=True),
                sessions=pd.concat(talks, ignore_index=True),
            )
        )
    return tuple(found)


def _of(table: pd.DataFrame, therapy: str) -> pd.DataFrame:
    return table[table["therapy"].isna() | (table["therapy"] == therapy)]


def _one_of(samples: Sequence[Sample]) -> Sample:
    """Several experiments as one sample; the order of arms is the first one's."""
    if not samples:
        return Sample(members=(), excluded=(), experiment=None)
    return replace(
        samples[0],
        members=tuple(member for one in samples for member in one.members),
        excluded=tuple(one for sample in samples for one in sample.excluded),
        damages=tuple(one for sample in samples for one in sample.damages),
    )


def _card(wanted: Courses, parts: Sequence[Part], played: Sequence[Played]) -> dict[str, Any]:
    """What was run, so that two results can be compared: settings, versions, sizes of the
    catalogue, and of each run the digest of its manifest, which its log's chain begins with.
    """
    schools = [find_therapy(one.therapy) for one in played]
    return {
        "settings": asdict(wanted),
        "simcounsel": __version__,
        "parts": {part.name: part.therapy for part in parts},
        "skills": {one.id: sum(len(meta.skills) for meta in one.skills) for one in schools},
        "runs": {
            f"{one.therapy}/{member.name}": {
                "therapy": one.therapy,
                "counselor": member.arm,
                "client": list(member.clients),
                "models": member.models,
                "digest": member.manifest.get("digest"),
            }
            for one in played
            for member in one.sample.members
        },
    }
