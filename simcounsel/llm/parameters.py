"""Which parameters a model takes beside the messages, as its name or its server's refusals say."""

import logging
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from simcounsel.llm.http import Refused
from simcounsel.llm.models import Failure

REFUSALS = 2
"""How often a server must refuse a parameter in one request before it is left out: one refusal may
be a stray one."""
THINKING_TOKENS = 2000
"""Added for models that count their reasoning into the limit of their answer's length, where
SIMCOUNSEL_THINKING_TOKENS does not say how many."""
_SPARABLE = ("response_format", "top_logprobs", "logprobs", "temperature", "seed")
"""Parameters that a request can go without, in the order in which a refusal is looked through."""
_REASONING = re.compile(r"(?:.*/)?(?:o[1-9]\d*(?![\w.])|gpt-5(?!.*chat)).*", re.IGNORECASE)
"""OpenAI's models that reason, and the same under a router's name, such as `openai/o3-mini`."""
_REFUSED_BY_REASONING = frozenset(("max_tokens", "temperature", "logprobs", "top_logprobs"))

log = logging.getLogger(__name__)


class Taken:
    """What one model takes. It is learned from refusals (HTTP 400 or 422) that name a parameter: a
    parameter is left out for good when it was refused twice in one request, and the request was
    accepted without it.
    """

    def __init__(self, *, name: str, model: str, thinking_tokens: int = THINKING_TOKENS) -> None:
        """name: as in calls.jsonl. model: as the server calls it. thinking_tokens: room for
        reasoning, where it is counted into the limit."""
        self.reasons = _REASONING.fullmatch(model) is not None
        """Whether its reasoning counts into the limit of its answer."""
        self.thinking_tokens = thinking_tokens
        self._name = name
        self._refused = _REFUSED_BY_REASONING if self.reasons else frozenset[str]()

    def request(self, wanted: Mapping[str, Any]) -> "Request":
        """A request with what is known. wanted: all parameters, the limit as `max_tokens`."""
        return Request(self, wanted, self._refused)

    def learn(self, refused: frozenset[str]) -> None:
        """A request without these was accepted."""
        for parameter in sorted(refused - self._refused):
            log.warning("%s refuses %r: it is left out from now on", self._name, parameter)
        self._refused |= refused
        self.reasons |= "max_tokens" in refused


class Request:
    """One request's parameters, and what the server refuses of them on the way to an answer."""

    def __init__(self, taken: Taken, wanted: Mapping[str, Any], refused: frozenset[str]) -> None:
        self._taken = taken
        self._wanted = wanted
        self._refused = refused
        self._refusals: Counter[str] = Counter()
        self._reasons = taken.reasons

    @property
    def parameters(self) -> dict[str, Any]:
        """What is sent now."""
        without = self._refused | {"max_tokens"}
        if "logprobs" in without:
            without |= {"top_logprobs"}
        sent = {key: value for key, value in self._wanted.items() if key not in without}
        room = self._taken.thinking_tokens if self._reasons else 0
        return sent | {self.limit_name: self._wanted["max_tokens"] + room}

    @property
    def limit_name(self) -> str:
        """What the limit of the answer's length is called there."""
        newer = "max_tokens" in self._refused and "max_completion_tokens" not in self._refused
        return "max_completion_tokens" if newer else "max_tokens"

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was wanted and is not sent. A limit of another name is not left out."""
        if not self._refused:
            return ()
        sent = self.parameters
        return tuple(sorted(key for key in self._wanted if key not in (*sent, "max_tokens")))

    def give_room(self) -> int:
        """Later requests get room for reasoning; how many tokens."""
        self._taken.reasons = True
        return self._taken.thinking_tokens

    def refused(self, failure: Failure) -> bool:
        """Take in a refusal; whether the request is to be sent again, as `parameters` now says."""
        blamed = _blamed(self.parameters, failure)
        if blamed is None or blamed in self._refused:
            return False
        self._refusals[blamed] += 1
        if self._refusals[blamed] >= REFUSALS:
            self._refused |= {blamed}
            self._reasons |= blamed == "max_tokens"
        return True

    def accepted(self) -> None:
        """The server took it."""
        self._taken.learn(self._refused)


def _blamed(sent: Mapping[str, Any], failure: Failure) -> str | None:
    """The parameter that was refused; None when the refusal is about something else. One that names
    nothing is put down to `response_format`, which few servers refuse in words.
    """
    if not isinstance(failure, Refused) or failure.status not in (400, 422):
        return None
    named = set(re.findall(r"\w+", failure.said))
    if "max_tokens" in sent and "max_completion_tokens" in named:
        return "max_tokens"
    for key in (*_SPARABLE, "max_completion_tokens"):
        if key in sent and key in named:
            return key
    return "response_format" if "response_format" in sent else None
