"""From a model's name, as a world or the command line gives it, to the model."""

import importlib.util
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from simcounsel.errors import ModelError
from simcounsel.llm.question import Tier

if TYPE_CHECKING:
    from simcounsel.llm.models import ChatModel, EmbedModel

FORMS = (
    "embedded",
    "embedded+adapter=PATH",
    "openai:MODEL",
    "http://HOST:PORT/v1/MODEL",
    "https://ANY/ADDRESS#MODEL",
    "langchain:PROVIDER:MODEL",
    "scripted",
    "recorded:RUN",
)
OPENAI_URL = "https://api.openai.com/v1"


def open_chat(name: str) -> "ChatModel":
    """The chat model of that name. ModelError says what is missing (a key, a package, weights),
    RunError that a recording is.
    """
    kind, _, rest = name.partition(":")
    if name == "embedded":
        from simcounsel.standins import Embedded

        return Embedded()
    if name.startswith("embedded+"):
        from simcounsel.llm.adapter import find_adapter
        from simcounsel.standins import Embedded

        return Embedded(adapter=find_adapter(name))
    if name == "scripted":
        from simcounsel.standins.scripted import Scripted

        return Scripted()
    if kind == "scripted":
        from simcounsel.standins.planted import planted

        return planted(name)
    if kind == "recorded":
        from simcounsel.llm.recorded import Recorded
        from simcounsel.runs.run import Run

        Run.open(rest)
        return Recorded(rest)
    if kind == "langchain" and rest:
        from simcounsel.llm.langchain import LangChainModel

        return LangChainModel(rest)
    base_url, model, key = _server(name)
    from simcounsel.llm.openai import OpenAIModel

    return OpenAIModel(name=name, base_url=base_url, model=model, api_key=key)


def open_chats(roles: Mapping[str, str]) -> dict[Tier, "ChatModel"]:
    """The chat models of roles, each opened once. ModelError as `open_chat`."""
    chat = {cast(Tier, role): name for role, name in roles.items() if role != "embed"}
    opened = {name: open_chat(name) for name in dict.fromkeys(chat.values())}
    return {role: opened[name] for role, name in chat.items()}


def open_embed(name: str) -> "EmbedModel":
    """The embedding model of that name; the same forms, `langchain:` apart."""
    if name == "embedded":
        from simcounsel.llm.embeddings import MiniLM

        return MiniLM()
    if name == "scripted" or name.startswith("recorded:"):
        from simcounsel.llm.embeddings import HashEmbeddings

        return HashEmbeddings()
    base_url, model, key = _server(name)
    from simcounsel.llm.openai import OpenAIEmbeddings

    return OpenAIEmbeddings(name=name, base_url=base_url, model=model, api_key=key)


def _server(name: str) -> tuple[str, str, str | None]:
    """Base URL, model and key of `openai:MODEL`, `http(s)://.../v1/MODEL` or
    `http(s)://...#MODEL`.
    """
    key = os.environ.get("OPENAI_API_KEY")
    if name.startswith("openai:") and name != "openai:":
        base = os.environ.get("OPENAI_BASE_URL", OPENAI_URL)
        if not key and base == OPENAI_URL:
            raise ModelError(
                f"{name}: no API key; set OPENAI_API_KEY, or use --model embedded, which needs none"
            )
        return base, name.removeprefix("openai:"), key
    found = re.fullmatch(r"(https?://[^\s#]+)#(\S+)", name) or re.fullmatch(
        r"(https?://[^\s#]+?/v1)/(\S+)", name
    )
    if found:
        return found.group(1), found.group(2), os.environ.get("SIMCOUNSEL_API_KEY")
    hint = (
        "; the address ends in /v1/MODEL, such as http://localhost:11434/v1/llama3.1"
        if name.startswith("http")
        else ""
    )
    raise ModelError(f"no model {name!r}{hint}; there are {', '.join(FORMS)}")


def roles_for(model: str) -> dict[str, str]:
    """The model roles when one model does everything; vectors come from the embedded model, unless
    all is scripted or recorded."""
    embed = (
        "scripted"
        if model == "scripted"
        else model
        if model.startswith("recorded:")
        else "embedded"
    )
    return {"reason": model, "embed": embed}


EMBEDDED_WEIGHTS = ("smollm2", "minilm", "minilm-tokenizer")


def needed_weights(roles: Mapping[str, object]) -> tuple[str, ...]:
    """Which of the embedded models' weights these roles need."""
    chat = any(
        str(name).split("+")[0] == "embedded" for role, name in roles.items() if role != "embed"
    )
    vectors = chat or roles.get("embed") == "embedded"
    return (("smollm2",) if chat else ()) + (("minilm", "minilm-tokenizer") if vectors else ())


def model_lines() -> Iterator[str]:
    """What can be used here, for `simcounsel models`."""
    from simcounsel.llm.weights import state

    missing = [part.weights.key for part in state() if not part.fetched]
    yield (
        "embedded                  SmolLM2-135M and all-MiniLM-L6-v2 inside this process, no key,"
        " for trying things"
    )
    yield (
        "                          weights:"
        f" {'all fetched' if not missing else 'missing ' + ', '.join(missing) + '; --pull fetches them'}"
    )
    yield (
        "embedded+adapter=PATH     the same, its counselors speaking through a LoRA adapter: a"
        " .gguf file, or a training's folder after its export"
    )
    key = "OPENAI_API_KEY is set" if os.environ.get("OPENAI_API_KEY") else "needs OPENAI_API_KEY"
    yield f"openai:gpt-4o             OpenAI ({key}); costs money"
    yield (
        "http://HOST:PORT/v1/NAME  Ollama, vLLM, llama.cpp, any OpenAI-compatible server (key, if"
        " any: SIMCOUNSEL_API_KEY)"
    )
    yield "https://ANY/ADDRESS#NAME  the same where the address does not end in /v1"
    chain = (
        "installed"
        if importlib.util.find_spec("langchain")
        else "needs: pip install 'simcounsel[langchain]'"
    )
    yield f"langchain:PROVIDER:NAME   any LangChain chat model ({chain})"
    yield "scripted                  no model: drawn answers without meaning, for tests"
    yield "recorded:RUN              no model: the replies of an earlier run"
    yield (
        "Use one with --model, or by role (reason, quick, judge, embed) under `models:` in a world."
    )
