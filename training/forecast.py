"""What a training will take, before it is begun: parameters, memory, tokens, steps, time.

Memory and time follow a simple model whose constants were measured; the table is in
`docs/tutorials/seven-billion.md`. Per token and layer a backward pass keeps six numbers of the
hidden size and four of the feed-forward size; each learned token costs ten bytes for each word of
the vocabulary. A frozen weight costs two operations forward and two backward for each token, and
two more with checkpointing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from training.learning.base import load_shapes, load_tokenizer, with_adapters
from training.learning.examples import ProtectedRecord, records_of
from training.recipe import Recipe
from training.sites import Sites

KEPT_HIDDEN, KEPT_FORWARD = 6, 4
BYTES_OF_WORD = 10
PACKED = 0.516
"""Bytes of a weight in 4 bits, with its constants."""
RUNTIME_GB = 0.8
"""Python, torch and the data."""
DEVICES = (
    ("two cores of a shared server, float32", 1.2e11, "float32"),
    ("one NVIDIA H200, bfloat16", 3.8e14, "bfloat16"),
)
"""Name, operations a second of a plain step, and the precision at which that was measured."""
PRIVATE = 1.6
"""Times a plain step on a GPU, four sequences at once; on a CPU 1.05."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """A base and its adapters, in numbers."""

    parameters: int
    embeddings: int
    """Of these, the tables of words."""
    adapters: int
    trained: int
    """Of the adapters."""
    layers: int
    hidden: int
    forward: int
    """The feed-forward size."""
    vocabulary: int


@dataclass(frozen=True, kw_only=True)
class Memory:
    """In GB."""

    base: float
    learned: float
    """Adapters, their gradients, the optimizer's two moments, and one gradient for each session
    that is computed together.
    """
    kept: float
    """For the backward pass."""
    words: float
    """Scores of the learned tokens."""

    @property
    def all(self) -> float:
        """Together, with what runs beside."""
        return self.base + self.learned + self.kept + self.words + RUNTIME_GB


def size_of(recipe: Recipe) -> Size:
    """From the base's configuration alone: no weights are loaded."""
    base = load_shapes(recipe.base, recipe.learning)
    config: Any = base.model.config.get_text_config()
    words = [base.model.get_input_embeddings().weight]
    spare = base.model.get_output_embeddings().weight
    parameters = sum(one.numel() for one in base.model.parameters())
    if getattr(config, "tie_word_embeddings", False):
        # without numbers both tables are there; in the model they are one
        parameters -= spare.numel() if spare is not words[0] else 0
    else:
        words.append(spare)
    embeddings = sum(one.numel() for one in words)
    rank = max(recipe.lora.rank, *recipe.lora.ranks.values(), 0)
    drawn = with_adapters(base, recipe.lora.model_copy(update={"rank": rank}), seed=recipe.seed)
    adapters = [(name, one) for name, one in drawn.named_parameters() if ".lora_" in name]
    return Size(
        parameters=parameters,
        embeddings=embeddings,
        adapters=sum(one.numel() for _, one in adapters),
        trained=sum(one.numel() for _, one in adapters if one.requires_grad),
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        forward=getattr(config, "intermediate_size", None) or 4 * config.hidden_size,
        vocabulary=config.vocab_size,
    )


def memory_of(size: Size, recipe: Recipe, at_once: int, learned: float) -> Memory:
    """learned: the share of tokens that are learned."""
    wide = 2 if recipe.learning.precision == "bfloat16" else 4
    tokens = at_once * recipe.learning.max_tokens
    per_layer = (KEPT_HIDDEN * size.hidden + KEPT_FORWARD * size.forward) * wide * tokens
    kept = per_layer * size.layers
    if recipe.learning.checkpointing:
        kept = per_layer + size.layers * size.hidden * wide * tokens
    body = size.parameters - size.embeddings
    base = size.parameters * wide
    if recipe.learning.quantize == "4bit":
        base = int(body * PACKED + size.embeddings * wide)
    moments = {"adamw": 8, "adamw_8bit": 2, "sgd": 0}[recipe.learning.optimizer]
    each = 4 * at_once if recipe.trains in ("session", "client") else 0
    return Memory(
        base=base / 1e9,
        learned=(4 * size.adapters + (4 + moments + each) * size.trained) / 1e9,
        kept=kept / 1e9,
        words=tokens * learned * size.vocabulary * BYTES_OF_WORD / 1e9,
    )


def operations(size: Size, recipe: Recipe, tokens: float, learned: float) -> float:
    """Of one pass over so many tokens, of which so many are learned."""
    times = 6 if recipe.learning.checkpointing else 4
    times += 4 if recipe.learning.by_pairs else 0  # what model and base make of each pair
    words = size.hidden * size.vocabulary
    return times * ((size.parameters - size.embeddings) * tokens + words * learned)


def lines(recipe: Recipe, sites: Sites | None, steps: int, paid: str) -> Iterator[str]:
    """What `train plan` says. sites: None where only their sizes are known."""
    size = size_of(recipe)
    share = 100 * size.trained / size.parameters
    yield _row("base", f"{recipe.base}: {size.parameters:,} parameters, {size.layers} layers")
    yield _row("adapters", f"{size.trained:,} parameters are trained, {share:.2g}% as many")
    privacy = recipe.privacy
    by_site = privacy is not None and privacy.unit == "site"
    shares = privacy.participation if privacy and by_site else recipe.participation
    passes = recipe.rounds * recipe.local_epochs * shares
    tokens, learned = _tokens(recipe, sites)
    known = "" if sites else ", if no session is longer than max_tokens"
    if recipe.learning.by_pairs and not sites:
        known += " and one line of each was revised"
    yield _row("data", f"{tokens:,} tokens in a pass{known}, {learned:,} of them learned")
    yield _row("steps", f"{steps:,} in all, {passes * tokens:,.0f} tokens in {passes:g} passes")
    yield _row("privacy", paid)
    part = learned / max(tokens, 1)
    for number, at_once in enumerate(
        sorted({recipe.learning.at_once or 1, recipe.learning.at_once or 4})
    ):
        one = memory_of(size, recipe, at_once, part)
        yield _row(
            "memory" if not number else "",
            f"{one.all:.1f} GB with {at_once} at once: base {one.base:.1f}, adapters"
            f" {one.learned:.1f}, backward pass {one.kept:.1f}, words {one.words:.1f}",
        )
    work = passes * operations(size, recipe, tokens, learned)
    for number, (device, rate, precision) in enumerate(DEVICES):
        gpu = precision == "bfloat16"
        slower = (PRIVATE if gpu else 1.05) if recipe.trains in ("session", "client") else 1.0
        hours = slower * work / rate / 3600
        took = f"{hours:.1f} hours" if hours >= 1 else f"{max(60 * hours, 1):.0f} min"
        yield _row("time" if number == 0 else "", f"about {took} on {device}")
    yield _row("", "held-out loss and audits come on top; see docs/tutorials/seven-billion.md")


def _tokens(recipe: Recipe, sites: Sites | None) -> tuple[int, int]:
    """Of a pass over all sites, and how many of them are learned."""
    if sites is None:
        most = sum(one.count * one.sessions for one in recipe.sites) * recipe.learning.max_tokens
        most *= 2 if recipe.learning.by_pairs else 1
        return most, most // 2
    tokenizer = load_tokenizer(recipe.base)
    records: Sequence[ProtectedRecord] = [
        record
        for here in sites.sessions.values()
        for record in records_of(
            here, tokenizer, recipe.learning.max_tokens, pairs=recipe.learning.by_pairs
        )
    ]
    every = sum(len(piece.ids) for record in records for piece in record.examples)
    return every, sum(record.learned for record in records)


def _row(name: str, said: str) -> str:
    return f"{name:<16}{said}"
