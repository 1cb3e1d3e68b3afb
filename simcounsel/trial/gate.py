"""What a trial's site lets in: its own hosts and pages, not too much, and not too often."""

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from simcounsel.viewer.guard import LOOPBACK, NOWHERE, POLICY, TooLong, bounded, hostname

MOST_POSTS, MOST_OF_ADDRESS, MOST_MISSES, MOST_LOGINS = 60, 3000, 20, 8
"""A minute: posts of a browser, and of an address; wrong links, and wrong passwords, of an
address.
"""
MINUTE_S = 60.0
KEPT = 20_000
"""So many counts are kept."""
PROOF = "x-simcounsel"
"""The header that each post has: a form of another site cannot send it."""
TAKE, WATCH = "simcounsel_take", "simcounsel_watch"
"""Cookies, with `__Host-` before them where the site is reached by TLS."""


class Often:
    """How often somebody did something within a minute."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def count(self, who: str) -> bool:
        """Count it; False when it was too often."""
        now = self._clock()
        begun, count = self._counts.pop(who, (now, 0))
        if begun < now - MINUTE_S:
            begun, count = now, 0
        self._counts[who] = (begun, count + 1)
        while len(self._counts) > KEPT:
            self._counts.popitem(last=False)
        return count < self._most

    def blocked(self, who: str) -> bool:
        """Whether it was too often already."""
        begun, count = self._counts.get(who, (0.0, 0))
        return count >= self._most and begun >= self._clock() - MINUTE_S


def address_of(request: Request) -> str:
    """From where a request comes; behind a proxy on this machine, what that says of it."""
    direct = request.client.host if request.client else ""
    told = request.headers.get("x-forwarded-for", "").split(",")[-1].strip()
    return told if told and direct in LOOPBACK else direct


class Gate:
    """ASGI middleware around the whole site. base: the address by which people reach it."""

    def __init__(self, app: ASGIApp, *, base: str) -> None:
        self.app = app
        parts = urlsplit(base)
        self._hosts = {parts.netloc}
        self._local = parts.hostname in LOOPBACK
        self._secure = parts.scheme == "https"
        self._posts, self._from_address = Often(MOST_POSTS), Often(MOST_OF_ADDRESS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on and add the headers."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send) if scope["type"] == "lifespan" else None
        refusal = self._refuse(Request(scope))
        if refusal is not None:
            return await refusal(scope, receive, self._headed(send))
        try:
            return await self.app(scope, bounded(receive), self._headed(send))
        except TooLong:
            return await JSONResponse({"error": "too long"}, 413)(
                scope, receive, self._headed(send)
            )

    def _refuse(self, request: Request) -> Response | None:
        headers = request.headers
        host = headers.get("host", "")
        if host not in self._hosts and not (self._local and hostname(host) in LOOPBACK):
            return JSONResponse({"error": "this site has another address"}, 421)
        if request.method not in ("GET", "HEAD", "POST"):
            return JSONResponse({"error": "only GET and POST"}, 405)
        if request.method == "POST":
            return self._refuse_post(request, headers, host)
        return None

    def _refuse_post(self, request: Request, headers: Headers, host: str) -> Response | None:
        origin = headers.get("origin")
        if headers.get(PROOF) != "1" or (origin is not None and urlsplit(origin).netloc != host):
            return JSONResponse({"error": "a page of another site may not ask here"}, 403)
        if headers.get("content-type", "").split(";")[0].strip() != "application/json":
            return JSONResponse({"error": "send application/json"}, 415)
        address = address_of(request)
        own = self._posts.count(headers.get("cookie") or address)
        if not (self._from_address.count(address) and own):
            return JSONResponse({"error": "too many at once; wait a minute"}, 429)
        return None

    def _headed(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["content-security-policy"] = POLICY + NOWHERE
                headers["x-content-type-options"] = "nosniff"
                headers["referrer-policy"] = "no-referrer"
                headers["cross-origin-resource-policy"] = "same-origin"
                headers["x-robots-tag"] = "noindex"
                headers.setdefault("cache-control", "no-store")
                if self._secure:
                    headers["strict-transport-security"] = "max-age=31536000"
            await send(message)

        return sending


def set_session(response: Response, name: str, secret: str, *, secure: bool) -> None:
    """A session that no script reads, and that no other site's page sends along with a post."""
    response.set_cookie(
        cookie_name(name, secure=secure),
        secret,
        max_age=400 * 86_400,
        httponly=True,
        secure=secure,
        samesite="lax",
        path="/",
    )


def cookie_name(name: str, *, secure: bool) -> str:
    """A cookie's name; `__Host-` binds it to this very host."""
    return f"__Host-{name}" if secure else name


def password_hash(password: str, salt: str) -> str:
    """Of the coordinator's password (scrypt, RFC 7914, n = 2^14, r = 8)."""
    return hashlib.scrypt(password.encode(), salt=salt.encode(), n=2**14, r=8, p=1).hex()


def is_password(password: str, salt: str, known: str) -> bool:
    """Whether that is the password; compared in constant time."""
    return secrets.compare_digest(password_hash(password, salt), known)
