"""Which models, keys and browser can be reached from here, for `simcounsel doctor`. No key is sent,
and nothing is asked of a model.
"""

import os
import socket
import sys
import webbrowser
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from simcounsel.cli.finding import Finding
from simcounsel.errors import ModelError
from simcounsel.hosts import allowed_in_file, hosts_file
from simcounsel.llm.servers import OPENAI_URL

VIEWER_PORT = 8765
WAIT_S = 2.0
"""For a server of this machine, or for a connection to another."""
LOCAL = {"Ollama": 11434, "vLLM": 8000, "llama.cpp": 8080, "LM Studio": 1234, "LiteLLM": 4000}
"""Where servers of models listen if nobody says otherwise."""
KEYS = {
    "OPENAI_API_KEY": "openai:MODEL",
    "AZURE_OPENAI_API_KEY": "azure:DEPLOYMENT",
    "SIMCOUNSEL_API_KEY": "servers that are named by their address",
    "ANTHROPIC_API_KEY": "langchain:anthropic:MODEL",
}


def models() -> Iterator[Finding]:
    """Servers of this machine that answer, and whether OpenAI can be reached where a key is set."""
    with ThreadPoolExecutor(len(LOCAL)) as pool:
        answers = list(pool.map(_served, LOCAL.values()))
    found = False
    for (name, port), models in zip(LOCAL.items(), answers, strict=True):
        if models is None:
            continue
        found = True
        address = f"http://localhost:{port}/v1"
        names = ", ".join(models[:4]) + (f" and {len(models) - 4} more" if len(models) > 4 else "")
        yield Finding(
            part="models",
            subject=f"port {port}",
            mark="ok" if models else "none",
            says=f"answers as {name} does, with {names or 'no model'}",
            remedy=f"--model {address}/{_talking(models) or 'MODEL'}",
        )
    if not found:
        yield Finding(
            part="models",
            subject="local servers",
            mark="none",
            says="none answers (" + ", ".join(f"{one} {port}" for one, port in LOCAL.items()) + ")",
            remedy="Ollama is the quickest to set up (https://ollama.com)",
        )
    if os.environ.get("OPENAI_API_KEY"):
        yield _reaches(os.environ.get("OPENAI_BASE_URL", OPENAI_URL))


def first_served() -> str | None:
    """The first model that talks, of the servers of this machine, as --model takes it; None where
    there is none.
    """
    for port in LOCAL.values():
        if name := _talking(_served(port) or ()):
            return f"http://localhost:{port}/v1/{name}"
    return None


def _talking(models: Iterable[str]) -> str | None:
    """The first that is not for vectors."""
    return next((name for name in models if "embed" not in name.lower()), None)


def _served(port: int) -> list[str] | None:
    """The models of this machine at a port; None when nobody there speaks of models."""
    from simcounsel.llm.http import served

    return served(f"http://127.0.0.1:{port}/v1")


def _reaches(base_url: str) -> Finding:
    """Whether there is a connection to a server, without a word sent to it."""
    parts = urlsplit(base_url)
    place = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    try:
        socket.create_connection(place, timeout=WAIT_S).close()
        there, says = True, "can be reached; whether the key holds is not asked"
    except OSError as error:
        there, says = False, f"cannot be reached ({error})"
    return Finding(
        part="models",
        subject="OpenAI",
        mark="ok" if there else "problem",
        says=f"{place[0]}:{place[1]} {says}",
        remedy="" if there else "look at the network, a proxy, OPENAI_BASE_URL",
    )


def keys() -> Iterator[Finding]:
    for name, what in KEYS.items():
        there = bool(os.environ.get(name, "").strip())
        yield Finding(
            part="keys",
            subject=name,
            mark="ok" if there else "none",
            says=f"set, for {what}" if there else f"not set; it is for {what}",
        )
    try:
        allowed: Iterable[str] = allowed_in_file()
    except ModelError as error:
        yield Finding(part="keys", subject="hosts", mark="problem", says=str(error))
        return
    yield Finding(
        part="keys",
        subject="hosts",
        mark="ok",
        says=f"{', '.join(allowed) or 'none'} allowed in {hosts_file()}",
    )


def viewer() -> Iterator[Finding]:
    try:
        webbrowser.get()
        there = True
    except webbrowser.Error:
        there = False
    yield Finding(
        part="browser",
        subject="a browser",
        mark="ok" if there else "none",
        says="found" if there else "none that opens from this terminal",
        remedy=""
        if there
        else "simcounsel view RUN --html FILE writes a page to open elsewhere; over ssh:"
        f" ssh -L {VIEWER_PORT}:127.0.0.1:{VIEWER_PORT} HOST, and simcounsel view RUN there",
    )
    with socket.socket() as sock:
        if os.name != "nt":  # there it would take a port that is in use
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", VIEWER_PORT))
            free = True
        except OSError:
            free = False
    yield Finding(
        part="browser",
        subject=f"port {VIEWER_PORT}",
        mark="ok" if free else "none",
        says="free, for `simcounsel view`" if free else "in use by another program",
        remedy="" if free else "simcounsel view RUN --port 0",
    )
    spoken = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    utf8 = "utf" in spoken
    yield Finding(
        part="browser",
        subject="terminal",
        mark="ok" if utf8 else "problem",
        says=f"writes {spoken}",
        remedy="" if utf8 else "set PYTHONIOENCODING=utf-8",
    )
