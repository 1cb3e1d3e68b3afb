"""A site on this machine: served until Ctrl-C, or from a thread for as long as a block lasts."""

import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from simcounsel.errors import SimcounselError
from simcounsel.viewer.guard import LOOPBACK
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList

if TYPE_CHECKING:
    import uvicorn  # the server is loaded when a site is served, not when a command starts


def serve(
    run_list: RunList,
    *,
    host: str,
    port: int,
    say: Callable[[str], None],
    more: Sequence[BaseRoute] = (),
    path: str = "/",
) -> None:
    """Serve until Ctrl-C. On an address that others can reach a token is demanded, as Jupyter
    does.
    """
    token = None if host in LOOPBACK else secrets.token_urlsafe(24)

    def opened(base: str) -> None:
        say(f"{base}{path}?token={token}" if token else f"{base}{path}")

    listen(make_app(run_list, token=token, more=more), host=host, port=port, opened=opened)


def listen(app: Starlette, *, host: str, port: int, opened: Callable[[str], None]) -> None:
    """Serve a site until Ctrl-C. opened: is told the address, without a slash at its end, once it
    is certain.
    """
    import uvicorn

    server = uvicorn.Server(_config(app, host=host, port=port))
    sock = _bind(host, port)
    opened(f"http://{'[' + host + ']' if ':' in host else host}:{sock.getsockname()[1]}")
    server.run(sockets=[sock])


@contextmanager
def serving(app: Starlette, *, host: str, port: int) -> Iterator[str]:
    """Serve a site from a thread for as long as the block lasts; yields the site's address on this
    machine.
    """
    import uvicorn

    sock = _bind(host, port)
    server = uvicorn.Server(_config(app, host=host, port=port, timeout_graceful_shutdown=1))
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [sock]}, name="simcounsel-site", daemon=True
    )
    thread.start()
    try:
        yield f"http://{host}:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=5)
        sock.close()


def _config(app: Starlette, **more: Any) -> "uvicorn.Config":
    """Without uvicorn's own logging: setting it up closes every handler of the process, and absl's
    (which dp-accounting brings) then closes the stream that was sys.stderr when it was imported.
    Warnings go to the handlers that are there. And without websockets, which no page uses, and
    whose library warns older uvicorns.
    """
    import uvicorn

    return uvicorn.Config(
        app, ws="none", log_config=None, log_level="warning", access_log=False, **more
    )


def _bind(host: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen()  # from here on nobody is turned away, even before the site has started
    except OSError as error:
        sock.close()
        raise SimcounselError(
            f"{host}:{port} cannot be opened ({error.strerror}); choose another --port, or 0 for"
            " any that is free"
        ) from None
    return sock
