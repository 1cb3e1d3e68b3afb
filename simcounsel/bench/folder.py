"""A benchmark's folder.

manifest.json    what is measured with what: data, models, seed, prompts, cases
answers.jsonl    each request for a reply, with what came; written as it comes
ratings.jsonl    each request to the judge, likewise
result.json, replies.csv    once everything was asked; of played crises rates.json, transcripts/
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError

from simcounsel import __version__
from simcounsel.bench import counselor, following, judge
from simcounsel.bench.cases import Case, Kept, draw_cases, read_cases
from simcounsel.disk import write_whole
from simcounsel.errors import BenchError
from simcounsel.locks import taken
from simcounsel.prompts import prompt_text
from simcounsel.runs.jsonl import append_line, json_lines
from simcounsel.specs.policy_file import policy_named

MANIFEST, ANSWERS, RATINGS, RESULT, REPLIES, RATES = (
    "manifest.json",
    "answers.jsonl",
    "ratings.jsonl",
    "result.json",
    "replies.csv",
    "rates.json",
)
PROMPTS = (counselor.PROMPT, judge.PROMPT, "complaint", "schema")
Fields = dict[str, Any]


class Stop(Kept):
    """That a benchmark was stopped because too many answers were unusable. It may have gone on
    since.
    """

    why: str
    at: str
    """Wall clock, `YYYY-MM-DD HH:MM:SS`."""


class Manifest(Kept):
    """What a benchmark's numbers rest on."""

    benchmark: str
    file: str
    sha256: str
    """Of the data file."""
    model: str
    judge: str
    seed: int
    sample: int | None
    """How many cases were asked for; None for all."""
    language: str
    """Of the client's lines, as an English word."""
    cases: tuple[str, ...]
    """Their ids."""
    prompts: dict[str, str]
    """Hash by name; with a policy one more, over the policy and all prompts that it may use."""
    policy: str | None = None
    """As it was named; None for the model alone."""
    options: dict[str, str] = Field(default_factory=dict)
    """What else was chosen on the command line, by option."""
    simcounsel: str
    created: str
    stops: tuple[Stop, ...] = ()
    """When it was stopped for fallbacks."""


def plan_bench(
    benchmark: str,
    file: Path,
    model: str,
    judge: str,
    *,
    policy: str | None = None,
    language: str | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> tuple[Manifest, tuple[Case, ...]]:
    """What is to be measured, and the cases drawn for it. policy: as `policy_named` reads it.
    language: found from the client's lines if None. BenchError as `read_cases`.
    """
    cases, sha256 = read_cases(file)
    drawn = draw_cases(cases, sample, seed)
    spoken = language or language_of_cases(cases)
    return (
        Manifest(
            benchmark=benchmark,
            file=file.name,
            sha256=sha256,
            model=model,
            judge=judge,
            seed=seed,
            sample=sample if len(drawn) < len(cases) else None,
            language=spoken,
            cases=tuple(case.id for case in drawn),
            prompts=_prompts(policy, spoken),
            policy=policy,
            simcounsel=__version__,
            created=f"{datetime.now():%Y-%m-%d %H:%M:%S}",
        ),
        drawn,
    )


def language_of_cases(cases: tuple[Case, ...]) -> str:
    """The language of the client's lines as an English word; `the client's own language` where it
    cannot be told or has no name here.
    """
    from simcounsel.corpus.checks.language import language_of
    from simcounsel.corpus.dialogues import LANGUAGES

    code = language_of(
        "\n".join(line.content for case in cases for line in case.turns if line.role == "client")
    )
    return next(
        (name.capitalize() for name, short in LANGUAGES.items() if short == code),
        "the client's own language",
    )


def _prompts(policy: str | None, language: str) -> dict[str, str]:
    code = counselor.prompts_for(language)
    alone = {name: _hash(prompt_text(name, code)) for name in PROMPTS}
    if policy is None:
        return alone
    return alone | {
        following.GUIDED: _hash(prompt_text(following.GUIDED, code)),
        f"(policy {policy})": _hash(following.all_of(policy_named(policy))),
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Folder:
    """The folder while it is written, by one process at a time.

    `with Folder(path, manifest) as folder:` begins it, or goes on with it. BenchError when it holds
    something else, when another process writes it, or when it cannot be written.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BenchError(
                f"{path}: cannot be written ({error.strerror}); choose another --out"
            ) from None
        busy = "another process is writing this benchmark; wait for it, or stop it first"
        self._lock = taken(path / "bench.lock", busy, BenchError, "choose another --out")
        try:
            self.manifest = self._begin(manifest)
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, wanted: Manifest) -> Manifest:
        if not (self.path / MANIFEST).exists():
            strange = [one.name for one in self.path.iterdir() if one.name != "bench.lock"]
            if strange:
                raise BenchError(
                    f"{self.path}: no benchmark, and not empty ({strange[0]} is in it); choose"
                    " another --out"
                )
        else:
            there = read_manifest(self.path)
            problem = difference(there, wanted)
            if problem:
                raise BenchError(
                    f"{self.path}: {problem}; choose another --out for a new benchmark"
                )
            if there.cases == wanted.cases:
                return there
            wanted = wanted.model_copy(update={"stops": there.stops})
            for made in (RESULT, REPLIES, RATES):
                (self.path / made).unlink(missing_ok=True)
        self._write_manifest(wanted)
        return wanted

    def mark_stop(self, why: str) -> None:
        """Say in the manifest that it was given up because too many answers were unusable."""
        stop = Stop(why=why, at=f"{datetime.now():%Y-%m-%d %H:%M:%S}")
        self.manifest = self.manifest.model_copy(update={"stops": (*self.manifest.stops, stop)})
        self._write_manifest(self.manifest)

    def _write_manifest(self, manifest: Manifest) -> None:
        self.write(MANIFEST, manifest.model_dump_json(indent=2) + "\n")

    def answered(self) -> dict[str, Fields]:
        """Requests that were answered before, by key: they are not asked again."""
        calls = (call for name in (ANSWERS, RATINGS) for call in json_lines(self.path / name))
        return {
            str(call["key"]): call
            for call in calls
            if call.get("key") and call.get("reply") is not None and not call.get("problem")
        }

    def append_call(self, call: Fields) -> None:
        """Keep a request with what came, at once: what was paid for survives a crash."""
        file = self.path / (RATINGS if call["purpose"] == judge.PROMPT else ANSWERS)
        case, _, turn = str(call["who"]).rpartition("/")
        line = {"case": case, "turn": int(turn)} | {
            key: value for key, value in call.items() if key not in ("tick", "who")
        }
        try:
            append_line(file, line)
        except OSError as error:
            raise self._full(error) from None

    def write(self, name: str, text: str) -> None:
        """A file in full or not at all."""
        try:
            (self.path / name).parent.mkdir(exist_ok=True)
            write_whole(self.path / name, text)
        except OSError as error:
            raise self._full(error) from None

    def _full(self, error: OSError) -> BenchError:
        return BenchError(
            f"{self.path}: cannot be written ({error.strerror}); free some space, then the same"
            " command goes on"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *how: object) -> None:
        self._lock.release()


def difference(there: Manifest, wanted: Manifest) -> str | None:
    """Why a folder cannot be gone on with, in words; None when it can. More cases may be added,
    none left out.
    """
    if there.benchmark != wanted.benchmark:
        return f"holds {there.benchmark}, not {wanted.benchmark}"
    if there.sha256 != wanted.sha256:
        return (
            f"was begun with other data ({there.file}, SHA-256 {there.sha256[:12]}..., not"
            f" {wanted.sha256[:12]}...)"
        )
    for option in ("model", "judge", "policy", "seed"):
        had, has = getattr(there, option), getattr(wanted, option)
        if had != has:
            return f"was begun {_with(option, had)}, not {_with(option, has)}"
    for option in wanted.options:
        had, has = there.options.get(option), wanted.options[option]
        if had != has:
            return f"was begun {_with(option, had)}, not {_with(option, has)}"
    changed = [name for name, found in wanted.prompts.items() if there.prompts.get(name) != found]
    if changed:
        return (
            f"the prompt {changed[0].strip('()')} was changed since it was begun, and replies to"
            " two wordings cannot be averaged"
        )
    lost = [case for case in there.cases if case not in wanted.cases]
    return (
        f"holds {len(there.cases)} cases, and this --sample would leave {len(lost)} of them out"
        if lost
        else None
    )


def _with(option: str, value: object) -> str:
    return f"without --{option}" if value is None else f"with --{option} {value}"


def read_manifest(folder: Path) -> Manifest:
    """BenchError when there is none, or it is damaged."""
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise BenchError(
            f"{folder}: no benchmark there (no {MANIFEST}); `simcounsel study bench --help`"
            " says what makes one"
        ) from None
    except (OSError, ValidationError) as error:
        said = error.strerror if isinstance(error, OSError) else "damaged, or no benchmark's"
        raise BenchError(f"{folder / MANIFEST}: {said}; begin again in another folder") from None


def calls_of(folder: Path) -> Iterator[Fields]:
    """All requests that were ever made, those that failed and those of earlier sittings
    included.
    """
    return (call for name in (ANSWERS, RATINGS) for call in json_lines(folder / name))
