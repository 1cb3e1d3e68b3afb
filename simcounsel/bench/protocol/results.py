"""A finished benchmark as files and on a terminal.

rates.json                  what was played, all rates, and what each check came to in each talk
transcripts/corpus.jsonl    the talks as a corpus, for `rate-page` and `corpus rate`
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from simcounsel.bench.cases import Kept
from simcounsel.bench.folder import RATES, Folder, Manifest, Stop, calls_of, read_manifest
from simcounsel.bench.protocol.crises import DIMENSIONS, Crisis
from simcounsel.bench.protocol.playing import Transcript
from simcounsel.bench.protocol.rates import Rate, Rates, rates_of
from simcounsel.bench.protocol.rules import CHECKS, Finding, checked
from simcounsel.corpus.dialogues import Dialogue, Origin, Turn
from simcounsel.errors import BenchError
from simcounsel.instruments.clinicians import clinicians_said
from simcounsel.runs.measurements import is_trial
from simcounsel.runs.spending import Spending
from simcounsel.specs.vocabulary import Danger, Language, RiskLevel

TRANSCRIPTS = Path("transcripts") / "corpus.jsonl"
MOST_FAULTS = 12
"""Failed checks that a terminal is shown one by one."""
WIDTH = 26
NAMES = {"none": "nothing wrong", "en": "English", "zh": "Chinese", "all": "no fault at all"}


class Played(Kept):
    """One talk."""

    language: Language
    dangers: tuple[Danger, ...]
    level: RiskLevel
    forms: tuple[str, ...]
    lines: int
    by_hand: int
    """Lines of the counselor that were written by hand, since a model gave none that would do."""
    open_danger: RiskLevel
    """What a run's log would say was open at the end, by what was heard."""
    checks: dict[str, Finding]


class Protocol(Kept):
    """What came out."""

    benchmark: str
    file: str
    sha256: str
    model: str
    policy: str | None
    options: dict[str, str]
    seed: int
    trial: bool
    """Whether it was made by models that are there for trying the software."""
    rates: Rates
    talks: dict[str, Played]
    stops: tuple[Stop, ...] = ()
    requests: int
    """Of all sittings, failures included."""
    tokens: int
    cost_usd: float | None
    """None when a price is unknown."""


def write_results(
    folder: Folder, crises: Sequence[Crisis], transcripts: Sequence[Transcript]
) -> Protocol:
    """All files; returns what rates.json holds."""
    pairs = list(zip(crises, transcripts, strict=True))
    findings = {one.id: checked(one, talk) for one, talk in pairs}
    manifest, spending = folder.manifest, Spending.of(calls_of(folder.path))
    result = Protocol(
        **manifest.model_dump(
            include={"benchmark", "file", "sha256", "model", "policy", "options", "seed"}
        ),
        trial=is_trial(manifest.model),
        rates=rates_of(crises, findings),
        talks={one.id: _played(one, talk, findings[one.id]) for one, talk in pairs},
        stops=manifest.stops,
        requests=spending.requests,
        tokens=spending.tokens,
        cost_usd=None if spending.cost_usd is None else round(spending.cost_usd, 6),
    )
    folder.write(
        str(TRANSCRIPTS),
        "".join(_dialogue(one, talk, manifest).model_dump_json() + "\n" for one, talk in pairs),
    )
    folder.write(RATES, result.model_dump_json(indent=2) + "\n")
    return result


def _played(crisis: Crisis, talk: Transcript, findings: Mapping[str, Finding]) -> Played:
    return Played(
        language=crisis.language,
        dangers=crisis.dangers,
        level=crisis.level,
        forms=crisis.forms,
        lines=len(talk.turns),
        by_hand=sum(one.speaker == "counselor" and one.source == "fallback" for one in talk.turns),
        open_danger=talk.open_danger,
        checks=dict(findings),
    )


def _dialogue(crisis: Crisis, talk: Transcript, manifest: Manifest) -> Dialogue:
    """A talk as a corpus holds it. The situation is what raters may be told beside the lines."""
    return Dialogue(
        id=crisis.id,
        client=crisis.id,
        turns=tuple(
            Turn(
                speaker=one.speaker,
                text=one.text,
                skill=one.move,
                source=one.source,  # type: ignore[arg-type]
            )
            for one in talk.turns
        ),
        theme=(crisis.dangers or ("none",))[0],
        language=crisis.language,
        situation=crisis.persona,
        condition=manifest.policy or "model alone",
        origin=Origin(
            file=manifest.file,
            hash=manifest.sha256,
            chat=crisis.id,
            models={"counselor": manifest.model, "client": manifest.options["client-model"]},
        ),
        names=(crisis.name,),
    )


def read_protocol(folder: Path) -> Protocol:
    """BenchError when the benchmark is not finished, or its result is damaged."""
    read_manifest(folder)
    try:
        return Protocol.model_validate_json((folder / RATES).read_bytes())
    except FileNotFoundError:
        raise BenchError(f"{folder}: not finished; the command that began it goes on") from None
    except (OSError, ValidationError):
        raise BenchError(
            f"{folder / RATES}: damaged; the command that made it writes it again"
        ) from None


def protocol_lines(result: Protocol) -> Iterator[str]:
    """As tables for a terminal."""
    client = result.options["client-model"]
    yield (
        f"{result.benchmark}: {len(result.talks)} talks of {who(result)}; the client answers"
        f" {'by its script' if client == 'none' else f'as {client} plays it'}"
    )
    rates = result.rates
    yield from rates_table(
        "dimension",
        {"all talks": rates.dimensions}
        | {NAMES.get(kind, kind): some for kind, some in rates.dangers.items()}
        | {NAMES[code]: some for code, some in rates.languages.items()},
    )
    width = max(len(words) for _, words, _ in CHECKS.values()) + 2
    yield "check"
    for name, (dimension, words, _) in CHECKS.items():
        yield f"  {words:{width}}{dimension:14}{_said(rates.checks[name])}"
    yield from _faults(result)
    yield (
        "[Wilson's 95% intervals; n: talks in which a check of the dimension applies. Checked by"
        f" rule: that a thing was done, not how well. {clinicians_said()}]"
    )
    left_open = sum(one.open_danger != "none" for one in result.talks.values())
    if left_open:
        yield f"{left_open} talks ended on danger that was heard and not met, by the log's own word"
    by_hand = sum(one.by_hand for one in result.talks.values())
    if by_hand:
        yield f"{by_hand} lines were written by hand, where the model gave none that would do"
    cost = "price unknown" if result.cost_usd is None else f"{result.cost_usd:.4f} USD"
    for stop in result.stops:
        yield f"given up at {stop.at}: {stop.why.split(';')[0]}; gone on with since"
    yield f"{result.requests} requests, {result.tokens} tokens, {cost}"


def who(result: Protocol) -> str:
    """Who counseled, in words."""
    if result.policy is None:
        return f"{result.model} alone"
    unprotected = "" if result.options["protocol"] == "on" else " without the safety protocol"
    return f"{result.policy} with {result.model}{unprotected}"


def rates_table(title: str, rows: Mapping[str, Mapping[str, Rate]]) -> Iterator[str]:
    """The rates of all dimensions, a row each."""
    names = (*DIMENSIONS, "all")
    width = max(map(len, rows)) + 4
    yield (
        title.ljust(width) + "".join(f"{NAMES.get(name, name):{WIDTH}}" for name in names).rstrip()
    )
    for row, rates in rows.items():
        yield (
            f"  {row:{width - 2}}"
            + "".join(f"{_short(rates[name]):{WIDTH}}" for name in names).rstrip()
        )


def _short(rate: Rate) -> str:
    if rate.share is None or rate.interval is None:
        return "-"
    low, high = rate.interval
    return f"{rate.share:.2f} [{low:.2f}, {high:.2f}] n={rate.of}"


def _said(rate: Rate) -> str:
    return "applies nowhere" if rate.share is None else f"{_short(rate)}, {rate.hits} held"


def _faults(result: Protocol) -> Iterator[str]:
    """The failed checks one by one, as far as a terminal should show them."""
    failed = [
        (id, name, found)
        for id, talk in result.talks.items()
        for name, found in talk.checks.items()
        if found.holds is False
    ]
    if failed:
        yield "not held"
    for id, name, found in failed[:MOST_FAULTS]:
        at = f", line {found.line}" if found.line else ""
        yield f"  {id}{at}: {CHECKS[name][1]}: {found.why}"
    if len(failed) > MOST_FAULTS:
        yield f"  and {len(failed) - MOST_FAULTS} more; {RATES} has all of them"
