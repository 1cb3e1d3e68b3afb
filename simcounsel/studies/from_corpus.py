"""Items of a study out of corpora: dialogues, blinded, drawn by theme as `corpus rate` draws
them.
"""

from collections.abc import Iterator
from pathlib import Path

from simcounsel.corpus.blind import blind_lines
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.rated import label_of
from simcounsel.corpus.reading import CARD, CORPUS, FAULTED, SAMPLES, loose_files, read_dialogues
from simcounsel.corpus.sampling import draw
from simcounsel.errors import StudyError
from simcounsel.record_kinds import WORLD, is_record, kind_of, records_in
from simcounsel.studies.instrument import RatingInstrument
from simcounsel.studies.items import Choice, Found
from simcounsel.studies.study import Origin
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
    if instrument.about != "transcripts":
        raise StudyError(
            f"{path}: a corpus holds transcripts, and this instrument is about"
            f" {instrument.about}; choose"
            " dialogue_quality, or name runs"
        )
    chosen = [one for one in read_dialogues(path) if _fits(one, choice)]
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
