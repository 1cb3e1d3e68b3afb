"""The viewer of one run as a part of another page, such as a notebook's."""

import html
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from simcounsel.gallery import located
from simcounsel.runs.record import Record
from simcounsel.viewer.interviews import interview_routes
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from simcounsel.viewer.serve import serving


def view(run: Record[Any] | str | Path, height: int = 760) -> "Frame":
    """The viewer of a run inside a notebook: show what it gives back. Outside of one its address is
    printed. It is served on this machine until `close()`, or the end of the process.

    run: a run, its folder, or `gallery:NAME`. height: in pixels.
    """
    folder = run.folder if isinstance(run, Record) else Path(located(str(run)))
    return Frame(folder, height)


class Frame:
    """A viewer that is served from this process, on this machine's own address, until `close()` or
    the end of the process. A notebook on this machine shows it; on another one it cannot be
    reached, and `simcounsel view RUN --html FILE` writes a page in its place.
    """

    def __init__(self, run: Path, height: int = 760) -> None:
        """run: the run's folder. height: of the frame, in pixels."""
        self.height = height
        self._open = ExitStack()
        runs = RunList(run)
        app = make_app(runs, more=interview_routes(runs), framed=True)
        base = self._open.enter_context(serving(app, host="127.0.0.1", port=0))
        self.address = f"{base}/run/{runs.only}"
        """Where it can be opened in a browser of this machine."""

    def close(self) -> None:
        """Stop it."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"the viewer at {self.address}"

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        address = html.escape(self.address, quote=True)
        return (
            f"<iframe src='{address}' title='simcounsel: the viewer of a run' width='100%'"
            f" height='{int(self.height)}' style='border:1px solid #ccc'></iframe>"
        )
