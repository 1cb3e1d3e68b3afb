"""A finished benchmark as files: result.json, which holds all averages, and replies.csv, which
holds all replies.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.bench.averages import RESAMPLES, Mean, Rated, by_case, mean_of
from simcounsel.bench.cases import Case, Kept
from simcounsel.bench.folder import (
    ANSWERS,
    REPLIES,
    RESULT,
    Folder,
    Manifest,
    Stop,
    calls_of,
    read_manifest,
)
from simcounsel.bench.judge import DIMENSIONS
from simcounsel.disk import csv_text
from simcounsel.errors import BenchError
from simcounsel.runs.jsonl import json_lines
from simcounsel.runs.measurements import is_trial
from simcounsel.runs.spending import Spending

Means = dict[str, Mean]


class OneCase(Kept):
    """One case's means."""

    topic: str
    turns: int
    judged: int
    scores: dict[str, float | None]
    """By dimension the mean of its turns; None where none was judged."""


class Result(Kept):
    """What came out."""

    benchmark: str
    sha256: str
    model: str
    policy: str | None = None
    judge: str
    language: str
    prompts: dict[str, str]
    seed: int
    resamples: int
    trial: bool
    """Whether it was made by models that are there for trying the software."""
    replies: int
    """Client's lines that were to be answered."""
    no_reply: int
    """Of these, how many were not."""
    no_judgment: int
    """Of the rest, how many were not judged."""
    cut: int
    """Replies that ended at the limit of tokens."""
    reasons: dict[str, int]
    """Why something is missing, with how often."""
    scales: dict[str, int]
    """The highest score by dimension; the lowest is 0."""
    overall: Means
    """Means over cases."""
    topics: dict[str, Means]
    """The same by topic."""
    turns: dict[str, Means]
    """The same by the turn's number, each over the cases that are so long."""
    cases: dict[str, OneCase]
    stops: tuple[Stop, ...] = ()
    """When it was stopped for fallbacks; what was unusable was asked again since."""
    requests: int
    """Of all sittings, failures included."""
    tokens: int
    cost_usd: float | None
    """None when a price is unknown."""


def result_of(
    manifest: Manifest, rated: Sequence[Rated], calls: Sequence[dict[str, Any]] = ()
) -> Result:
    """All averages. calls: what was asked, for the costs."""
    spending = Spending.of(calls)
    return Result(
        **manifest.model_dump(
            include={
                "benchmark",
                "sha256",
                "model",
                "policy",
                "judge",
                "language",
                "prompts",
                "seed",
            }
        ),
        resamples=RESAMPLES,
        stops=manifest.stops,
        trial=is_trial(manifest.model) or is_trial(manifest.judge),
        replies=len(rated),
        no_reply=sum(one.reply is None for one in rated),
        no_judgment=sum(one.reply is not None and not one.scores for one in rated),
        cut=sum(one.cut for one in rated),
        reasons=dict(sorted(Counter(one.reason for one in rated if one.reason).items())),
        scales=DIMENSIONS,
        overall=_means(rated, manifest.seed),
        topics=_parts(rated, lambda one: one.topic, manifest.seed),
        turns=_parts(
            sorted(rated, key=lambda one: one.turn), lambda one: str(one.turn), manifest.seed
        ),
        cases=_cases(rated),
        requests=spending.requests,
        tokens=spending.tokens,
        cost_usd=None if spending.cost_usd is None else round(spending.cost_usd, 6),
    )


def _means(rated: Sequence[Rated], seed: int) -> Means:
    return {name: mean_of(rated, name, seed) for name in DIMENSIONS}


def _parts(rated: Sequence[Rated], part: Callable[[Rated], str], seed: int) -> dict[str, Means]:
    return {
        name: _means([one for one in rated if part(one) == name], seed)
        for name in dict.fromkeys(map(part, rated))
    }


def _cases(rated: Sequence[Rated]) -> dict[str, OneCase]:
    scores = {name: by_case(rated, name) for name in DIMENSIONS}
    of: dict[str, list[Rated]] = {}
    for one in rated:
        of.setdefault(one.case, []).append(one)
    return {
        case: OneCase(
            topic=some[0].topic,
            turns=len(some),
            judged=sum(bool(one.scores) for one in some),
            scores={name: found.get(case) for name, found in scores.items()},
        )
        for case, some in of.items()
    }


def write_result(folder: Folder, cases: Sequence[Case], rated: Sequence[Rated]) -> Result:
    """Both files; returns what was written."""
    result = result_of(folder.manifest, rated, list(calls_of(folder.path)))
    folder.write(REPLIES, replies_csv(cases, rated))
    folder.write(RESULT, result.model_dump_json(indent=2) + "\n")
    return result


def replies_csv(cases: Sequence[Case], rated: Sequence[Rated]) -> str:
    """One row for each reply, in the data's order; an empty field is a missing value, and no text
    begins like a formula.
    """
    said = {(one.case, one.turn): one for case in cases for one in case.exchanges()}
    rows = []
    for one in rated:
        exchange = said[one.case, one.turn]
        texts = exchange.history[-1].content, one.reply, exchange.reference
        scores = [one.scores.get(name) for name in DIMENSIONS]
        known = one.case, one.topic, one.turn, *texts, int(one.cut)
        rows.append([*known, *scores, one.because, one.reason])
    heads = ("case", "topic", "turn", "client", "reply", "reference", "cut")
    return csv_text((*heads, *DIMENSIONS, "because", "reason"), rows)


def read_result(folder: Path) -> Result:
    """BenchError when the benchmark is not finished, or its result is damaged."""
    read_manifest(folder)
    try:
        return Result.model_validate_json((folder / RESULT).read_bytes())
    except FileNotFoundError:
        answered = len({(one.get("case"), one.get("turn")) for one in json_lines(folder / ANSWERS)})
        raise BenchError(
            f"{folder}: not finished ({answered} lines of clients were answered); the command that"
            " began it goes on"
        ) from None
    except (OSError, ValidationError):
        raise BenchError(
            f"{folder / RESULT}: damaged; the command that made it writes it again"
        ) from None
