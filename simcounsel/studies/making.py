"""Making a study out of runs, corpora and benches: blinded items, each rater's order, the key.

Items of a study out of corpora: dialogues, blinded, drawn by theme as `corpus rate` draws
them. Those of benches are replies to the same lines by each model.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simcounsel.chance import chance
from simcounsel.corpus.blind import blind_lines
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.rated import label_of
from simcounsel.corpus.reading import CARD, CORPUS, FAULTED, SAMPLES, loose_files, read_dialogues
from simcounsel.corpus.sampling import draw
from simcounsel.errors import StudyError
from simcounsel.record_kinds import WORLD, is_record, kind_of, records_in
from simcounsel.studies.entry import CHECK_POINTS
from simcounsel.studies.from_benches import is_bench, same_replies
from simcounsel.studies.from_runs import of_runs
from simcounsel.studies.instrument import About, RatingInstrument
from simcounsel.studies.items import Choice, Found
from simcounsel.studies.study import Key, Origin, Rater, Shown, Study, refuse_taken, write_study
from simcounsel.studies.study_parts import Line, Seen


def is_corpus(path: Path) -> bool:
    """Whether a path is a corpus and no run of a world: a file, the word `samples`, an export, a
    record of another kind, a folder of such records, or one of other people's files.
    """
    if not path.is_dir():
        return path.is_file() or str(path) in (SAMPLES, FAULTED)
    records = [path] if is_record(path) else records_in(path)
    return (
        all(kind_of(one) is not WORLD for one in records)
        if records
        else any((path / name).is_file() for name in (CORPUS, CARD)) or bool(loose_files(path))
    )


def of_corpus(
    path: Path, instrument: RatingInstrument, choice: Choice, seed: int
) -> Iterator[Found]:
    """The chosen dialogues of a corpus. StudyError when the instrument is about personas;
    CorpusError when the corpus cannot be read.
    """
    _check_about(path, instrument)
    yield from _blinded(path, read_dialogues(path), instrument, choice, seed)


def of_benches(
    paths: Sequence[Path], instrument: RatingInstrument, choice: Choice, seed: int
) -> Iterator[Found]:
    """Replies of each bench to the same lines, however short what was said before. StudyError when
    the benches share none.
    """
    if not paths:
        return
    _check_about(paths[0], instrument)
    short = replace(choice, fewest_lines=2)
    for path, dialogues in same_replies(paths).items():
        yield from _blinded(path, dialogues, instrument, short, seed)


def _check_about(path: Path, instrument: RatingInstrument) -> None:
    if instrument.about != "transcripts":
        raise StudyError(
            f"{path}: a corpus or a bench holds transcripts, and this instrument is about"
            f" {instrument.about}; choose"
            " dialogue_quality or reply_quality, or name runs"
        )


def _blinded(
    path: Path,
    dialogues: Sequence[Dialogue],
    instrument: RatingInstrument,
    choice: Choice,
    seed: int,
) -> Iterator[Found]:
    chosen = [one for one in dialogues if _fits(one, choice)]
    for one in draw(chosen, choice.most, seed).dialogues:
        yield Found(
            origin=_origin(path, one),
            seen=Seen(
                lines=tuple(
                    Line(speaker=speaker, text=text)
                    for speaker, text in blind_lines(
                        one, instrument.person, instrument.partner, instrument.mask
                    )
                )
            ),
        )


def _fits(dialogue: Dialogue, choice: Choice) -> bool:
    partner = _partner(dialogue)
    return (
        partner in choice.partners
        and choice.who in (None, dialogue.client)
        and (choice.chats is None or dialogue.id in choice.chats)
        and len(dialogue.turns) >= choice.fewest_lines
        and bool(dialogue.lines("client"))
    )


def _partner(dialogue: Dialogue) -> str | None:
    """Who talks with the client; None when nobody does."""
    return next((turn.speaker for turn in dialogue.turns if turn.speaker != "client"), None)


def _origin(path: Path, dialogue: Dialogue) -> Origin:
    models = sorted(set(dialogue.origin.models.values())) if dialogue.origin else []
    return Origin(
        run=label_of(path),
        folder=str(path),
        condition=dialogue.condition,
        world=None,
        world_seed=None,
        model="; ".join(models) or None,
        person=dialogue.client,
        partner_role=_partner(dialogue),
        chat=dialogue.id,
    )


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
    """Draw a blind study from runs, folders of runs, corpora and benches, and write it to `out`.

    The order of each rater comes from (seed, rater); so the same runs and seed give the same study,
    but for its tokens. StudyError when nothing is found, or the folder is taken.
    """
    refuse_taken(out)
    wanted = choice or Choice()
    benches = [path for path in runs if is_bench(path)]
    corpora = [path for path in runs if path not in benches and is_corpus(path)]
    lived = [path for path in runs if path not in (*benches, *corpora)]
    found = _once(
        [
            *of_runs(lived, instrument, wanted, seed),
            *(item for path in corpora for item in of_corpus(path, instrument, wanted, seed)),
            *of_benches(benches, instrument, wanted, seed),
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
