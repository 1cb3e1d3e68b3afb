"""A study as files: what raters may see in study.json, where it comes from in key.json.

study.json holds a digest of key.json and one of itself, from which the answers' chain begins: so
nobody's answer can come to belong to another text or condition unseen.
"""

import secrets
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from simcounsel import disk
from simcounsel.errors import StudyError
from simcounsel.intake import file_bytes, json_data
from simcounsel.runs.chain import fields_digest
from simcounsel.secret import scrub
from simcounsel.studies.instrument import RatingInstrument
from simcounsel.studies.study_parts import Part, Seen

FORMAT: Literal[1] = 1
M = TypeVar("M", bound=BaseModel)


class Shown(Seen):
    """An item under its id, as a rater sees it."""

    id: str


class Rater(Part):
    """A rater."""

    name: str
    token: str
    """The secret part of the link."""
    order: tuple[str, ...]
    """Ids of the items, as this rater meets them."""
    checks: dict[str, int] = Field(default_factory=dict)
    """With which items a check of attention stands, and which number it asks for."""


class Study(Part):
    """study.json: everything that the raters' pages need, and nothing that tells a condition."""

    format: Literal[1] = FORMAT
    study: str
    instrument: RatingInstrument
    items: Annotated[tuple[Shown, ...], Field(min_length=1)]
    raters: Annotated[tuple[Rater, ...], Field(min_length=1)]
    key: str | None = None
    """The digest of key.json; None in studies of earlier versions."""
    digest: str | None = None
    """Over all the rest of study.json, likewise."""

    def rater(self, token: str) -> Rater | None:
        """Whose link that is; compared in constant time."""
        return next(
            (
                r
                for r in self.raters
                if secrets.compare_digest(r.token.encode(), token.encode("utf-8", "replace"))
            ),
            None,
        )

    def called(self, name: str) -> Rater | None:
        """The rater of that name."""
        return next((r for r in self.raters if r.name == name), None)

    def shown_to(self, rater: Rater) -> dict[str, Any]:
        """What that rater's page reads: the instrument and the items in this rater's order."""
        items = {item.id: item for item in self.items}
        asked = self.instrument.model_dump(
            mode="json", exclude={"mask", "raters", "items", "checks_every"}
        )
        asked["items"] = [item.model_dump(mode="json") for item in self.instrument.items]
        if self.instrument.training:
            shown = self.instrument.training.shown
            asked["training"]["shown"] = shown.model_dump(mode="json", exclude_defaults=True)
        return {
            "study": self.study,
            "rater": rater.name,
            "instrument": asked,
            "checks": rater.checks,
            "items": [
                items[id].model_dump(mode="json", exclude_defaults=True) for id in rater.order
            ],
        }


class Origin(Part):
    """Where an item comes from. `None` means that the run does not say, or that it is of the other
    kind.
    """

    run: str
    folder: str
    condition: str | None
    world: str | None
    world_seed: int | None
    model: str | None
    person: str
    """Whose talk or persona it is."""
    partner: str | None = None
    """With whom the talk is."""
    partner_role: str | None = None
    """Counselor, layperson or client."""
    chat: str | None = None
    earlier: Literal[1, 2] | None = None
    """Which of the two texts is the earlier, 1 or 2."""
    version: int | None = None
    """The number of the later one."""
    ways: tuple[str, ...] = ()
    """The two ways of recall, in the order in which they are shown."""
    message: int | None = None
    """The number of the line before which it was recalled."""
    also_in: tuple[str, ...] = ()
    """Runs in which the very same text stands, such as forks that share a past."""


class Key(Part):
    """key.json: for whoever made the study, after the study. The site never reads it."""

    study: str
    made: str
    seed: int
    items: dict[str, Origin]


def open_study(folder: Path) -> Study:
    """The study in that folder. StudyError when there is none, or it is not as it was written."""
    study, digest = _read(folder / "study.json", Study)
    if study.digest not in (None, digest):
        raise StudyError(
            f"{folder / 'study.json'}: it was changed after it was written (its digest does not"
            " fit), so answers may belong to other texts; put it back as it was"
        )
    return study


def open_key(folder: Path) -> Key:
    """The key of the study in that folder. StudyError when it is missing, or not as it was
    written.
    """
    wanted = open_study(folder).key
    key, digest = _read(folder / "key.json", Key)
    if wanted not in (None, digest):
        raise StudyError(
            f"{folder / 'key.json'}: it was changed after it was written (its digest in study.json"
            " does not fit), so items may belong to other conditions; put it back as it was"
        )
    return key


def _read(file: Path, kind: type[M]) -> tuple[M, str]:
    """What a file holds, and its digest."""
    try:
        fields = json_data(file_bytes(file))
        return kind.model_validate(fields), fields_digest(fields)
    except FileNotFoundError:
        raise StudyError(
            f"{file}: no such file; `simcounsel study rate-page RUNS --instrument NAME --out"
            f" {file.parent}` makes a study"
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise StudyError(
            f"{file}: damaged ({where}: {first['msg']}); take it from a backup, or make the study"
            " again"
        ) from None
    except (ValueError, OSError) as error:
        raise StudyError(
            f"{file}: cannot be read ({str(error).splitlines()[0]}); take it from a backup, or make"
            " the study again"
        ) from None


def refuse_taken(folder: Path) -> None:
    """StudyError when a folder holds a study, or answers to one."""
    taken = next(
        (name for name in ("study.json", "answers.jsonl") if (folder / name).exists()), None
    )
    if taken is not None:
        raise StudyError(
            f"{folder}: holds a study already ({taken}); choose another --out, or go on with that"
            f" one: `simcounsel study rate-page --out {folder} --serve`"
        )
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"{folder}: a file, not a folder; choose another --out")


def write_study(folder: Path, study: Study, key: Key) -> None:
    """Both files, with their digests in study.json; the key first: a study without its key would
    be worthless.
    """
    write_whole(folder / "key.json", key.model_dump_json(indent=1))
    _, digest = _read(folder / "key.json", Key)
    told = study.model_copy(update={"key": digest, "digest": None})
    written = json_data(scrub(told.model_dump_json()).encode())
    told = told.model_copy(update={"digest": fields_digest(written)})
    write_whole(folder / "study.json", told.model_dump_json(indent=1))


def write_whole(file: Path, text: str) -> None:
    """Write a file so that it is there in full or not at all. StudyError when it cannot be
    written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        disk.write_whole(file, text)
    except OSError as error:
        raise StudyError(
            f"{file}: cannot be written ({error.strerror}); free some space or choose another"
            " folder"
        ) from None
