"""From a model's name, as a world or the command line gives it, to the model."""

import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from simcounsel.errors import ModelError, PluginError
from simcounsel.llm.asking import current
from simcounsel.llm.models import ChatModel, EmbedModel, Provider, Timed
from simcounsel.registry import Registry, missing_part
from simcounsel.secret import credentials_in, scrub
from simcounsel.specs.timeouts import Timeouts

M = TypeVar("M")
PROVIDERS = Registry(
    "simcounsel.providers",
    "a provider",
    Provider,
    {
        "openai": "simcounsel.llm.servers:OPENAI",
        "azure": "simcounsel.llm.servers:AZURE",
        "http": "simcounsel.llm.servers:HTTP",
        "https": "simcounsel.llm.servers:HTTPS",
        "langchain": "simcounsel.llm.servers:LANGCHAIN",
        "scripted": "simcounsel.scripted.opening:SCRIPTED",
        "recorded": "simcounsel.llm.recorded:RECORDED",
        "byhand": "simcounsel.llm.byhand:BYHAND",
    },
)
"""Who opens models: the name of each is what the models' names begin with."""


def open_chat(name: str, timeouts: Timeouts | None = None) -> ChatModel:
    """The chat model of that name. timeouts: of its requests, where it is behind a server and the
    command line says nothing else; None: the defaults. ModelError says what is missing (a key, a
    package, weights), RunError that a recording is, PluginError that a provider cannot be imported.
    """
    provider = _provider(name)
    if provider.chat is None:
        raise ModelError(f"{name}: this provider has no chat models, only embeddings")
    return _timed(provider.chat(name), timeouts)


def _timed(model: M, timeouts: Timeouts | None) -> M:
    timeouts = current().timeouts or timeouts
    if timeouts is not None and isinstance(model, Timed):
        model.timeouts = timeouts
    return model


def timeouts_of(name: str, given: Mapping[str, Timeouts]) -> Timeouts | None:
    """What is given for a model: for its name, or else for its provider."""
    return given.get(name) or given.get(provider_of(name))


def provider_of(name: str) -> str:
    """Whose models have such names: what is before the first `:` or `+`."""
    return re.split("[:+]", name, maxsplit=1)[0]


def open_chats(
    roles: Mapping[str, str], timeouts: Mapping[str, Timeouts] | None = None
) -> dict[str, ChatModel]:
    """The chat models of roles, each opened once; a role may be a resident's, as `reason:Ines`.
    timeouts: by model or provider. Errors as `open_chat`.
    """
    chat = {role: name for role, name in roles.items() if role != "embed"}
    opened = {
        name: open_chat(name, timeouts_of(name, timeouts or {}))
        for name in dict.fromkeys(chat.values())
    }
    return {role: opened[name] for role, name in chat.items()}


def open_embed(name: str, timeouts: Timeouts | None = None) -> EmbedModel:
    """The embedding model of that name. timeouts, errors: as of `open_chat`."""
    provider = _provider(name)
    if provider.embed is None:
        raise ModelError(
            f"{name}: this provider makes no vectors; name another model for `embed`, such as"
            " embedded"
        )
    return _timed(provider.embed(name), timeouts)


def _provider(name: str) -> Provider:
    problem = credentials_in(name)
    if problem:
        raise ModelError(problem)
    provider = PROVIDERS.get(provider_of(name))
    if provider is None and (gone := missing_part(PROVIDERS.group, provider_of(name))):
        raise ModelError(f"{gone}, or name another model")
    if provider is None:
        raise ModelError(f"no model {scrub(name)!r}; there are {', '.join(_forms())}")
    return provider


def _forms() -> Iterator[str]:
    """How models are written; a provider that cannot be imported goes by its name alone."""
    for plugin in PROVIDERS.plugins():
        try:
            forms = tuple(PROVIDERS.load(plugin).forms)
        except PluginError:
            forms = ()
        yield from forms or (f"{plugin.name}:...",)


def roles_for(model: str) -> dict[str, str]:
    """The model roles when one model does everything; vectors come from the embedded model, unless
    the provider has its own to go with it. ModelError when there is no such model.
    """
    return {"reason": model, "embed": vectors_for(model) or "embedded"}


def vectors_for(model: str) -> str | None:
    """The embedding model that goes with a chat model; None when its provider names none."""
    named = _provider(model).vectors_for
    return named(model) if named else None


def needed_weights(roles: Mapping[str, object]) -> tuple[str, ...]:
    """Which pinned weights these roles need."""
    needed = [key for role, name in roles.items() for key in _weights_of(str(name), role)]
    return tuple(dict.fromkeys(needed))


def pinned(name: str) -> str:
    """A model's name as a manifest holds it: with the digest of each file in it. ModelError where
    one is missing, or is another than the digest says.
    """
    provider = PROVIDERS.get(provider_of(name))
    return provider.pinned(name) if provider and provider.pinned else name


def placeless(name: str) -> str:
    """A pinned name without the paths of its files: the same from wherever it is seen."""
    return re.sub(r"(?<=[:=])(?:(?!\+adapter=).)*#(?=[0-9a-f]{16}(\+|$))", "#", name)


def prompts_for(name: str) -> str | None:
    """The set of prompts that goes with a model; None: the usual ones."""
    provider = PROVIDERS.get(provider_of(name))
    return provider.prompts(name) if provider and provider.prompts else None


def _weights_of(name: str, role: str) -> tuple[str, ...]:
    provider = PROVIDERS.get(provider_of(name))
    return provider.weights(name, role == "embed") if provider and provider.weights else ()


def model_lines() -> Iterator[str]:
    """What can be used here, for `simcounsel models`."""
    for plugin in PROVIDERS.plugins():
        try:
            provider = PROVIDERS.load(plugin)
        except PluginError as error:
            yield f"{plugin.name + ':...':<25} {error}"
            continue
        said = [provider.state()] if provider.state else []
        said += [] if plugin.ours else [f"from {plugin.distribution}"]
        for form, what in (provider.forms or {f"{plugin.name}:...": plugin.value}).items():
            yield f"{form:<25} {'; '.join([what, *said])}"
            said = []
    yield (
        "Use one with --model, or by role (reason, quick, judge, embed) under `models:` in a world."
    )
