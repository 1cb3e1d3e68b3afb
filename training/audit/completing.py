"""Replies of a model to the beginnings of sessions, to be compared with what was really said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from simcounsel.corpus.dialogues import Dialogue
from training.audit.memorization import Continuation
from training.audit.scoring import evaluating
from training.learning.examples import TEACHING, template

LONGEST = 64
"""Tokens of a reply, the true one and the model's."""


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """A session up to one of the counselor's turns."""

    id: str
    client: str
    ids: tuple[int, ...]
    """Tokens, the sign that a reply begins at the end."""
    truth: str
    """That turn."""


def beginnings(
    dialogue: Dialogue, tokenizer: Any, max_tokens: int, many: int = 1
) -> list[Beginning]:
    """`many` of a session, spread evenly over the counselor's turns; fewer if it has fewer. What
    is longest ago is dropped until the tokens fit, and the truth is cut to the length of a reply.
    """
    chat = TEACHING.chat(dialogue)
    turns = [at for at, message in enumerate(chat) if message.learned]
    chosen = (
        sorted({turns[(2 * number + 1) * len(turns) // (2 * many)] for number in range(many)})
        if turns
        else []
    )
    system = {"role": "system", "content": TEACHING.system_of(dialogue)}
    found = []
    for at in chosen:
        start = 0
        while True:
            rows = [
                {"role": message.role, "content": message.text.strip()}
                for message in chat[start:at]
            ]
            ids = tokenizer(
                template(tokenizer, [system, *rows], reply=True), add_special_tokens=False
            )["input_ids"]
            if len(ids) <= max_tokens or start + 2 >= at:
                break
            start += 2
        reply = tokenizer(chat[at].text.strip(), add_special_tokens=False)["input_ids"][:LONGEST]
        found.append(
            Beginning(
                id=dialogue.id,
                client=dialogue.client,
                ids=tuple(ids[-max_tokens:]),
                truth=tokenizer.decode(reply),
            )
        )
    return found


def complete(
    model: Any,
    tokenizer: Any,
    begun: Sequence[Beginning],
    *,
    at_once: int = 4,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Continuation]:
    """The model's reply to each, in order: the likeliest word each time. Padded on the left, with
    the mask.
    """
    made: dict[int, str] = {}
    order = sorted(range(len(begun)), key=lambda at: len(begun[at].ids))
    with evaluating(model), torch.inference_mode():
        for start in range(0, len(order), at_once):
            chosen = order[start : start + at_once]
            replies = _together(model, tokenizer, [begun[at].ids for at in chosen])
            made.update(zip(chosen, replies, strict=True))
            if on_progress:
                on_progress(min(start + at_once, len(order)), len(order))
    return [
        Continuation(id=one.id, client=one.client, truth=one.truth, made=made[at])
        for at, one in enumerate(begun)
    ]


def _together(model: Any, tokenizer: Any, begun: Sequence[Sequence[int]]) -> list[str]:
    """The replies of one batch."""
    longest = max(map(len, begun))
    gaps = [longest - len(ids) for ids in begun]
    device = next(model.parameters()).device
    ids = [[tokenizer.pad_token_id] * gap + list(one) for gap, one in zip(gaps, begun, strict=True)]
    mask = [[0] * gap + [1] * (longest - gap) for gap in gaps]
    replies = model.generate(
        input_ids=torch.tensor(ids, device=device),
        attention_mask=torch.tensor(mask, device=device),
        max_new_tokens=LONGEST,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        do_sample=False,
    )[:, longest:]
    return [tokenizer.decode(reply, skip_special_tokens=True).strip() for reply in replies]
