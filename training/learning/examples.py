"""Sessions as tokens. Only the counselor's words are learned; what the client says and the system
prompt are context.

A session is told in the base model's own chat template, client as `user`, counselor as `assistant`,
with the system prompt that `simcounsel export` writes. A session longer than `max_tokens` is cut
between turns; its parts stay one session: one loss, one gradient. So exchanges of one session are
packed into one sequence, and never two sessions.

Where preferences are learned, a session gives two sequences for each revised line: the talk up to
it with the line, and with its draft.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jinja2 import TemplateError
from torch import Tensor

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.teaching import Message, Teaching
from training.errors import TrainingError

TEACHING = Teaching()
DATE = "26 Jul 2024"
"""What templates are told that write the date, as Llama's do: the same tokens on every day."""


@dataclass(frozen=True)
class Piece:
    """Tokens of one session, or of a part of it."""

    ids: Tensor
    """Tokens, [T]."""
    learned: Tensor
    """[T], whether a token is to be predicted from those before; never the first."""
    weight: float
    """Of each of its token losses in the loss of its record; of a draft below 0."""
    dialogue: str
    """Whose part it is."""


@dataclass(frozen=True)
class ProtectedRecord:
    """What is drawn, clipped and protected together: a session, or a client with all sessions. Its
    loss, the sum over examples of weight times token losses, is the mean over sessions of the mean
    over a session's learned tokens.
    """

    unit: str
    examples: tuple[Piece, ...]

    @property
    def learned(self) -> int:
        """How many tokens are learned."""
        return int(sum(int(example.learned.sum()) for example in self.examples))


def records_of(
    dialogues: Sequence[Dialogue],
    tokenizer: Any,
    max_tokens: int,
    *,
    by_client: bool = False,
    pairs: bool = False,
) -> tuple[ProtectedRecord, ...]:
    """One record a session (or a client), in the order of first appearance. pairs: of revised lines
    and their drafts, in turn. TrainingError when one has nothing to learn.
    """
    groups: dict[str, list[Dialogue]] = {}
    for at, one in enumerate(dialogues):
        groups.setdefault(one.client if by_client else f"{at}:{one.id}", []).append(one)
    pieces = _pairs if pairs else _lines
    return tuple(
        ProtectedRecord(
            unit,
            tuple(
                replace(piece, weight=piece.weight / len(members))
                for one in members
                for piece in pieces(one, tokenizer, max_tokens)
            ),
        )
        for unit, members in groups.items()
    )


def _lines(dialogue: Dialogue, tokenizer: Any, max_tokens: int) -> Iterator[Piece]:
    """A session's parts; their losses are the mean over its learned tokens."""
    cut = encode(dialogue, tokenizer, max_tokens)
    tokens = sum(int(learned.sum()) for _, learned in cut)
    if tokens == 0:
        raise _nothing(dialogue, "counselor's word to learn", max_tokens)
    for ids, learned in cut:
        yield Piece(ids, learned, 1 / tokens, dialogue.id)


def _pairs(dialogue: Dialogue, tokenizer: Any, max_tokens: int) -> Iterator[Piece]:
    """Of each revised line the talk up to it, with the line and with its draft; where that is too
    long, without its first exchanges.
    """
    system = {"role": "system", "content": TEACHING.system_of(dialogue)}
    made: list[tuple[Tensor, Tensor]] = []
    for past, line, draft in TEACHING.revised(dialogue):
        before = [replace(one, learned=False) for one in past]
        while True:
            both = [
                tokens_of([*before, replace(line, text=text)], system, tokenizer)
                for text in (line.text, draft)
            ]
            longest = max(len(ids) for ids, _ in both)
            if longest <= max_tokens or len(before) < 3:
                break
            before = before[2:]
        if longest <= max_tokens:
            made += both
    if not made:
        raise _nothing(dialogue, "revised line, with what it answers,", max_tokens)
    for at, (ids, learned) in enumerate(made):
        yield Piece(ids, learned, (-1) ** at * 2 / len(made), dialogue.id)


def _nothing(dialogue: Dialogue, what: str, max_tokens: int) -> TrainingError:
    return TrainingError(
        f"session {dialogue.id!r} has no {what} within {max_tokens} tokens; leave it out (see"
        " `corpus check`), or raise max_tokens"
    )


def encode(dialogue: Dialogue, tokenizer: Any, max_tokens: int) -> list[tuple[Tensor, Tensor]]:
    """The parts of a session: tokens, and which are learned. None is longer than max_tokens, and
    each has something to learn.
    """
    system = {"role": "system", "content": TEACHING.system_of(dialogue)}
    parts: list[tuple[Tensor, Tensor]] = []
    chat = list(TEACHING.chat(dialogue))
    while chat:
        size = _fitting(chat, system, tokenizer, max_tokens)
        ids, learned = tokens_of(chat[:size], system, tokenizer)
        parts.append((ids[:max_tokens], learned[:max_tokens]))
        chat = chat[size:]
    return [(ids, learned) for ids, learned in parts if bool(learned.any())]


def _fitting(
    chat: Sequence[Message], system: dict[str, str], tokenizer: Any, max_tokens: int
) -> int:
    """How many exchanges (client, counselor) fit, in messages; at least one exchange, which may
    then be cut.
    """
    ends = range(2, len(chat) + 1, 2)
    low, high = (
        0,
        len(ends),
    )  # the largest count of exchanges that fits, by bisection: more turns are never fewer tokens
    while high - low > 0:
        middle = (low + high + 1) // 2
        if len(tokens_of(chat[: ends[middle - 1]], system, tokenizer)[0]) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return ends[max(low, 1) - 1] if len(ends) else len(chat)


def tokens_of(
    chat: Sequence[Message], system: dict[str, str], tokenizer: Any
) -> tuple[Tensor, Tensor]:
    """The chat in the template, as tokens, and which of them are learned: the words of learned
    messages and the sign that ends them.
    """
    rows = [{"role": message.role, "content": message.text.strip()} for message in chat]
    text = template(tokenizer, [system, *rows])
    found = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
    spans, at = (
        [],
        text.index(system["content"]) + len(system["content"]) if system["content"] in text else 0,
    )
    for message, row in zip(chat, rows, strict=True):
        start = text.find(row["content"], at)
        if start < 0:
            raise TrainingError(
                "the chat template changes what is said, so that the counselor's words cannot be"
                " told apart; take another base"
            )
        at = start + len(row["content"])
        if message.role == "assistant" and message.learned:
            spans.append((start, at))
    ids = torch.tensor(found["input_ids"], dtype=torch.long)
    learned = torch.zeros(len(ids), dtype=torch.bool)
    ends = {
        *tokenizer.all_special_ids,
        *(number for number, token in tokenizer.added_tokens_decoder.items() if token.special),
    }
    pointer = 0
    offsets = found["offset_mapping"]
    for start, end in spans:
        while pointer < len(offsets) and offsets[pointer][1] <= start:
            pointer += 1
        while pointer < len(offsets) and offsets[pointer][0] < end:
            learned[pointer] = offsets[pointer][1] > offsets[pointer][0]
            pointer += 1
        if pointer < len(offsets) and int(ids[pointer]) in ends:
            learned[pointer] = True
    learned[:1] = False
    return ids, learned


def template(tokenizer: Any, messages: Iterable[dict[str, str]], *, reply: bool = False) -> str:
    """Messages as the base model reads them. reply: with the beginning of a reply at the end. Where
    the template has no place for a system prompt, or would put it behind what was said before, as
    Gemma's and Mistral's, it leads the first message.
    """
    told = list(messages)
    try:
        text = _rendered(tokenizer, told, reply)
        if told[0]["role"] != "system" or _leads(text, told):
            return text
    except TemplateError:
        if told[0]["role"] != "system":
            raise
    first = {**told[1], "content": f"{told[0]['content']}\n\n{told[1]['content']}"}
    try:
        return _rendered(tokenizer, [first, *told[2:]], reply)
    except TemplateError as error:
        raise TrainingError(
            f"the chat template refuses a talk of user and assistant ({error}); take another base"
        ) from error


def _rendered(tokenizer: Any, messages: list[dict[str, str]], reply: bool) -> str:
    return str(
        tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=reply, date_string=DATE
        )
    )


def _leads(text: str, messages: Sequence[dict[str, str]]) -> bool:
    """Whether the system prompt is there, before what was said first."""
    system, at = messages[0]["content"], text.find(messages[0]["content"])
    return at >= 0 and (
        len(messages) == 1 or text.find(messages[1]["content"], at + len(system)) >= 0
    )


def together(
    examples: Sequence[Piece], padding: int, device: torch.device
) -> tuple[Tensor, Tensor, Tensor]:
    """Padded on the right: ids [n, T], attention [n, T], learned [n, T]."""
    longest = max(len(example.ids) for example in examples)
    ids = torch.full((len(examples), longest), padding, dtype=torch.long)
    attention = torch.zeros_like(ids)
    learned = torch.zeros((len(examples), longest), dtype=torch.bool)
    for row, example in enumerate(examples):
        ids[row, : len(example.ids)] = example.ids
        attention[row, : len(example.ids)] = 1
        learned[row, : len(example.ids)] = example.learned
    return ids.to(device), attention.to(device), learned.to(device)
