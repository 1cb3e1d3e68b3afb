"""Files of safety clients, and samples of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from simcounsel.bots.clients.client import RISKS, SafetyClient
from simcounsel.bots.clients.personas import read_personas
from simcounsel.chance import seed_of
from simcounsel.errors import SpecError
from simcounsel.specs.load import parse_spec, read_yaml
from simcounsel.specs.problems import suggest

SHIPPED = "included"
"""The word for those that come with simcounsel."""
SOURCES = "sources.yaml"


@cache
def read_clients(path: Path = Path(SHIPPED)) -> tuple[SafetyClient, ...]:
    """The clients of a file, or of a folder of files, each followed by its look-alike; a `.tsv` is
    one of VERA-MH's personas. SpecError names every problem.
    """
    found: list[SafetyClient] = []
    problems: list[str] = []
    for file in _files(path):
        try:
            found += _of_file(file)
        except SpecError as error:
            problems += error.problems
    problems += _at_odds(found, path)
    if problems:
        raise SpecError(problems)
    twins = {one.like: one for one in found if one.like}
    mains = [one for one in found if not one.like]
    return tuple(one for main in mains for one in (main, twins.get(main.id)) if one is not None)


def digest_of(clients: Sequence[SafetyClient]) -> str:
    """SHA-256 over all that they are."""
    data = "\n".join(one.model_dump_json() for one in clients)
    return sha256(data.encode()).hexdigest()


def client_named(name: str) -> SafetyClient:
    """The client of `ID`, or of `FILE#ID`. SpecError where there is none."""
    file, hash_, id = name.rpartition("#")
    some = read_clients(Path(file) if hash_ else Path(SHIPPED))
    found = next((one for one in some if one.id == id), None)
    if found is None:
        raise SpecError([f"no safety client {id!r}; {suggest(id, [one.id for one in some])}"])
    return found


def named_in(file: Path, id: str) -> str:
    """The name under which `client_named` finds a client of that file, from any folder. SpecError
    where a mind cannot be named so.
    """
    if str(file) == SHIPPED and not file.exists():
        return id
    if "+" in str(file.resolve()):
        raise SpecError([f"{file.resolve()}: a file of clients has no + in its path; rename it"])
    return f"{file.resolve()}#{id}"


def drawn(clients: Sequence[SafetyClient], size: int | None, seed: int) -> tuple[SafetyClient, ...]:
    """So many pairs of client and look-alike (all, if None): of every first risk in turn, so that
    each has its share; a larger sample with the same seed holds the smaller.
    """
    mains = sorted(
        (one for one in clients if not one.like), key=lambda one: seed_of(seed, "drawn", one.id)
    )
    firsts = (*((risk,) for risk in RISKS), ())  # at last those who are described, and not at risk
    by_risk = {first: [one for one in mains if one.risks[:1] == first] for first in firsts}
    rounds = range(max(map(len, by_risk.values()), default=0))
    in_turn = [some[at] for at in rounds for some in by_risk.values() if at < len(some)]
    kept = {one.id for one in in_turn[:size]}
    return tuple(one for one in clients if (one.like or one.id) in kept)


def _files(path: Path) -> Iterator[Path]:
    if str(path) == SHIPPED and not path.exists():
        path = Path(str(files(__package__) / "files"))
    some = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    some = [one for one in some if one.name != SOURCES]
    if not some:
        raise SpecError([f"{path}: no .yaml file of safety clients here"])
    yield from some


def _of_file(file: Path) -> Iterator[SafetyClient]:
    if file.suffix == ".tsv":
        yield from read_personas(file)
        return
    data, lines = read_yaml(file, "see docs/bots.md")
    if not isinstance(data, list):
        raise SpecError([f"{file}:1: a list of clients is needed, `- id: ...`"])
    problems: list[str] = []
    for at, entry in enumerate(data):
        try:
            yield parse_spec(entry, SafetyClient, file, lines, at)
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)


def _at_odds(found: Sequence[SafetyClient], path: Path) -> Iterator[str]:
    ids = Counter(one.id for one in found)
    yield from (f"{path}: two clients have the id {id!r}" for id, n in ids.items() if n > 1)
    twins = {one.id for one in found if one.like}
    alike = Counter(one.like for one in found if one.like)
    for one in found:
        if one.like and one.like not in ids:
            yield f"{path}: {one.id}: like: there is no client {one.like!r}"
        elif one.like in twins:
            yield f"{path}: {one.id}: like: {one.like!r} is a look-alike itself"
    yield from (f"{path}: {id!r} has two look-alikes" for id, n in alike.items() if n > 1)
