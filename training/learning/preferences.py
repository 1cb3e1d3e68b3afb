"""Direct preference optimization (Rafailov et al. 2023): a revised line is to become likelier than
its draft, measured from what the untouched base makes of both.

The loss of a pair is -log s(b d), where d is how much more the log-probability of the line has
risen than that of its draft, s the logistic function and b `learning.beta`. Its gradient is that of
the two log-probabilities times b s(-b d). So records keep their form: pieces get these factors as
weights, and all that is clipped, noised or added up stays as it is.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from training.learning.examples import Piece, ProtectedRecord
from training.learning.gradients import ModelReading, losses, parts


def steered(
    reading: ModelReading, records: Sequence[ProtectedRecord], beta: float
) -> tuple[list[ProtectedRecord], float]:
    """The records with weights for this step, and the sum of their losses."""
    made, total = [], 0.0
    for record in records:
        gained = gains(reading, record)
        share = _shares(record, gained)
        pull = (beta * torch.sigmoid(-beta * gained)).repeat_interleave(2)
        total += float((share * functional.softplus(-beta * gained)).sum())
        pieces = tuple(
            replace(piece, weight=piece.weight * float(factor))
            for piece, factor in zip(record.examples, pull, strict=True)
        )
        made.append(ProtectedRecord(record.unit, pieces))
    return made, total


def measured(
    reading: ModelReading, records: Sequence[ProtectedRecord], beta: float
) -> dict[str, float]:
    """Over records: the mean loss (0.693 of the untouched base), and in what share of pairs the
    line has risen above its draft.
    """
    total, preferred = 0.0, 0.0
    for record in records:
        gained = gains(reading, record)
        share = _shares(record, gained)
        total += float((share * functional.softplus(-beta * gained)).sum())
        preferred += float((share * (gained > 0)).sum())
    return {"loss": total / len(records), "preferred": preferred / len(records)}


def gains(reading: ModelReading, record: ProtectedRecord) -> Tensor:
    """[pairs]: by how many nats more the line has risen than its draft."""
    model: Any = reading.model
    learned = [(one, one.requires_grad) for one in model.parameters()]
    with torch.no_grad():
        risen = _log_probabilities(reading, record.examples)
        with model.disable_adapter():
            risen = risen - _log_probabilities(reading, record.examples)
    for parameter, yes in learned:  # PEFT leaves both factors to be trained
        parameter.requires_grad_(yes)
    return risen[0::2] - risen[1::2]


def _shares(record: ProtectedRecord, like: Tensor) -> Tensor:
    """[pairs]: of each pair in its record's loss."""
    return torch.tensor([piece.weight for piece in record.examples[0::2]], device=like.device)


def _log_probabilities(reading: ModelReading, pieces: Sequence[Piece]) -> Tensor:
    """[n], in nats: of the learned tokens of each piece together."""
    whole = [replace(piece, weight=-1.0) for piece in pieces]
    return torch.cat([losses(reading, part) for part in parts(whole, reading.at_once)])
