"""An event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
ENDS_S = 5.0
"""How long cancelled work may take to end."""


class LoopThread:
    """An event loop of its own, so that runs work the same in a script, a server and a notebook."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self.loop.run_forever, name="simcounsel-models", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work and return its result. Ctrl-C cancels it, and waits a little until what was
        under way is written down.
        """
        over = threading.Event()

        async def working() -> T:
            try:
                return await work
            finally:
                over.set()

        future: Future[T] = asyncio.run_coroutine_threadsafe(working(), self.loop)
        try:
            return future.result()
        except BaseException:
            if future.cancel():
                over.wait(ENDS_S)
            raise

    def close(self) -> None:
        """End the loop, and what is still under way in it: a Ctrl-C may fall between the start of
        some work and the wait for it.
        """
        if self._thread.is_alive():
            ending = asyncio.run_coroutine_threadsafe(_end_all(), self.loop)
            with suppress(TimeoutError):
                ending.result(ENDS_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self.loop.close()


async def _end_all() -> None:
    """Cancel every other task of this loop, and wait until they have ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
