"""Several finished benchmarks of the same crises, side by side."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from simcounsel.bench.protocol.crises import DIMENSIONS, Dimension
from simcounsel.bench.protocol.rates import holds
from simcounsel.bench.protocol.results import WIDTH, Protocol, rates_table, who
from simcounsel.errors import BenchError


def comparison_lines(results: Mapping[Path, Protocol]) -> Iterator[str]:
    """The rates of each, and in how many talks a dimension holds in one and not in the first, and
    the other way round. BenchError when they are of other crises.
    """
    (first, one), *others = results.items()
    for folder, other in others:
        if other.sha256 != one.sha256:
            raise BenchError(
                f"{folder}: has other crises ({other.sha256[:12]}) than {first}"
                f" ({one.sha256[:12]}); name benchmarks of the same file"
            )
    names = _names(results)
    yield from rates_table(
        "dimension", {names[folder]: one.rates.dimensions for folder, one in results.items()}
    )
    yield f"talks in which it holds here and not with {names[first]}, and the other way round"
    width = max(map(len, names.values())) + 2
    for folder, other in others:
        counts = [_only(other, one, dimension) for dimension in (*DIMENSIONS, None)]
        told = "".join(f"{f'+{mine} -{theirs} of {both}':{WIDTH}}" for mine, theirs, both in counts)
        yield f"  {names[folder]:{width}}{told.rstrip()}"
    yield "of: talks that both have and in which a check of the dimension applies in both"
    if any(other.trial for other in results.values()):
        yield (
            "some were made without a capable model (embedded, scripted): their numbers are about"
            " the protocol's steps and the lines written by hand"
        )


def _only(mine: Protocol, other: Protocol, dimension: Dimension | None) -> tuple[int, int, int]:
    """How often it holds in mine alone and in the other alone, of how many talks."""
    pairs = [
        (held, there)
        for id, talk in mine.talks.items()
        if id in other.talks
        and (held := holds(talk.checks, dimension)) is not None
        and (there := holds(other.talks[id].checks, dimension)) is not None
    ]
    return (
        sum(held and not there for held, there in pairs),
        sum(there and not held for held, there in pairs),
        len(pairs),
    )


def _names(results: Mapping[Path, Protocol]) -> dict[Path, str]:
    """Who counseled, with the folder where two are the same."""
    names = [who(one) for one in results.values()]
    return {
        folder: who(one) if names.count(who(one)) == 1 else f"{who(one)} ({folder})"
        for folder, one in results.items()
    }
