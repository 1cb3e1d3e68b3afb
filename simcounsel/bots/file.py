"""A bot's file: where it answers, what it remembers from one talk to the next, how fast it may be
asked. A bot that needs no settings is named without a file.
"""

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, Field, JsonValue, field_validator, model_validator

from simcounsel.errors import ModelError, SpecError
from simcounsel.hosts import check_key_for
from simcounsel.secret import remember
from simcounsel.specs.load import Spec, load_spec

PREFIX = "bot:"
"""How a bot's name begins, as a mind's and as a model's."""
YAML = (".yaml", ".yml")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def _path(text: str) -> str:
    try:
        jmespath.compile(text)
    except JMESPathError as error:
        said = " ".join(str(error).split())
        raise ValueError(
            f"{text!r} is no JMESPath ({said}); such as choices[].message.content"
        ) from None
    return text


def _no_query(url: str) -> str:
    if "?" in url:
        raise ValueError("the address holds a query; put that into headers or the body")
    return url


JmesPath = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_path)]
"""Where something is in a JSON answer (jmespath.org): `reply.text`, `messages[].text`."""


class Call(Spec):
    """A request to a server, and what is taken out of its answer. In url and body `{text}` is the
    client's line, `{conversation}` the server's name for the talk, `{user}` the client's; a body's
    value that is just `"{messages}"` becomes the list of role and content.
    """

    url: Annotated[str, Field(pattern=r"^https?://\S+$"), AfterValidator(_no_query)]
    method: Literal["POST", "PUT", "PATCH", "DELETE", "GET"] = "POST"
    body: dict[str, JsonValue] = Field(default_factory=dict)
    conversation: JmesPath | None = None
    """Where the answer names the talk."""
    replies: JmesPath | None = None
    """Where the bot's words are: a text, or a list of them, each a message of its own."""
    tools: JmesPath | None = None
    """Where its tool calls are; they are kept, and the client does not see them."""


class Endpoint(Spec):
    """A server that keeps the talk itself, or is sent all of it each time."""

    turn: Call
    start: Call | None = None
    """Before a talk's first line; with `replies` the bot begins the talk."""
    end: Call | None = None
    """When a talk is over."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Of all requests; `${VARIABLE}` is taken from the environment."""

    @model_validator(mode="after")
    def _gives_words(self) -> Self:
        if self.turn.replies is None:
            raise ValueError("turn.replies: say where the bot's words are, such as reply.text")
        return self

    @property
    def keeps_state(self) -> bool:
        """Whether the server knows what was said before, so that it cannot be rewound."""
        return "{messages}" not in str(self.turn.body)


class Rates(Spec):
    """How fast it may be asked, and how often, in one run."""

    at_once: Annotated[int, Field(ge=1)] | None = None
    """Requests at the same time; None: as many as the command allows. A program is asked one by
    one."""
    per_minute: Annotated[float, Field(gt=0)] | None = None
    calls: Annotated[int, Field(ge=1)] | None = None
    """Requests in all; then the run stops as with a spent budget."""


class Bot(Spec):
    """A bot."""

    name: str = ""
    """For reports, with its version: `Ada 2.1`."""
    model: Annotated[str, Field(min_length=1)] | None = None
    """A chat model, as in a world: it is sent the messages and `system`, and nothing else."""
    system: str | None = None
    """The file of the product's own system prompt, beside this file. Only with `model`."""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    """What is sent beside the messages, such as `temperature`. Only with a `model` behind http."""
    endpoint: Endpoint | None = None
    command: tuple[str, ...] | None = None
    """A program and its arguments: JSON lines in and out."""
    python: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")] | None = None
    """`module:function`: is called with the messages, and gives the reply."""
    memory: Literal["message", "session", "conversation", "user"] = "session"
    """What the product knows when it answers: the client's last `message` alone, this talk
    (`session`), all talks with her (one `conversation` that goes on), or this talk and what the
    vendor keeps under the client's id (`user`)."""
    greeting: str | None = None
    """What the product shows before the client writes; None: the client begins."""
    after_a_break: Literal["replay", "continue"] = "replay"
    """Of a server that keeps the talk, when a run goes on in another process or from an earlier
    tick: `replay` begins anew and sends the client's lines again; `continue` trusts that the server
    still is where the log is, which holds for a resume and never for a fork."""
    rates: Rates = Rates()

    @field_validator("command", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        return tuple(value.split()) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = {name: getattr(self, name) for name in ("model", "endpoint", "command", "python")}
        given = [name for name, one in ways.items() if one]
        if len(given) != 1:
            raise ValueError(
                f"one of {', '.join(ways)} is needed; here: {', '.join(given) or 'none'}"
            )
        if self.system and not self.model:
            raise ValueError("system: only a `model` is sent a system prompt")
        if self.parameters and not str(self.model).startswith(("http", "openai:")):
            raise ValueError("parameters: only a `model` behind http or openai takes them")
        return self

    @property
    def runs_code(self) -> bool:
        """Whether it is a program or a function on this machine."""
        return bool(self.command or self.python)


def bot_of(spec: str) -> Bot:
    """The bot of `FILE.yaml`, `http(s)://...`, `command:PROGRAM ...`, `python:module:NAME`,
    `byhand:FOLDER`, `sample:NAME` or any other model's name. SpecError names every problem of a
    file.
    """
    text = spec.removeprefix(PREFIX)
    head, _, rest = text.partition(":")
    if head == "sample":
        return _sample(rest)
    if file := bot_file(text):
        bot, _ = load_spec(file, Bot)
        if bot.system is None:
            return bot
        words = _system(file, bot.system)
        return bot.model_copy(update={"system": words})
    if head == "command" and rest.strip():
        return Bot(command=tuple(rest.split()))
    if head == "python" and ":" in rest:
        return Bot(python=rest)
    if not text:
        raise SpecError(
            ["bot: nothing is named; give a bot's file, an address, or command:PROGRAM"]
        )
    return Bot(model=text)


SAMPLES: dict[str, dict[str, str]] = {
    "careful": {"python": "simcounsel.bots.samples:careful"},
    "agreeable": {"python": "simcounsel.bots.samples:agreeable"},
    "forgetful": {"python": "simcounsel.bots.samples:careful", "memory": "message"},
}
"""Bots of our own making, each with a planted manner."""


def _sample(name: str) -> Bot:
    if name not in SAMPLES:
        raise SpecError([f"bot: no sample {name!r}; there are {', '.join(SAMPLES)}"])
    return Bot.model_validate({"name": name} | SAMPLES[name])


def bot_file(spec: str) -> Path | None:
    """The file that a spec names; None where it names none."""
    text = spec.removeprefix(PREFIX).partition("#")[0]
    other = "://" in text or text.startswith(("command:", "python:", "byhand:", "sample:"))
    return Path(text) if text.endswith(YAML) and not other else None


def pinned(name: str) -> str:
    """A bot's name with the digest of its file and of its system prompt. ModelError where the file
    is another than the name's digest says.
    """
    file = bot_file(name)
    if file is None:
        return name
    told = name.partition("#")[2]
    bot = bot_of(name)
    data = file.read_bytes() + (bot.system or "").encode()
    digest = sha256(data).hexdigest()[:16]
    if told and told != digest:
        raise ModelError(
            f"{name}: this bot's file or system prompt was changed since (now #{digest}); put it"
            " back as it was, or fork with --bot to go on with another"
        )
    return f"{name.partition('#')[0]}#{digest}"


def filled(headers: dict[str, str], url: str, name: str) -> dict[str, str]:
    """Headers with what is taken from the environment. ModelError where a variable is not set, or
    would go to a host that the user did not name.
    """
    found = {}
    for key, text in headers.items():
        for variable in _VARIABLE.findall(text):
            if not os.environ.get(variable):
                raise ModelError(
                    f"{name}: header {key} needs {variable}; set it in the environment"
                )
            check_key_for(url, variable, name)
            remember(os.environ[variable])
        found[key] = _VARIABLE.sub(lambda match: os.environ[match.group(1)].strip(), text)
    return found


def _system(file: Path, system: str) -> str:
    path = file.parent / system
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SpecError([f"{file}: system: {path} cannot be read ({error.strerror})"]) from None
