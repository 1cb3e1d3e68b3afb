"""Benchmarks on a terminal: one in full, several side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from simcounsel.bench.averages import Mean, paired
from simcounsel.bench.counselor import MOST_TOKENS
from simcounsel.bench.judge import DIMENSIONS
from simcounsel.bench.result import Means, Result
from simcounsel.errors import BenchError
from simcounsel.instruments.clinicians import clinicians_said

WIDTH = 25
MOST_REASONS = 3


def result_lines(result: Result) -> Iterator[str]:
    """All averages of a finished benchmark, and what is missing in them."""
    topics, replies = len(result.topics), result.replies - result.no_reply
    yield (
        f"{result.benchmark}: {replies} replies by {_who(result)} in {len(result.cases)} cases on"
        f" {topics} topics, judged by {result.judge}; {result.language}"
    )
    yield from _table(result)
    yield (
        "turns to cases to all; [95% interval over cases] (too narrow where the cases are few);"
        " nothing is put in for what is missing"
    )
    if result.no_reply or result.no_judgment:
        yield (
            f"missing: {result.no_reply} of {result.replies} lines have no reply,"
            f" {result.no_judgment} replies no judgment"
        )
    if result.cut:
        yield (
            f"cut at {MOST_TOKENS} tokens, and judged as they were: {result.cut} of {replies}"
            " replies"
        )
    for reason, times in sorted(result.reasons.items(), key=lambda entry: (-entry[1], entry[0]))[
        :MOST_REASONS
    ]:
        yield f"  {times} times: {reason}"
    cost = "price unknown" if result.cost_usd is None else f"{result.cost_usd:.4f} USD"
    for stop in result.stops:
        yield f"given up at {stop.at}: {stop.why.split(';')[0]}; gone on with since"
    yield f"{result.requests} requests, {result.tokens} tokens, {cost}"
    yield clinicians_said(judge=result.judge)
    if result.trial:
        yield "made for trying the software only: these numbers mean nothing"


def _who(result: Result) -> str:
    return f"{result.policy} with {result.model}" if result.policy else result.model


def _table(result: Result) -> Iterator[str]:
    names = [*result.topics, *(f"turn {turn}" for turn in result.turns), "all cases"]
    width = max(map(len, names)) + 2
    yield " " * width + _headed(result.scales) + "  cases"
    for name, means in (
        ("all cases", result.overall),
        *result.topics.items(),
        *((f"turn {turn}", means) for turn, means in result.turns.items()),
    ):
        yield f"{name:{width}}{_row(means, _plain)}  {max(mean.n for mean in means.values()):5}"


def _headed(scales: Mapping[str, int]) -> str:
    return (
        "".join(f"{f'{name} 0-{most}':{WIDTH}}" for name, most in scales.items())
        .rstrip()
        .ljust(WIDTH * len(scales))
    )


def _row(means: Means, said: Callable[[Mean], str]) -> str:
    return "".join(f"{said(means[name]):{WIDTH}}" for name in DIMENSIONS)


def _plain(mean: Mean) -> str:
    if mean.value is None:
        return "none"
    return f"{mean.value:.2f}" + (
        f" [{mean.interval[0]:.2f}, {mean.interval[1]:.2f}]" if mean.interval else ""
    )


def _signed(mean: Mean) -> str:
    if mean.value is None:
        return "none"
    return f"{mean.value:+.2f}" + (
        f" [{mean.interval[0]:+.2f}, {mean.interval[1]:+.2f}]" if mean.interval else ""
    )


def comparison_lines(results: Mapping[Path, Result]) -> Iterator[str]:
    """Several finished benchmarks, and how far each is from the first, case by case. BenchError
    when they are of other data or judges.
    """
    _check(results)
    names = _names(results)
    first = next(iter(results))
    width = max(map(len, names.values())) + 2
    yield f"{results[first].benchmark}, judged by {results[first].judge}; {results[first].language}"
    yield " " * width + _headed(results[first].scales) + "  cases"
    for folder, result in results.items():
        yield (
            f"{names[folder]:{width}}{_row(result.overall, _plain)} "
            f" {max(mean.n for mean in result.overall.values()):5}"
        )
    yield f"higher than {names[first]}, by the cases that both have [95% interval over cases]"
    for folder in list(results)[1:]:
        means = differences(results[folder], results[first])
        yield (
            f"{names[folder]:{width}}{_row(means, _signed)} "
            f" {max(mean.n for mean in means.values()):5}"
        )
    if len(results) > 2:
        yield (
            f"{4 * (len(results) - 1)} differences are looked at; some intervals miss 0 by chance"
            " alone"
        )
    if any(result.trial for result in results.values()):
        yield (
            "some were made for trying the software only (embedded, scripted): their numbers mean"
            " nothing"
        )
    yield clinicians_said(judge=results[first].judge)


def differences(mine: Result, other: Result) -> Means:
    """By dimension the mean of the cases' differences."""
    return {
        name: paired(_scores(mine, name), _scores(other, name), other.seed) for name in DIMENSIONS
    }


def _scores(result: Result, dimension: str) -> dict[str, float]:
    return {
        case: value
        for case, one in result.cases.items()
        if (value := one.scores[dimension]) is not None
    }


def _check(results: Mapping[Path, Result]) -> None:
    (first, one), *others = results.items()
    for folder, other in others:
        pairs = [
            ("data file", one.sha256[:12], other.sha256[:12]),
            ("judge", one.judge, other.judge),
        ]
        shared = [
            name for name in one.prompts if name in other.prompts
        ]  # a policy has prompts of its own
        for what, mine, theirs in (
            *pairs,
            *((f"prompt {name}", one.prompts[name], other.prompts[name]) for name in shared),
        ):
            if mine != theirs:
                raise BenchError(
                    f"{folder}: has another {what} ({theirs}) than {first} ({mine}); name"
                    " benchmarks that share data, judge and prompts"
                )


def _names(results: Mapping[Path, Result]) -> dict[Path, str]:
    """Who answered, with the folder where two are the same."""
    names: Sequence[str] = [_who(result) for result in results.values()]
    return {
        folder: _who(result) if names.count(_who(result)) == 1 else f"{_who(result)} ({folder})"
        for folder, result in results.items()
    }
