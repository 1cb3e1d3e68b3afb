"""Sessions scored by a language model: the only part of the attacks that runs one.

A session longer than a sequence is scored in the parts that it was trained in; its tokens are put
together again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from simcounsel.corpus.dialogues import Dialogue
from training.audit.scored import Scored, Words
from training.errors import TrainingError
from training.learning.examples import Piece, encode, together
from training.learning.gradients import scores_of

ROWS = 256
"""Places whose distribution over the vocabulary is held at once: 100 MB for 50,000 words."""
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """One session as tokens."""

    id: str
    client: str
    text: str
    """The words that are scored."""
    parts: tuple[Piece, ...]
    """Tokens [T], and which of them are scored [T]; never the first."""


def encoded(
    dialogues: Sequence[Dialogue], tokenizer: Any, max_tokens: int, words: Words = "counselor"
) -> list[Encoded]:
    """Sessions cut as in training. words `all`: every token but the first of a part, the template's
    marks among them.
    """
    return [_encoded(one, tokenizer, max_tokens, words) for one in dialogues]


def _encoded(dialogue: Dialogue, tokenizer: Any, max_tokens: int, words: Words) -> Encoded:
    parts = []
    for ids, learned in encode(dialogue, tokenizer, max_tokens):
        scored = learned.clone() if words == "counselor" else torch.ones_like(learned)
        scored[:1] = False
        parts.append(Piece(ids, scored, 1.0, dialogue.id))
    text = "\n".join(dialogue.lines(*(("counselor",) if words == "counselor" else ())))
    return Encoded(id=dialogue.id, client=dialogue.client, text=text, parts=tuple(parts))


def score(
    model: Any,
    sessions: Sequence[Encoded],
    *,
    at_once: int = 4,
    padding: int = 0,
    on_progress: OnProgress | None = None,
) -> list[Scored]:
    """Each session as the model sees it, in order. The model is in evaluation mode meanwhile, and
    as it was afterwards.

    at_once: parts computed together; sorted by length, so that little is padding; it does not
    change the result.
    """
    parts = [(number, part) for number, session in enumerate(sessions) for part in session.parts]
    found: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
    order = sorted(range(len(parts)), key=lambda at: len(parts[at][1].ids))
    with evaluating(model), torch.inference_mode():
        for start in range(0, len(order), at_once):
            chosen = order[start : start + at_once]
            for at, numbers in zip(
                chosen, _batch(model, [parts[at][1] for at in chosen], padding), strict=True
            ):
                found[at] = numbers
            if on_progress:
                on_progress(min(start + at_once, len(order)), len(order))
    of: dict[int, list[tuple[Tensor, Tensor, Tensor]]] = {
        number: [] for number in range(len(sessions))
    }
    for at, (number, _) in enumerate(parts):
        of[number].append(found[at])
    return [_scored(session, of[number]) for number, session in enumerate(sessions)]


def score_base(
    model: Any,
    sessions: Sequence[Encoded],
    *,
    at_once: int = 4,
    padding: int = 0,
    on_progress: OnProgress | None = None,
) -> list[Scored]:
    """The same by the untouched base model, which is there once the adapters are off. TrainingError
    for a model without adapters.
    """
    if not hasattr(model, "disable_adapter"):
        raise TrainingError(
            "this model has no adapters that could be switched off; load the base, and the adapters"
            " on it by PEFT"
        )
    with model.disable_adapter():
        return score(model, sessions, at_once=at_once, padding=padding, on_progress=on_progress)


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Without dropout for a while."""
    was = bool(model.training)
    model.eval()
    try:
        yield
    finally:
        model.train(was)


def _batch(model: Any, parts: Sequence[Piece], padding: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """logp, mean and std of the scored tokens of each part. A token is predicted from those before
    it; padding is masked.
    """
    ids, attention, scored = together(parts, padding, next(model.parameters()).device)
    wanted = scored[:, 1:]
    numbers = _numbers(scores_of(model, ids, attention, wanted), ids[:, 1:][wanted])
    sizes = wanted.sum(dim=1).tolist()
    rows = zip(*(torch.split(column.cpu(), sizes) for column in numbers), strict=True)
    return [(logp, mean, std) for logp, mean, std in rows]


def _numbers(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of each row: the target's log-probability, and mean and standard deviation of log p under p
    (Zhang et al. 2025).
    """
    columns: list[tuple[Tensor, Tensor, Tensor]] = []
    for start in range(0, max(len(targets), 1), ROWS):
        logs = torch.log_softmax(logits[start : start + ROWS].float(), dim=-1)
        p = logs.exp()
        logs = logs.clamp_min(
            torch.finfo(logs.dtype).min
        )  # a word of probability 0 weighs nothing; 0 times minus infinity would be NaN
        mean = (p * logs).sum(dim=-1)
        variance = (p * (logs - mean[:, None]).square().clamp_max(torch.finfo(logs.dtype).max)).sum(
            dim=-1
        )
        columns.append(
            (logs.gather(1, targets[start : start + ROWS, None])[:, 0], mean, variance.sqrt())
        )
    logp, mean, std = (torch.cat(column) for column in zip(*columns, strict=True))
    return logp, mean, std


def _scored(session: Encoded, parts: Sequence[tuple[Tensor, Tensor, Tensor]]) -> Scored:
    columns = [
        np.concatenate([part[at].double().numpy() for part in parts]) if parts else np.zeros(0)
        for at in range(3)
    ]
    return Scored(
        id=session.id,
        client=session.client,
        text=session.text,
        logp=columns[0],
        mean=columns[1],
        std=columns[2],
    )
