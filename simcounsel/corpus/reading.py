"""Dialogues out of whatever holds them: corpora, samples, runs, other records, exports, other
people's files.

    samples           the dialogues that come with simcounsel
    samples:faulted   those with planted faults
    FOLDER            a run or another record of dialogues, a folder of them (a sweep), or what
                      `export` wrote
    FILE.jsonl,       a corpus, rows as trainers use them (see `foreign`),
      .json, .parquet   or PsychEval's courses (see `psycheval`)
    FOLDER            of .txt or .json files, one dialogue or client in each, as CPsyCounD has them
    FILE.yaml         dialogues written by hand (see `handwritten`)
    FILE.txt          transcripts with a speaker before each line

Dialogues of a file called train, validation or test that say nothing of their split are in that
one.

Dialogues that people write in YAML: the samples, and files of the same form.

theme: sleep
dialogues:
- id: sleep-01
  client: Marit
  situation: I bake for a living and get up at two.
  turns:
  - client: I don't really know where to start.
    stage: introduces
  - counselor: Anywhere is fine. What made you pick today?
    skill: open question
    reasoning: She looks for permission to be unsure.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from simcounsel.corpus.dialogues import Dialogue, Fault, Origin, Turn
from simcounsel.corpus.foreign import bytes_of, dialogues_of_rows, json_rows, transcript_rows
from simcounsel.corpus.messages import Place, is_unicode
from simcounsel.corpus.psycheval import dialogues_of_course, is_course
from simcounsel.corpus.split import SPLITS
from simcounsel.corpus.transcripts import dialogues_of_run, hash_of
from simcounsel.errors import CorpusError, SpecError
from simcounsel.intake import file_bytes, json_data
from simcounsel.record_kinds import is_record, records_in
from simcounsel.runs.record import Record, open_record
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import checked
from simcounsel.specs.load import Spec, explain, load_spec
from simcounsel.specs.sweep_plan import PLAN, read_plan
from simcounsel.specs.vocabulary import Emotion, Role

LICENCE = "Apache-2.0"
"""Of the dialogues that come with simcounsel."""
WRITER = {
    "writer": (
        "written line by line for simcounsel, not by its embedded model; no real client; reviewed"
        " by no clinician"
    )
}
"""What a card says of those dialogues in place of models."""
Text = Annotated[str, Field(min_length=1)]


class WrittenTurn(Spec):
    """A line under its speaker's name, and what is known about it (see `Turn`)."""

    client: Text | None = None
    counselor: Text | None = None
    layperson: Text | None = None
    stage: str | None = None
    skill: str | None = None
    reasoning: str | None = None
    emotion: Emotion | None = None
    intensity: Annotated[int, Field(ge=1, le=10)] | None = None
    portable: bool = False
    answers: str | None = None

    @model_validator(mode="after")
    def _one_speaker(self) -> "WrittenTurn":
        if len(self.said()) != 1:
            raise ValueError(
                "a turn is one line of one speaker; write `client: ...` or `counselor: ...`"
            )
        return self

    def said(self) -> list[tuple[Role, str]]:
        """Who says what here; one pair in a good turn."""
        pairs: list[tuple[Role, str | None]] = [
            ("client", self.client),
            ("counselor", self.counselor),
            ("layperson", self.layperson),
        ]
        return [(role, text) for role, text in pairs if text is not None]

    def turn(self) -> Turn:
        """As a corpus holds it."""
        speaker, text = self.said()[0]
        return Turn(
            speaker=speaker,
            text=text,
            **self.model_dump(exclude={"client", "counselor", "layperson"}),
        )


class WrittenDialogue(Spec):
    """A dialogue; `theme` and `language` if other than the file's."""

    id: Text
    client: Text
    turns: Annotated[tuple[WrittenTurn, ...], Field(min_length=1)]
    theme: str | None = None
    language: str | None = None
    situation: str | None = None
    undisclosed: tuple[str, ...] = ()
    note: str | None = None
    faults: tuple[Fault, ...] = ()


class WrittenFile(Spec):
    """A YAML file of dialogues on one theme."""

    theme: str
    language: str = "en"
    licence: str | None = None
    dialogues: Annotated[tuple[WrittenDialogue, ...], Field(min_length=1)]


def read_written(
    file: Path, licence: str | None = None, models: dict[str, str] | None = None
) -> tuple[Dialogue, ...]:
    """The dialogues of a YAML file. licence: if the file names none. models: what wrote them, by
    role, if it is known. CorpusError names every problem with its line.
    """
    try:
        found, _ = load_spec(file, WrittenFile, "see simcounsel/corpus/reading.py")
    except SpecError as error:
        raise CorpusError(str(error)) from None
    origin = Origin(file=file.name, hash=sha256(file.read_bytes()).hexdigest(), models=models or {})
    return tuple(_dialogue(one, found, origin, licence) for one in found.dialogues)


def _dialogue(
    one: WrittenDialogue, file: WrittenFile, origin: Origin, licence: str | None
) -> Dialogue:
    return Dialogue(
        id=one.id,
        client=one.client,
        turns=tuple(turn.turn() for turn in one.turns),
        theme=one.theme or file.theme,
        language=one.language or file.language,
        situation=one.situation,
        undisclosed=one.undisclosed,
        note=one.note,
        faults=one.faults,
        licence=file.licence or licence,
        names=(one.client,),
        origin=origin,
    )


def read_samples(faulted: bool = False) -> tuple[Dialogue, ...]:
    """The dialogues that come with simcounsel, by theme; those with planted faults if `faulted`,
    else those without.
    """
    folder = Path(str(files("simcounsel.corpus").joinpath("samples")))
    chosen = [
        file
        for file in sorted(folder.glob("*.yaml"))
        if file.name.startswith("faulted-") == faulted
    ]
    return tuple(dialogue for file in chosen for dialogue in read_written(file, LICENCE, WRITER))


SAMPLES, FAULTED = "samples", "samples:faulted"
CORPUS, CARD = "corpus.jsonl", "card.json"
LOOSE = (".json", ".txt")
"""What a folder of other people's files may hold, a client or a dialogue in each."""
FILES = (".jsonl", ".json", ".parquet", ".yaml", ".yml", ".txt")


def read_dialogues(path: Path | str, *, damaged: bool = False) -> tuple[Dialogue, ...]:
    """All dialogues of a source, in its order; never none. CorpusError names file, line and what is
    wrong; RunError a damaged run, unless it is to be read as far as it can be (`damaged`).
    """
    path = Path(path)
    if str(path) in (SAMPLES, FAULTED):
        return read_samples(faulted=str(path) == FAULTED)
    if path.is_dir():
        found = _folder(path, damaged)
    elif path.is_file():
        found = _file(path)
    else:
        raise CorpusError(
            f"{path}: no such file or folder; name a corpus file, a run's folder, or the word"
            f" `{SAMPLES}`"
        )
    if not found:
        raise CorpusError(f"{path}: no dialogue in it")
    return found


def damages_in(path: Path | str) -> tuple[str, ...]:
    """Where the runs of a source are not as they were written; () for any other source."""
    path = Path(path)
    runs = [path] if is_record(path) else _runs_in(path)
    opened = (checked(open_record(run, damaged=True)) for run in runs)
    return tuple(damage for run in opened for damage in run.damages)


def _runs_in(folder: Path) -> list[Path]:
    if any((folder / name).is_file() for name in (CARD, CORPUS)):
        return []
    return records_in(folder)


def _folder(folder: Path, damaged: bool) -> tuple[Dialogue, ...]:
    if is_record(folder):
        return _run(folder, damaged)
    if (folder / CARD).is_file():
        return _export(folder)
    if (folder / CORPUS).is_file():
        return _file(folder / CORPUS)
    inner = _runs_in(folder)
    if not inner:
        return _loose(folder)
    plan = read_plan(folder)
    arms = {one.run: one.arm for one in plan.runs} if plan else {}
    return tuple(dialogue for run in inner for dialogue in _run(run, damaged, arms.get(run.name)))


def _loose(folder: Path) -> tuple[Dialogue, ...]:
    """Of a folder that holds nothing but files of dialogues, in the order of their names, with
    numbers by size: one file a client (PsychEval) or a dialogue (CPsyCounD).
    """
    files = loose_files(folder)
    if not files:
        raise CorpusError(
            f"{folder}: no run, no runs and no {CORPUS} in it, and no {' or '.join(LOOSE)} files;"
            " name a file, a run's folder, a folder of runs, or a folder of transcripts"
        )
    ordered = sorted(files, key=lambda file: (len(file.name), file.name))
    return tuple(dialogue for file in ordered for dialogue in _file(file))


def loose_files(folder: Path) -> list[Path]:
    """The files of a folder that may each hold a client or a dialogue."""
    return [
        file
        for file in folder.glob("*")
        if file.is_file() and file.suffix in LOOSE and file.name != PLAN
    ]


def _run(folder: Path, damaged: bool, arm: str | None = None) -> tuple[Dialogue, ...]:
    """Of a run of a world, or of a record of another kind. CorpusError where that holds none."""
    run = checked(open_record(folder, damaged=damaged))
    if isinstance(run, Run):
        return dialogues_of_run(run, arm=arm)
    dialogues_of = run.kind.part("dialogues")
    if dialogues_of is None:
        raise CorpusError(f"{folder}: a {run.kind.noun}, which holds no dialogues")
    return tuple(_traced(dialogue, run, arm) for dialogue in dialogues_of(run))


def _traced(dialogue: Dialogue, run: Record[Any], arm: str | None) -> Dialogue:
    """A record's dialogue with the hash of the log that it is in, and the sweep's name of its
    condition.
    """
    origin = (dialogue.origin or Origin(file=run.name)).model_copy(update={"hash": hash_of(run)})
    return dialogue.model_copy(update={"origin": origin, "condition": arm or dialogue.condition})


def _export(folder: Path) -> tuple[Dialogue, ...]:
    """What `export` wrote: the files of the splits, each dialogue with its split."""
    found: list[Dialogue] = []
    for split in SPLITS:
        for file in sorted(file for file in folder.glob(f"{split}.*") if file.suffix in FILES):
            found += (one.model_copy(update={"split": split}) for one in _file(file))
    if not found:
        raise CorpusError(
            f"{folder}: a {CARD}, but no {', '.join(f'{split}.jsonl' for split in SPLITS)} beside"
            " it; export again"
        )
    return tuple(found)


def _file(file: Path) -> tuple[Dialogue, ...]:
    """The dialogues of a file; its name tells their split, if they do not."""
    found = _read(file)
    split = next((split for split in SPLITS if file.stem == split), None)
    return (
        found
        if split is None
        else tuple(one if one.split else one.model_copy(update={"split": split}) for one in found)
    )


def _read(file: Path) -> tuple[Dialogue, ...]:
    match file.suffix.lower():
        case ".yaml" | ".yml":
            return read_written(file)
        case ".parquet":
            from simcounsel.corpus.parquet import read_parquet

            return read_parquet(file)
        case ".txt":
            return tuple(_objects(file, transcript_rows(file)))
        case ".jsonl" | ".json" | ".ndjson":
            return tuple(_objects(file, json_rows(file)))
    raise CorpusError(f"{file}: no corpus that can be read; there are {', '.join(FILES)}")


def _objects(file: Path, rows: Iterator[tuple[int, Any]]) -> Iterator[Dialogue]:
    """Rows as dialogues: ours as they are, all others through `foreign`."""
    origin = Origin(file=file.name, hash=sha256(bytes_of(file)).hexdigest())
    learner = _learner(file.parent / CARD)
    foreign: list[tuple[Place, Any]] = []
    for number, (line, row) in enumerate(rows, 1):
        if _is_ours(row):
            yield from dialogues_of_rows(foreign)
            foreign = []
            yield _ours(file, line, row, origin)
            continue
        place = Place(file=str(file), line=line, number=number, origin=origin, learner=learner)
        if is_course(row):
            yield from dialogues_of_rows(foreign)
            foreign = []
            yield from dialogues_of_course(place, row)
        else:
            foreign.append((place, row))
    yield from dialogues_of_rows(foreign)


def _is_ours(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and {"id", "client", "turns"} <= row.keys()
        and isinstance(row["turns"], list)
        and all(
            isinstance(turn, dict) and "speaker" in turn and "text" in turn for turn in row["turns"]
        )
    )


def _ours(file: Path, line: int, row: dict[str, Any], origin: Origin) -> Dialogue:
    try:
        if not is_unicode(json.dumps(row, ensure_ascii=False)):
            raise CorpusError(f"{file}:{line}: holds half a character; save the file as UTF-8")
        return Dialogue.model_validate(row | {"origin": row.get("origin") or origin.model_dump()})
    except ValidationError as error:
        raise CorpusError(
            explain(error.errors(include_url=False)[0], Dialogue, file, {(): line})
        ) from None


def _learner(card: Path) -> Role:
    """Which side `assistant` stands for: what the export's card says; the counselor where there is
    none.
    """
    try:
        side = json_data(file_bytes(card))["options"]["side"]
    except (OSError, ValueError, KeyError, TypeError):
        return "counselor"
    return "client" if side == "client" else "counselor"
