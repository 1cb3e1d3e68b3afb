"""The folder of an export: written beside its place under another name, and put there when it is
complete.

Croissant metadata of training data: which files there are, what they hold, under which licence
(https://docs.mlcommons.org/croissant/docs/croissant-spec-1.0.html). The rows of most formats are
conversations, nested lists that Croissant's record sets do not describe well, so that the files are
told and the rows left to `datasets`.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any

from simcounsel.corpus.card import Card, Written
from simcounsel.corpus.card_text import about, readme
from simcounsel.corpus.dialogues import Dialogue, Split
from simcounsel.corpus.formats import Format
from simcounsel.corpus.parquet import write_parquet
from simcounsel.corpus.teaching import Teaching
from simcounsel.disk import write_text, writing
from simcounsel.errors import CorpusError
from simcounsel.intake import file_bytes, json_data

ENCODINGS = {
    "jsonl": "application/jsonlines",
    "parquet": "application/x-parquet",
    "txt": "text/plain",
}
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
}


def croissant(card: Card, name: str) -> str:
    """The metadata of what a card describes. name: of the data set."""
    licences = sorted(card.licences)
    told = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": about(card),
        "license": licences[0] if len(licences) == 1 else licences,
        "version": card.simcounsel,
        "creator": {"@type": "sc:Organization", "name": "made with simcounsel"},
        "inLanguage": sorted(card.languages),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file,
                "name": file,
                "contentUrl": file,
                "contentSize": f"{written.bytes} B",
                "encodingFormat": ENCODINGS[file.rpartition(".")[2]],
                "sha256": written.hash,
            }
            for file, written in card.files.items()
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


CARD, README, INFO = "card.json", "README.md", "dataset_info.json"
CROISSANT = "croissant.json"
STEP = 500
"""Progress is told each time that this many dialogues were read."""


class Folder:
    """Use it as a context: what is not finished when the context ends is removed, and what was
    there before stays.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.files: dict[str, Written] = {}
        self._part = out.with_name(f".{out.name}.part")

    @classmethod
    def claim(cls, out: Path) -> "Folder":
        """A folder that is not there yet, is empty, or holds an earlier export and nothing else.
        CorpusError otherwise.
        """
        out = Path(os.path.abspath(out))
        if out.is_file():
            raise CorpusError(f"{out}: a file; name a new folder for the training data")
        if out.is_dir():
            strange = sorted(file.name for file in out.iterdir() if file.name not in _earlier(out))
            if strange:
                raise CorpusError(
                    f"{out}: holds {strange[0]!r}, which no export wrote; name a new folder, or"
                    " move that away"
                )
        return cls(out)

    def __enter__(self) -> "Folder":
        with _plainly(self.out):
            shutil.rmtree(self._part, ignore_errors=True)
            self._part.mkdir(parents=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._part, ignore_errors=True)

    def write(
        self,
        form: Format,
        split: Split,
        dialogues: Sequence[Dialogue],
        teaching: Teaching,
        tell: Callable[[str, int, int], None],
    ) -> int:
        """The file of one split; how many rows it got."""
        file = self._part / f"{split}.{form.suffix}"
        with _plainly(self.out):
            rows = _write(file, form, split, dialogues, teaching, tell)
            self.files[file.name] = Written(
                rows=rows, bytes=file.stat().st_size, hash=_sha256(file)
            )
        return rows

    def finish(self, card: Card, form: Format) -> None:
        """The cards, and the folder to its place."""
        texts = {
            CARD: json.dumps(card.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n",
            README: readme(card),
            CROISSANT: croissant(card, self.out.name),
        }
        if form.dataset_info is not None:
            info = {
                f"simcounsel_{file.split('.')[0]}": {"file_name": file, **form.dataset_info}
                for file in self.files
            }
            texts[INFO] = json.dumps(info, ensure_ascii=False, indent=1) + "\n"
        with _plainly(self.out):
            for name, text in texts.items():
                write_text(self._part / name, text)
            before = self.out.with_name(f".{self.out.name}.before")
            shutil.rmtree(before, ignore_errors=True)
            if self.out.is_dir():
                self.out.rename(before)
            self._part.rename(self.out)
            shutil.rmtree(before, ignore_errors=True)


def _earlier(out: Path) -> set[str]:
    """The names that an export wrote into a folder; none if there is no card of ours."""
    try:
        card: Any = json_data(file_bytes(out / CARD))
        return (
            {CARD, README, INFO, CROISSANT, *card["files"]}
            if {"simcounsel", "format", "privacy"} <= card.keys()
            else set()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _write(
    file: Path,
    form: Format,
    split: str,
    dialogues: Sequence[Dialogue],
    teaching: Teaching,
    tell: Callable[[str, int, int], None],
) -> int:
    if form.name == "parquet":
        write_parquet(
            file,
            ((dialogue, next(form.rows(dialogue, teaching))["messages"]) for dialogue in dialogues),
        )
        tell(f"writing {split}", len(dialogues), len(dialogues))
        return len(dialogues)
    rows = 0
    with writing(file, errors="strict") as put:
        for number, dialogue in enumerate(dialogues, 1):
            for row in form.rows(dialogue, teaching):
                put(form.line(row))
                rows += 1
            if number % STEP == 0 or number == len(dialogues):
                tell(f"writing {split}", number, len(dialogues))
    return rows


def _sha256(file: Path) -> str:
    with file.open("rb") as reading:
        digest = sha256()
        while block := reading.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def _plainly(out: Path) -> Iterator[None]:
    """Says what the disk refuses in one sentence."""
    try:
        yield
    except OSError as error:
        raise CorpusError(
            f"{out}: cannot be written ({error.strerror or error}); free some space or name another"
            " folder with -o"
        ) from None
