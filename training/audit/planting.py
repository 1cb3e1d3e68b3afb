"""A corpus with canaries in it, as a file to train on, and beside it which canaries there are and
what their coins said.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.split import Shares, split_dialogues
from simcounsel.disk import write_text, writing
from training.audit.canaries import Canary, PlantedCorpus, forms, plant
from training.errors import TrainingError


class KeptCanary(BaseModel):
    """One canary as it is kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    language: str
    form: int
    """Its number among the forms of the language."""
    fillers: tuple[int, ...]
    included: bool


class CanariesFile(BaseModel):
    """All canaries of a corpus, in and out. Whoever has this file can audit; it is no part of the
    training.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int
    canaries: tuple[KeptCanary, ...]


def write(
    corpus: tuple[Dialogue, ...], n: int, seed: int, held_out: float, file: Path
) -> tuple[PlantedCorpus, Path]:
    """Plant canaries into the part of a corpus that is trained on, and write it, every dialogue
    with its split, so that the canaries' coins alone decide; returns what was planted and the file
    of canaries. TrainingError if it has canaries already, or a file exists.
    """
    beside = file.with_suffix(".canaries.json")
    if any(one.canary for one in corpus):
        raise TrainingError("the corpus has canaries already; plant into the one without")
    if file.suffix != ".jsonl" or file.exists() or beside.exists():
        raise TrainingError(
            f"{file}: name a new file that ends in .jsonl, with no {beside.name} beside it"
        )
    split = (
        corpus
        if all(one.split for one in corpus)
        else split_dialogues(corpus, Shares(train=1 - held_out, validation=0, test=held_out), seed)
    )
    planted = plant(split, n, seed)
    file.parent.mkdir(parents=True, exist_ok=True)
    with writing(file) as put:
        for one in planted.dialogues:
            put(one.model_dump_json(exclude_defaults=True) + "\n")
    kept = CanariesFile(
        seed=seed,
        canaries=tuple(
            KeptCanary(
                id=one.id,
                language=one.form.language,
                form=forms()[one.form.language].index(one.form),
                fillers=one.fillers,
                included=one.included,
            )
            for one in planted.canaries
        ),
    )
    write_text(beside, kept.model_dump_json(indent=1) + "\n")
    return planted, beside


def read(file: Path) -> tuple[Canary, ...]:
    """The canaries of a corpus. TrainingError if the file is not as it was written."""
    try:
        found = CanariesFile.model_validate_json(file.read_bytes())
        return tuple(
            Canary(
                id=one.id,
                form=forms()[one.language][one.form],
                fillers=one.fillers,
                included=one.included,
            )
            for one in found.canaries
        )
    except OSError as error:
        raise TrainingError(
            f"{file}: cannot be read ({error.strerror}); `simcounsel train plant` writes it"
            " beside the corpus"
        ) from error
    except (ValidationError, KeyError, IndexError) as error:
        raise TrainingError(
            f"{file}: holds no canaries as `simcounsel train plant` writes them, or of another"
            " version"
        ) from error
