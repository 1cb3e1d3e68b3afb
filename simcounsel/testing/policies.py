"""Does a policy keep to its contract?"""

import json
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.errors import SimcounselError
from simcounsel.events import PRACTICE, Entry, Event, Foreign, as_event, parse_entry
from simcounsel.llm.question import Ask, Question, Reply, traced
from simcounsel.policies.policy import Concluding, Policy, PolicyKind
from simcounsel.specs.practice import Language
from simcounsel.specs.vocabulary import Role
from simcounsel.testing.problems import raise_all
from simcounsel.testing.views import talk_view

T = TypeVar("T")
TURNS = 5


def check_policy(
    name: str,
    kind: PolicyKind[Any],
    *,
    settings: Mapping[str, object] | None = None,
    language: Language = "en",
) -> None:
    """A policy as it is registered: `name` and what the entry point names. BrokenContract names all
    that is wrong.

    It is made for each of its roles and takes part in short conversations, twice, its questions
    answered once by their own fallbacks and once otherwise; the same conversation must give the
    same decisions, from a new policy too, since all that a policy knows is in the view.
    """
    raise_all(f"policy {name}", _problems(name, kind, settings or {}, language))


def _problems(
    name: str, kind: PolicyKind[Any], given: Mapping[str, object], language: Language
) -> Iterator[str]:
    if not isinstance(kind, PolicyKind):
        yield f"it is registered as {type(kind).__name__}, not as a PolicyKind"
        return
    if not kind.roles or not kind.roles <= set(get_args(Role)):
        yield f"roles: {sorted(kind.roles)}; give some of {', '.join(get_args(Role))}"
    if not (isinstance(kind.settings, type) and issubclass(kind.settings, BaseModel)):
        yield "settings: not a pydantic model; NoSettings is that of a policy without settings"
        return
    try:
        settings = kind.settings.model_validate(dict(given))
        policy = kind.make(settings, language)
    except (ValidationError, SimcounselError) as error:
        yield f"it cannot be made with {dict(given)}: {error}"
        return
    if getattr(policy, "name", None) != name:
        yield f"its `name` is {getattr(policy, 'name', None)!r}; it is registered as {name!r}"
    for role in sorted(kind.roles):
        for fallbacks in (True, False):
            first = _Talk(policy, role, language, fallbacks)
            yield from first.problems()
            for again in (policy, kind.make(settings, language)):
                second = _Talk(again, role, language, fallbacks)
                list(second.problems())
                if second.decisions != first.decisions:
                    yield (
                        f"as {role}: the same conversation gave other decisions the second time;"
                        " draw by `view.key`, and keep nothing: what must be remembered is an event"
                    )


@dataclass
class _Talk:
    """A conversation in which the policy takes every second turn."""

    policy: Policy
    role: Role
    language: Language
    fallbacks: bool

    def __post_init__(self) -> None:
        self.decisions: list[Decision] = []
        self._own: tuple[Event, ...] = ()

    def problems(self) -> Iterator[str]:
        """Take part; what is wrong on the way."""
        for turn in range(TURNS):
            last = turn == TURNS - 1
            seen = self._view(2 * turn + (self.role != "client"), last)
            try:
                decision = yield from self._carried(self.policy.decide(seen), seen)
            except Exception as error:  # whatever the policy raises is what is wrong with it
                yield f"as {self.role}: decide raised {type(error).__name__}: {error}"
                return
            if not isinstance(decision, Decision):
                yield f"decide returned {type(decision).__name__}, not a Decision"
                return
            decision = _settled(decision)
            self.decisions.append(decision)
            yield from _about(decision, seen)
            yield from self._write(decision.events, seen)
        yield from self._end(self._view(2 * TURNS, True))

    def _view(self, lines: int, last: bool) -> TalkView:
        moves = tuple(decision.move for decision in self.decisions)
        me, other = ("Ines", "Miriam") if self.role == "client" else ("Miriam", "Ines")
        return talk_view(
            lines,
            me=me,
            other=other,
            role="counselor" if self.role == "client" else "client",
            moves=moves,
            own=tuple(event for event in self._own if isinstance(event, PRACTICE)),
            turns_left=2 if last else 2 * (TURNS - len(moves)),
            parting=last,
            language=self.language,
        )

    def _end(self, seen: TalkView) -> Iterator[str]:
        if isinstance(self.policy, Concluding):
            try:
                kept = yield from self._carried(self.policy.conclude(seen), seen)
            except Exception as error:  # as in `problems`
                yield f"as {self.role}: conclude raised {type(error).__name__}: {error}"
                return
            yield from self._write(kept, seen)

    def _carried(self, asking: Ask[T], seen: TalkView) -> Generator[str, None, T]:
        """Carry an Ask to its end; what is wrong with its questions is yielded."""
        reply: object = None
        while True:
            try:
                wanted = asking.send(reply)
            except StopIteration as end:
                value: T = end.value
                return value
            many = (wanted,) if isinstance(wanted, Question) else wanted
            for one in many:
                yield from _about_question(one, seen)
            replies = tuple(self._reply(one) for one in many)
            reply = replies[0] if isinstance(wanted, Question) else replies

    def _reply(self, one: Question[Any]) -> Reply[Any]:
        value = one.fallback
        if not self.fallbacks and one.verb == "choose" and one.options:
            value = one.options[-1]
        return Reply(value=value, call=one.key)

    def _write(self, events: object, seen: TalkView) -> Iterator[str]:
        if not isinstance(events, tuple):
            yield f"its events are {type(events).__name__}; give a tuple"
            return
        for event in events:
            try:
                kept = as_event(event)
                line = Entry(0, 0, 0, kept).line()
                again = parse_entry(json.loads(line))
            except (SimcounselError, ValidationError, AttributeError) as error:
                yield f"an event cannot be written: {error}"
                continue
            if again.line() != line:
                yield f"event {kept.kind}: it is not read as it was written"
            if isinstance(kept, Foreign) and (kept.who, kept.chat) != (seen.me, seen.chat):
                yield (
                    f"event {kept.kind}: `who` is {kept.who!r} and `chat` {kept.chat!r}; give"
                    " view.me and view.chat, or it does not come back in the view"
                )
            self._own = (*self._own, kept)


def _settled(decision: Decision) -> Decision:
    """As a line settles it that nobody thought about."""
    if decision.wording.thought is None:
        return decision
    line = LineAnswer(say="Go on.", emotion="neutral", intensity=1, poignancy=1)
    return decision.wording.thought.settled(
        decision, decision.wording.thought.with_line(line), traced()
    )


def _about(decision: Decision, seen: TalkView) -> Iterator[str]:
    for field in ("move", "reason"):
        if not getattr(decision, field):
            yield f"a decision has no {field}"
    if not decision.aim and seen.meeting.role != "counselor":
        yield "a decision has no aim, so that a model is not told what the move means"
    if decision.move not in decision.options:
        yield f"move {decision.move!r} is not one of the options {decision.options}"


def _about_question(one: Question[Any], seen: TalkView) -> Iterator[str]:
    asked = f"question {one.purpose!r}"
    if one.who != seen.me:
        yield f"{asked}: `who` is {one.who!r}; it is view.me who asks"
    if one.verb != "embed" and one.fallback is None:
        yield f"{asked}: no fallback; a model may give no usable answer"
    if one.verb == "choose" and one.fallback not in one.options:
        yield f"{asked}: the fallback {one.fallback!r} is not one of its options"
    if one.verb == "fill" and one.schema is None:
        yield f"{asked}: no schema of what is to be filled in"
    if one.verb != "embed" and replace(one).key != one.key:
        yield f"{asked}: its key is not the same twice"
