"""To which hosts a key may be sent: those that the user named, never one that only a file names.

A host is named on the command line (every address there), in the environment (SIMCOUNSEL_HOSTS), or
in `~/.config/simcounsel/hosts`: one a line, as HOST for all its ports or as HOST:PORT; # begins a
comment. This machine's own addresses are no exception: on a shared machine anybody can listen at a
port of 127.0.0.1, and a tunnel may lead from there to anywhere.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from simcounsel.allowed import add_lines, lines_of, own_folder
from simcounsel.errors import ModelError
from simcounsel.secret import credentials_in, scrub

VARIABLE = "SIMCOUNSEL_HOSTS"
_HOST = re.compile(r"(?:\[[0-9a-f:.%]+\]|[^\s:/?#@\[\]\\,]+)(?::[0-9]{1,5})?")


def hosts_file() -> Path:
    """The file of hosts that are allowed for good; it need not be there."""
    return own_folder() / "hosts"


def allowed_in_file() -> tuple[str, ...]:
    """What the file names. ModelError when it cannot be read."""
    return tuple(line.casefold() for line in lines_of(hosts_file(), ModelError))


def allow_in_file(given: Iterable[str]) -> tuple[str, ...]:
    """Add hosts to the file; as they are written there. ModelError when one is none, or the file
    cannot be written.
    """
    places = tuple(_written(host) for host in given)
    known = allowed_in_file()
    new = (place for place in places if place not in known)
    add_lines(hosts_file(), new, ModelError, f"name the hosts in {VARIABLE} instead")
    return places


def _written(host: str) -> str:
    """A host as it is written down. ModelError when it is none."""
    told = credentials_in(host)
    if told:
        raise ModelError(told)
    place = place_of(host) if "://" in host else host.casefold().rstrip(".")
    if not place or not _HOST.fullmatch(place):
        raise ModelError(
            f"{scrub(host)!r} is no host; write HOST, such as models.example.org, or HOST:PORT,"
            " such as 127.0.0.1:8000"
        )
    return place


def name_hosts(words: Iterable[str]) -> None:
    """The hosts of all addresses among these words are named by the user, for this process and
    those that it starts.
    """
    found = [
        place
        for word in words
        for address in re.findall(r"https?://[^\s'\"#]+", word, re.IGNORECASE)
        if (place := place_of(address))
    ]
    if found:
        known = os.environ.get(VARIABLE, "").split()
        os.environ[VARIABLE] = " ".join(dict.fromkeys([*known, *found]))


@contextmanager
def named_in(words: Iterable[str]) -> Iterator[None]:
    """Meanwhile the hosts of all addresses among these words are named."""
    before = os.environ.get(VARIABLE)
    name_hosts(words)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


def place_of(address: str) -> str | None:
    """HOST:PORT of an address; None when it has no host."""
    from yarl import URL  # as aiohttp reads it; slow to import for a command without addresses

    try:
        url = URL(address)
        return _place(url.host, url.port) if url.host and url.port else None
    except ValueError:
        return None


def named() -> str:
    """All hosts that are named here, as SIMCOUNSEL_HOSTS has them: for a process elsewhere."""
    return " ".join([os.environ.get(VARIABLE, ""), *allowed_in_file()])


def check_key_for(address: str, variable: str, model: str) -> None:
    """ModelError when the user did not name the host, so that the key is not sent there. address:
    of the server; one without a host is never asked. variable: where the key is from. model: whose
    address it is.
    """
    place = place_of(address)
    if place is None:
        return
    told = re.split(r"[\s,]+", named().casefold())
    if not {place, place.rpartition(":")[0]} & set(told):
        raise ModelError(
            f"{model}: {variable} is set, and only a file names the host {place}, so nothing was"
            f" sent; if the key may go there:\n    simcounsel models allow {place}\nor for once set"
            f" {VARIABLE}={place}; if that host needs no key, unset {variable}"
        )


def _place(host: str, port: int) -> str:
    host = host.casefold().rstrip(".").strip("[]")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
