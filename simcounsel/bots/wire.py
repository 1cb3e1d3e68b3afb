"""What a bot is sent, and what it sent: raw messages, nothing of ours between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from simcounsel.events import Data
from simcounsel.intake import whole_characters
from simcounsel.llm.models import Failure
from simcounsel.llm.question import Facts

Line = tuple[Literal["user", "assistant"], str]
"""Who wrote it, the client or the bot, and the text."""


class BotReply(BaseModel):
    """What came of a turn, as it came."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    messages: tuple[str, ...] = ()
    """Each as the client sees it; (): it sent nothing."""
    tools: tuple[JsonValue, ...] = ()
    """Its tool calls."""
    conversation: str | None = None
    """The server's name for the talk."""
    user: str | None = None
    """The name under which the vendor knows the client."""
    replayed: int = 0
    """So many of the client's lines were sent again before, as the server could not be rewound."""


def reply_of(
    texts: Sequence[str | None], tools: Any, *, conversation: str | None, user: str | None
) -> BotReply:
    """A reply as it came, without empty messages. Failure where its tool calls are no JSON."""
    try:
        return BotReply(
            messages=tuple(whole_characters(one) for one in texts if one and one.strip()),
            tools=tuple(tools if isinstance(tools, list | tuple) else [tools] if tools else ()),
            conversation=conversation,
            user=user,
        )
    except ValidationError:
        raise Failure(f"tool calls are JSON, and not {str(tools)[:80]}") from None


class BotSaid(Data):
    """A turn of a bot: what it was sent last and what it sent."""

    kind: Literal["bot.said"] = "bot.said"
    who: str
    """Whose seat it has."""
    chat: str
    heard: str | None
    """The client's line; None: the bot began."""
    messages: tuple[str, ...]
    tools: tuple[JsonValue, ...] = ()
    conversation: str | None = None
    user: str | None = None
    replayed: int = 0
    problem: str | None = None
    """Why nothing came; None where it sent nothing by itself, or something."""
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BotFacts(Facts):
    """A turn that a bot is asked for."""

    client: str
    seat: str = ""
    """Who asks: two residents may have the same bot."""
    sessions: tuple[tuple[Line, ...], ...]
    """All talks with this client, this one last; it ends with the line to be answered, or is empty
    where the bot is to begin."""
    conversation: str | None = None
    """The server's name for this talk, as far as it was said."""
    user: str | None = None
    seed: int = 0
    """Of the talk, for a model that runs here: another one in another run."""
    over: bool = False
    """Whether the talk is over, and the server is only to be told so."""

    @property
    def talk(self) -> tuple[Line, ...]:
        """This one."""
        return self.sessions[-1]


class Way(Protocol):
    """How a bot is reached."""

    async def reply(
        self, facts: BotFacts, talk: Sequence[Line]
    ) -> tuple[BotReply, int | None, int | None]:
        """Its reply, and tokens in and out where they are known. talk: what it is to know, by its
        memory. Raises Failure.
        """
        ...

    async def close(self) -> None:
        """Let go of it."""
        ...
