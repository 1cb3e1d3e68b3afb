"""Feedback on a trainee's line: what it was, what it did to this client, one alternative, why.

What the line did is read from the client's own state, never guessed. The judge tier says the rest;
what the rules say is the question's fallback, so that without a model, or with one that cannot
judge, the feedback is that of the rules and says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, Field

from simcounsel.chance import seed_of
from simcounsel.envs.danger import open_dangers
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.llm.question import Ask, Facts, Question, ask
from simcounsel.llm.schemas import Limits
from simcounsel.practice.exchange import RULES, Feedback, Shift
from simcounsel.practice.skills import example_of, helping_skills, library_skill, skill_of
from simcounsel.prompts import phrase, render
from simcounsel.specs.vocabulary import Language
from simcounsel.texts.quotes import units
from simcounsel.therapies.specs.therapy import shipped_therapy

_QUOTED = re.compile(r"“([^“”]+)”|「([^「」]+)」")
_WORDS_IN = "practice_words"


class FeedbackAnswer(BaseModel):
    """What a supervisor says of one line."""

    noticed: str = Field(min_length=1, max_length=500)
    skill: str
    effect: str = Field(max_length=500)
    alternative: str = Field(max_length=400)
    reason: str = Field(min_length=1, max_length=500)
    source: str


@dataclass(frozen=True, kw_only=True)
class FeedbackFacts(Facts):
    """A line to be spoken about; only a model that reads can judge it."""

    drawn: ClassVar[bool] = False
    judged: ClassVar[bool] = True
    line: str
    """The trainee's."""
    skills: tuple[str, ...]
    """What the line may be called."""
    sources: tuple[str, ...]
    """Skills of the files that the source may name."""

    @property
    def limits(self) -> Limits:
        """Both are closed lists."""
        return {"skill": {"enum": [*self.skills]}, "source": {"enum": [*self.sources]}}


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A line with what led to it and what came of it."""

    client: str
    """The name."""
    language: Language
    """Of the talk."""
    before: tuple[tuple[str, str], ...]
    """What was said before the line in this session, as (`Client` or `Counselor`, text)."""
    said: str
    """The line."""
    answers: tuple[str, ...]
    """What the client said then; () where the session ended with the line."""
    shift: Shift | None
    """None where it is not known."""
    focus: str = ""
    """What the trainee practices, in words; '' for nothing in particular."""
    therapy: str | None = None
    """The id of a therapy whose groups of skills a source may name, too."""

    @property
    def heard(self) -> str:
        """What the client said last before the line; '' at the beginning."""
        return next((text for who, text in reversed(self.before) if who == CLIENT), "")

    def words(self, key: str, **slots: object) -> str:
        """A phrase of the practice, in the talk's language."""
        return phrase(_WORDS_IN, key, self.language, client=self.client, **slots)


def given(moment: Moment, *key: object) -> Ask[Feedback]:
    """Feedback on a line, from the judge tier or by rules. key: draws the question's seed."""
    fallback = by_rules(moment)
    sources = _sources(moment)
    question = _question(moment, fallback, sources, key)
    reply = yield from ask(question)
    if reply.value == question.fallback:
        return fallback
    answer, skills = reply.value, helping_skills(moment.language)
    instead = answer.alternative.strip()
    return Feedback(
        skill=answer.skill,
        name=skills[answer.skill].name,
        noticed=answer.noticed.strip(),
        effect=answer.effect.strip(),
        alternative=instead,
        example=False,
        reason=answer.reason.strip(),
        source=_named(answer.source, moment.language),
        fits=_behind(answer.source, moment, instead) if instead else answer.skill,
        by=reply.model,
    )


def _behind(source: str, moment: Moment, line: str) -> str:
    """The helping skill that a source carries out, or by rule that of the line itself."""
    skills = helping_skills(moment.language).values()
    found = (one.id for one in skills if source == one.id or source in one.library)
    return next(found, "") or skill_of(moment.heard, line, moment.language)


def by_rules(moment: Moment) -> Feedback:
    """What the rules can say: which skill it was, what such a line tends to do, and where another
    was called for an example of that one out of the skills' files.
    """
    skills = helping_skills(moment.language)
    own = skills[skill_of(moment.heard, moment.said, moment.language)]
    fits = skills[_called_for(moment, own.id)]
    turn = len(moment.before) // 2
    named, line = ("", "") if fits is own else example_of(fits, turn, moment.language)
    reason = own.why
    if fits is not own and fits.id == "risk_question":
        open_now = open_dangers((*moment.before, (COUNSELOR, moment.said)))[0].words
        reason = f"{moment.words('open_danger', words=open_now)} {fits.why}"
    return Feedback(
        skill=own.id,
        name=own.name,
        noticed="",
        effect="",
        alternative=line,
        example=bool(line),
        reason=reason,
        source=f"{fits.source}; {_named(named, moment.language)}" if named else fits.source,
        fits=fits.id,
        by=RULES,
    )


def _called_for(moment: Moment, own: str) -> str:
    """The skill that the moment called for by rule: the question about danger where that is open,
    an open question where the client has said little, else what the skill's entry says.
    """
    lines = (*moment.before, (COUNSELOR, moment.said))
    if own != "risk_question" and open_dangers(lines):
        return "risk_question"
    instead = helping_skills(moment.language)[own].instead
    if instead is None:
        return own
    return instead if moment.heard else "opening"


def _sources(moment: Moment) -> tuple[str, ...]:
    """What a source may name: the helping skills, those of the files that carry them out, then the
    groups of the therapy that is practiced.
    """
    skills = helping_skills(moment.language)
    found = [*skills, *(named for one in skills.values() for named in one.library)]
    if moment.therapy:
        found += [f"{moment.therapy}.{one.id}" for one in shipped_therapy(moment.therapy).skills]
    return tuple(dict.fromkeys(found))


def _named(source: str, language: str) -> str:
    """A source in words: a book, or a skill of the files with its id."""
    if "." not in source:
        return helping_skills(language)[source].source
    return f"{library_skill(source, language).name} ({source})"


def _question(
    moment: Moment, fallback: Feedback, sources: tuple[str, ...], key: tuple[object, ...]
) -> Question[FeedbackAnswer]:
    skills = helping_skills(moment.language)
    system, prompt = render(
        "practice_feedback",
        moment.language,
        names=", ".join(f"{one.id} ({one.name})" for one in skills.values()),
        skills="\n".join(_listed(one, moment.language) for one in sources if "." in one),
        client=moment.client,
        talk=as_text(moment, moment.before),
        trainee=moment.words("trainee"),
        line=moment.said,
        answer="\n".join(moment.answers) or moment.words("no_answer"),
        state=effect_text(moment),
        focus=moment.words("focus", focus=moment.focus) if moment.focus else "",
    )
    facts = FeedbackFacts(line=moment.said, skills=tuple(skills), sources=sources)
    plain = FeedbackAnswer.model_construct(
        noticed=fallback.reason,
        skill=fallback.skill,
        effect="",
        alternative=fallback.alternative,
        reason=fallback.reason,
        source=sources[0],
    )
    return Question(
        verb="fill",
        purpose="practice_feedback",
        who=moment.client,
        tier="judge",
        system=system,
        prompt=prompt,
        language=moment.language,
        schema=FeedbackAnswer,
        check=lambda answer: _problem(answer, moment, facts),
        fallback=plain,
        temperature=0.3,
        max_tokens=500,
        seed=seed_of(*key, "practice_feedback", len(moment.before)),
        of_world=True,
        facts=facts,
    )


def _listed(source: str, language: str) -> str:
    found = library_skill(source, language)
    return f"- {source}: {found.name}. {found.when}".rstrip()


def _problem(answer: FeedbackAnswer, moment: Moment, facts: FeedbackFacts) -> str | None:
    if answer.source not in facts.sources or answer.skill not in facts.skills:
        return "skill and source are words of the two lists"
    said = [moment.said, *moment.answers, *(text for _, text in moment.before)]
    invented = invented_quote(f"{answer.noticed} {answer.effect}", said)
    return "it quotes words that nobody said" if invented else None


def invented_quote(text: str, said: Sequence[str]) -> str | None:
    """The first quotation in a text that is in none of the lines; None where all are."""
    quotes = (one or two for one, two in _QUOTED.findall(text))
    lines = [_spaced(line) for line in said]
    found = (quote for quote in quotes if not any(_spaced(quote) in line for line in lines))
    return next(found, None)


def is_in(quote: str, line: str) -> bool:
    """Whether words, however few, are in a line in their order."""
    return _spaced(quote) in _spaced(line)


def _spaced(text: str) -> str:
    return f" {' '.join(units(text))} "


def as_text(moment: Moment, lines: Sequence[tuple[str, str]]) -> str:
    """Lines for a prompt, the client by name."""
    names = {CLIENT: moment.client, COUNSELOR: moment.words("trainee")}
    between = "：" if moment.language == "zh" else ": "
    return "\n".join(f"{names[who]}{between}{text}" for who, text in lines) or "-"


def effect_text(moment: Moment) -> str:
    """What the line did to the client, as the client's own state says it."""
    shift = moment.shift
    if shift is None:
        return moment.words("unknown")
    numbers = {"before": f"{shift.before:g}", "after": f"{shift.after:g}"}
    if shift.quote is None:
        return moment.words("still", **numbers)
    key = "same" if shift.before == shift.after else "moved"
    moved = moment.words(key, quote=shift.quote, **numbers)
    touched = moment.words("touched", about=shift.about) if shift.about else ""
    return f"{moved} {touched}".strip()
