"""Therapies in other languages."""

import re
from pathlib import Path

import pytest
import yaml

from simcounsel.therapies.specs import therapy_words
from simcounsel.therapies.specs.therapy import Therapy, shipped_therapies, shipped_therapy
from simcounsel.therapies.specs.therapy_words import TherapyWords, in_language
from tests.each import each

FOLDER = Path(str(therapy_words.__file__)).parents[1] / "schools"
CHINESE = sorted(path.stem for path in (FOLDER / "zh").glob("*.yaml"))


def texts(therapy: Therapy) -> list[str]:
    """All that of a therapy may reach a prompt; those that it draws on have texts of their own."""
    fields = (text for one in therapy.conceptualization for text in (one.name, one.what))
    labels = (label for one in therapy.conceptualization for label in one.labels)
    stages = (text for one in therapy.stages for text in (one.name, *one.goals))
    skills = (
        text
        for one in therapy.model_copy(update={"drawn": ()}).library().values()
        for text in (one.name, one.description, one.when, one.cue)
    )
    return [therapy.name, therapy.about, *fields, *labels, *stages, *skills]


def test_none_has_another_name() -> None:
    assert CHINESE and {*CHINESE} <= {*shipped_therapies()}


@each("name", CHINESE)
def test_its_texts_are_chinese_and_all_else_is_the_same(name: str) -> None:
    english, chinese = shipped_therapy(name), in_language(shipped_therapy(name), "zh")
    assert [text for text in texts(chinese) if re.search("[A-Za-z]", text)] == []
    assert len(texts(chinese)) - len(texts(english)) == sum(
        len(one.columns) for one in english.conceptualization
    )
    assert list(chinese.library()) == list(english.library())
    assert [one.sessions for one in chinese.stages] == [one.sessions for one in english.stages]
    assert [one.stages for one in chinese.skills] == [one.stages for one in english.skills]
    assert chinese.drawn == tuple(in_language(one, "zh") for one in english.drawn)


def test_ones_own_stays_as_it_is_written() -> None:
    own = shipped_therapy("cbt").model_copy(update={"name": "Mine"})
    assert in_language(own, "zh") is own
    assert in_language(shipped_therapy("cbt"), "en") is shipped_therapy("cbt")


@each(
    ("change", "says"),
    [
        (lambda data: data["skills"][0]["skills"].pop(), "ids of each skill"),
        (lambda data: data["stages"][0]["goals"].pop(), "goals, its mirror"),
        (lambda data: data["skills"][0].pop("cue"), "`cue` is in one of the two only"),
        (lambda data: data["conceptualization"][0].pop("columns"), "columns of"),
    ],
)
def test_a_mirror_that_does_not_fit_says_where(change, says: str) -> None:  # type: ignore[no-untyped-def]
    data = yaml.safe_load((FOLDER / "zh" / "postmodern.yaml").read_text(encoding="utf-8"))
    change(data)
    with pytest.raises(ValueError, match=says):
        therapy_words._worded(shipped_therapy("postmodern"), TherapyWords.model_validate(data))
