"""A very small language model, and a corpus of its size."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.teaching import Teaching
from tests.training.learning.small import small_model

if TYPE_CHECKING:  # torch takes seconds, and this file is read even where nothing here is run
    from training.learning.base import AdaptedBase
    from training.learning.gradients import ModelReading


@pytest.fixture(scope="module", autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Several threads for so small a model cost more than they save."""
    here = [item for item in request.session.items if item.path == request.path]
    if not any(item.get_closest_marker("slow") for item in here):  # none that needs torch
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Hugging Face folder."""
    text = [Teaching().system_of(session(1, "a")), *session(1, "a", 2).lines()] * 3
    return small_model(tmp_path_factory.mktemp("tiny"), text)


def session(number: int, client: str, exchanges: int = 2, theme: str = "sleep") -> Dialogue:
    """A short session; the counselor has a way of speaking that can be learned."""
    turns = []
    for at in range(exchanges):
        turns.append(Turn(speaker="client", text=f"Night {number}.{at}, and I lay awake."))
        turns.append(
            Turn(
                speaker="counselor",
                text="What kept you awake?" if at % 2 == 0 else "And what then?",
            )
        )
    return Dialogue(id=f"s{number}", client=client, theme=theme, language="en", turns=tuple(turns))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Twelve sessions of eight clients, of whom four have two; two themes."""
    file = tmp_path / "corpus.jsonl"
    rows = [
        session(n, f"client {n % 8}", 1 + n % 3, "sleep" if n % 8 < 4 else "work")
        for n in range(12)
    ]
    file.write_text(
        "".join(row.model_dump_json(exclude_defaults=True) + "\n" for row in rows), encoding="utf-8"
    )
    return file


Recipes = Callable[..., Path]


@pytest.fixture
def recipe_file(tmp_path: Path, tiny: Path, corpus: Path) -> Recipes:
    """Writes a recipe, with these keys changed."""

    def write(**changed: Any) -> Path:
        told: dict[str, Any] = {
            "corpus": str(corpus),
            "base": str(tiny),
            "batch_size": 2,
            "rounds": 2,
            "privacy": "none",
            "device": "cpu",
            "lora": {"rank": 4, "alpha": 8},
            "learning": {"learning_rate": 0.01, "max_tokens": 256},
            "held_out": 0.3,
            "seed": 3,
        }
        file = tmp_path / "recipe.yaml"
        file.write_text(json.dumps({**told, **changed}), encoding="utf-8")  # JSON is YAML
        return file

    return write


SEEDED: dict[str, Any] = {"noise": "seeded", "public_data": True}
"""What is to come out the same again."""
PRIVATE = {"unit": "session", "clip": 0.5, "delta": 1e-3, "noise_multiplier": 0.8}


def adapted(base: "AdaptedBase", adapter: Path) -> "ModelReading":
    """A base with an adapter as anybody loads it."""
    from peft import PeftModel

    from training.learning.gradients import ModelReading
    from training.learning.quiet import quietly

    with quietly():
        return ModelReading(
            model=PeftModel.from_pretrained(base.model, str(adapter)), padding=0, at_once=4
        )


def with_drawn_adapters(tiny: Path) -> "ModelReading":
    """The small model with both factors drawn: B is zero at first, and would give A no gradient."""
    import torch

    from training.learning.base import load_base
    from training.learning.site import reading_of
    from training.recipe import Learning, Lora, Recipe

    lora, learning = Lora(rank=4, alpha=8), Learning(at_once=3)
    recipe = Recipe(corpus="samples", privacy=None, lora=lora, learning=learning)
    made = reading_of(load_base(str(tiny), device="cpu"), recipe)
    torch.manual_seed(1)
    for parameter in made.trained():
        torch.nn.init.normal_(parameter, std=0.3)
    made.model.train()
    return made
