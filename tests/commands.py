"""What running a command line within a test comes to. The fixtures `simcounsel` and `analysis` run one."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from simcounsel.runs.record import open_record


class Ended(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Ended]


def in_process(
    name: str,
    main: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """A command line that is run here and not in a process of its own, which would cost seconds."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
            raise SystemExit(0)
        out, err = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0 if code is None else 1, out, err)

    return run


def only_run(out: Path) -> Any:
    (folder,) = out.iterdir()
    return open_record(folder)
