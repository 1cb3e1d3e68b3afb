"""What is around a line in training data: reasoning before it, tags, and a stage direction
where nobody has spoken yet.

    <think>
    She looks for permission to be unsure.
    </think>

    [emotion: trust] [skill: open question] Anywhere is fine.

Of a course's counselor it holds more, in the elements that PsychEval's files have too:

    <think>
    <assessment>The week was hard.</assessment>
    <client_state>Tired, willing.</client_state>
    <skill>open question</skill>
    <strategy>Ask for one night.</strategy>
    </think>

`<think>` stands as reasoning models write it (DeepSeek-R1, Qwen3; TRL reads it as
`reasoning_content`). A tag is `[kind: value]`; the kinds are emotion, skill and stage, in the order
in which they were asked for.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from simcounsel.corpus.dialogues import Turn
from simcounsel.errors import CorpusError
from simcounsel.prompts import phrase, render
from simcounsel.specs.vocabulary import EMOTIONS, Language, Role

Tag = Literal["emotion", "skill", "stage"]
TAGS: tuple[Tag, ...] = get_args(Tag)
_THOUGHT = re.compile(r"\A\s*<think>\n?(.*?)\n?</think>(?:\n\n|\s*)", re.DOTALL)
_PART = re.compile(
    r"<(assessment|client_state|skill|strategy)>\s*(.*?)\s*</\1>", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"\A\[(emotion|skill|stage): ([^\[\]\n]+)\] ?")


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line and what was around it."""

    text: str
    reasoning: str | None = None
    assessment: str | None = None
    client_state: str | None = None
    skills: tuple[str, ...] = ()
    tags: tuple[tuple[Tag, str], ...] = ()

    def turn(self, speaker: Role) -> Turn:
        """As a turn; an emotion that is none of ours is left out."""
        known = {kind: value for kind, value in self.tags if kind != "emotion" or value in EMOTIONS}
        return Turn(
            speaker=speaker,
            text=self.text,
            reasoning=self.reasoning,
            assessment=self.assessment,
            client_state=self.client_state,
            skills=self.skills,
            emotion=known.get("emotion"),
            skill=known.get("skill"),
            stage=known.get("stage"),
        )


def tags_of(words: str) -> tuple[Tag, ...]:
    """The kinds in 'emotion,skill'. CorpusError names one that there is not."""
    asked = [word.strip() for word in words.split(",") if word.strip()]
    unknown = [word for word in asked if word not in TAGS]
    if unknown:
        raise CorpusError(f"--tags {unknown[0]}: no such tag; there are {', '.join(TAGS)}")
    return tuple(dict.fromkeys(tag for word in asked for tag in TAGS if tag == word))


def marked(turn: Turn, *, reasoning: bool, tags: tuple[Tag, ...]) -> str:
    """The line with its tags and its reasoning in front, as far as they are known and asked for."""
    shown = "".join(f"[{tag}: {value}] " for tag in tags if (value := getattr(turn, tag)))
    thought = thought_of(turn) if reasoning else ""
    return (f"<think>\n{thought}\n</think>\n\n" if thought else "") + shown + turn.text


def thought_of(turn: Turn) -> str:
    """What was thought before a line: its reasoning; in a course each part in an element; ''."""
    if not turn.assessment and not turn.client_state:
        return turn.reasoning or ""
    parts = (
        ("assessment", turn.assessment),
        ("client_state", turn.client_state),
        ("skill", "; ".join(turn.skills)),
        ("strategy", turn.reasoning),
    )
    return "\n".join(f"<{name}>{text}</{name}>" for name, text in parts if text)


def parsed(content: str) -> Line:
    """The inverse of `marked`; what bears no such marks is a line as it is."""
    thought = _THOUGHT.match(content)
    rest = content[thought.end() :] if thought else content
    tags: list[tuple[Tag, str]] = []
    while found := _TAG.match(rest):
        tags += [(tag, found.group(2)) for tag in TAGS if tag == found.group(1)]
        rest = rest[found.end() :]
    inner = thought.group(1).strip() if thought else ""
    parts = {name.lower(): text for name, text in _PART.findall(inner) if text}
    beside = _PART.sub("", inner).strip()
    return Line(
        text=rest,
        reasoning="\n".join(one for one in (beside, parts.get("strategy")) if one) or None,
        assessment=parts.get("assessment"),
        client_state=parts.get("client_state"),
        skills=tuple(
            one.strip() for one in re.split("[;；]", parts.get("skill", "")) if one.strip()
        ),
        tags=tuple(tags),
    )


@cache
def opening(other: Role, language: Language = "en") -> str:
    """The first message of `other` where the learning side speaks first: a stage direction,
    nobody's words.
    """
    return render("export_opening", language, other=phrase("export_words", other, language))[1]


def is_opening(content: str) -> bool:
    """Whether a message is a stage direction of ours."""
    return content in {
        opening(role, language) for role in get_args(Role) for language in get_args(Language)
    }
