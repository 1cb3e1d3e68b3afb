"""Sets of prompts in other words: the same slots in the same blocks, the same meaning.

What is included is `sets/NAME/`, a file a prompt under the prompt's own name; prompts that a set
does not have are those of this package. A set of one's own is such a folder anywhere.
"""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from simcounsel.prompts import SHORTENED, blocks_of

FOLDER = "sets"
USUAL = "usual"
"""Names the prompts of this package, also where a model would get others."""
FOR_SMALL_MODELS = "compact"
"""The set that says less, not the same in other words."""
IN_PLACE_OF_EACH_OTHER = {"plan_slots": frozenset({"$strokes", "$due"})}
"""By prompt: slots of which any text needs only one. $due: of each slot of time what is planned."""
_SLOT = re.compile(r"\$(?:\{\w+\}|\w+)|\{\w+\}", re.ASCII)
_SHORT = re.compile(rf"(?<=\$){SHORTENED.pattern}\Z", re.ASCII)
_PHRASE = re.compile(r"[^:\n]{1,30}: \S")
"""How each line begins in a file of short phrases."""


def shipped_sets() -> tuple[str, ...]:
    """The names of the sets that are included."""
    return tuple(sorted(one.name for one in _home().iterdir() if one.is_dir()))


def shipped_set(name: str) -> dict[str, str]:
    """The texts of a set that is included, by prompt."""
    return texts_in(_home().joinpath(name))


def texts_in(folder: Traversable) -> dict[str, str]:
    """The texts of a folder by prompt; those of the folder `zh` in it as `zh/NAME`."""
    found: dict[str, str] = {}
    for one in sorted(folder.iterdir(), key=lambda file: file.name):
        if one.is_dir():
            found |= {f"{one.name}/{name}": text for name, text in texts_in(one).items()}
        elif one.name.endswith(".txt"):
            found[one.name.removesuffix(".txt")] = one.read_text(encoding="utf-8").strip()
    return found


def unlike(name: str, text: str) -> Iterator[str]:
    """In what a text does not fit into the place of the prompt of that name: its blocks, the slots
    in each, and the keys of short phrases, of which it may have some. FileNotFoundError where there
    is no such prompt.
    """
    own, shipped = _sections(text), _sections(_shipped(name))
    may = IN_PLACE_OF_EACH_OTHER.get(name.rpartition("/")[2], frozenset())
    if own.keys() != shipped.keys():
        missing = ", ".join(repr(one) for one in shipped if one not in own and not _phrases(text))
        more = ", ".join(repr(one) for one in own if one not in shipped)
        if missing or more:
            yield f"parts: {_and(('missing', missing), ('too many', more))}"
    for part in own.keys() & shipped.keys():
        has, needs = (_slots(one[part]) for one in (own, shipped))
        needs, has = needs - may, has - may
        if has != needs:
            lacks, more = (", ".join(sorted(some)) for some in (needs - has, has - needs))
            wrong = _and(("missing", lacks), ("too many", more))
            yield f"slots of {part or 'the text'!r}: {wrong}"


def _slots(text: str) -> set[str]:
    """Of a text, as they are in whole: `$text_200` is `$text`."""
    return {_SHORT.sub(r"\1", one) for one in _SLOT.findall(text)}


def _and(*said: tuple[str, str]) -> str:
    return "; ".join(f"{what}: {which}" for what, which in said if which)


def _shipped(name: str) -> str:
    """The prompt of this package, whatever set is in use."""
    language, _, bare = name.rpartition("/")
    here = files(__package__)
    file = here.joinpath(language, f"{bare}.txt") if language else here.joinpath(f"{bare}.txt")
    return file.read_text(encoding="utf-8").strip()


def _sections(text: str) -> Mapping[str, str]:
    """Blocks, or short phrases by key."""
    if found := _phrases(text):
        return found
    return blocks_of(text)


def _phrases(text: str) -> Mapping[str, str]:
    """By key; {} where a text is something else."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not all(_PHRASE.match(line) for line in lines):
        return {}
    return {key.strip(): told for key, told in (line.split(":", 1) for line in lines)}


def _home() -> Traversable:
    return files(__package__).joinpath(FOLDER)
