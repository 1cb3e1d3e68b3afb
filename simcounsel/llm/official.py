"""OpenAI and Azure over their official client, which knows their headers, organizations, projects,
deployments and ways to sign in. It runs over aiohttp, which handles thousands of concurrent
requests.

It sends once. Its own repetitions are left off: whoever asks waits and sends again by one clock for
all requests in flight (see `llm.outage`), and a budget counts each before it is sent.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import aiohttp
import openai

from simcounsel.llm.body import ZIPPED, bounded, unzipped
from simcounsel.llm.http import Refused, Server
from simcounsel.llm.lean import unreached
from simcounsel.runs.jsonl import json_bytes
from simcounsel.specs.timeouts import TIMEOUTS, Timeouts


class OfficialServer(Server):
    """Belongs to the event loop of its first request until it is closed."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        timeouts: Timeouts = TIMEOUTS,
        azure: str | None = None,
    ) -> None:
        """azure: the version of Azure's API; base_url is the resource's endpoint then, and models
        are deployments. None: OpenAI. The rest as for `Server`."""
        super().__init__(base_url=base_url, api_key=api_key, timeouts=timeouts)
        self._azure = azure
        self._client: openai.AsyncOpenAI | None = None

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def attempt(self, path: str, body: Mapping[str, Any]) -> bytes:
        """See Server."""
        try:
            async with asyncio.timeout(self.timeouts.total_s):
                return await self._sent(path, json.loads(json_bytes(body)))
        except openai.APIStatusError as error:
            answer = error.response
            raise self.refused(answer.status_code, answer.headers, answer.content) from None
        except openai.APIConnectionError as error:
            raise self._broken(error) from None
        except TimeoutError:
            raise self.unanswered() from None
        except openai.OpenAIError as error:
            raise Refused(f"not sent: {error}", transport=True, lasting=True, sent=False) from None
        except Exception as error:
            # what breaks while an answer is read, the client hands on as its transport raised it
            if not type(error).__module__.startswith(("httpx", "aiohttp")):
                raise
            raise self._broken(error) from None

    def _broken(self, error: BaseException) -> Refused:
        """What a broken connection means, in the same words as for servers of one's own: as aiohttp
        said it at the beginning, for on the way up a cut line becomes a timeout of a connection.
        """
        cause = next((one for one in _causes(error) if isinstance(one, aiohttp.ClientError)), None)
        match cause:
            case aiohttp.ConnectionTimeoutError():
                return self.unconnected()
            case aiohttp.ServerTimeoutError():
                return self.unanswered()
            case aiohttp.ClientError():
                return unreached(cause)
            case _ if isinstance(error, openai.APITimeoutError):
                return self.unanswered()
            case _:
                return Refused("cut off", transport=True)

    async def _sent(self, path: str, body: dict[str, Any]) -> bytes:
        client = self._opened()
        ask: Callable[..., AbstractAsyncContextManager[Any]] = (
            client.chat.completions.with_streaming_response.create
        )
        if path == "/embeddings":
            ask = client.embeddings.with_streaming_response.create
            body["encoding_format"] = "float"  # else it asks for base64
        async with ask(**body, extra_headers=self._without_key()) as response:
            parts = response.http_response.aiter_raw()
            return unzipped(await bounded(parts), response.headers)

    def _opened(self) -> openai.AsyncOpenAI:
        if self._client is None:
            timeout = openai.Timeout(self.timeouts.read_s, connect=self.timeouts.connect_s)
            told: dict[str, Any] = {
                "max_retries": 0,
                "timeout": timeout,
                "default_headers": {"Accept-Encoding": ZIPPED},
                # redirects are not followed, so that a key cannot be led elsewhere
                "http_client": openai.DefaultAioHttpClient(follow_redirects=False, timeout=timeout),
            }
            self._client = (
                openai.AsyncOpenAI(base_url=self.base, api_key=self.key or "none", **told)
                if self._azure is None
                else openai.AsyncAzureOpenAI(
                    azure_endpoint=self.base, api_key=self.key, api_version=self._azure, **told
                )
            )
        return self._client

    def _without_key(self) -> dict[str, Any]:
        """A server that wants no key is sent none."""
        return {} if self.key or self._azure else {"Authorization": openai.omit}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
