"""What a training will take, beside what it took, and the schedules beside those of Transformers."""

import json
import math
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")

from tests.benchmarks.gpu import QWEN_7B  # noqa: E402
from tests.commands import Command, in_process  # noqa: E402
from tests.training.learning.conftest import Recipes  # noqa: E402
from training.__main__ import main  # noqa: E402
from training.errors import TrainingError  # noqa: E402
from training.forecast import RUNTIME_GB, Size, memory_of, operations, size_of  # noqa: E402
from training.learning.steps import rate_at  # noqa: E402
from training.recipe import Learning, Lora, Recipe  # noqa: E402

SEVEN = Size(
    parameters=7_615_616_512,  # as published
    embeddings=2 * 152_064 * 3_584,
    adapters=28 * 16 * (3584 + 3584 + 3584 + 512),
    trained=28 * 16 * (3584 + 512),
    layers=28,
    hidden=3584,
    forward=18_944,
    vocabulary=152_064,
)


@pytest.fixture
def training_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    return in_process("training", main, monkeypatch, capsys)


def recipe(**learning: object) -> Recipe:
    told = Learning.model_validate({"precision": "bfloat16", "max_tokens": 512} | learning)
    return Recipe(corpus="samples", privacy=None, lora=Lora(train="b"), learning=told)


def test_the_size_is_that_of_the_published_model(tmp_path: Path) -> None:
    from transformers import Qwen2Config

    Qwen2Config(**QWEN_7B).save_pretrained(tmp_path)
    found = size_of(recipe().model_copy(update={"base": str(tmp_path)}))
    assert found == SEVEN


def test_a_table_that_is_used_twice_is_counted_once(tiny: Path, recipe_file: Recipes) -> None:
    from transformers import AutoModelForCausalLM

    real = AutoModelForCausalLM.from_pretrained(str(tiny))
    found = size_of(Recipe(corpus="samples", privacy=None, base=str(tiny)))
    assert found.parameters == sum(one.numel() for one in real.parameters())
    config = json.loads((tiny / "config.json").read_bytes())
    tables = 1 if config.get("tie_word_embeddings") else 2
    assert found.embeddings == tables * config["vocab_size"] * config["hidden_size"]


@pytest.mark.parametrize(
    ("at_once", "learning", "measured"),
    [  # GB on an H200, by tests/benchmarks/gpu.py: 512 tokens, half of them learned
        (4, {}, 28.1),
        (1, {}, 18.6),
        (16, {}, 66.3),
        (4, {"checkpointing": True}, 17.9),
        (4, {"quantize": "4bit"}, 18.4),
        (4, {"quantize": "4bit", "checkpointing": True}, 8.1),
    ],
)
def test_memory_is_what_was_measured(
    at_once: int, learning: dict[str, object], measured: float
) -> None:
    found = memory_of(SEVEN, recipe(**learning), at_once, 0.5)
    assert found.all - RUNTIME_GB == pytest.approx(measured, rel=0.06)


def test_operations_by_hand() -> None:
    size = Size(
        parameters=1_000, embeddings=400, adapters=0, trained=0, layers=1, hidden=4, forward=8,
        vocabulary=50,
    )  # fmt: skip
    assert operations(size, recipe(), 10, 3) == 4 * (600 * 10 + 4 * 50 * 3)
    assert operations(size, recipe(checkpointing=True), 10, 3) == 6 * (600 * 10 + 4 * 50 * 3)
    pairs = recipe(objective="dpo")  # each sequence is read by the model and by the base as well
    assert operations(size, pairs, 10, 3) == 8 * (600 * 10 + 4 * 50 * 3)


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine"])
def test_schedules_are_those_of_transformers_after_the_warmup(schedule: str) -> None:
    from transformers import get_scheduler

    told = Learning.model_validate({"schedule": schedule, "warmup": 0.2})
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    name = schedule if schedule != "constant" else "constant_with_warmup"
    theirs = get_scheduler(name, optimizer, num_warmup_steps=4, num_training_steps=20)
    for step in range(20):
        if step >= 4:
            assert rate_at(step, 20, told) == pytest.approx(theirs.get_last_lr()[0])
        else:
            assert rate_at(step, 20, told) == (step + 1) / 4
        optimizer.step()
        theirs.step()
    assert rate_at(0, 20, Learning()) == rate_at(19, 20, Learning()) == 1.0


def test_a_step_learns_at_its_rate(recipe_file: Recipes) -> None:
    """The first step of ten in the warmup moves a tenth as far as at the full rate."""
    from training.learning.site import Learners
    from training.recipe_file import load_recipe
    from training.sites import find

    moved = []
    for warmup in (0.0, 0.9):
        file = recipe_file(
            deal={"sites": 2}, rounds=1, batch_size=1,
            learning={"optimizer": "sgd", "learning_rate": 0.1, "warmup": warmup},
        )  # fmt: skip
        loaded, _ = load_recipe(file)
        learners = Learners(recipe=loaded, sites=find(loaded, file), plan=None)
        local = learners.local("site-1")
        before = [one.detach().clone() for one in learners.reading.trained()]
        local.step(0, local.optimizer())
        gone = (
            float((one.detach() - start).norm())
            for one, start in zip(learners.reading.trained(), before, strict=True)
        )
        moved.append(math.hypot(*gone))
        steps = local.in_all
    rising = math.ceil(0.9 * steps)
    assert rising > 1 and moved[1] == pytest.approx(moved[0] / rising, rel=1e-3)


def test_what_8_bits_need_is_said_in_words(recipe_file: Recipes) -> None:
    from training.learning.site import Learners
    from training.recipe_file import load_recipe
    from training.sites import find

    file = recipe_file(deal={"sites": 2}, device="cpu", learning={"optimizer": "adamw_8bit"})
    loaded, _ = load_recipe(file)
    local = Learners(recipe=loaded, sites=find(loaded, file), plan=None).local("site-1")
    with pytest.raises(TrainingError, match="adamw_8bit needs a GPU; take `optimizer: adamw`"):
        local.optimizer()


def test_a_plan_is_told_without_loading_weights(
    training_command: Command, recipe_file: Recipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoModelForCausalLM

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", None)
    given = {"unit": "session", "clip": 1.0, "delta": 1e-3, "budget_epsilon": 8}
    done = training_command("plan", str(recipe_file(deal={"sites": 2}, privacy=given, rounds=2)))
    assert done.code == 0, done.err
    for words in ("parameters are trained", "GB with 4 at once", "for one session in all", "about"):
        assert words in done.out
