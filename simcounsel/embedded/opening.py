"""The embedded model as a provider: `embedded`, `embedded+adapter=PATH`."""

from simcounsel.errors import ModelError
from simcounsel.llm.models import ChatModel, EmbedModel, Provider
from simcounsel.llm.weights import state


def _embedded(name: str) -> ChatModel:
    from simcounsel.embedded.provider import Embedded

    if name == "embedded":
        return Embedded()
    if not name.startswith("embedded+"):
        raise ModelError(f"no model {name!r}; there are {' and '.join(EMBEDDED.forms)}")
    from simcounsel.llm.adapter import find_adapter

    return Embedded(adapter=find_adapter(name))


def _minilm(name: str) -> EmbedModel:
    if name != "embedded":
        raise ModelError(f"{name!r} makes no vectors; those come from `embedded`")
    from simcounsel.llm.embeddings import MiniLM

    return MiniLM()


def _weights() -> str:
    missing = [part.weights.key for part in state() if not part.fetched]
    return (
        f"weights missing: {', '.join(missing)}; --pull fetches them"
        if missing
        else "weights: all fetched"
    )


EMBEDDED = Provider(
    chat=_embedded,
    embed=_minilm,
    forms={
        "embedded": (
            "SmolLM2-135M and all-MiniLM-L6-v2 inside this process, no key, for trying things"
        ),
        "embedded+adapter=PATH": (
            "the same, its counselors speaking through a LoRA adapter: a .gguf file, or a"
            " training's folder after its export"
        ),
    },
    state=_weights,
)
