"""Dialogues as trainers read them: one format, one function that makes its rows.

    openai              {"messages": [{"role", "content"}]}, `weight` on each assistant message: 1
                        is learned, 0 is not
    sharegpt            {"id", "conversations": [{"from": human|gpt, "value"}], "system"}
    alpaca              {"instruction", "input", "output", "system", "history": [[user, reply],
                        ...]}; one row a dialogue
    trl                 {"prompt": [messages], "completion": [message]}; one row for each line that
                        is learned
    trl-preference      {"prompt", "chosen", "rejected"}, lists of messages; one row for each line
                        that was revised
    sharegpt-preference the same pairs with `conversations`, `chosen` and `rejected` as
                        LLaMA-Factory wants them
    text                a transcript, `Client: ...`; a dialogue is a paragraph, further lines of a
                        turn begin with two spaces
    parquet             a table: all that is known of a dialogue, and `messages` as in openai
    native              corpus.jsonl as simcounsel reads and writes it: all that is known of a
                        dialogue

`dataset_info` is what LLaMA-Factory is told (its data/README.md, 2025); it reads neither trl, text
nor native.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simcounsel.corpus.course_text import between, known_before, note_of
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.markup import marked
from simcounsel.corpus.teaching import Message, Teaching, prompts_for

Row = dict[str, Any]
_CHAT_TAGS = {
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "system_tag": "system",
}
_CHAT = {"formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": _CHAT_TAGS}


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of training data."""

    name: str
    """As on the command line."""
    suffix: str
    """Of its files."""
    rows: Callable[[Dialogue, Teaching], Iterator[Row]]
    """Of a dialogue; none if there is nothing in it for this format."""
    dataset_info: Mapping[str, Any] | None = None
    """For LLaMA-Factory, without file_name; None where it cannot read the format."""
    sided: bool = True
    """Whether one side learns."""
    paired: bool = False
    """Whether its rows are preference pairs."""

    def usable(self, dialogue: Dialogue, teaching: Teaching) -> bool:
        """Whether the dialogue has anything for this format."""
        return (
            bool(teaching.chat(dialogue))
            if self.name == "parquet"
            else next(self.rows(dialogue, teaching), None) is not None
        )

    def line(self, row: Row) -> str:
        """A row as it is in the file."""
        if self.name == "text":
            return str(row["text"]) + "\n\n"
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def _openai(dialogue: Dialogue, teaching: Teaching) -> Iterator[Row]:
    chat = teaching.chat(dialogue)
    if chat:
        yield {"messages": [_system(dialogue, teaching), *(_weighted(message) for message in chat)]}


def _sharegpt(dialogue: Dialogue, teaching: Teaching) -> Iterator[Row]:
    chat = teaching.chat(dialogue)
    if chat:
        yield {
            "id": dialogue.id,
            "conversations": [_from(message) for message in chat],
            "system": teaching.system_of(dialogue),
        }


def _alpaca(dialogue: Dialogue, teaching: Teaching) -> Iterator[Row]:
    texts = [message.text for message in teaching.chat(dialogue)]
    if texts:
        *history, last = zip(texts[::2], texts[1::2], strict=True)
        system = teaching.system_of(dialogue)
        yield {
            "instruction": last[0],
            "input": "",
            "output": last[1],
            "system": system,
            "history": [list(pair) for pair in history],
        }


def _trl(dialogue: Dialogue, teaching: Teaching) -> Iterator[Row]:
    chat = teaching.chat(dialogue)
    for number, message in enumerate(chat):
        if message.learned:
            past = [_plain(one) for one in teaching.past(chat[:number])]
            yield {"prompt": [_system(dialogue, teaching), *past], "completion": [_plain(message)]}


def _trl_preference(dialogue: Dialogue, teaching: Teaching) -> Iterator[Row]:
    for past, line, draft in teaching.revised(dialogue):
        answers = {
            side: [{"role": "assistant", "content": text}]
            for side, text in (("chosen", line.text), ("rejected", draft))
        }
        yield {"prompt": [_system(dialogue, teaching), *(_plain(one) for one in past)], **answers}


def _sharegpt_preference(dialogue: Dialogue, teaching: Teaching) -> Iterator[Row]:
    for past, line, draft in teaching.revised(dialogue):
        answers = {
            side: {"from": "gpt", "value": text}
            for side, text in (("chosen", line.text), ("rejected", draft))
        }
        yield {
            "conversations": [_from(one) for one in past],
            **answers,
            "system": teaching.system_of(dialogue),
        }


def _text(dialogue: Dialogue, teaching: Teaching) -> Iterator[Row]:
    """A course tells beside the lines what its counselor knew, as lines of `System`, which nobody
    reads as said.
    """
    language = prompts_for(dialogue)
    before = {one.number + 1: one for one in dialogue.sessions}
    begins = {one.first: one for one in dialogue.sessions if one.first and one.first > 1}
    lines = []
    if known := known_before(dialogue, language):
        lines.append(f"System: {_indented(known)}")
    for number, turn in enumerate(dialogue.turns, 1):
        if begun := begins.get(number):
            told = between(before.get(begun.number), begun, language, told=True)
            lines.append(f"System: {_indented(told)}")
        said = marked(turn, reasoning=teaching.reasoning, tags=teaching.tags)
        lines.append(f"{turn.speaker.capitalize()}: {_indented(said)}")
    if dialogue.sessions and (note := note_of(dialogue.sessions[-1], language)):
        lines.append(f"System: {_indented(note)}")
    yield {"text": "\n".join(lines)}


def _indented(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\n  ")


def _native(dialogue: Dialogue, _: Teaching) -> Iterator[Row]:
    yield dialogue.model_dump(mode="json", exclude_defaults=True)


def _parquet(dialogue: Dialogue, teaching: Teaching) -> Iterator[Row]:
    """The messages alone; `parquet.write_parquet` puts all that is known beside them."""
    chat = [_weighted(message) for message in teaching.chat(dialogue)]
    yield {
        "messages": [
            {"weight": None} | message
            for message in ([_system(dialogue, teaching), *chat] if chat else [])
        ]
    }


def _system(dialogue: Dialogue, teaching: Teaching) -> Row:
    return {"role": "system", "content": teaching.system_of(dialogue)}


def _plain(message: Message) -> Row:
    return {"role": message.role, "content": message.text}


def _weighted(message: Message) -> Row:
    return _plain(message) | (
        {"weight": int(message.learned)} if message.role == "assistant" else {}
    )


def _from(message: Message) -> Row:
    return {"from": "gpt" if message.role == "assistant" else "human", "value": message.text}


_ALPACA_INFO = {
    "columns": {
        "prompt": "instruction",
        "query": "input",
        "response": "output",
        "system": "system",
        "history": "history",
    }
}
_SHAREGPT_INFO = {
    "formatting": "sharegpt",
    "columns": {"messages": "conversations", "system": "system"},
}
_PAIRS_INFO = {
    "formatting": "sharegpt",
    "ranking": True,
    "columns": {
        "messages": "conversations",
        "chosen": "chosen",
        "rejected": "rejected",
        "system": "system",
    },
}
FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format(name="openai", suffix="jsonl", rows=_openai, dataset_info=_CHAT),
        Format(name="sharegpt", suffix="jsonl", rows=_sharegpt, dataset_info=_SHAREGPT_INFO),
        Format(name="alpaca", suffix="jsonl", rows=_alpaca, dataset_info=_ALPACA_INFO),
        Format(name="trl", suffix="jsonl", rows=_trl),
        Format(name="trl-preference", suffix="jsonl", rows=_trl_preference, paired=True),
        Format(
            name="sharegpt-preference",
            suffix="jsonl",
            rows=_sharegpt_preference,
            dataset_info=_PAIRS_INFO,
            paired=True,
        ),
        Format(name="text", suffix="txt", rows=_text, sided=False),
        Format(name="parquet", suffix="parquet", rows=_parquet, dataset_info=_CHAT),
        Format(name="native", suffix="jsonl", rows=_native, sided=False),
    )
}
"""By name."""
