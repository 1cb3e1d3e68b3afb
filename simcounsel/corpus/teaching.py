"""What a trainer is to learn from a dialogue: whose lines, with what around them, under which
system prompt.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Literal, get_args

from simcounsel.corpus.course_text import between, known_before, note_of, note_request
from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.markup import Tag, marked, opening
from simcounsel.errors import CorpusError
from simcounsel.prompts import phrase, render
from simcounsel.specs.vocabulary import Language, Role

Side = Literal["counselor", "client"]


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message of a chat."""

    role: Literal["user", "assistant"]
    turn: Turn | None
    """What was said; None for a stage direction."""
    text: str
    learned: bool
    """Whether a trainer's loss counts it."""


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """What a row teaches."""

    side: Side = "counselor"
    """Who learns; `counselor` stands for whoever the client talks with."""
    reasoning: bool = False
    """Put the learner's in front of its lines."""
    tags: tuple[Tag, ...] = ()
    """Of the learner's lines."""
    system: str | None = None
    """None for ours; of a client's it may hold $situation."""

    def learner(self, dialogue: Dialogue) -> Role:
        """The role that learns in this dialogue."""
        return "client" if self.side == "client" else partner_of(dialogue)

    def chat(self, dialogue: Dialogue) -> tuple[Message, ...]:
        """A dialogue without repeated speakers as alternating messages of `user` and `assistant`,
        who learns; () if the learner says nothing that can be learned, or a turn is empty, which no
        trainer takes.

        Where the learner speaks first, the other's first message is a stage direction
        (`markup.opening`): the opening is learned, nobody is given words, and trainers that demand
        a user first are content. What the other says after the learner's last line is left out,
        since there is nothing to learn from it. A line that is a fallback (no model answered) stays
        but is not to be learned.

        Where a session begins in the middle of it (`course_text.between`), a stage direction says
        so. With reasoning a counselor of a course learns its note on the last session, too.
        """
        learner = self.learner(dialogue)
        other: Role = partner_of(dialogue) if learner == "client" else "client"
        turns = list(dialogue.turns)
        while turns and turns[-1].speaker != learner:
            turns.pop()
        messages = self._messages(dialogue, turns, learner)
        if messages and messages[0].role == "assistant":
            direction = opening(other, prompts_for(dialogue))
            messages.insert(0, Message(role="user", turn=None, text=direction, learned=False))
        fit = any(message.learned for message in messages) and all(
            turn.text.strip() for turn in turns
        )
        return (*messages, *self._note(dialogue)) if fit else ()

    def _messages(self, dialogue: Dialogue, turns: list[Turn], learner: Role) -> list[Message]:
        begins = {one.first: one for one in dialogue.sessions if one.first}
        before = {one.number + 1: one for one in dialogue.sessions}
        language = prompts_for(dialogue)
        made: list[Message] = []
        for number, turn in enumerate(turns, 1):
            message = self._message(turn, learner)
            begun = begins.get(number) if number > 1 else None
            if begun is not None:
                told = learner == "counselor"
                text = between(before.get(begun.number), begun, language, told=told)
                made = _directed(made, text)
                if message.role == "user":
                    last = made.pop()
                    message = replace(message, text=f"{last.text}\n\n{message.text}")
            made.append(message)
        return made

    def _note(self, dialogue: Dialogue) -> tuple[Message, ...]:
        """The counselor's note on the session with which the dialogue ends, and what asks for
        it.
        """
        if not self.reasoning or self.side == "client" or not dialogue.sessions:
            return ()
        language = prompts_for(dialogue)
        text = note_of(dialogue.sessions[-1], language)
        asked = Message(role="user", turn=None, text=note_request(language), learned=False)
        return (
            (asked, Message(role="assistant", turn=None, text=text, learned=True)) if text else ()
        )

    def _message(self, turn: Turn, learner: Role) -> Message:
        if turn.speaker != learner:
            return Message(role="user", turn=turn, text=turn.text, learned=False)
        text = marked(turn, reasoning=self.reasoning, tags=self.tags)
        return Message(role="assistant", turn=turn, text=text, learned=turn.source != "fallback")

    def revised(self, dialogue: Dialogue) -> Iterator[tuple[tuple[Message, ...], Message, str]]:
        """Each learner's line that was revised: what was before it, the line as it was said, and
        its draft.
        """
        chat = self.chat(dialogue)
        for number, message in enumerate(chat):
            draft = message.turn.draft if message.turn and message.learned else None
            if message.turn and draft and draft.text.strip() not in ("", message.turn.text.strip()):
                yield chat[:number], replace(message, text=message.turn.text), draft.text

    def past(self, messages: tuple[Message, ...]) -> list[Message]:
        """Messages as they are before a reply: with tags, without reasoning, as reasoning models
        see their own past.
        """
        return [self._without_reasoning(message) for message in messages]

    def _without_reasoning(self, message: Message) -> Message:
        if message.turn is None or message.role == "user":
            return message
        text = marked(message.turn, reasoning=False, tags=self.tags)
        return Message(role="assistant", turn=message.turn, text=text, learned=message.learned)

    def system_of(self, dialogue: Dialogue) -> str:
        """The system prompt of a dialogue; in a course with what its counselor knows and means."""
        code = prompts_for(dialogue)
        unknown = phrase("export_words", "unknown", code)
        slots = {"situation": dialogue.situation or unknown} if self.side == "client" else {}
        told = known_before(dialogue, code) if self.learner(dialogue) == "counselor" else ""
        system = (
            render(f"export_{self.learner(dialogue)}", code, **slots)[1]
            if self.system is None
            else Template(self.system).safe_substitute(slots)
        )
        return f"{system}\n\n{told}" if told else system


def _directed(messages: list[Message], direction: str) -> list[Message]:
    """With a stage direction at the end, in the other side's last message if that is the last."""
    if messages and messages[-1].role == "user":
        last = messages[-1]
        return [*messages[:-1], replace(last, text=f"{last.text}\n\n{direction}")]
    return [*messages, Message(role="user", turn=None, text=direction, learned=False)]


def prompts_for(dialogue: Dialogue) -> Language:
    """The language of our texts in a dialogue: its own where they are there in it, else English."""
    return next((one for one in get_args(Language) if one == dialogue.language), "en")


def partner_of(dialogue: Dialogue) -> Role:
    """With whom the client talks."""
    return (
        "layperson" if any(turn.speaker == "layperson" for turn in dialogue.turns) else "counselor"
    )


def read_system(file: Path, side: Side) -> str:
    """A system prompt out of a file. CorpusError when it cannot be read, is empty, or would tell a
    counselor the client's file.
    """
    try:
        text = file.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(
            f"{file}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})"
        ) from None
    if not text:
        raise CorpusError(
            f"{file}: empty; write a system prompt into it, or leave out --system for ours"
        )
    if side == "counselor" and re.search(r"\$\{?situation\b", text):
        raise CorpusError(
            f"{file}: $situation would tell the counselor what the client has not said; it is for"
            " --side client"
        )
    return text
