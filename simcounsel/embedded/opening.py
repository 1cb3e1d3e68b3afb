"""The embedded model as a provider: `embedded`, `embedded+adapter=PATH`."""

from simcounsel.errors import ModelError
from simcounsel.llm.adapter import Base, find_adapter, pinned
from simcounsel.llm.models import ChatModel, EmbedModel, Provider
from simcounsel.llm.weights import EMBEDDED as FILES
from simcounsel.llm.weights import state

LAYERS = {
    "attn_q": (576, 576),
    "attn_k": (576, 192),
    "attn_v": (576, 192),
    "attn_output": (576, 576),
    "ffn_gate": (576, 1536),
    "ffn_up": (576, 1536),
    "ffn_down": (1536, 576),
}
"""What each linear layer of SmolLM2-135M, whose weights are pinned, takes in and gives out."""
BLOCKS = 30


def _shape(weight: str) -> tuple[int, int] | None:
    _, block, layer, _ = weight.split(".")
    return LAYERS.get(layer) if int(block) < BLOCKS else None


SMOLLM2 = Base(name="SmolLM2-135M", architecture="llama", shape=_shape)


def _embedded(name: str) -> ChatModel:
    from simcounsel.embedded.provider import Embedded

    if name == "embedded":
        return Embedded()
    if not name.startswith("embedded+"):
        raise ModelError(f"no model {name!r}; there are {' and '.join(EMBEDDED.forms)}")
    return Embedded(adapter=find_adapter(name, SMOLLM2))


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
    pinned=lambda name: pinned(name, SMOLLM2),
    weights=lambda name, vectors: FILES[1:] if vectors else FILES,
)
