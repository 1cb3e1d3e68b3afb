"""The questions to the extractor and the seeker, who know the seeker's file. The seeker is shown
only what it has told and what may come out now.

A situation cut into facts without a model: sentence by sentence, by where it is and what it
says.

What the extractor falls back on; a model does better.
"""

import re
from collections.abc import Iterator, Sequence

from simcounsel.chance import chance
from simcounsel.corpus.disclosure import DISCLOSURES, Disclosure
from simcounsel.corpus.synthesis.context import Line, SessionContext
from simcounsel.corpus.synthesis.events import Fact
from simcounsel.corpus.synthesis.facts import ExtractFacts, SeekFacts
from simcounsel.corpus.synthesis.role_answers import (
    MOST_FACTS,
    NEW_AT_ONCE,
    PARTS,
    Extraction,
    FactDraft,
    SeekerLine,
    extraction_problem,
    seeker_problem,
)
from simcounsel.corpus.synthesis.situations import Situation
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import render
from simcounsel.specs.vocabulary import THEMES
from simcounsel.texts import sentences

_SIGNS: tuple[tuple[Disclosure, str], ...] = (
    (
        "asks_for_advice",
        (
            r"\b(how (?:do|can|should|could) (?:i|you|one)|what (?:do|can|should|could) i|any"
            r" (?:advice|tips?|ideas?)|tell me (?:how|what))\b"
            r"|怎么办|怎么做|该如何"
        ),
    ),
    (
        "asks_for_help",
        (
            r"\b(i(?:'d| would)? (?:want|like|need|hope|wish)|i just want|help me|looking"
            r" for)\b|想要|希望|求助"
        ),
    ),
    (
        "remembers",
        (
            r"\b(as a (?:child|kid|boy|girl)|when i was|years ago|growing up|back then|used to|my"
            r" (?:mother|father) always|at school)\b"
            r"|小时候|以前|当年"
        ),
    ),
    (
        "feels",
        (
            r"\b(feels?|felt|afraid|scared|ashamed|angry|sad|lonely|alone|guilty|empty|numb|tired|cry"
            r"|hate|miss|worr\w+|panic\w*)\b"
            r"|感觉|觉得|害怕|难过|焦虑|痛苦"
        ),
    ),
    (
        "introduces",
        r"\b(i(?:'m| am) (?:a |an |\d+|in my)|i work as|i live|years old|my name)\b|我是|岁",
    ),
)
COMPLETIONS: dict[Disclosure, tuple[str, ...]] = {
    "introduces": (
        "There isn't much to say about me.",
        "I'm nobody special, I get up and go to work.",
        "I'm somebody who usually copes.",
        "People say I'm the calm one.",
        "I live quietly, on the whole.",
    ),
    "describes": (
        "It has been going on for a while now.",
        "Some weeks it's better, and then it's back.",
        "It takes up more of the day than it used to.",
        "It follows me into everything I do.",
        "It started small, and I didn't notice.",
    ),
    "feels": (
        "Mostly it makes me tired, and a bit ashamed.",
        "It sits in my chest like something swallowed whole.",
        "I get angry, and then I'm sad about being angry.",
        "I feel oddly far away from it all.",
        "There's a fear in it that I can't put a name to.",
        "Some evenings I could cry, and then I don't.",
        "I feel stupid for minding so much.",
    ),
    "remembers": (
        "I think something like it happened once before, when I was younger.",
        "My mother had a way of going quiet, and I catch myself doing it.",
        "At home we didn't talk about such things.",
        "There was a year at school when it was like this.",
        "My father would have told me to get on with it.",
        "I was the child who never made trouble.",
        "Years ago I got through something worse, and I don't know how.",
    ),
    "asks_for_help": (
        "I would like it to weigh on me less.",
        "I want one evening in which it doesn't come up.",
        "I'd like to be easier to live with.",
        "I want to understand why it gets me like this.",
        "I'd like to stop running from it.",
        "I want to feel like myself again, if that's not too much.",
    ),
    "asks_for_advice": (
        "I'd like to know what I could try.",
        "Tell me what other people do with this.",
        "What could I do on a bad day?",
        "I don't know how to begin with it.",
        "What would be a first step?",
        "How do I say it to the people around me?",
    ),
}
"""What stands in for a stage of which the situation says nothing; drawn, and marked as invented."""
LONGEST_FACT = 380


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text, each at most as long as a fact may be."""
    return tuple(
        s.strip()[:LONGEST_FACT]
        for s in sentences.of_prose(" ".join(text.split()))
        if len(s.strip()) > 2
    )


def cut(text: str, theme: str | None, english: bool = True) -> Extraction:
    """The whole file; stages of which nothing is said are completed, if it is to be in English."""
    drafts = [
        FactDraft(of=PARTS[stage], stage=stage, text=sentence, invented=False)
        for stage, sentence in _staged(sentences_of(text))
    ]
    kept = _chosen(drafts)
    lacking = (
        [stage for stage in DISCLOSURES if all(fact.stage != stage for fact in kept)]
        if english
        else []
    )
    added = [
        FactDraft(
            of=PARTS[stage],
            stage=stage,
            text=chance(text, stage).choice(COMPLETIONS[stage]),
            invented=True,
        )
        for stage in lacking
    ]
    return Extraction.model_construct(theme=theme or "other", facts=[*kept, *added])


def _chosen(drafts: list[FactDraft]) -> list[FactDraft]:
    """As many as leave room for completions: the first of each stage, then the others in their
    order.
    """
    most = MOST_FACTS - len(DISCLOSURES) + 1
    first = {fact.stage: number for number, fact in reversed(list(enumerate(drafts)))}
    ranked = sorted(
        range(len(drafts)), key=lambda number: (first[drafts[number].stage] != number, number)
    )
    return [drafts[number] for number in sorted(ranked[:most])]


def _staged(parts: tuple[str, ...]) -> Iterator[tuple[Disclosure, str]]:
    for number, sentence in enumerate(parts):
        found = next(
            (stage for stage, sign in _SIGNS if re.search(sign, sentence, re.IGNORECASE)), None
        )
        yield found or ("introduces" if number == 0 else "describes"), sentence


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
