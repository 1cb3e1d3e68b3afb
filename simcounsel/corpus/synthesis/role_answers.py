"""What the six roles answer, and what would be wrong with an answer."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from simcounsel.corpus.dialogues import Skill
from simcounsel.corpus.disclosure import DISCLOSURES, Disclosure
from simcounsel.corpus.measures import units
from simcounsel.corpus.synthesis.events import QUALITIES, Fact, Support
from simcounsel.corpus.synthesis.settings import STRATEGY_WORDS
from simcounsel.llm.answers import speech_problem
from simcounsel.llm.schemas import Limits
from simcounsel.texts import stopwords

FEWEST_FACTS, MOST_FACTS = 6, 14
LEAST_ADVICE = 8
"""Characters."""
NEW_AT_ONCE = 2
"""How many facts a seeker tells in one line at the most."""
LONGEST = 100
"""Words. Longer lines are not what people say to each other (MindCorpus, section IV.C.2)."""
MOST_STRATEGIES = 3
SHARED = 6
"""As many words in a row as this a strategy may not share with what was said."""
GROUNDED = 0.4
"""A fact counts as invented when a smaller share of its content words is in the situation."""
_LABEL = re.compile(
    r"^\s*\W?\s*(client|seeker|counselor|counsellor|supporter|therapist|patient|person"
    r"|来访者|求助者|咨询师|督导)\s*\W?\s*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
Rating = Annotated[int, Field(ge=1, le=10)]


class Answer(BaseModel):
    """An answer in JSON: frozen; what was not asked for is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class FactDraft(Answer):
    """A fact before it has an id."""

    of: Literal["character", "plight", "demand"]
    stage: Disclosure
    text: Annotated[str, Field(min_length=3, max_length=400)]
    invented: bool


class Extraction(Answer):
    """The extractor's answer."""

    theme: Annotated[str, Field(min_length=1, max_length=40)]
    facts: Annotated[list[FactDraft], Field(min_length=FEWEST_FACTS, max_length=MOST_FACTS)]

    @field_validator("facts", mode="before")
    @classmethod
    def _in_a_row(cls, facts: Any) -> Any:
        """Those that came by stage, as `BY_STAGE` asks for them, one after the other."""
        if not isinstance(facts, dict):
            return facts
        return [
            fact | {"stage": stage} if isinstance(fact, dict) else fact
            for stage, some in facts.items()
            for fact in (some if isinstance(some, list) else [some])
        ]


class SeekerLine(Answer):
    """The seeker's answer."""

    line: Annotated[str, Field(min_length=1)]
    facts: list[str] = Field(default_factory=list)


class SupporterLine(Answer):
    """The supporter's answer."""

    reasoning: str
    stage: Support
    skill: Skill
    strategies: list[str] = Field(default_factory=list)
    line: Annotated[str, Field(min_length=1)]


def _all_required(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema["properties"])


class Evaluation(Answer):
    """The evaluator's answer: why, before what it comes to."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra=_all_required)

    because: str = ""
    """What decides; '' from what answers by rule."""
    confidentiality: Rating
    objectivity: Rating
    sympathy: Rating
    specialization: Rating
    feasibility: Rating
    listening: Rating
    collaboration: Rating
    tenderness: Rating
    respect: Rating
    advice: str = ""
    revise: bool
    go_on: bool

    @model_validator(mode="before")
    @classmethod
    def _as_advised(cls, told: Any) -> Any:
        """An answer that does not say whether to revise means it where it says how."""
        if not isinstance(told, dict) or "revise" in told:
            return told
        return told | {"revise": len(str(told.get("advice", ""))) >= LEAST_ADVICE}

    def ratings(self) -> dict[str, int]:
        """By quality."""
        return {quality: getattr(self, quality) for quality in QUALITIES}


class Distilled(Answer):
    """The manager's answer."""

    strategies: Annotated[list[str], Field(max_length=MOST_STRATEGIES)] = Field(
        default_factory=list
    )


def length_of(text: str) -> int:
    """Words; of Chinese and Japanese the characters (see `measures.units`)."""
    return len(units(text))


def extraction_problem(extraction: Extraction) -> str | None:
    """A file has all three parts and something for each stage."""
    lacking = [
        part
        for part in ("character", "plight", "demand")
        if not any(fact.of == part for fact in extraction.facts)
    ]
    if lacking:
        return f"no fact is of {', '.join(lacking)}"
    empty = [
        stage for stage in DISCLOSURES if not any(fact.stage == stage for fact in extraction.facts)
    ]
    return (
        f"no fact has the stage {', '.join(empty)}; add one and mark it as invented"
        if empty
        else None
    )


def line_problem(text: str, said: Collection[str], english: bool) -> str | None:
    """What is wrong with a line as speech in this talk. A silence, written as dots, is a line."""
    if re.fullmatch(r"[\s.…]+", text):
        return None
    problem = speech_problem(text) if english else None
    if problem:
        return problem
    if _LABEL.search(text):
        return "the line had a speaker's name in front; give the spoken words only"
    most = LONGEST * (1 if english else 2)
    if length_of(text) > most:
        return f"the line had {length_of(text)} words; say it in fewer than {most}"
    if plain(text) in {plain(line) for line in said}:
        return "this line was said before; say something else"
    return None


def seeker_problem(
    offered: Collection[str], said: Collection[str], english: bool
) -> Callable[[SeekerLine], str | None]:
    """A check: the line is speech, and tells no more than was offered."""

    def check(answer: SeekerLine) -> str | None:
        strange = [fact for fact in answer.facts if fact not in offered]
        if strange:
            return (
                f"facts: {', '.join(strange)} cannot be told now; allowed are"
                f" {', '.join(offered) or 'none'}"
            )
        if len(answer.facts) > NEW_AT_ONCE:
            return f"the line tells {len(answer.facts)} new things; at most {NEW_AT_ONCE}"
        return line_problem(answer.line, said, english)

    return check


def evaluation_problem(evaluation: Evaluation | None) -> str | None:
    """Whoever wants a revision says which."""
    if evaluation is not None and evaluation.revise and len(evaluation.advice) < LEAST_ADVICE:
        return "revise is true, but advice does not say what to change"
    return None


def corrected_problem(
    draft: str, said: Collection[str], english: bool
) -> Callable[[str], str | None]:
    """A check: the line is speech, and not the draft again."""

    def check(line: str) -> str | None:
        if plain(line) == plain(draft):
            return "the line is still the same; change what the supervisor asks for"
        return line_problem(line, said, english)

    return check


def distilled_problem(
    said: Collection[str] = (), english: bool = True
) -> Callable[[Distilled], str | None]:
    """A check: strategies are short, and carry nothing of this person into other sessions."""
    heard = {run for line in said for run in _runs(line)}

    def check(distilled: Distilled) -> str | None:
        for strategy in distilled.strategies:
            problem = _strategy_problem(strategy, heard, english)
            if problem:
                return problem
        return None

    return check


def _strategy_problem(
    strategy: str, heard: Collection[tuple[str, ...]], english: bool
) -> str | None:
    if english and re.search(r"(?<=[a-z,;] )(?!I\b|I')[A-Z][a-z]+", strategy):
        return f"{strategy[:60]!r} names somebody or some place; a strategy is for any person"
    if any(run in heard for run in _runs(strategy)):
        return (
            f"{strategy[:60]!r} repeats what was said in this session; a strategy is for any person"
        )
    if length_of(strategy) > STRATEGY_WORDS:
        return f"a strategy has {length_of(strategy)} words; at most {STRATEGY_WORDS}"
    return None


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """All runs of SHARED words."""
    words = [unit.lower() for unit in units(text)]
    return (tuple(words[start : start + SHARED]) for start in range(len(words) - SHARED + 1))


def facts_of(extraction: Extraction, situation: str) -> tuple[Fact, ...]:
    """The facts with ids. What the extractor calls given but the situation does not say is marked
    as invented.
    """
    return tuple(
        Fact(
            id=f"F{number}",
            of=fact.of,
            stage=fact.stage,
            text=fact.text,
            invented=fact.invented or not grounded(fact.text, situation),
        )
        for number, fact in enumerate(extraction.facts, 1)
    )


def grounded(text: str, source: str) -> bool:
    """Whether enough of a text's content words, by their first five letters, are in the
    source.
    """
    words = content(text)
    return not words or len(words & content(source)) >= GROUNDED * len(words)


def content(text: str) -> frozenset[str]:
    """The content words of a text by their first five letters; pairs of characters where there are
    no words.
    """
    characters = _CJK.findall(text)
    words = re.findall(r"[^\W_]+(?:['’][^\W_]+)?", _CJK.sub(" ", text).lower())
    pairs = ("".join(pair) for pair in pairwise(characters))
    return frozenset(
        word[:5]
        for word in words
        if word.replace("’", "'") not in stopwords.OF_FACTS and len(word) > 1
    ) | frozenset(pairs)


def plain(text: str) -> str:
    """A text by its letters alone, to see whether two are the same."""
    return " ".join(re.findall(r"\w+", text.lower()))


# what two roles are asked for where a schema holds their answers: no room for what would be refused

PARTS: Mapping[Disclosure, Literal["character", "plight", "demand"]] = {
    "introduces": "character",
    "describes": "plight",
    "feels": "plight",
    "remembers": "plight",
    "asks_for_help": "demand",
    "asks_for_advice": "demand",
}
"""Of which part of the file a stage tells, as a rule."""
SURE = ("introduces", "describes", "asks_for_help")
"""Stages that tell of no other part."""


def _of_stage(stage: Disclosure) -> dict[str, Any]:
    """The schema of the facts of one stage."""
    parts = [PARTS[stage]] if stage in SURE else list(dict.fromkeys(PARTS.values()))
    fact = {
        "of": {"type": "string", "enum": parts},
        "text": {"type": "string", "minLength": 3, "maxLength": 400},
        "invented": {"type": "boolean"},
    }
    one = {"type": "object", "properties": fact, "required": [*fact]}
    return {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_FACTS // len(PARTS)}


BY_STAGE: Limits = {
    "facts": {
        "type": "object",
        "properties": {stage: _of_stage(stage) for stage in DISCLOSURES},
        "required": [*DISCLOSURES],
    }
}
"""Facts as they are asked for where a schema holds the answer: none can say of a list that it has
something for each stage and of each part.
"""


BY_ADVICE: Limits = {
    "revise": None,
    "advice": {"anyOf": [{"enum": [""]}, {"type": "string", "minLength": LEAST_ADVICE}]},
}
"""Where a schema holds the answer, whether to revise follows from the advice."""
