"""To servers of one's own, over aiohttp alone: half a millisecond of processor time a call, where
the official client takes several.
"""

from collections.abc import Mapping
from typing import Any

import aiohttp

from simcounsel.llm.body import ZIPPED, bounded, unzipped
from simcounsel.llm.http import Refused, Server
from simcounsel.runs.jsonl import json_bytes
from simcounsel.specs.timeouts import TIMEOUTS, Timeouts


class LeanServer(Server):
    """Belongs to the event loop of its first request until it is closed."""

    def __init__(
        self, *, base_url: str, api_key: str | None, timeouts: Timeouts = TIMEOUTS
    ) -> None:
        """As for `Server`."""
        super().__init__(base_url=base_url, api_key=api_key, timeouts=timeouts)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def attempt(self, path: str, body: Mapping[str, Any]) -> bytes:
        """See Server."""
        try:
            async with self._opened().post(
                self.base + path, data=json_bytes(body), allow_redirects=False
            ) as response:
                parts = response.content.iter_any()
                raw = unzipped(await bounded(parts), response.headers)
        except aiohttp.ConnectionTimeoutError:
            raise self.unconnected() from None
        except TimeoutError:
            raise self.unanswered() from None
        except aiohttp.ClientError as error:
            raise unreached(error) from None
        if response.status != 200:
            raise self.refused(response.status, response.headers, raw)
        return raw

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {
                "Content-Type": "application/json",
                "Accept": "application/json",
                "Accept-Encoding": ZIPPED,
            }
            if self.key:
                headers["Authorization"] = f"Bearer {self.key}"
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                headers=headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,  # which knows no bound
                timeout=aiohttp.ClientTimeout(
                    total=self.timeouts.total_s, connect=self.timeouts.connect_s
                ),
            )
        return self._session


def unreached(error: aiohttp.ClientError) -> Refused:
    """What an aiohttp error means, in a few words that are the same every time."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            cause = f"no such host: {error.host}"
        case aiohttp.ClientSSLError() | aiohttp.ServerFingerprintMismatch():
            return Refused(
                "no secure connection: the certificate was not accepted",
                transport=True,
                lasting=True,
                sent=False,
            )
        case aiohttp.ClientConnectorError():
            refused = isinstance(error.os_error, ConnectionRefusedError) or "refused" in str(
                error.os_error
            )
            cause = (
                "connection refused"
                if refused
                else f"no connection: {error.os_error.strerror or error.os_error}"
            )
        case (
            aiohttp.ClientPayloadError()
            | aiohttp.ServerDisconnectedError()
            | aiohttp.ClientOSError()
        ):
            cause = "cut off"
        case aiohttp.ClientResponseError():
            cause = "what answers there does not speak HTTP"
        case _:
            cause = f"no connection: {type(error).__name__}"
    return Refused(cause, transport=True, sent=not isinstance(error, aiohttp.ClientConnectorError))
