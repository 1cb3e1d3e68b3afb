"""A counselor that follows a policy: the policy decides at each line of the client, and the model
words the decision.

The talk goes as the data has it: whatever the counselor answers, the next line is the client's of
the data. What the policy decided, noted and heard of danger at earlier lines is kept, so a case is
answered from its beginning. The policy does not know how long the talk will be: it reckons with
LINES. A counselor here has no persona and no memory of other days, and is behind the safety
protocol as everywhere.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from simcounsel.agents.speech import agenda_problem
from simcounsel.agents.talk import Decision, Meeting, OwnTurn, TalkLine, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.bench.cases import Exchange, Line
from simcounsel.bench.counselor import (
    LANGUAGES,
    MOST_TOKENS,
    PROMPT,
    Counselor,
    exchange_id,
    named,
    spoken,
)
from simcounsel.chance import seed_of
from simcounsel.danger.protection.guarded import Guarded
from simcounsel.danger.protection.listener import DangerListener
from simcounsel.engine.opening import prompt_hashes
from simcounsel.errors import BenchError
from simcounsel.events import PRACTICE, PracticeEvent, Said, as_event
from simcounsel.llm.question import Ask, PromptOnly, Question, Reply, ask, traced
from simcounsel.policies import policy_for
from simcounsel.policies.listening import HeardLine
from simcounsel.policies.policy import Policy
from simcounsel.prompts import prompt_text, render
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.vocabulary import Language
from simcounsel.specs.voice import fill_slots

GUIDED = "bench_guided"
ME, OTHER, PLACE = "Counselor", "Client", "Counseling Center"
LINES = 40
"""How many lines a policy believes that the talk may have."""


def following(spec: PolicySpec, language: str, seed: int) -> Counselor:
    """language: of the clients, as an English word. BenchError when policies do not speak it;
    SpecError as `policy_for`.
    """
    if language not in LANGUAGES:
        raise BenchError(
            f"the clients speak {language}; policies are there in {' and '.join(LANGUAGES)};"
            " without --policy any language will do"
        )
    code = LANGUAGES[language]
    policy = Guarded(policy_for("counselor", spec, code))

    def answer(exchanges: Sequence[Exchange]) -> Ask[tuple[Reply[Any], ...]]:
        own: list[PracticeEvent] = []
        moves: list[Decision] = []
        replies = []
        for exchange in exchanges:
            replies.append(
                (
                    yield from _named(
                        exchange, _answer(exchange, policy, own, moves, language, code, seed)
                    )
                )
            )
        return tuple(replies)

    return Counselor(answer=answer, whole=True)


def all_of(spec: PolicySpec) -> str:
    """All that a policy's decisions may rest on beside the talk: what it is told, and every file
    that decides what is sent to a model.
    """
    hashes = (f"{name} {digest}" for name, digest in prompt_hashes().items())
    return "\n".join([spec.model_dump_json(), *hashes])


def _answer(
    exchange: Exchange,
    policy: Policy,
    own: list[PracticeEvent],
    moves: list[Decision],
    language: str,
    code: Language,
    seed: int,
) -> Ask[Reply[Any]]:
    """The reply to one line; what was heard and decided is put down in `own` and `moves`."""
    line, key = exchange.history[-1], (seed, GUIDED, exchange.case)
    said = Said(
        chat=exchange.case,
        message=len(exchange.history),
        who=OTHER,
        to=ME,
        text=line.content,
        emphasis=None,
        emotion="neutral",
        intensity=1,
        poignancy=1,
        source="human",
    )
    asks = moves[-1].wording.asks if moves else None
    view = _view(exchange, tuple(own), tuple(moves), key, code)
    heard = HeardLine(said=said, key=(*key, exchange.turn), asked=asks)
    own += yield from DangerListener(protects=True).hear(view, heard)
    view = _view(exchange, tuple(own), tuple(moves), key, code)
    decision = yield from policy.decide(view)
    reply, decision = yield from _worded(exchange, view, decision, language, seed)
    own += (e for one in decision.events if isinstance(e := as_event(one), PRACTICE))
    moves.append(decision)
    return reply


def _view(
    exchange: Exchange,
    own: tuple[PracticeEvent, ...],
    moves: tuple[Decision, ...],
    key: tuple[object, ...],
    code: Language,
) -> TalkView:
    lines = tuple(map(_line, exchange.history))
    return TalkView(
        chat=exchange.case,
        me=ME,
        other=OTHER,
        meeting=Meeting(place=PLACE, number=1, appointment=True, role="client", closeness=0.0),
        lines=lines,
        turns=tuple(OwnTurn(move=one.move, decider=one.policy) for one in moves),
        turns_left=max(2, LINES - len(lines)),
        parting=False,
        emotion="neutral",
        key=key,
        language=code,
        own=own,
    )


def _line(line: Line) -> TalkLine:
    return TalkLine(
        who=OTHER if line.role == "client" else ME,
        text=line.content,
        emphasis=None,
        emotion="neutral",
    )


def _worded(
    exchange: Exchange, view: TalkView, decision: Decision, language: str, seed: int
) -> Ask[tuple[Reply[Any], Decision]]:
    """The decision as words, and as they settled it. A line that must keep to something and does
    not is replaced by one written by hand.
    """
    thought = decision.wording.thought
    *before, last = exchange.history
    system, prompt = render(
        GUIDED,
        view.language,
        language=named(language),
        line=last.content,
        move=decision.move,
        aim=decision.aim,
        brief="".join(
            f"\n{told}" for told in (decision.wording.background, decision.wording.brief) if told
        ),
        manner=decision.wording.manner or prompt_text("manner_counselor", view.language),
    )
    reply = yield from ask(
        Question(
            verb="fill" if thought else "write",
            schema=thought.schema if thought else None,
            purpose=PROMPT,
            who=view.me,
            tier="reason",
            language=view.language,
            system=system,
            prompt=prompt,
            talk=tuple(
                ("user" if line.role == "client" else "assistant", line.content) for line in before
            ),
            check=lambda answer: _problem(_said(answer) or "", decision),
            fallback=_by_hand(view, decision),
            temperature=0.0,
            max_tokens=MOST_TOKENS + (decision.wording.max_tokens if thought else 0),
            seed=seed_of(seed, PROMPT, exchange.case, exchange.turn),
            facts=PromptOnly(),
        )
    )
    if thought and isinstance(reply.value, LineAnswer):
        decision = thought.settled(decision, reply.value, traced(reply))
    words: Reply[Any] = replace(reply, value=_said(reply.value))
    return spoken(words), decision


def _said(answer: Any) -> str | None:
    """The words of an answer; None when there was none."""
    return answer.say if isinstance(answer, LineAnswer) else answer


def _problem(text: str, decision: Decision) -> str | None:
    """Only what would make the reply another than the policy's; how well it speaks is the judge's
    to say.
    """
    words = spoken(Reply(value=text)).value or ""
    return agenda_problem(words, decision) or (
        decision.wording.must.problem(words) if decision.wording.must else None
    )


def _by_hand(view: TalkView, decision: Decision) -> str | None:
    """For a line that must keep to something; None elsewhere, since a benchmark puts nothing in for
    what is missing.
    """
    if decision.wording.must is None:
        return None
    texts = (
        fill_slots(one.text, name=view.other, words=None, feeling=None)
        for one in decision.wording.lines
    )
    return next((text for text in texts if text), None)


def _named(exchange: Exchange, asking: Ask[Reply[Any]]) -> Ask[Reply[Any]]:
    """The same, each request under the exchange's name, by which it is kept."""
    answer: Any = None
    while True:
        try:
            wanted = asking.send(answer)
        except StopIteration as end:
            reply: Reply[Any] = end.value
            return reply
        who = exchange_id(exchange)
        answer = yield (
            replace(wanted, who=who)
            if isinstance(wanted, Question)
            else tuple(replace(one, who=who) for one in wanted)
        )
