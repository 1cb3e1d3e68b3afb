"""Losses against Hugging Face's own, and clipped sums against records one by one."""

import math
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
import torch

from tests.training.learning.conftest import session, with_drawn_adapters
from training.errors import TrainingError
from training.learning.base import AdaptedBase, load_base
from training.learning.examples import ProtectedRecord, records_of
from training.learning.gradients import (
    ModelReading,
    clipped_sum,
    losses,
    mean_gradient,
    mean_loss,
    per_sequence,
)
from training.learning.site import reading_of
from training.learning.steps import adapter_weights, set_adapter_weights
from training.recipe import Learning, Lora, Recipe

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def base(tiny: Path) -> AdaptedBase:
    return load_base(str(tiny), device="cpu")


@pytest.fixture(scope="module")
def reading(tiny: Path) -> ModelReading:
    return with_drawn_adapters(tiny)


@pytest.fixture(scope="module")
def records(base: AdaptedBase) -> tuple[ProtectedRecord, ...]:
    """Five records, of which two have several sequences, one more than are computed together."""
    return records_of(
        [
            session(1, "a", 1),
            session(2, "b", 3),
            session(3, "c", 8),
            session(4, "d", 2),
            session(5, "e", 1),
        ],
        base.tokenizer,
        190,
    )


def gradient_of(reading: ModelReading, record: ProtectedRecord) -> list[torch.Tensor]:
    for parameter in reading.trained():
        parameter.grad = None
    mean_gradient(reading, [record], 1)
    return [parameter.grad.clone() for parameter in reading.trained() if parameter.grad is not None]


def norm(gradients: list[torch.Tensor]) -> float:
    return float(torch.stack([one.norm() for one in gradients]).norm())


def test_losses_are_those_of_hugging_face(
    reading: ModelReading, records: tuple[ProtectedRecord, ...]
) -> None:
    example = records[1].examples[0]
    labels = torch.where(example.learned, example.ids, -100)[None]
    with torch.no_grad():
        theirs = (
            float(reading.model(input_ids=example.ids[None], labels=labels).loss)
            * int(example.learned.sum())
            * example.weight
        )
        ours = float(losses(reading, [example])[0])
    assert ours == pytest.approx(theirs, rel=1e-5)


def test_a_loss_is_the_same_alone_and_beside_a_longer_one(
    reading: ModelReading, records: tuple[ProtectedRecord, ...]
) -> None:
    """The attention mask reaches the model: padding changes nothing."""
    short, long = records[0].examples[0], records[1].examples[0]
    assert len(short.ids) < len(long.ids)
    with torch.no_grad():
        assert float(losses(reading, [short, long])[0]) == pytest.approx(
            float(losses(reading, [short])[0]), rel=1e-5
        )


def test_the_clipped_sum_is_that_of_records_one_by_one(
    reading: ModelReading, records: tuple[ProtectedRecord, ...]
) -> None:
    assert max(len(record.examples) for record in records) > reading.at_once
    each = [gradient_of(reading, record) for record in records]
    norms = sorted(norm(one) for one in each)
    clip = (norms[1] + norms[2]) / 2  # some are clipped, some are not
    wanted = [torch.zeros_like(one) for one in each[0]]
    for gradients in each:
        for total, one in zip(wanted, gradients, strict=True):
            total += one * min(1.0, clip / norm(gradients))
    with per_sequence(reading):
        found = clipped_sum(reading, records, clip)
    assert norm([a - b for a, b in zip(found, wanted, strict=True)]) < 1e-5 * norm(wanted)
    assert all(parameter.grad is None for parameter in reading.trained())


def test_checkpointing_changes_no_gradient(
    reading: ModelReading, records: tuple[ProtectedRecord, ...], tiny: Path
) -> None:
    """Under the other kind of checkpointing the hooks fire twice."""
    recipe = Recipe(
        corpus="samples",
        privacy=None,
        lora=Lora(rank=4, alpha=8),
        learning=Learning(at_once=3, checkpointing=True),
    )
    saving = reading_of(load_base(str(tiny), device="cpu"), recipe)
    set_adapter_weights(saving, adapter_weights(reading.model))
    saving.model.train()
    found = []
    for one in (reading, saving):
        with per_sequence(one):
            found.append(clipped_sum(one, records, 0.05))
    assert norm([a - b for a, b in zip(*found, strict=True)]) < 1e-5 * norm(found[0])


def test_no_record_moves_the_sum_by_more_than_the_clip(
    reading: ModelReading, records: tuple[ProtectedRecord, ...]
) -> None:
    with per_sequence(reading):
        whole, less = (
            clipped_sum(reading, records, 0.01),
            clipped_sum(reading, [*records[:2], *records[3:]], 0.01),
        )
    assert norm([a - b for a, b in zip(whole, less, strict=True)]) <= 0.01 * (1 + 1e-5)


def test_nobody_drawn_is_a_sum_of_zero(reading: ModelReading) -> None:
    with per_sequence(reading):
        assert norm(clipped_sum(reading, [], 1.0)) == 0


def test_without_hooks_it_is_said_that_nothing_is_watched(
    reading: ModelReading, records: tuple[ProtectedRecord, ...]
) -> None:
    with pytest.raises(TrainingError, match="the hooks do not see the adapters"):
        clipped_sum(reading, records[:1], 1.0)


@pytest.mark.parametrize("times", [math.inf, math.nan, 1e30], ids=str)
def test_a_record_whose_gradient_is_not_finite_adds_zero_and_changes_no_other(
    reading: ModelReading,
    records: tuple[ProtectedRecord, ...],
    monkeypatch: pytest.MonkeyPatch,
    times: float,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Weights of a server's choice may overflow for one record. An error would tell that it is
    there; min(1, C / nan) is 1 in some libraries, and the gradient would pass. So with it the sum
    is what it is without it.
    """
    bad = records[2].examples[0].dialogue
    monkeypatch.setattr(
        "training.learning.gradients.losses",
        lambda reading, part: (
            losses(reading, part)
            * torch.tensor([times if one.dialogue == bad else 1.0 for one in part])
        ),
    )
    others = [*records[:2], *records[3:]]
    with per_sequence(reading):
        found, wanted = (clipped_sum(reading, of, 0.05) for of in (records, others))
    assert all(bool(torch.isfinite(one).all()) for one in found)
    assert norm([a - b for a, b in zip(found, wanted, strict=True)]) < 1e-5 * norm(wanted)
    assert [one.getMessage().split(";")[0] for one in caplog.records] == [
        "gradients that are not finite count as zero"
    ]
    assert bad not in caplog.text


def test_the_mean_loss(reading: ModelReading, records: tuple[ProtectedRecord, ...]) -> None:
    loss, perplexity = mean_loss(reading, records)
    with torch.no_grad():
        each = [float(losses(reading, list(record.examples)).sum()) for record in records]
    assert loss == pytest.approx(sum(each) / len(each), rel=1e-5)
    tokens = [record.learned for record in records]
    nats = sum(one * many for one, many in zip(each, tokens, strict=True)) / sum(tokens)
    assert perplexity == pytest.approx(float(torch.tensor(nats).exp()), rel=1e-4)


def test_a_model_that_changes_its_scores_is_refused(tiny: Path) -> None:
    base = load_base(str(tiny), device="cpu")
    plain = base.model.forward

    def softened(*arguments: object, **named: object) -> object:
        found = plain(*arguments, **named)
        found.logits = torch.tanh(found.logits)
        return found

    base.model.forward = softened
    with pytest.raises(TrainingError, match="change their scores after the vocabulary layer"):
        reading_of(base, Recipe(corpus="samples", privacy=None, lora=Lora(rank=4, alpha=8)))
