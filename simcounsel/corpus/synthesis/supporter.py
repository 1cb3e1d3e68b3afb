"""The questions to the supporter, the evaluator, the corrector and the manager. They see what was
said, and nothing of the seeker's file, except where the settings say `informed`.
"""

from collections.abc import Sequence

from simcounsel.corpus.synthesis.context import Line, SessionContext
from simcounsel.corpus.synthesis.events import Quality, Support
from simcounsel.corpus.synthesis.facts import CorrectFacts, DistilFacts, EvaluateFacts, SupportFacts
from simcounsel.corpus.synthesis.role_answers import (
    MOST_STRATEGIES,
    Distilled,
    Evaluation,
    SupporterLine,
    corrected_problem,
    distilled_problem,
    evaluation_problem,
    line_problem,
)
from simcounsel.corpus.synthesis.settings import STRATEGY_WORDS
from simcounsel.corpus.synthesis.strategies import Strategy
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import render


def support(
    context: SessionContext,
    lines: Sequence[Line],
    turn: int,
    last: bool,
    carried: Sequence[Strategy],
    fallback: tuple[Support, str],
    file: str,
) -> Ask[Reply[SupporterLine]]:
    """The supporter: stage, skill, line, and what it thought before. file: what it knows beside
    what was said; '' for nothing.
    """
    learned = "\n".join(f"{strategy.id}: {strategy.text}" for strategy in carried)
    system, prompt = render(
        "support",
        context.prompts,
        known=context.words("file_known", file=file) if file else context.words("said_known"),
        strategies=render("support_strategies", context.prompts, strategies=learned)[1]
        if carried
        else "",
        talk=context.talk(lines),
        turn=turn,
        turns=context.settings.turns,
        ending=context.words("closing" if last else "open"),
        language=context.language,
        words=context.settings.line_words,
    )
    said = [text for _, text in lines]
    return ask(
        Question(
            verb="fill",
            purpose="support",
            who=context.session,
            tier="supporter",
            language=context.prompts,
            system=system,
            prompt=prompt,
            schema=SupporterLine,
            check=lambda answer: line_problem(answer.line, said, context.english),
            fallback=SupporterLine(
                reasoning="", stage=fallback[0], skill="silence", line=fallback[1]
            ),
            temperature=0.8,
            max_tokens=400,
            seed=context.seed("supporter", len(lines) + 1),
            facts=SupportFacts(
                lines=tuple(lines),
                turn=turn,
                turns=context.settings.turns,
                last=last,
                carried=_by_id(carried),
            ),
        )
    )


def evaluate(
    context: SessionContext, lines: Sequence[Line], draft: str, turn: int, file: str
) -> Ask[Reply[Evaluation | None]]:
    """The evaluator: nine qualities, whether and how to revise, whether to go on. It sees what was
    said, and `file` if there is any. None when it gave no usable answer.
    """
    system, prompt = render(
        "evaluate",
        context.prompts,
        talk=context.talk(lines),
        draft=draft,
        known=context.words("file_judged", file=file) if file else context.words("said_judged"),
    )
    return ask(
        Question[Evaluation | None](
            verb="fill",
            purpose="evaluate",
            who=context.session,
            tier="evaluator",
            language=context.prompts,
            system=system,
            prompt=prompt,
            schema=Evaluation,
            check=evaluation_problem,
            fallback=None,
            temperature=0.0,
            max_tokens=500,
            seed=context.seed("evaluator", len(lines) + 1),
            facts=EvaluateFacts(
                lines=tuple(lines), draft=draft, turn=turn, turns=context.settings.turns
            ),
        )
    )


def correct(
    context: SessionContext, lines: Sequence[Line], draft: str, advice: str, stage: Support
) -> Ask[Reply[str]]:
    """The corrector: the line again."""
    system, prompt = render(
        "correct",
        context.prompts,
        talk=context.talk(lines),
        draft=draft,
        advice=advice,
        language=context.language,
        words=context.settings.line_words,
    )
    return ask(
        Question(
            verb="write",
            purpose="correct",
            who=context.session,
            tier="corrector",
            language=context.prompts,
            system=system,
            prompt=prompt,
            check=corrected_problem(draft, [text for _, text in lines], context.english),
            fallback=draft,
            temperature=0.5,
            max_tokens=250,
            seed=context.seed("corrector", len(lines) + 1),
            facts=CorrectFacts(lines=tuple(lines), draft=draft, advice=advice, stage=stage),
        )
    )


def distil(
    context: SessionContext,
    advice: Sequence[tuple[Quality, str]],
    carried: Sequence[Strategy],
    lines: Sequence[Line],
) -> Ask[Reply[Distilled]]:
    """The manager: strategies out of all that the evaluator asked for in this session."""
    system, prompt = render(
        "distil",
        context.prompts,
        advice="\n".join(f"- ({quality}) {text}" for quality, text in advice),
        language=context.language,
        known="\n".join(f"- {strategy.text}" for strategy in carried)
        or context.words("nothing_known"),
        most=MOST_STRATEGIES,
        words=STRATEGY_WORDS,
    )
    return ask(
        Question(
            verb="fill",
            purpose="distil",
            who=context.session,
            tier="manager",
            language=context.prompts,
            system=system,
            prompt=prompt,
            schema=Distilled,
            check=distilled_problem([text for _, text in lines], context.english),
            fallback=Distilled(),
            temperature=0.3,
            max_tokens=400,
            seed=context.seed("manager", 0),
            facts=DistilFacts(advice=tuple(text for _, text in advice), carried=_by_id(carried)),
        )
    )


def _by_id(carried: Sequence[Strategy]) -> dict[str, str]:
    return {strategy.id: strategy.text for strategy in carried}
