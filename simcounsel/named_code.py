"""Which code that a file names may be run: what the user named or allowed, nothing else.

A world, an experiment or a run names a policy or a mind as `module:NAME`. Importing a module runs
it, so a file of somebody else's could run anything. Code runs if the user named it (in `--set`, as
a change in Python), allowed all of it for once (`--allow-code`, `allow_code()`), or allowed the
folder in which it lies for good (`simcounsel models allow code FOLDER`).
"""

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from simcounsel.allowed import add_lines, lines_of, own_folder
from simcounsel.errors import PluginError

VARIABLE = "SIMCOUNSEL_CODE"
"""What is allowed in this process and those that it starts, a line each: names, folders, or ALL."""
ALL = "*"
_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def allow_code(*names: str) -> None:
    """Let code that files name be run from here on, in this process and those that it starts.

    names: `module:NAME` of what may be run; without any, all that files name. A file of somebody
    else's can then run whatever it likes on this machine.
    """
    here = os.environ.get(VARIABLE, "").splitlines()
    os.environ[VARIABLE] = "\n".join(dict.fromkeys([*here, *(names or (ALL,))]))


def name_code(changes: object) -> None:
    """Allow each `module:NAME` within what the user typed, on a command line or in Python."""
    if names := _NAME.findall(str(changes)):
        allow_code(*names)


@contextmanager
def as_before() -> Iterator[None]:
    """What is allowed meanwhile is forgotten afterwards."""
    before = os.environ.get(VARIABLE)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


def code_file() -> Path:
    """The file of folders that are allowed for good; it need not be there."""
    return own_folder() / "code"


def folders_allowed() -> tuple[str, ...]:
    """What the file names. PluginError when it cannot be read."""
    return lines_of(code_file(), PluginError)


def allow_folders(folders: Iterable[Path]) -> tuple[str, ...]:
    """Add folders to the file; as they are written there. PluginError when one is none, or the file
    cannot be written.
    """
    places = tuple(str(folder.resolve()) for folder in folders)
    for place in places:
        if not Path(place).is_dir() or re.search(r"\s#|[\r\n]", place):
            raise PluginError(f"{place!r}: no folder that can be allowed; name one with your code")
    add_lines(code_file(), places, PluginError, "add --allow-code to each command instead")
    return places


def named() -> str:
    """All that is allowed here, as SIMCOUNSEL_CODE has it: for a process elsewhere."""
    return "\n".join([os.environ.get(VARIABLE, ""), *folders_allowed()])


def file_of(name: str) -> Path | None:
    """Where the code of that name lies; nothing is imported. None where no file is found."""
    spec = _spec_of(name)
    places = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
    found = next((place for place in places if place and os.path.exists(place)), None)
    return Path(found).resolve() if found else None


def _spec_of(name: str) -> ModuleSpec | None:
    """How Python finds the module, or the package that it is in: nothing is imported for that. The
    folder where we are is looked in last; it is on the path once such a module lies there.
    """
    module, here = name.partition(":")[0].partition(".")[0], str(Path.cwd())
    try:
        found = find_spec(module)
    except (ImportError, ValueError):
        return None
    if found is None and here not in sys.path:
        found = PathFinder.find_spec(module, [here])
        if found is not None:
            sys.path.append(here)
    return found


def described(name: str) -> str:
    """What a name stands for and where it lies, for a reader who has to judge it."""
    file = file_of(name)
    return f"{name} is code; " + (f"it lies in {file}" if file else "Python itself brings it")


def missing(name: str) -> str:
    """That its module is not found, and what may be done."""
    module = name.partition(":")[0]
    return (
        f"no file of a module {module!r} is found from {Path.cwd()}; start simcounsel in the"
        " folder where it lies"
    )


def check_code(name: str) -> None:
    """PluginError where the user neither named nor allowed this code, and its text says how to; or
    where there is no such code to be found from here.
    """
    if _spec_of(name) is None:
        raise PluginError(f"{name}: {missing(name)}")
    told = named().splitlines()
    if ALL in told or name in told or _within(name, told):
        return
    raise PluginError(
        f"{described(name)}. Only a file names it, so it was not run. If you trust it, add"
        f" --allow-code to the command (in Python: simcounsel.allow_code({name!r}))"
        + _for_good(file_of(name))
    )


def option_for(names: Iterable[str]) -> str:
    """What the next command needs so that this code runs again: nothing, or ` --allow-code`."""
    folders = folders_allowed()
    return "" if all(_within(name, folders) for name in names) else " --allow-code"


def _within(name: str, told: Iterable[str]) -> bool:
    """Whether code lies in one of the folders that are told."""
    file, folders = file_of(name), [Path(line).resolve() for line in told if os.path.isabs(line)]
    return file is not None and any(file.is_relative_to(folder) for folder in folders)


def _for_good(file: Path | None) -> str:
    """How to allow the folder of a file, unless that is Python's own."""
    folder = file if file is None or file.is_dir() else file.parent
    paths = (sysconfig.get_path(which) for which in ("stdlib", "platstdlib", "purelib", "platlib"))
    if folder is None or folder in [Path(path).resolve() for path in paths]:
        return ""
    return f", or allow its folder for good:\n    simcounsel models allow code {folder}"
