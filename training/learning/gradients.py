"""Losses and gradients of records: the mean of a batch, or one gradient for each record, clipped
(Abadi et al. 2016).

Per-sequence gradients come from Opacus' hooks; a record may be of several sequences, whose
gradients are added before it is clipped.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any
from warnings import catch_warnings, filterwarnings

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.errors import TrainingError
from training.learning.examples import Piece, ProtectedRecord, together
from training.learning.processes import ALONE, Processes

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ModelReading:
    """How a model reads examples."""

    model: Any
    padding: int
    """A token's id."""
    at_once: int
    """Sequences computed together."""
    processes: Processes = ALONE
    """Who share the records of a step."""

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return torch.device(next(iter(self.model.parameters())).device)

    def trained(self) -> list[nn.Parameter]:
        """The parameters that are learned, in a fixed order."""
        return [
            parameter
            for _, parameter in sorted(self.model.named_parameters())
            if parameter.requires_grad
        ]


def losses(reading: ModelReading, examples: Sequence[Piece]) -> Tensor:
    """[n]: of each example its weight times the sum of its token losses, in nats."""
    ids, attention, learned = together(examples, reading.padding, reading.device)
    predicted = learned[:, 1:]
    logits = scores_of(reading.model, ids, attention, predicted).float()
    each = functional.cross_entropy(logits, ids[:, 1:][predicted], reduction="none")
    rows = predicted.nonzero()[:, 0]
    sums = torch.zeros(len(examples), device=each.device).index_add(0, rows, each)
    return sums * torch.tensor([example.weight for example in examples], device=each.device)


def scores_of(model: Any, ids: Tensor, attention: Tensor, predicted: Tensor) -> Tensor:
    """[k, vocabulary]: what comes next, after each place of `predicted` [n, T - 1]. Only these
    reach the vocabulary layer, which saves a good part of the time.
    """
    lm = model.get_base_model() if hasattr(model, "get_base_model") else model
    hidden = getattr(lm, lm.base_model_prefix)(
        input_ids=ids, attention_mask=attention, use_cache=False
    ).last_hidden_state
    found: Tensor = lm.get_output_embeddings()(hidden[:, :-1][predicted])
    return found


def check_head(reading: ModelReading) -> None:
    """The vocabulary layer on the last hidden state must give the model's own scores. TrainingError
    for models that change them after it.
    """
    lm = (
        reading.model.get_base_model()
        if hasattr(reading.model, "get_base_model")
        else reading.model
    )
    ids = torch.arange(4, device=reading.device)[None] + 5
    with torch.no_grad():
        ours = lm.get_output_embeddings()(
            getattr(lm, lm.base_model_prefix)(input_ids=ids, use_cache=False).last_hidden_state
        )
        theirs = lm(input_ids=ids, use_cache=False).logits
    if not torch.allclose(ours.float(), theirs.float(), atol=1e-3, rtol=1e-3):
        kind = lm.config.model_type
        raise TrainingError(
            f"base: {kind} models change their scores after the vocabulary layer, which is not"
            " supported; take another base"
        )


def mean_gradient(reading: ModelReading, records: Sequence[ProtectedRecord], count: int) -> float:
    """Leave in `.grad` the gradient of the sum of the records' losses over `count`, the records
    that all processes have; returns that sum over count.
    """
    total = 0.0
    # of like length together, so that little is computed on padding
    pieces = sorted((one for record in records for one in record.examples), key=_tokens)
    for part in parts(pieces, reading.at_once):
        loss = losses(reading, part).sum() / count
        loss.backward()
        total += float(loss.detach())
    return total


@contextmanager
def per_sequence(reading: ModelReading) -> Iterator[None]:
    """Inside, a backward pass leaves each sequence's gradient in `.grad_sample`."""
    from opacus.grad_sample import GradSampleHooks

    hooks = GradSampleHooks(reading.model, batch_first=True, loss_reduction="sum", strict=False)
    try:
        # the first layer's input needs no gradient, which torch finds strange and Opacus expects
        with catch_warnings():
            filterwarnings("ignore", message="Full backward hook is firing")
            yield
    finally:
        hooks.cleanup()


def clipped_sum(
    reading: ModelReading, records: Sequence[ProtectedRecord], clip: float
) -> list[Tensor]:
    """The sum over records of their gradients, each scaled to an L2 norm of at most `clip` over all
    trained parameters together. Inside `per_sequence`. No record: zeros. A record whose gradient is
    not finite adds zero: an error would tell, without noise, that it is there.
    """
    parameters = reading.trained()
    total = [torch.zeros_like(parameter) for parameter in parameters]
    alike = sorted(records, key=lambda record: max(map(_tokens, record.examples)))
    for group in _groups(alike, reading.at_once):
        gradients = [
            torch.zeros((len(group), *parameter.shape), device=parameter.device)
            for parameter in parameters
        ]
        of = [at for at, record in enumerate(group) for _ in record.examples]
        start = 0
        for part in parts(
            [example for record in group for example in record.examples], reading.at_once
        ):
            losses(reading, part).sum().backward()
            rows = torch.tensor(of[start : start + len(part)], device=reading.device)
            start += len(part)
            for gradient, parameter in zip(gradients, parameters, strict=True):
                gradient.index_add_(0, rows, _taken(parameter))
        norms = torch.stack([gradient.flatten(1).norm(dim=1) for gradient in gradients]).norm(dim=0)
        finite = torch.isfinite(norms)
        if not bool(finite.all()):
            log.warning(
                "gradients that are not finite count as zero; take a smaller learning_rate, or"
                " `precision: float32`"
            )
        factors = (clip / norms[finite].clamp(min=1e-12)).clamp(max=1.0)
        for one, gradient in zip(total, gradients, strict=True):
            one += torch.einsum("n,n...->...", factors, gradient[finite])
    return total


def _taken(parameter: nn.Parameter) -> Tensor:
    """The sequences' gradients of a parameter, which is left without any."""
    found = getattr(parameter, "grad_sample", None)
    if not isinstance(found, Tensor):
        raise TrainingError(
            "no gradient for each sequence: the hooks do not see the adapters; move the base to its"
            " device before adapters are added"
        )
    parameter.grad_sample = None  # type: ignore[attr-defined]
    parameter.grad = None
    return found


def _tokens(piece: Piece) -> int:
    return len(piece.ids)


def parts(examples: Sequence[Piece], size: int) -> Iterator[list[Piece]]:
    """The pieces in order, so many together."""
    found = iter(examples)
    while part := list(islice(found, size)):
        yield part


def _groups(records: Sequence[ProtectedRecord], size: int) -> Iterator[list[ProtectedRecord]]:
    """Records of at most `size` sequences together, so that few gradients are held at a time; a
    longer record goes alone.
    """
    group: list[ProtectedRecord] = []
    held = 0
    for record in records:
        if group and held + len(record.examples) > size:
            yield group
            group, held = [], 0
        group.append(record)
        held += len(record.examples)
    if group:
        yield group


def mean_loss(reading: ModelReading, records: Sequence[ProtectedRecord]) -> tuple[float, float]:
    """The mean over records of their losses, and the perplexity of a learned token (exp of the mean
    over all tokens).
    """
    reading.model.eval()
    total = nats = 0.0
    with torch.no_grad():
        for record in records:
            for part in parts(record.examples, reading.at_once):
                each = losses(reading, part)
                total += float(each.sum())
                nats += float(
                    (
                        each
                        / torch.tensor([example.weight for example in part], device=each.device)
                    ).sum()
                )
    return total / len(records), float(
        torch.tensor(nats / sum(record.learned for record in records)).exp()
    )
