"""An OpenAI-compatible server with fixed latency and faults on demand, for tests and benchmarks.

with FaultServer(latency_s=0.1) as server: ...server.url...
python -m tests.llm.server --port 0 --latency-ms 100        (prints its address, then serves)
"""

import argparse
import asyncio
import contextlib
import gzip
import json
import random
import re
import re._parser as re_parser  # type: ignore[import-not-found]
import string
import threading
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Self

from aiohttp import web

Body = dict[str, Any]
Fault = str
"""One of: '400', '401', '404', '408', '429', '500', '503' (any status that is a number); 'garbage'
(not JSON), 'empty' (no body), 'list' (JSON, but no object), 'no choices', 'empty choices',
'null content', 'empty string', 'wrong types', 'stall' (never answers), 'stall body' (half an
answer, then silence), 'cut' (half an answer, then the line is cut), 'drop' (the line is cut), 'bomb' (a
good answer and 100 MB of blanks, zipped), 'endless' (blanks that never end), 'zipped', 'deflated' and 'bare'
(a good answer, in the ways in which servers zip), 'half zipped', 'br' (another encoding)."""

_BODIES: Mapping[Fault, str] = {
    "garbage": "<html>It is not here.</html>",
    "empty": "",
    "list": "[1, 2, 3]",
    "no choices": '{"id": "x"}',
    "empty choices": '{"choices": []}',
    "null content": '{"choices": [{"message": {"content": null}}]}',
    "empty string": '{"choices": [{"message": {"content": ""}}]}',
    "wrong types": '{"choices": {"0": 7}, "data": "vectors", "usage": [1]}',
}
_ZIPPED: Mapping[Fault, tuple[str, Callable[[bytes], bytes]]] = {
    "zipped": ("gzip", gzip.compress),
    "deflated": ("deflate", zlib.compress),
    "bare": ("deflate", lambda body: zlib.compress(body)[2:-4]),
    "bomb": ("gzip", lambda body: gzip.compress(body + b" " * 100 * 2**20)),
    "half zipped": ("gzip", lambda body: gzip.compress(body)[:-20]),
    "not zipped": ("gzip", lambda body: body),
    "br": ("br", lambda body: body),
}
_SENTENCES = tuple(
    f"{when} {what}"
    for when in ("This morning", "Last night", "On the stairs", "At work", "For days now", "Lately")
    for what in (
        "I have been thinking about it.",
        "it was quiet in the house.",
        "there was something I wanted to say.",
        "I was not sure what to make of it.",
        "we talked for a while and that helped.",
        "it was hard for me to begin.",
    )
)
"""Many, since a line that was said before in a conversation is asked for again."""


class FaultServer:
    """A server in a thread of its own; use it with `with`, or `start` and `stop`.

    latency_s: of every answer. in_flight_max: so many are worked on at once, the others wait; None
    for no limit. answer: the text for a request body. faults: for the index of a request (from 0,
    in order of arrival) what goes wrong, None for nothing. refuses: parameters that get a 400, the
    first `refusals` times, None for always. amend: changes an answer before it is sent. location:
    where a fault of 3xx points to.
    logprobs: the `logprobs.content` to give when asked; None for none. usage: whether to tell tokens.
    Seen from outside: url, bodies (as received), headers, paths, in_flight_peak.
    """

    def __init__(
        self,
        *,
        latency_s: float = 0.0,
        in_flight_max: int | None = None,
        answer: Callable[[Body], str] | None = None,
        faults: Callable[[int], Fault | None] | None = None,
        refuses: tuple[str, ...] = (),
        refusal: str = "Unknown parameter: '{name}'.",
        refusals: int | None = None,
        amend: Callable[[Body], None] = lambda answer: None,
        location: str = "/elsewhere",
        logprobs: list[Any] | None = None,
        usage: bool = True,
        retry_after: str | None = "0.05",
        dimensions: int = 8,
        port: int = 0,
    ) -> None:
        self.latency_s = latency_s
        self.answer = answer or default_answer
        self.faults = faults or (lambda index: None)
        self.refuses, self.refusal, self.refusals = refuses, refusal, refusals
        self.amend, self.location = amend, location
        self.models: list[str] = []
        self.logprobs, self.usage, self.retry_after, self.dimensions = (
            logprobs,
            usage,
            retry_after,
            dimensions,
        )
        self.url = ""
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.in_flight_peak = 0
        self._in_flight_max, self._port = in_flight_max, port
        self._in_flight = 0
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Self:
        """Serve in a thread; `url` is known on return."""
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self.serve()), name="fault-server", daemon=True
        )
        self._thread.start()
        if not self._ready.wait(timeout=10):
            raise RuntimeError("the fault server did not start within 10 s")
        return self

    def stop(self) -> None:
        """End the thread, and with it all that is in flight."""
        self._loop.call_soon_threadsafe(self._end.set)
        if self._thread:
            self._thread.join(timeout=10)

    async def serve(self, on_ready: Callable[[str], None] | None = None) -> None:
        """Serve in this event loop until `stop`."""
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._slots = asyncio.Semaphore(self._in_flight_max) if self._in_flight_max else None
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embed)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/openai/deployments/{name}/chat/completions", self._chat)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port, backlog=2048)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        if on_ready:
            on_ready(self.url)
        await self._end.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._handle(request, self._completion)

    async def _models(self, request: web.Request) -> web.StreamResponse:
        if not self.models:
            raise web.HTTPNotFound
        return web.json_response({"data": [{"id": name} for name in self.models]})

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        return await self._handle(request, self._embedding)

    async def _handle(
        self, request: web.Request, make: Callable[[Body], Body]
    ) -> web.StreamResponse:
        index = len(self.bodies)
        self.bodies.append({})
        self.headers.append(dict(request.headers))
        self.paths.append(request.path_qs)
        body = self.bodies[index] = await request.json()
        self._in_flight += 1
        self.in_flight_peak = max(self.in_flight_peak, self._in_flight)
        try:
            if self._slots is None:
                await asyncio.sleep(self.latency_s)
            else:
                async with self._slots:
                    await asyncio.sleep(self.latency_s)
            refused = next((name for name in self.refuses if name in body), None)
            if refused and self.refusals != 0:
                self.refusals = None if self.refusals is None else self.refusals - 1
                return _error(400, self.refusal.format(name=refused))
            fault = self.faults(index)
            return await self._fail(request, fault) if fault else web.json_response(make(body))
        finally:
            self._in_flight -= 1

    async def _fail(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.isdigit():
            status = int(fault)
            headers = (
                {"Retry-After": self.retry_after}
                if status in (429, 503) and self.retry_after
                else {}
            )
            if 300 <= status < 400:
                headers = {"Location": self.location}
            return _error(status, f"fault {fault}", headers)
        if fault in _BODIES:
            return web.Response(text=_BODIES[fault], content_type="application/json")
        if fault == "stall":
            await asyncio.sleep(3600)
        if fault in _ZIPPED:
            made = json.dumps(self._completion(self.bodies[-1])).encode()
            name, zipped = _ZIPPED[fault]
            return web.Response(
                body=zipped(made),
                content_type="application/json",
                headers={"Content-Encoding": name},
            )
        if fault == "endless":
            response = web.StreamResponse()
            await response.prepare(request)
            while True:
                await response.write(b" " * 2**20)
        if fault in ("cut", "stall body"):
            response = web.StreamResponse(
                headers={"Content-Type": "application/json", "Content-Length": "1000"}
            )
            await response.prepare(request)
            await response.write(b'{"choices": [{"mess')
            await asyncio.sleep(3600 if fault == "stall body" else 0.01)
        if fault in ("cut", "drop"):
            if request.transport is not None:  # None: the client has gone before
                request.transport.abort()
            return web.Response()
        raise ValueError(f"no fault {fault!r}")

    def _completion(self, body: Body) -> Body:
        text = self.answer(body)
        choice: Body = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        if body.get("logprobs") and self.logprobs is not None:
            choice["logprobs"] = {"content": self.logprobs}
        answer: Body = {
            "id": "x",
            "object": "chat.completion",
            "model": body.get("model"),
            "choices": [choice],
        }
        if self.usage:
            words = sum(len(message["content"].split()) for message in body["messages"])
            answer["usage"] = {"prompt_tokens": words, "completion_tokens": len(text.split())}
        self.amend(answer)
        return answer

    def _embedding(self, body: Body) -> Body:
        data = [
            {"object": "embedding", "index": at, "embedding": _vector(text, self.dimensions)}
            for at, text in enumerate(body["input"])
        ]
        answer = {"object": "list", "data": data[::-1], "usage": {"prompt_tokens": 3 * len(data)}}
        self.amend(answer)
        return answer


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response(
        {"error": {"message": message, "code": None}}, status=status, headers=headers
    )


def _vector(text: str, dimensions: int) -> list[float]:
    rng = random.Random(text)
    return [rng.gauss(0, 3) for _ in range(dimensions)]


def default_answer(body: Body) -> str:
    """JSON by the schema that was sent, '1' where options are listed, '3' where logprobs are asked
    for, else a sentence. The same for the same messages and seed."""
    told = [str(message["content"]) for message in body["messages"]]
    rng = random.Random(f"{body.get('seed')} {told}")
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema") or _schema_told(
        told[0]
    )
    if schema is not None:
        return json.dumps(instance(schema, rng))
    if body.get("logprobs"):
        return "3"
    if any(
        re.search(r"^1\. .*\n(?:2\. .*\n)?", text, re.MULTILINE) and "Choose one of" in text
        for text in told
    ):
        return "1"
    return rng.choice(_SENTENCES)


def _schema_told(system: str) -> Any:
    at = system.find('{"')
    if "JSON schema" not in system or at < 0:
        return None
    return json.JSONDecoder().raw_decode(system, at)[0]


def instance(schema: Any, rng: random.Random, root: Any = None, depth: int = 0) -> Any:
    """A value that fits a JSON schema as pydantic writes them; `format` is not read."""
    root = schema if root is None else root
    if schema is True or schema == {}:
        return "x"
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return instance(target, rng, root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            simple = [option for option in schema[key] if option.get("type") == "null"]
            return instance(
                rng.choice(simple if simple and depth > 6 else schema[key]), rng, root, depth + 1
            )
    if "allOf" in schema:
        merged = {key: value for part in schema["allOf"] for key, value in part.items()}
        return instance(merged, rng, root, depth + 1)
    return _of_type(schema, rng, root, depth)


def _of_type(schema: Any, rng: random.Random, root: Any, depth: int) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = rng.choice(kind) if isinstance(kind, list) else kind
    match kind:
        case "object":
            return _object(schema, rng, root, depth)
        case "array":
            return _array(schema, rng, root, depth)
        case "integer":
            low, high = _bounds(schema, step=1)
            return rng.randint(int(low), int(high))
        case "number":
            low, high = _bounds(schema, step=1e-6)
            return round(rng.uniform(low, high), 3) if high - low > 0.01 else low
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
    return _string(schema, rng)


def _bounds(schema: Any, *, step: float) -> tuple[float, float]:
    low = schema.get(
        "minimum", schema["exclusiveMinimum"] + step if "exclusiveMinimum" in schema else None
    )
    high = schema.get(
        "maximum", schema["exclusiveMaximum"] - step if "exclusiveMaximum" in schema else None
    )
    if low is None:
        low = 0 if high is None else high - 10
    return low, low + 10 if high is None else high


def _object(schema: Any, rng: random.Random, root: Any, depth: int) -> Body:
    required = schema.get("required", [])
    known = schema.get("properties", {})
    made = {
        name: instance(part, rng, root, depth + 1)
        for name, part in known.items()
        if depth <= 6 or name in required
    }
    other = schema.get("additionalProperties")
    for at in range(len(made), schema.get("minProperties", 0)):
        made[f"key{at}"] = instance(other or True, rng, root, depth + 1)
    return made


def _array(schema: Any, rng: random.Random, root: Any, depth: int) -> list[Any]:
    fixed = [instance(part, rng, root, depth + 1) for part in schema.get("prefixItems", [])]
    least = max(schema.get("minItems", 0), len(fixed))
    most = schema.get("maxItems", least + 2)
    count = (
        least
        if depth > 6 or "items" not in schema
        else rng.randint(least, max(least, min(most, least + 2)))
    )
    made = fixed
    for _ in range(20 * count):
        if len(made) >= count:
            break
        item = instance(schema.get("items", True), rng, root, depth + 1)
        if not schema.get("uniqueItems") or item not in made:
            made.append(item)
    return made


def _string(schema: Any, rng: random.Random) -> str:
    if "pattern" in schema:
        return _matching(schema, rng)
    text = rng.choice(_SENTENCES)
    while len(text) < schema.get("minLength", 0):
        text = f"{text} {rng.choice(_SENTENCES)}"
    return text[: schema.get("maxLength")]


def _matching(schema: Any, rng: random.Random) -> str:
    """A text that fits a pattern and the lengths beside it; ValueError where none is found."""
    parts = list(re_parser.parse(schema["pattern"]))
    low, high = schema.get("minLength", 0), schema.get("maxLength", 10_000)
    for _ in range(200):
        text = "".join(_drawn(part, rng) for part in parts)
        if low <= len(text) <= high and re.search(schema["pattern"], text):
            return text
    raise ValueError(f"no text was found that fits {schema}")


def _drawn(part: Any, rng: random.Random) -> str:
    """A text for one part of a pattern, as `re` parses it."""
    kind, told = str(part[0]), part[1]
    match kind:
        case "AT" | "ASSERT" | "ASSERT_NOT":
            return ""
        case "LITERAL":
            return chr(told)
        case "SUBPATTERN":
            return "".join(_drawn(one, rng) for one in told[-1])
        case "BRANCH":
            return "".join(_drawn(one, rng) for one in rng.choice(told[1]))
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, what = told
            times = rng.randint(int(least), min(int(most), int(least) + 4))
            return "".join(_drawn(one, rng) for _ in range(times) for one in what)
        case "ANY":
            return rng.choice(string.ascii_lowercase)
        case "IN":
            return rng.choice([one for one in string.printable[:95] if _among(one, told)])
    raise ValueError(f"{kind} in a pattern is not read")


def _among(one: str, told: Any) -> bool:
    """Whether a character is of a class such as [^a-z0-9]."""
    kinds = [(str(kind), what) for kind, what in told]
    categories = {"CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w", "CATEGORY_SPACE": r"\s"}
    found = any(
        (kind == "LITERAL" and ord(one) == what)
        or (kind == "RANGE" and what[0] <= ord(one) <= what[1])
        or (
            kind == "CATEGORY"
            and bool(re.match(categories.get(str(what).replace("_NOT_", "_"), "(?!)"), one))
            != ("_NOT_" in str(what))
        )
        for kind, what in kinds
    )
    return found != (("NEGATE", None) in kinds)


def main() -> None:
    """Serve until killed; the first line of output is the address."""
    parser = argparse.ArgumentParser(prog="python -m tests.llm.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument(
        "--in-flight-max", type=int, default=None, help="so many at once; the others wait"
    )
    parser.add_argument("--fault", default=None, help="what goes wrong, such as 500")
    parser.add_argument("--fault-every", type=int, default=10, help="with every so many requests")
    told = parser.parse_args()

    def faults(index: int) -> Fault | None:
        return told.fault if index % told.fault_every == told.fault_every - 1 else None

    server = FaultServer(
        latency_s=told.latency_ms / 1000,
        in_flight_max=told.in_flight_max,
        port=told.port,
        faults=faults if told.fault else None,
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(server.serve(on_ready=lambda url: print(url, flush=True)))


if __name__ == "__main__":
    main()
