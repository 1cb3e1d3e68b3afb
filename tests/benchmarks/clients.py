"""What a request costs in processor time by the lean client and by the official one, against the same server in a
process of its own: python tests/benchmarks/clients.py
"""

import asyncio
import subprocess
import sys
import time
from typing import Any

from simcounsel.llm.http import Server
from simcounsel.llm.lean import LeanServer
from simcounsel.llm.official import OfficialServer
from tests.stage import ROOT

REQUESTS = 1500
AT_ONCE = 16
BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": "How did you sleep? " * 100}],
    "temperature": 0.7,
    "max_tokens": 100,
}


async def cpu_ms(server: Server) -> float:
    """Milliseconds of this process's processor for each of many requests."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one() -> Any:
        async with gate:
            return await server.post("/chat/completions", BODY)

    await asyncio.gather(*(one() for _ in range(50)))
    began = time.process_time()
    await asyncio.gather(*(one() for _ in range(REQUESTS)))
    spent = time.process_time() - began
    await server.close()
    return 1000 * spent / REQUESTS


def main() -> None:
    command = [sys.executable, "-m", "tests.llm.server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().split()[-1]
            lean, official = (
                asyncio.run(cpu_ms(kind(base_url=url, api_key="k")))
                for kind in (LeanServer, OfficialServer)
            )
        finally:
            process.terminate()
    print(
        f"lean {lean:.2f} ms, official {official:.2f} ms of processor a request: {official / lean:.1f}x"
    )


if __name__ == "__main__":
    main()
