"""The loop in which models are asked."""

import asyncio
import threading

from simcounsel.llm.switchboard import LoopThread


def test_what_nobody_waits_for_any_more_is_ended_with_the_loop() -> None:
    """As after a Ctrl-C between the start of some work and the wait for it."""
    loop, begun, ended = LoopThread(), threading.Event(), threading.Event()

    async def working() -> None:
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    asyncio.run_coroutine_threadsafe(working(), loop.loop)
    assert begun.wait(5)
    loop.close()
    assert ended.is_set() and loop.loop.is_closed()
