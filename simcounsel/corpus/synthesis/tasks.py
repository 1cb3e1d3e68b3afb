"""Each role's question to its model. Nobody is shown more than this role may know: the seeker sees
of its own file only what it has told and what may come out now; the supporter, the evaluator and
the corrector see what was said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from simcounsel.chance import chance, seed_of
from simcounsel.corpus.handwritten import read_samples
from simcounsel.corpus.screens.risk import risks
from simcounsel.corpus.synthesis.answers import (
    FEWEST_FACTS,
    MOST_STRATEGIES,
    NEW_AT_ONCE,
    Distilled,
    Evaluation,
    Extraction,
    SeekerLine,
    SupporterLine,
    corrected_problem,
    distilled_problem,
    evaluation_problem,
    extraction_problem,
    line_problem,
    seeker_problem,
)
from simcounsel.corpus.synthesis.cutting import cut, told
from simcounsel.corpus.synthesis.strategies import Strategy
from simcounsel.events import Fact
from simcounsel.llm.question import EXAMPLES_SHOWN, Ask, Example, Question, Reply, ask
from simcounsel.prompts import render
from simcounsel.safety.acknowledging import OWN_LIFE
from simcounsel.specs.situations import Situation
from simcounsel.specs.synthesis import STRATEGY_WORDS, Synthesis
from simcounsel.specs.vocabulary import THEMES, Disclosure, Quality, Support

WHERE: dict[Disclosure, str] = {
    "introduces": "you have just come in; you say a little about who you are",
    "describes": "you tell what troubles you, since when, and what it does to your days",
    "feels": "you let on what it is like inside",
    "remembers": "something from further back comes up",
    "asks_for_help": "you say what you would want to be different",
    "asks_for_advice": "you want to know what you could do",
}
LEAVING = "the talk is coming to its end; a last word, warm or not, as you feel"
CLOSING = (
    "It is the last: close without a question, with something of this person's own to take along."
)
OPEN = "There is time; nothing has to be solved now."
NOTHING = "(nothing yet; you begin)"
Line = tuple[str, str]
"""Who (`Person` or `Counselor`) and what."""
PERSON, COUNSELOR = "Person", "Counselor"


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What all questions of one session have in common. session: its name in the log; key: what its
    luck depends on.
    """

    settings: Synthesis
    session: str
    key: tuple[object, ...]

    @property
    def english(self) -> bool:
        """Whether lines can be checked as English."""
        return self.settings.language.casefold() == "english"

    def seed(self, role: str, message: int) -> int:
        """The luck of one question."""
        return seed_of(*self.key, role, message)


def extract(desk: Desk, situation: Situation) -> Ask[Reply[Any]]:
    """The extractor: a situation to a file."""
    themes = "" if situation.theme else f" One of: {', '.join(THEMES)}, other."
    given = f" It is: {situation.theme}." if situation.theme else themes
    system, prompt = render(
        "extract", text=situation.text, language=desk.settings.language, themes=given
    )
    return (
        yield from ask(
            Question(
                verb="fill",
                purpose="extract",
                who=desk.session,
                tier="extractor",
                system=system,
                prompt=prompt,
                schema=Extraction,
                check=extraction_problem,
                fallback=cut(situation.text, situation.theme, desk.english),
                temperature=0.3,
                max_tokens=1200,
                seed=desk.seed("extractor", 0),
                hints={
                    "sentences": told(situation.text),
                    "theme": situation.theme,
                    "fewest": FEWEST_FACTS,
                },
            )
        )
    )


def seek(
    desk: Desk,
    lines: Sequence[Line],
    told: Sequence[Fact],
    offered: Sequence[Fact],
    stage: Disclosure,
    last: bool,
    fallback: str,
) -> Ask[Reply[Any]]:
    """The seeker: the next line, and which of the offered facts it tells."""
    if offered:
        offer = render(
            "seek_offer",
            most=NEW_AT_ONCE,
            facts="\n".join(f"{fact.id}: {fact.text}" for fact in offered),
        )[1]
    else:
        offer = render("seek_holds_back")[1]
    system, prompt = render(
        "seek",
        told="\n".join(f"- {fact.text}" for fact in told) or "nothing",
        offer=offer,
        talk=talk(lines),
        stage=LEAVING if last else WHERE[stage],
        language=desk.settings.language,
        words=desk.settings.line_words,
    )
    ids = tuple(fact.id for fact in offered)
    spare = SeekerLine(
        line=" ".join(fact.text for fact in offered[:1]) or fallback, facts=list(ids[:1])
    )
    return (
        yield from ask(
            Question(
                verb="fill",
                purpose="seek",
                who=desk.session,
                tier="seeker",
                system=system,
                prompt=prompt,
                schema=SeekerLine,
                check=seeker_problem(ids, [text for _, text in lines], desk.english),
                fallback=spare,
                temperature=0.9,
                max_tokens=300,
                seed=desk.seed("seeker", len(lines) + 1),
                hints={
                    "lines": tuple(lines),
                    "offered": tuple(offered),
                    "stage": stage,
                    "last": last,
                    "closed": {"facts": ids},
                },
            )
        )
    )


def support(
    desk: Desk,
    lines: Sequence[Line],
    turn: int,
    last: bool,
    carried: Sequence[Strategy],
    fallback: tuple[Support, str],
) -> Ask[Reply[Any]]:
    """The supporter: stage, skill, line, and what it thought before."""
    learned = "\n".join(f"{strategy.id}: {strategy.text}" for strategy in carried)
    system, prompt = render(
        "support",
        strategies=render("support_strategies", strategies=learned)[1] if carried else "",
        talk=talk(lines),
        turn=turn,
        turns=desk.settings.turns,
        ending=CLOSING if last else OPEN,
        language=desk.settings.language,
        words=desk.settings.line_words,
    )
    examples = drawn_examples(desk.seed("examples", len(lines) + 1)) if desk.english else ()
    spare = SupporterLine(reasoning="", stage=fallback[0], skill="silence", line=fallback[1])
    said = [text for _, text in lines]
    return (
        yield from ask(
            Question(
                verb="fill",
                purpose="support",
                who=desk.session,
                tier="supporter",
                system=system,
                prompt=prompt,
                schema=SupporterLine,
                examples=examples,
                check=lambda answer: line_problem(answer.line, said, desk.english),
                fallback=spare,
                temperature=0.8,
                max_tokens=400,
                seed=desk.seed("supporter", len(lines) + 1),
                hints={
                    "lines": tuple(lines),
                    "turn": turn,
                    "turns": desk.settings.turns,
                    "last": last,
                    "carried": tuple(carried),
                    "danger": in_danger(lines),
                    "closed": {"strategies": tuple(strategy.id for strategy in carried)},
                },
            )
        )
    )


def evaluate(desk: Desk, lines: Sequence[Line], draft: str, turn: int) -> Ask[Reply[Any]]:
    """The evaluator: nine qualities, whether and how to revise, whether to go on. It sees what was
    said and no more.
    """
    system, prompt = render("evaluate", talk=talk(lines), draft=draft)
    return (
        yield from ask(
            Question(
                verb="fill",
                purpose="evaluate",
                who=desk.session,
                tier="evaluator",
                system=system,
                prompt=prompt,
                schema=Evaluation,
                check=evaluation_problem,
                fallback=None,
                temperature=0.0,
                max_tokens=400,
                seed=desk.seed("evaluator", len(lines) + 1),
                hints={
                    "lines": tuple(lines),
                    "draft": draft,
                    "turn": turn,
                    "turns": desk.settings.turns,
                    "danger": in_danger(lines),
                },
            )
        )
    )


def correct(
    desk: Desk, lines: Sequence[Line], draft: str, advice: str, stage: Support, last: bool
) -> Ask[Reply[Any]]:
    """The corrector: the line anew."""
    system, prompt = render(
        "correct",
        talk=talk(lines),
        draft=draft,
        advice=advice,
        language=desk.settings.language,
        words=desk.settings.line_words,
    )
    return (
        yield from ask(
            Question(
                verb="write",
                purpose="correct",
                who=desk.session,
                tier="corrector",
                system=system,
                prompt=prompt,
                check=corrected_problem(draft, [text for _, text in lines], desk.english),
                fallback=draft,
                temperature=0.5,
                max_tokens=250,
                seed=desk.seed("corrector", len(lines) + 1),
                hints={
                    "lines": tuple(lines),
                    "draft": draft,
                    "advice": advice,
                    "stage": stage,
                    "last": last,
                    "danger": in_danger(lines),
                },
            )
        )
    )


def distil(
    desk: Desk,
    advice: Sequence[tuple[Quality, str]],
    carried: Sequence[Strategy],
    lines: Sequence[Line],
) -> Ask[Reply[Any]]:
    """The manager: strategies out of all that the evaluator asked for in this session."""
    system, prompt = render(
        "distil",
        advice="\n".join(f"- ({quality}) {text}" for quality, text in advice),
        language=desk.settings.language,
        known="\n".join(f"- {strategy.text}" for strategy in carried) or "(nothing yet)",
        most=MOST_STRATEGIES,
        words=STRATEGY_WORDS,
    )
    return (
        yield from ask(
            Question(
                verb="fill",
                purpose="distil",
                who=desk.session,
                tier="manager",
                system=system,
                prompt=prompt,
                schema=Distilled,
                check=distilled_problem([text for _, text in lines], desk.english),
                fallback=Distilled(),
                temperature=0.3,
                max_tokens=400,
                seed=desk.seed("manager", 0),
                hints={"advice": tuple(advice), "carried": tuple(carried)},
            )
        )
    )


def drawn_examples(seed: int) -> tuple[Example, ...]:
    """Lines of the samples' counselors that fit any story, for a capable model to take the tone
    from; others each time.
    """
    return tuple(chance(seed, "examples").sample(_portable(), EXAMPLES_SHOWN))


@cache
def _portable() -> tuple[Example, ...]:
    return tuple(
        Example(text=turn.text, tags={"stage": turn.stage, "skill": turn.skill})
        for dialogue in read_samples()
        for turn in dialogue.turns
        if turn.portable and turn.speaker == "counselor"
    )


def in_danger(lines: Sequence[Line]) -> bool:
    """Whether the person has spoken of suicide or self-harm; for a model too small to see it."""
    return any(
        risk.kind in OWN_LIFE for who, text in lines if who == PERSON for risk in risks(text)
    )


def talk(lines: Sequence[Line]) -> str:
    """What was said, a line each."""
    return "\n".join(f"{who}: {text}" for who, text in lines) or NOTHING
