"""The scripted model as a provider: `scripted`, `scripted:...`."""

from simcounsel.errors import ModelError
from simcounsel.llm.models import ChatModel, EmbedModel, Provider


def _scripted(name: str) -> ChatModel:
    if name == "scripted":
        from simcounsel.scripted import Scripted

        return Scripted()
    from simcounsel.scripted.planted import planted

    return planted(name)


def _hashed(name: str) -> EmbedModel:
    if name != "scripted":
        raise ModelError(f"{name!r} makes no vectors; those come from `scripted`")
    from simcounsel.llm.embeddings import HashEmbeddings

    return HashEmbeddings()


SCRIPTED = Provider(
    chat=_scripted,
    embed=_hashed,
    forms={
        "scripted": "no model: drawn answers without meaning, for tests",
        "scripted:planted=POINTS[,friend=,spread=,noise=POINTS][,draw=N][,only=WORD]": (
            "the same with an effect of known size, to test an analysis"
        ),
    },
    vectors_for=lambda name: name if name == "scripted" else None,
)
