"""Models that are not in this process: any OpenAI-compatible server, and LangChain's."""

import importlib.util
import os
import re
from functools import partial
from typing import TYPE_CHECKING

from simcounsel.errors import ModelError
from simcounsel.hosts import check_key_for
from simcounsel.llm.models import ChatModel, EmbedModel, Provider
from simcounsel.secret import remember, scrub

if TYPE_CHECKING:
    from simcounsel.llm.openai import Connected

OPENAI_URL = "https://api.openai.com/v1"
KEY = "SIMCOUNSEL_API_KEY"
"""The variable with the key of servers that are named by their address."""
AZURE_VERSION = "2024-10-21"
"""Of Azure's API, where OPENAI_API_VERSION does not say another: the newest that is no preview."""


def server_of(name: str) -> tuple[str, str, str | None]:
    """Base URL, model and key of `openai:MODEL`, `azure:DEPLOYMENT`, `http(s)://.../v1/MODEL` or
    `http(s)://...#MODEL`. ModelError when a key is missing, or would go to a host that the user did
    not name, or the name is of another form.
    """
    if name.startswith("openai:") and name != "openai:":
        key = os.environ.get("OPENAI_API_KEY")
        base = os.environ.get("OPENAI_BASE_URL", OPENAI_URL)
        if not key and base == OPENAI_URL:
            raise ModelError(
                f"{name}: no API key; set OPENAI_API_KEY, or use --model embedded, which needs none"
            )
        return base, name.removeprefix("openai:"), _remembered(key)
    if name.startswith("azure:") and name != "azure:":
        key = os.environ.get("AZURE_OPENAI_API_KEY")
        base = os.environ.get("AZURE_OPENAI_ENDPOINT", "")
        if not key or not base:
            raise ModelError(
                f"{name}: set AZURE_OPENAI_ENDPOINT (such as https://NAME.openai.azure.com) and"
                " AZURE_OPENAI_API_KEY; what follows `azure:` is the name of your deployment"
            )
        return base, name.removeprefix("azure:"), _remembered(key)
    found = re.fullmatch(r"(https?://[^\s#]+)#(\S+)", name) or re.fullmatch(
        r"(https?://[^\s#]+?/v1)/(\S+)", name
    )
    if not found:
        raise ModelError(
            f"no model {scrub(name)!r}; a model of OpenAI is written openai:gpt-4o; of a server of"
            " one's own, the address ends in /v1/MODEL, such as"
            " http://localhost:11434/v1/llama3.1, or in #MODEL"
        )
    base, model = found.groups()
    key = _remembered(os.environ.get(KEY))
    if key:
        check_key_for(base, KEY, name)
    return base, model, key


def _remembered(key: str | None) -> str | None:
    """A key without the blanks around it, hidden from now on; None when there is none."""
    key = (key or "").strip()
    remember(key)
    return key or None


def _chat(name: str) -> ChatModel:
    base_url, model, key = server_of(name)
    from simcounsel.llm.openai import OpenAIModel  # aiohttp takes a third of a second

    return OpenAIModel(
        name=name,
        base_url=base_url,
        model=model,
        api_key=key,
        thinking_tokens=_thinking_tokens(),
        connected=_connected(name),
    )


def _connected(name: str) -> "Connected":
    """OpenAI and Azure by their own client, whose import takes a second; servers of one's own by
    the lean one.
    """
    if not name.startswith(("openai:", "azure:")):
        from simcounsel.llm.lean import LeanServer

        return LeanServer
    from simcounsel.llm.official import OfficialServer

    if name.startswith("openai:"):
        return OfficialServer
    return partial(OfficialServer, azure=os.environ.get("OPENAI_API_VERSION", AZURE_VERSION))


def _thinking_tokens() -> int:
    """Room for reasoning, where a model counts it into the limit of its answer. ModelError."""
    told = os.environ.get("SIMCOUNSEL_THINKING_TOKENS", "2000")
    if not re.fullmatch(r"[0-9]{1,7}", told):
        raise ModelError(
            f"SIMCOUNSEL_THINKING_TOKENS={told!r}: not a number of tokens; write one such as 8000"
        )
    return int(told)


def _embed(name: str) -> EmbedModel:
    base_url, model, key = server_of(name)
    from simcounsel.llm.openai import OpenAIEmbeddings

    return OpenAIEmbeddings(
        name=name, base_url=base_url, model=model, api_key=key, connected=_connected(name)
    )


def _chain(name: str) -> ChatModel:
    from simcounsel.llm.langchain import LangChainModel

    return LangChainModel(name)


OPENAI = Provider(
    chat=_chat,
    embed=_embed,
    forms={"openai:MODEL": "OpenAI, such as openai:gpt-4o; costs money"},
    state=lambda: (
        "OPENAI_API_KEY is set" if os.environ.get("OPENAI_API_KEY") else "needs OPENAI_API_KEY"
    ),
)
AZURE = Provider(
    chat=_chat,
    embed=_embed,
    forms={"azure:DEPLOYMENT": "OpenAI's models in a resource of Azure; costs money"},
    state=lambda: (
        "AZURE_OPENAI_API_KEY is set"
        if os.environ.get("AZURE_OPENAI_API_KEY")
        else "needs AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY"
    ),
)
HTTP = Provider(
    chat=_chat,
    embed=_embed,
    forms={
        "http://HOST:PORT/v1/MODEL": (
            "Ollama, vLLM, llama.cpp, any OpenAI-compatible server (key, if any:"
            " SIMCOUNSEL_API_KEY)"
        )
    },
)
HTTPS = Provider(
    chat=_chat,
    embed=_embed,
    forms={"https://ANY/ADDRESS#MODEL": "the same where the address does not end in /v1"},
)
LANGCHAIN = Provider(
    chat=_chain,
    forms={"langchain:PROVIDER:MODEL": "any LangChain chat model"},
    state=lambda: (
        "installed"
        if importlib.util.find_spec("langchain")
        else "needs: pip install 'simcounsel[langchain]'"
    ),
)
