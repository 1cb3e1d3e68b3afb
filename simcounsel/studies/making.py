"""Making a study out of runs and corpora: blinded items, each rater's order, the key."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simcounsel.chance import chance
from simcounsel.errors import StudyError
from simcounsel.studies.entry import CHECK_POINTS
from simcounsel.studies.from_corpus import is_corpus, of_corpus
from simcounsel.studies.from_runs import of_runs
from simcounsel.studies.instrument import About, RatingInstrument
from simcounsel.studies.items import Choice, Found
from simcounsel.studies.study import Key, Rater, Shown, Study, refuse_taken, write_study

LETTER: dict[About, str] = {
    "transcripts": "T",
    "personas": "P",
    "persona and talk": "C",
    "recalls": "M",
}
"""With which an item's id begins."""


def make_study(
    runs: Sequence[Path],
    instrument: RatingInstrument,
    out: Path,
    *,
    raters: int | None = None,
    seed: int = 0,
    choice: Choice | None = None,
) -> Study:
    """Draw a blind study from runs, folders of runs and corpora, and write it to `out`.

    The order of each rater comes from (seed, rater); so the same runs and seed give the same study,
    but for its tokens. StudyError when nothing is found, or the folder is taken.
    """
    refuse_taken(out)
    wanted = choice or Choice()
    corpora = [path for path in runs if is_corpus(path)]
    lived = [path for path in runs if path not in corpora]
    found = _once(
        [
            *of_runs(lived, instrument, wanted, seed),
            *(item for path in corpora for item in of_corpus(path, instrument, wanted, seed)),
        ]
    )
    if not found:
        raise StudyError(_nothing(instrument, wanted, runs))
    chance(seed, "rating items").shuffle(found)
    ids = [
        f"{LETTER[instrument.about]}{number:0{len(str(len(found)))}d}"
        for number in range(1, len(found) + 1)
    ]
    names = [f"rater-{number:02d}" for number in range(1, (raters or instrument.raters) + 1)]
    study = Study(
        study=secrets.token_hex(6),
        instrument=instrument.of_each(),
        items=tuple(Shown(id=id, **dict(item.seen)) for id, item in zip(ids, found, strict=True)),
        raters=tuple(
            Rater(
                name=name,
                token=secrets.token_urlsafe(18),
                order=order_of(ids, seed, name),
                checks=checks_of(order_of(ids, seed, name), instrument.checks_every, seed, name),
            )
            for name in names
        ),
    )
    made = datetime.now(UTC).isoformat(timespec="seconds")
    write_study(
        out,
        study,
        Key(
            study=study.study,
            made=made,
            seed=seed,
            items={id: item.origin for id, item in zip(ids, found, strict=True)},
        ),
    )
    return study


def order_of(ids: Sequence[str], seed: int, rater: str) -> tuple[str, ...]:
    """The order in which one rater meets the items."""
    drawn = list(ids)
    chance(seed, "rating order", rater).shuffle(drawn)
    return tuple(drawn)


def checks_of(order: Sequence[str], every: int, seed: int, rater: str) -> dict[str, int]:
    """With which items a rater's attention is checked, one in each stretch of `every`, and the
    number that is asked for.
    """
    drawn = chance(seed, "rating checks", rater)
    stretches = [order[at : at + every] for at in range(0, len(order), every)] if every else []
    return {drawn.choice(some): drawn.randint(1, CHECK_POINTS) for some in stretches}


def _nothing(instrument: RatingInstrument, choice: Choice, runs: Sequence[Path]) -> str:
    where = ", ".join(map(str, runs))
    if instrument.about == "personas":
        return (
            f"{where}: no client whose persona changed; a longer run has reflections that change it"
        )
    if instrument.about == "recalls":
        return (
            f"{where}: no moment before a line of {choice.who or 'a client'} at which the two ways"
            " of recall differ; a longer run has more memories to choose from"
        )
    whom = " or ".join(choice.partners)
    who = choice.who or "a client"
    return (
        f"{where}: no finished conversation of {who} with a {whom} of {choice.fewest_lines} lines"
        " or more; see --who, --with and --min-lines"
    )


def _once(found: Sequence[Found]) -> list[Found]:
    """The same text once only: nobody should judge a shared past twice."""
    kept: dict[Any, Found] = {}
    for item in found:
        seen = item.seen
        two = (frozenset(seen.texts), frozenset(seen.recalls))  # whichever of them is first
        same = (*two, seen.lines, seen.sheet, seen.did, seen.mood)
        first = kept.setdefault(same, item)
        if first is not item:
            origin = first.origin.model_copy(
                update={"also_in": (*first.origin.also_in, item.origin.run)}
            )
            kept[same] = Found(origin=origin, seen=first.seen)
    return list(kept.values())
