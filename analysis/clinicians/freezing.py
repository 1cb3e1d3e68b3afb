"""The pack frozen: talks with their hashes, a study for each sitting, and one digest over all."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from analysis.clinicians.plan import PLAN, Kept, Plan, digest, minutes_of, read_plan
from analysis.clinicians.playing import Talk, played
from analysis.errors import ReportError
from simcounsel.chance import chance
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.disk import write_whole
from simcounsel.studies.answers import import_answers
from simcounsel.studies.instrument import SHIPPED, RatingInstrument, load_instrument
from simcounsel.studies.items import Choice
from simcounsel.studies.making import make_study
from simcounsel.studies.offline import write_offline
from simcounsel.studies.study import open_key, open_study

PACK, TALKS = "pack.json", "talks.jsonl"


class Sitting(Kept):
    """One study of the pack."""

    folder: str
    study: str
    talks: int
    words: int
    """Of what is read; a Chinese character counts as one."""
    sha256: str
    """Of its study.json, in which what raters see, their orders and the key's digest are."""


class Pack(Kept):
    """pack.json: what was frozen."""

    format: int = 1
    frozen: str
    """In UTC."""
    plan: Plan
    plan_sha256: str
    instrument_sha256: str
    """Of the instrument's file."""
    talks: tuple[Talk, ...]
    sittings: tuple[Sitting, ...]
    digest: str
    """SHA-256 over all the rest, to publish."""


def freeze(folder: Path) -> Pack:
    """Write talks.jsonl, the studies and pack.json. ReportError where talks are missing, or a
    study lies there that is not this pack's.
    """
    plan = read_plan(folder)
    found = list(played(folder, plan))
    if len(found) != plan.talks:
        raise ReportError(
            f"{folder}: {len(found)} talks were played and {plan.talks} are planned; the same"
            " command goes on"
        )
    lines = [one.model_dump_json() for _, one in found]
    write_whole(folder / TALKS, "\n".join(lines) + "\n")
    talks = tuple(
        talk.model_copy(update={"sha256": _sha256(line.encode())})
        for (talk, _), line in zip(found, lines, strict=True)
    )
    dialogues = {one.id: one for _, one in found}
    sittings = tuple(
        _sitting(folder, plan, number, ids, dialogues)
        for number, ids in enumerate(dealt_sittings(talks, plan), 1)
    )
    return _written(folder, plan, talks, sittings)


def _written(
    folder: Path, plan: Plan, talks: tuple[Talk, ...], sittings: tuple[Sitting, ...]
) -> Pack:
    pack = Pack(
        frozen=f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
        plan=plan,
        plan_sha256=_sha256((folder / PLAN).read_bytes()),
        instrument_sha256=_sha256((SHIPPED / f"{plan.instrument}.yaml").read_bytes()),
        talks=talks,
        sittings=sittings,
        digest="",
    )
    pack = pack.model_copy(update={"digest": _digest(pack)})
    write_whole(folder / PACK, pack.model_dump_json(indent=1) + "\n")
    return pack


def dealt_sittings(talks: Sequence[Talk], plan: Plan) -> list[list[str]]:
    """The ids of each sitting: kinds and dangers spread evenly, and the two talks of one case in
    two sittings where there are two.
    """
    cases: dict[tuple[str, str], list[str]] = defaultdict(list)
    for case, one in {one.case: one for one in talks}.items():
        cases[one.kind, one.danger].append(case)
    order = [case for kind in sorted(cases) for case in _shuffled(cases[kind], plan.seed, *kind)]
    place, found = {case: at for at, case in enumerate(order)}, defaultdict(list)
    half = max(1, plan.sittings // 2)
    for one in talks:
        at = place[one.case]
        first = at // plan.sittings % 2 == one.counselor
        found[(at + (0 if first else half)) % plan.sittings].append(one.id)
    return [found[number] for number in sorted(found)]


def _shuffled(cases: list[str], seed: int, *key: str) -> list[str]:
    drawn = sorted(cases)
    chance(seed, "sittings", *key).shuffle(drawn)
    return drawn


def _sitting(
    folder: Path, plan: Plan, number: int, ids: list[str], dialogues: dict[str, Dialogue]
) -> Sitting:
    """A blind study of these talks, with an offline page for each rater; one that was made before
    the pack was complete stays.
    """
    out = folder / f"sitting-{number}"
    if not (out / "study.json").is_file():
        choice = Choice(fewest_lines=1, chats=frozenset(ids))
        instrument = _asked(plan, number)
        make_study(
            [folder / TALKS], instrument, out, raters=plan.raters, seed=plan.seed, choice=choice
        )
    study = open_study(out)
    write_offline(out, study)
    if {one.chat for one in open_key(out).items.values()} != set(ids):
        raise ReportError(f"{out}: a study of other talks lies here; choose another --out")
    return Sitting(
        folder=out.name,
        study=study.study,
        talks=len(study.items),
        words=sum(_words(turn.text) for id in ids for turn in dialogues[id].turns),
        sha256=_sha256((out / "study.json").read_bytes()),
    )


def _asked(plan: Plan, number: int) -> RatingInstrument:
    """The instrument; the example and the questions about the rater come in the first sitting
    only.
    """
    asked = load_instrument(plan.instrument)
    return asked if number == 1 else asked.model_copy(update={"training": None, "about_you": ()})


def _words(text: str) -> int:
    return len(text.split()) + sum("一" <= one <= "鿿" for one in text)


def open_pack(folder: Path) -> Pack:
    """The pack, when all of it is as it was frozen. ReportError names the first that is not."""
    file = folder / PACK
    try:
        pack = Pack.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise ReportError(f"{file}: nothing is frozen yet; begin with --counselors") from None
    except (OSError, ValidationError):
        raise ReportError(f"{file}: damaged; take it from a backup") from None
    for problem in _changes(folder, pack):
        raise ReportError(f"{problem} after it was frozen; put it back as it was")
    return pack


def _changes(folder: Path, pack: Pack) -> Iterator[str]:
    if _digest(pack) != pack.digest:
        yield f"{folder / PACK}: was changed"
    if _of_file(folder / PLAN) != pack.plan_sha256:
        yield f"{folder / PLAN}: was changed"
    lines = _lines(folder / TALKS)
    if len(lines) != len(pack.talks):
        yield f"{folder / TALKS}: has {len(lines)} talks, not {len(pack.talks)}; it was changed"
    for number, (line, talk) in enumerate(zip(lines, pack.talks, strict=False), 1):
        if _sha256(line) != talk.sha256:
            yield f"{folder / TALKS}:{number}: {talk.id} was changed"
    for one in pack.sittings:
        if _of_file(folder / one.folder / "study.json") != one.sha256:
            yield f"{folder / one.folder / 'study.json'}: was changed"


def _lines(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines() if file.is_file() else []


def _of_file(file: Path) -> str | None:
    return _sha256(file.read_bytes()) if file.is_file() else None


def _sha256(data: bytes) -> str:
    return sha256(data).hexdigest()


def _digest(pack: Pack) -> str:
    return digest(pack.model_dump(mode="json", exclude={"digest"}))


def take_in(folder: Path, pack: Pack, files: Sequence[Path]) -> Iterator[str]:
    """Answers that raters sent back, each file into the sitting that it is of. ReportError for a
    file of none.
    """
    for file in files:
        if not file.is_file():
            raise ReportError(f"{file}: no such file; name what raters sent back")
        text = file.read_text(encoding="utf-8", errors="replace")
        one = next((one for one in pack.sittings if f'"{one.study}"' in text), None)
        if one is None:
            raise ReportError(f"{file}: of no sitting of this pack; name what its raters sent back")
        taken = import_answers(folder / one.folder, [file])
        yield (
            f"imported       {file.name}: {taken.ratings} talks into {one.folder};"
            f" {taken.known} answers were there already"
        )


def pack_lines(folder: Path, pack: Pack) -> Iterator[str]:
    """What to send to whom."""
    chinese = sum(one.language == "zh" for one in pack.talks)
    yield f"frozen         {pack.frozen}, {len(pack.talks)} talks, {chinese} of them Chinese"
    yield f"digest         {pack.digest}"
    for one in pack.sittings:
        minutes = minutes_of(one.words, one.talks)
        pages = folder / one.folder / "offline"
        yield f"{one.folder:<14} {one.talks} talks, about {minutes:.0f} minutes  {pages}"
    yield f"take back      simcounsel study pack clinicians --out {folder} --import FILE"
