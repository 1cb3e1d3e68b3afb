"""Does an instrument keep to its contract?"""

from collections.abc import Iterator

from simcounsel.errors import SpecError
from simcounsel.events import ItemAnswer
from simcounsel.instruments.kind import Counted, ScaleFile
from simcounsel.instruments.scoring import score
from simcounsel.specs.items import Item
from simcounsel.specs.scale import Scale
from simcounsel.testing.problems import raise_all

LINES = (
    ("Client", "Hello. I did not sleep again."),
    ("Counselor", "That sounds hard. What was the night like?"),
    ("Client", "I lay awake and counted the hours."),
    ("Counselor", "You counted them all."),
)


def check_instrument(name: str, instrument: Scale | ScaleFile | Counted) -> None:
    """An instrument as it is registered: `name` and what the entry point names. BrokenContract
    names all that is wrong.

    A scale is scored from its lowest, highest and no answers; what is counted is counted in a short
    conversation, twice, and in none.
    """
    raise_all(f"instrument {name}", _problems(name, instrument))


def _problems(name: str, instrument: Scale | ScaleFile | Counted) -> Iterator[str]:
    if isinstance(instrument, ScaleFile):
        try:
            instrument = instrument.read()
        except (SpecError, OSError, ModuleNotFoundError) as error:
            yield f"its file cannot be read: {error}"
            return
    if not isinstance(instrument, Scale | Counted):
        yield f"it is {type(instrument).__name__}; give a Scale, a ScaleFile or a Counted"
        return
    if instrument.id != name:
        yield f"its id is {instrument.id!r}; it is registered as {name!r}"
    if not instrument.version:
        yield "it has no version"
    yield from _scale(instrument) if isinstance(instrument, Scale) else _counted(instrument)


def _scale(scale: Scale) -> Iterator[str]:
    def lowest(item: Item) -> float:
        return scale.range_of(item).min

    def highest(item: Item) -> float:
        return scale.range_of(item).max

    for answers in (
        {item.id: lowest(item) for item in scale.items},
        {item.id: highest(item) for item in scale.items},
    ):
        if not (scores := score(scale, answers)):
            yield "complete answers give no score; state `scoring:` or subscales"
        for one in scores:
            if one.value is None and not one.reason:
                yield f"score {one.name} is missing, and no reason is given"
    for one in score(scale, {}):
        if one.value is not None or not one.reason:
            yield f"score {one.name}: without any answer it is {one.value!r}, reason {one.reason!r}"


def _counted(counted: Counted) -> Iterator[str]:
    if not counted.scores:
        yield "it names no scores"
    found: list[tuple[ItemAnswer, ...]] = []
    for lines in (LINES, LINES, ()):
        try:
            found.append(counted.measure(lines))
        except Exception as error:  # whatever it raises is what is wrong with it
            yield f"measure raised {type(error).__name__} with {len(lines)} lines: {error}"
            return
    once, again, nothing = found
    if once != again:
        yield "the same lines gave other numbers"
    for items in (once, nothing):
        if tuple(item.id for item in items) != counted.scores:
            yield f"it measured {[item.id for item in items]}, and its scores are {counted.scores}"
        for item in items:
            if (item.value is None) != bool(item.reason):
                yield (
                    f"{item.id}: value {item.value!r}, reason {item.reason!r}; a missing one has a"
                    " reason, and no other"
                )
    if any(item.value for item in nothing):
        yield "it counted something where nothing was said"
