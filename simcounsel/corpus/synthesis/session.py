"""One session: the seeker opens up, the supporter drafts, the evaluator judges, the corrector
revises, the manager learns.

The safety rule of a session: danger that a seeker speaks of is taken up at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from simcounsel.chance import chance
from simcounsel.corpus.checks.risk import risks
from simcounsel.corpus.disclosure import DISCLOSURES, Disclosure
from simcounsel.corpus.synthesis.context import COUNSELOR, PERSON, Line, SessionContext
from simcounsel.corpus.synthesis.events import (
    QUALITIES,
    Disclosed,
    Drafted,
    Evaluated,
    Extracted,
    Fact,
    Quality,
    QualityRating,
    Revised,
    SessionEnded,
    Support,
    SynthesisEvent,
)
from simcounsel.corpus.synthesis.role_answers import facts_of
from simcounsel.corpus.synthesis.seeker import extract, seek
from simcounsel.corpus.synthesis.situations import Situation
from simcounsel.corpus.synthesis.strategies import Proposal, Strategy
from simcounsel.corpus.synthesis.supporter import correct, distil, evaluate, support
from simcounsel.danger.hearing.acknowledging import acknowledges
from simcounsel.danger.hearing.weighing import Evidence
from simcounsel.llm.question import Ask, traced
from simcounsel.prompts import phrase
from simcounsel.specs.vocabulary import Danger, Language

GRAVE: tuple[Danger, ...] = ("suicide", "self_harm", "harm_to_others")
"""Kinds of danger that a supporter may not pass over."""
SAFE_LINES: dict[Danger, str] = {
    "suicide": (
        "I want to stop at what you just said. Are you thinking of killing yourself? And are you"
        " safe tonight: who could be with you? If it gets too near, please call the local emergency"
        " number."
    ),
    "self_harm": (
        "I want to stop at what you just said. Are you hurting yourself? And are you safe tonight:"
        " who could be with you? If you need help at once, please call the local emergency number."
    ),
    "harm_to_others": (
        "I want to stop at what you just said. Are you thinking of hurting somebody? Is everybody"
        " safe tonight, and who could help right now? If it gets too near, please call the local"
        " emergency number."
    ),
}
"""What is said where nobody took it up, even when asked to; whatever roles take part. The risk
words are English and Chinese.
"""
SAFE_CHINESE = (
    "我想停在你刚才说的话上。你是不是在想自杀，或者伤害自己或别人？你今晚安全吗，"
    "谁可以陪着你？如果撑不住，请马上拨打当地的急救电话。"
)


def passed_over(heard: str, line: str) -> Evidence | None:
    """The danger that was just spoken of and that this line does not take up; None when there is
    none.
    """
    return next(
        (
            risk
            for risk in risks(heard)
            if risk.kind in GRAVE and not acknowledges(line, heard, risk.span, risk.kind)
        ),
        None,
    )


def advice_on(danger: Evidence, language: Language) -> str:
    """What is asked of the corrector where neither the supporter nor the evaluator saw it, in the
    language of its prompt.
    """
    kind = phrase("synthesis_words", danger.kind, language)
    return phrase("synthesis_words", "danger", language, kind=kind)


def safe_line(danger: Evidence, heard: str, english: bool) -> str:
    """A line, written beforehand, that takes it up."""
    return SAFE_LINES[danger.kind] if heard.isascii() or english else SAFE_CHINESE


# what is said when a model gave nothing usable; the log says `fallback`
SILENT = ("I don't know.", "Hm.", "I'm not sure what to say.", "...", "Maybe.", "It's hard to put.")
"""A seeker's that has nothing to tell."""
SPARE: tuple[tuple[Support, str], ...] = (
    ("listening", "Take your time. I'm listening."),
    ("identifying", "Which part of that weighs most on you?"),
    ("exploring", "When did you last feel a little different about it?"),
    ("listening", "Say a little more, if you like."),
    ("goals", "What would be a first small sign that it is getting lighter?"),
    ("exploring", "What goes on in you as you tell me this?"),
    ("support", "What has helped you before, even a little?"),
    ("listening", "I'd like to understand that better."),
)
"""A supporter's."""
FAREWELL: tuple[Support, str] = ("support", "Let's leave it here for today. Thank you for coming.")
"""A supporter's last line."""
OFFERED = 3
"""How many facts could come out in one line; at most two do."""
HOLDS_BACK = 0.15
"""The share of lines in which a seeker tells nothing new."""


@dataclass(frozen=True, kw_only=True)
class SessionOutcome:
    """A session as it was written: its events, and what the manager made of the suggestions."""

    events: tuple[SynthesisEvent, ...]
    proposals: tuple[Proposal, ...]


@dataclass
class SeekerFile:
    """How far a seeker has opened up."""

    facts: tuple[Fact, ...]
    """All of its file."""
    disclosed: list[Fact] = field(default_factory=list)
    """What it has told, in its order."""
    quiet: int = 0
    """How many of its last lines told nothing new."""
    due: int = 0
    """The stage, from 0, that it should have come to by now, so that a long story does not take up
    the whole session; what is left behind then may still come up.
    """

    @property
    def stage(self) -> Disclosure:
        """The first stage that is due, or later, of which something is untold; the last one when
        there is none.
        """
        waiting = {fact.stage for fact in self._untold()}
        return next(
            (stage for stage in DISCLOSURES[self.due :] if stage in waiting), DISCLOSURES[-1]
        )

    def offered(self) -> tuple[Fact, ...]:
        """What could come out now: of this stage, one of the next, and what was left behind; never
        all at once.
        """
        at = DISCLOSURES.index(self.stage)
        ordered = sorted(self._untold(), key=lambda fact: DISCLOSURES.index(fact.stage))
        here = [fact for fact in ordered if fact.stage == self.stage]
        beyond = [fact for fact in ordered if DISCLOSURES.index(fact.stage) > at]
        behind = [fact for fact in ordered if DISCLOSURES.index(fact.stage) < at]
        return (*here[: OFFERED - 1], *beyond[: 1 if len(here) < OFFERED else 0], *behind)[:OFFERED]

    def tell(self, ids: tuple[str, ...]) -> None:
        """Note what a line told."""
        self.disclosed += [fact for fact in self.facts if fact.id in ids]
        self.quiet = 0 if ids else self.quiet + 1

    def _untold(self) -> list[Fact]:
        return [fact for fact in self.facts if fact not in self.disclosed]

    @property
    def complete(self) -> bool:
        """Whether everything was told."""
        return not self._untold()


class Session:
    """Carries one session to its end.

    carried: the strategies of its wave. on_line: called with each event as it comes.
    """

    def __init__(
        self,
        context: SessionContext,
        situation: Situation,
        carried: tuple[Strategy, ...],
        on_line: Callable[[SynthesisEvent], None] | None = None,
    ) -> None:
        self.context = context
        self.situation = situation
        self.carried = carried
        self._on_line = on_line
        self._events: list[SynthesisEvent] = []
        self._lines: list[Line] = []
        self._advice: list[tuple[Quality, str]] = []
        self._revised = 0
        self._file = ""
        """What supporter and evaluator know of the seeker before anything is said."""

    def write(self) -> Ask[SessionOutcome]:
        """All of it."""
        file = SeekerFile((yield from self._extract()))
        if self.context.settings.informed:
            self._file = " ".join(fact.text for fact in file.facts)
        settings, last = self.context.settings, False
        cause: Literal["resolved", "disclosed", "limit"] = "limit"
        for turn in range(1, settings.turns + 1):
            ends = last or turn == settings.turns
            file.due = (turn - 1) * len(DISCLOSURES) // settings.turns
            yield from self._seek(file, ends)
            go_on = yield from self._support(turn, ends)
            if last:
                break
            if turn >= settings.fewest_turns and not ends:
                if not go_on:
                    last, cause = True, "resolved"
                elif "evaluator" in settings.without and file.complete:
                    last, cause = True, "disclosed"
        self._note(
            SessionEnded(
                session=self.context.session,
                cause=cause,
                messages=len(self._lines),
                revised=self._revised,
            )
        )
        proposals = (
            (yield from self._distil())
            if self._advice and "manager" not in settings.without
            else ()
        )
        return SessionOutcome(events=tuple(self._events), proposals=proposals)

    def _extract(self) -> Ask[tuple[Fact, ...]]:
        reply = yield from extract(self.context, self.situation)
        extraction = reply.value
        facts = facts_of(extraction, self.situation.text)
        self._note(
            Extracted(
                session=self.context.session,
                situation=self.situation.id,
                theme=self.situation.theme or extraction.theme,
                facts=facts,
                strategies=tuple(strategy.id for strategy in self.carried),
                source=reply.source,
                **traced(reply),
            )
        )
        return facts

    def _seek(self, file: SeekerFile, last: bool) -> Ask[None]:
        message = len(self._lines) + 1
        rng = chance(*self.context.key, "opening", message)
        holds_back = last or (message > 1 and file.quiet == 0 and rng.random() < HOLDS_BACK)
        offered = () if holds_back else file.offered()
        stage = file.stage
        silent = SILENT if self.context.english else ("...",)
        fresh = [line for line in silent if line not in {text for _, text in self._lines}]
        reply = yield from seek(
            self.context,
            self._lines,
            file.disclosed,
            offered,
            stage,
            last,
            rng.choice(fresh or silent),
        )
        disclosed = tuple(dict.fromkeys(reply.value.facts))
        file.tell(disclosed)
        reached = [fact.stage for fact in file.disclosed if fact.id in disclosed]
        self._say(
            PERSON,
            Disclosed(
                session=self.context.session,
                message=message,
                text=one_line(reply.value.line),
                facts=disclosed,
                source=reply.source,
                **traced(reply),
                stage=max(reached, key=DISCLOSURES.index, default=stage),
            ),
        )

    def _support(self, turn: int, last: bool) -> Ask[bool]:
        """The draft, its judgment and its revision; whether to go on."""
        message = len(self._lines) + 1
        said = {text for _, text in self._lines}
        spare = (
            FAREWELL if last else next((line for line in SPARE if line[1] not in said), SPARE[0])
        )
        spare = spare if self.context.english else (spare[0], "...")
        reply = yield from support(
            self.context, self._lines, turn, last, self.carried, spare, self._file
        )
        answer, ids = reply.value, {strategy.id for strategy in self.carried}
        draft = one_line(answer.line)
        drafted = Drafted(
            session=self.context.session,
            message=message,
            text=draft,
            stage=answer.stage,
            skill=answer.skill,
            reasoning=answer.reasoning.strip(),
            strategies=tuple(dict.fromkeys(id for id in answer.strategies if id in ids)),
            source=reply.source,
            **traced(reply),
        )
        self._note(drafted)
        text, go_on = draft, True
        if "evaluator" not in self.context.settings.without:
            evaluated = yield from self._evaluate(draft, turn, message)
            go_on = evaluated.go_on
            if evaluated.revise and "corrector" not in self.context.settings.without:
                text = yield from self._correct(drafted, evaluated.advice)
        self._lines.append((COUNSELOR, self._safe(drafted, text)))
        return go_on

    def _safe(self, drafted: Drafted, text: str) -> str:
        """The line, or one written beforehand where it passes over danger still."""
        heard = self._lines[-1][1]
        danger = passed_over(heard, text)
        if danger is None:
            return text
        line = safe_line(danger, heard, self.context.english)
        if text == drafted.text:
            self._revised += 1
        self._note(
            Revised(
                session=self.context.session,
                message=drafted.message,
                text=line,
                before=drafted.text,
                reason=advice_on(danger, self.context.prompts),
                source="fallback",
            )
        )
        return line

    def _evaluate(self, draft: str, turn: int, message: int) -> Ask[Evaluated]:
        reply = yield from evaluate(self.context, self._lines, draft, turn, self._file)
        value = reply.value
        ratings = value.ratings() if value else {}
        danger = passed_over(self._lines[-1][1], draft)
        revise = bool(value and value.revise) or danger is not None
        advice = [value.advice.strip()] if value and value.revise else []
        advice += [advice_on(danger, self.context.prompts)] if danger else []
        evaluated = Evaluated(
            session=self.context.session,
            message=message,
            revise=revise,
            advice=" ".join(advice),
            go_on=value.go_on if value and not danger else True,
            source=reply.source,
            **traced(reply),
            ratings=tuple(
                QualityRating(quality=quality, value=ratings.get(quality)) for quality in QUALITIES
            ),
        )
        self._note(evaluated)
        if evaluated.revise:
            self._advice.append(
                (min(QUALITIES, key=lambda quality: ratings.get(quality, 0)), evaluated.advice)
            )
        return evaluated

    def _correct(self, drafted: Drafted, advice: str) -> Ask[str]:
        reply = yield from correct(self.context, self._lines, drafted.text, advice, drafted.stage)
        text = one_line(reply.value)
        if reply.source != "fallback":
            self._revised += 1
            self._note(
                Revised(
                    session=self.context.session,
                    message=drafted.message,
                    text=text,
                    before=drafted.text,
                    reason=advice,
                    source=reply.source,
                    **traced(reply),
                )
            )
        return text

    def _distil(self) -> Ask[tuple[Proposal, ...]]:
        reply = yield from distil(self.context, self._advice, self.carried, self._lines)
        advice = tuple(text for _, text in self._advice)
        wanted = dict.fromkeys(" ".join(text.split()) for text in reply.value.strategies)
        return tuple(
            Proposal(session=self.context.session, text=text, advice=advice, call=reply.call)
            for text in wanted
            if text
        )

    def _say(self, who: str, event: Disclosed) -> None:
        self._lines.append((who, event.text))
        self._note(event)

    def _note(self, event: SynthesisEvent) -> None:
        self._events.append(event)
        if self._on_line:
            self._on_line(event)


def one_line(text: str) -> str:
    """A line of speech without line breaks, outer quotation marks, and whitespace around it."""
    text = " ".join(text.split())
    if len(text) > 1 and text[0] + text[-1] in ('""', "“”", "''"):
        text = text[1:-1].strip()
    return text
