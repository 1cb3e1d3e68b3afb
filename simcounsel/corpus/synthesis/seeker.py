"""The questions to the extractor and the seeker, who know the seeker's file. The seeker is shown
only what it has told and what may come out now.
"""

from collections.abc import Sequence

from simcounsel.corpus.synthesis.context import Line, SessionContext, talk
from simcounsel.corpus.synthesis.cutting import cut
from simcounsel.corpus.synthesis.facts import ExtractFacts, SeekFacts
from simcounsel.corpus.synthesis.role_answers import (
    NEW_AT_ONCE,
    Extraction,
    SeekerLine,
    extraction_problem,
    seeker_problem,
)
from simcounsel.events import Fact
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import render
from simcounsel.specs.situations import Situation
from simcounsel.specs.vocabulary import THEMES, Disclosure

WHERE: dict[Disclosure, str] = {
    "introduces": "you have just come in; you say a little about who you are",
    "describes": "you tell what troubles you, since when, and what it does to your days",
    "feels": "you let on what it is like inside",
    "remembers": "something from further back comes up",
    "asks_for_help": "you say what you would want to be different",
    "asks_for_advice": "you want to know what you could do",
}
LEAVING = "the talk is coming to its end; a last word, warm or not, as you feel"


def extract(context: SessionContext, situation: Situation) -> Ask[Reply[Extraction]]:
    """The extractor: a situation to a file."""
    themes = "" if situation.theme else f" One of: {', '.join(THEMES)}, other."
    given = f" It is: {situation.theme}." if situation.theme else themes
    system, prompt = render(
        "extract", text=situation.text, language=context.settings.language, themes=given
    )
    return ask(
        Question(
            verb="fill",
            purpose="extract",
            who=context.session,
            tier="extractor",
            system=system,
            prompt=prompt,
            schema=Extraction,
            check=extraction_problem,
            fallback=cut(situation.text, situation.theme, context.english),
            temperature=0.3,
            max_tokens=1200,
            seed=context.seed("extractor", 0),
            facts=ExtractFacts(text=situation.text, theme=situation.theme, english=context.english),
        )
    )


def seek(
    context: SessionContext,
    lines: Sequence[Line],
    disclosed: Sequence[Fact],
    offered: Sequence[Fact],
    stage: Disclosure,
    last: bool,
    fallback: str,
) -> Ask[Reply[SeekerLine]]:
    """The seeker: the next line, and which of the offered facts it tells."""
    system, prompt = render(
        "seek",
        disclosed="\n".join(f"- {fact.text}" for fact in disclosed) or "nothing",
        offer=_offer(offered),
        talk=talk(lines),
        stage=LEAVING if last else WHERE[stage],
        language=context.settings.language,
        words=context.settings.line_words,
    )
    ids = tuple(fact.id for fact in offered)
    spare = SeekerLine(
        line=" ".join(fact.text for fact in offered[:1]) or fallback, facts=list(ids[:1])
    )
    return ask(
        Question(
            verb="fill",
            purpose="seek",
            who=context.session,
            tier="seeker",
            system=system,
            prompt=prompt,
            schema=SeekerLine,
            check=seeker_problem(ids, [text for _, text in lines], context.english),
            fallback=spare,
            temperature=0.9,
            max_tokens=300,
            seed=context.seed("seeker", len(lines) + 1),
            facts=SeekFacts(lines=tuple(lines), offered=tuple(offered), last=last),
        )
    )


def _offer(offered: Sequence[Fact]) -> str:
    """What may be told now, as it stands in the prompt."""
    if not offered:
        return render("seek_holds_back")[1]
    facts = "\n".join(f"{fact.id}: {fact.text}" for fact in offered)
    return render("seek_offer", most=NEW_AT_ONCE, facts=facts)[1]
