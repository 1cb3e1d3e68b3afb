"""What a local site must refuse: foreign hosts and origins, missing tokens, too much and too
often.
"""

import secrets
import time
from collections import defaultdict, deque
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
COOKIE = "simcounsel_token"
"""With the port behind it: cookies do not tell ports apart. Lax, so that a link in a mail works;
posts are checked by Origin.
"""
BODY_BYTES = 64 * 1024
"""The most that a page may send at once: a long line, an interview's question, a page of
ratings.
"""
POSTS, POSTS_SECONDS = 60, 60.0
"""How many posts from one address are let through, and in how many seconds."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src"
    " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
)
NOWHERE = "'none'"
IN_NOTEBOOKS = "http://localhost:* http://127.0.0.1:* vscode-webview:"
"""Which pages may hold this one as a frame."""


class Guard:
    """ASGI middleware around the whole site.

    token: what every request must bring (as `?token=`, then in a cookie); None on the loopback
    address, where only requests that name it as their host are served. own: beginnings of paths
    that hold a secret of their own, such as a rater's link, or tell nothing; there the token is not
    asked.
    """

    def __init__(
        self, app: ASGIApp, *, token: str | None, own: tuple[str, ...] = (), frames: str = NOWHERE
    ) -> None:
        """frames: which pages may hold this one, as the content security policy has it."""
        self.app = app
        self.policy = POLICY + frames
        self.token = token
        self.own = own
        self._posts: dict[str, deque[float]] = defaultdict(deque)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on and add the headers."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return None
        refusal = self._refuse(scope)
        if refusal is not None:
            return await refusal(scope, _nothing, _with_headers(send, self.policy))
        if scope["method"] == "POST":
            receive = bounded(receive)
        try:
            return await self.app(scope, receive, _with_headers(send, self.policy))
        except TooLong:
            return await PlainTextResponse("too long", 413)(
                scope, _nothing, _with_headers(send, self.policy)
            )

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.token is None and hostname(host) not in LOOPBACK:
            return PlainTextResponse("this site answers only to 127.0.0.1 and localhost", 403)
        origin = headers.get("origin")
        if origin is not None and _origin(origin) != host:
            return PlainTextResponse("a page of another site may not ask here", 403)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("only GET and POST", 405)
        return self._refuse_stranger(scope, headers) or self._refuse_flood(scope, headers)

    def _refuse_stranger(self, scope: Scope, headers: Headers) -> Response | None:
        if self.token is None or scope["path"].startswith(self.own):
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = query.pop("token", [""])[0]
        if secrets.compare_digest(given.encode(), self.token.encode()):
            rest = urlencode(query, doseq=True)
            answer = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(_cookie(scope), self.token, httponly=True, samesite="lax")
            return answer
        known = cookie_parser(headers.get("cookie", "")).get(_cookie(scope), "")
        if secrets.compare_digest(known.encode(), self.token.encode()):
            return None
        return PlainTextResponse(
            "a token is needed: open the address that `simcounsel view` printed, with its ?token=",
            401,
        )

    def _refuse_flood(self, scope: Scope, headers: Headers) -> Response | None:
        if scope["method"] != "POST":
            return None
        if int(headers.get("content-length") or 0) > BODY_BYTES:
            return PlainTextResponse("too long", 413)
        posts, now = self._posts[(scope.get("client") or ("",))[0]], time.monotonic()
        while posts and posts[0] < now - POSTS_SECONDS:
            posts.popleft()
        if len(posts) >= POSTS:
            return PlainTextResponse("too many at once; wait a minute", 429)
        posts.append(now)
        return None


class TooLong(Exception):
    """A body that was longer than it said, or than is allowed."""


def _cookie(scope: Scope) -> str:
    return f"{COOKIE}_{(scope.get('server') or ('', 0))[1]}"


def _origin(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def hostname(host: str) -> str:
    """Of what a request says is its host; '' where that is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def bounded(receive: Receive) -> Receive:
    """A body of at most BODY_BYTES; TooLong when it is longer."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > BODY_BYTES:
            raise TooLong
        return message

    return bounded


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def _with_headers(send: Send, policy: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", policy)
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
            headers["cross-origin-resource-policy"] = "same-origin"
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending
