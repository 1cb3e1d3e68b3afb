"""Questionnaires as participants get them: scales, surveys that are included, and files of one's
own; what they may answer, and what it comes to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from simcounsel.errors import SpecError
from simcounsel.events import ItemAnswer, Measured
from simcounsel.instruments.scale import find_scale
from simcounsel.instruments.scoring import score
from simcounsel.instruments.wording import worded
from simcounsel.specs.items import Id, Range
from simcounsel.specs.load import Spec, load_spec
from simcounsel.specs.scale import Scale
from simcounsel.trial.texts import surveys

TEXT_CHARACTERS = 2000
MOST_CHOICES = 12
"""Answers of a scale that are shown as buttons; of more, a number is written."""
Words = str | dict[str, str]
"""A text, or one by language."""


class SurveyItem(Spec):
    """A question of a survey."""

    id: Id
    text: Words
    kind: Literal["choice", "several", "number", "scale", "text"]
    choices: tuple[tuple[str | int, Words], ...] = ()
    low: float = 0
    high: float = 10
    low_label: Words = ""
    high_label: Words = ""
    lines: Annotated[int, Field(ge=1, le=12)] = 3
    optional: bool = False
    """Whether it may be left open."""
    may_skip: bool = False
    """Whether `prefer not to say` is an answer."""
    check: str | int | None = None
    """The answer that shows that somebody reads; None: it is no check of attention."""

    @model_validator(mode="after")
    def _has_choices(self) -> "SurveyItem":
        if self.kind in ("choice", "several") and len(self.choices) < 2:
            raise ValueError(f"{self.id}: a {self.kind} needs two `choices` at least")
        return self

    def shown(self, language: str) -> dict[str, Any]:
        """As the page has it."""
        fields = self.model_dump(exclude={"check", "choices"})
        for key in ("text", "low_label", "high_label"):
            fields[key] = said(fields[key], language)
        return fields | {"choices": [[value, said(text, language)] for value, text in self.choices]}

    def wrong(self, answer: object) -> bool:
        """Whether it is no answer to the question."""
        if answer is None or answer == "":
            return not (self.optional or self.may_skip)
        values = [value for value, _ in self.choices]
        if self.kind == "choice":
            return answer not in values or isinstance(answer, bool)
        if self.kind == "several":
            return not isinstance(answer, list) or any(one not in values for one in answer)
        if self.kind == "text":
            return not isinstance(answer, str) or len(answer) > TEXT_CHARACTERS
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return True
        return not self.low <= answer <= self.high


class Survey(Spec):
    """A file of questions that is no scale: nothing is scored."""

    id: Id
    title: Words = ""
    instruction: Words = ""
    items: Annotated[tuple[SurveyItem, ...], Field(min_length=1)]


def said(words: Words, language: str) -> str:
    """A text in a language, or in the first that there is."""
    if isinstance(words, str):
        return words
    return words.get(language) or next(iter(words.values()), "")


@dataclass(frozen=True, kw_only=True)
class Questionnaire:
    """What is asked on one page."""

    id: str
    scale: Scale | None = None
    survey: Mapping[str, Survey] | None = None
    """By language; None: it is a scale."""

    def of(self, language: str) -> Survey:
        """The questions in a language."""
        if self.scale is not None:
            return _as_survey(worded(self.scale, language))
        assert self.survey is not None
        return self.survey.get(language) or next(iter(self.survey.values()))

    def page(self, language: str, point: str) -> dict[str, Any]:
        """As the page has it. point: when it is asked."""
        asked = self.of(language)
        return {
            "id": self.id,
            "point": point,
            "title": said(asked.title, language),
            "instruction": said(asked.instruction, language),
            "items": [item.shown(language) for item in asked.items],
        }

    def wrong(self, answers: Mapping[str, object]) -> list[str]:
        """The ids of items without an answer that they allow, and of items that there are not."""
        items = {item.id: item for item in self.of("en").items}
        unknown = [str(name)[:40] for name in answers if name not in items]
        return [*unknown, *(id for id, item in items.items() if item.wrong(answers.get(id)))]

    def checks_failed(self, answers: Mapping[str, object]) -> int:
        """How many checks of attention were answered otherwise than they asked."""
        checks = (item for item in self.of("en").items if item.check is not None)
        return sum(answers.get(item.id) != item.check for item in checks)

    def measured(
        self, who: str, point: str, answers: Mapping[str, Any], *, human: bool = True
    ) -> Measured | None:
        """The scores of a scale, as somebody's own answers; None for a survey. human: whether a
        person gave them.
        """
        if self.scale is None:
            return None
        values = {item.id: answers.get(item.id) for item in self.scale.items}
        return Measured(
            who=who,
            instrument=self.scale.id,
            version=self.scale.version,
            point=point,
            respondent="self",
            items=tuple(
                ItemAnswer(id=id, value=value, reason=None if value is not None else "not answered")
                for id, value in values.items()
            ),
            scores=score(self.scale, values),
            source="human" if human else None,
        )


def _as_survey(scale: Scale) -> Survey:
    return Survey(
        id=scale.id,
        instruction=scale.instruction,
        items=tuple(_item(scale, scale.range_of(one), one.id, one.text) for one in scale.items),
    )


def _item(scale: Scale, allowed: Range, id: str, text: str) -> SurveyItem:
    count = round((allowed.max - allowed.min) / allowed.step) + 1
    values = [allowed.min + at * allowed.step for at in range(count)]
    named = all(value in scale.labels for value in values)
    whole = [int(value) if value == int(value) else value for value in values]
    return SurveyItem(
        id=id,
        text=text,
        kind="choice" if named else "scale" if count <= MOST_CHOICES else "number",
        choices=tuple((int(v), scale.labels[int(v)]) for v in whole) if named else (),
        low=allowed.min,
        high=allowed.max,
        low_label=scale.labels.get(int(allowed.min), ""),
        high_label=scale.labels.get(int(allowed.max), ""),
        may_skip=True,
    )


def find_questionnaire(named: str, folder: Path) -> Questionnaire:
    """By the name of a scale or of an included survey, or from a file, seen from the trial's
    folder. SpecError when there is none.
    """
    included = surveys(named)
    if included:
        parsed = {code: Survey.model_validate(data) for code, data in included.items()}
        return Questionnaire(id=named, survey=parsed)
    file = folder / named
    if not named.endswith((".yaml", ".yml")):
        return _of_scale(find_scale(named))
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if "respondent:" in text:
        return _of_scale(find_scale(str(file)))
    survey, _ = load_spec(file, Survey, "a survey has `id` and `items`")
    return Questionnaire(id=survey.id, survey={"en": survey})


def _of_scale(scale: Scale) -> Questionnaire:
    if scale.respondent != "self":
        raise SpecError(
            [f"questions: {scale.id} is answered by an observer; name a self-report or a survey"]
        )
    return Questionnaire(id=scale.id, scale=scale)
