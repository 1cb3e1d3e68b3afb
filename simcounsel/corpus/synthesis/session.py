"""One session: the seeker opens up, the supporter drafts, the evaluator judges, the corrector
revises, the manager learns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from simcounsel.chance import chance
from simcounsel.corpus.disclosure import DISCLOSURES
from simcounsel.corpus.synthesis.context import COUNSELOR, PERSON, Line, SessionContext
from simcounsel.corpus.synthesis.danger import advice_on, passed_over, safe_line
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
    SynthesisEvent,
)
from simcounsel.corpus.synthesis.role_answers import facts_of
from simcounsel.corpus.synthesis.seeker import extract, seek
from simcounsel.corpus.synthesis.seeker_file import SeekerFile
from simcounsel.corpus.synthesis.situations import Situation
from simcounsel.corpus.synthesis.spare_lines import FAREWELL, SILENT, SPARE
from simcounsel.corpus.synthesis.strategies import Proposal, Strategy
from simcounsel.corpus.synthesis.supporter import correct, distil, evaluate, support
from simcounsel.llm.question import Ask, traced

HOLDS_BACK = 0.15
"""The share of lines in which a seeker tells nothing new."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """A session as it was written: its events, and what the manager made of the suggestions."""

    events: tuple[SynthesisEvent, ...]
    proposals: tuple[Proposal, ...]


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

    def write(self) -> Ask[Written]:
        """All of it."""
        file = SeekerFile((yield from self._extract()))
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
        return Written(events=tuple(self._events), proposals=proposals)

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
        reply = yield from support(self.context, self._lines, turn, last, self.carried, spare)
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
        reply = yield from evaluate(self.context, self._lines, draft, turn)
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
