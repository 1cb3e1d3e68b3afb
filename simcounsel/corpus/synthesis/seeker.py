"""The questions to the extractor and the seeker, who know the seeker's file. The seeker is shown
only what it has told and what may come out now.
"""

from collections.abc import Sequence

from simcounsel.corpus.disclosure import Disclosure
from simcounsel.corpus.synthesis.context import Line, SessionContext
from simcounsel.corpus.synthesis.cutting import cut
from simcounsel.corpus.synthesis.events import Fact
from simcounsel.corpus.synthesis.facts import ExtractFacts, SeekFacts
from simcounsel.corpus.synthesis.role_answers import (
    NEW_AT_ONCE,
    Extraction,
    SeekerLine,
    extraction_problem,
    seeker_problem,
)
from simcounsel.corpus.synthesis.situations import Situation
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import render
from simcounsel.specs.vocabulary import THEMES


def extract(context: SessionContext, situation: Situation) -> Ask[Reply[Extraction]]:
    """The extractor: a situation to a file."""
    themes = (
        context.words("theme_given", theme=situation.theme)
        if situation.theme
        else context.words("theme_among", themes=", ".join(THEMES))
    )
    system, prompt = render(
        "extract", context.prompts, text=situation.text, language=context.language, themes=themes
    )
    return ask(
        Question(
            verb="fill",
            purpose="extract",
            who=context.session,
            tier="extractor",
            language=context.prompts,
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
        context.prompts,
        disclosed="\n".join(f"- {fact.text}" for fact in disclosed)
        or context.words("nothing_told"),
        offer=_offer(context, offered),
        talk=context.talk(lines),
        stage=context.words("leaving" if last else stage),
        language=context.language,
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
            language=context.prompts,
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


def _offer(context: SessionContext, offered: Sequence[Fact]) -> str:
    """What may be told now, as it is in the prompt."""
    if not offered:
        return render("seek_holds_back", context.prompts)[1]
    facts = "\n".join(f"{fact.id}: {fact.text}" for fact in offered)
    return render("seek_offer", context.prompts, most=NEW_AT_ONCE, facts=facts)[1]
