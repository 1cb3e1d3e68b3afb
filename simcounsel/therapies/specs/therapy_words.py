"""A therapy's texts in another language: `therapies/schools/LANGUAGE/ID.yaml` mirrors the tree of
the English file with ids and texts only, so that all else is written once.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import as_file, files
from typing import Protocol, TypeVar

from pydantic import Field

from simcounsel.errors import SpecError
from simcounsel.specs.load import Spec, load_spec
from simcounsel.therapies.specs.therapy import Id, MetaSkill, Skill, Text, Therapy, shipped_therapy


class _WithId(Protocol):
    @property
    def id(self) -> str: ...


A = TypeVar("A", bound=_WithId)
B = TypeVar("B", bound=_WithId)
S = TypeVar("S", MetaSkill, Skill)


class FieldWords(Spec):
    """Of one field of the conceptualization."""

    id: Id
    name: Text
    what: Text
    columns: dict[Id, Text] = Field(default_factory=dict)
    """What each column of a table is called."""


class StageWords(Spec):
    """Of a stage."""

    id: Id
    name: Text
    goals: tuple[Text, ...]
    """As many as the stage has, in its order."""


class SkillWords(Spec):
    """Of an atomic skill, or of a meta skill with those that carry it out."""

    id: Id
    name: Text
    description: Text
    when: str = ""
    cue: str = ""
    not_when: str = ""
    examples: tuple[Text, ...] = ()
    skills: tuple["SkillWords", ...] = ()


class TherapyWords(Spec):
    """All texts of a therapy."""

    id: Id
    name: Text
    about: Text
    conceptualization: tuple[FieldWords, ...]
    client: tuple[FieldWords, ...] = ()
    stages: tuple[StageWords, ...]
    skills: tuple[SkillWords, ...]


def in_language(therapy: Therapy, language: str) -> Therapy:
    """The therapy with its texts in a language: of one that comes with simcounsel, if they are
    there; one's own is in the language of its file. SpecError when a mirror does not fit.
    """
    if therapy.id not in _translated(language) or therapy != shipped_therapy(therapy.id):
        return therapy
    return _shipped_in(therapy.id, language)


@cache
def _translated(language: str) -> frozenset[str]:
    folder = files("simcounsel").joinpath("therapies", "schools", language)
    if not folder.is_dir():
        return frozenset()
    names = (file.name for file in folder.iterdir())
    return frozenset(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


@cache
def _shipped_in(name: str, language: str) -> Therapy:
    file = files("simcounsel").joinpath("therapies", "schools", language, f"{name}.yaml")
    with as_file(file) as path:
        words = load_spec(path, TherapyWords)[0]
        try:
            worded = _worded(shipped_therapy(name), words)
        except ValueError as error:
            raise SpecError([f"{path}: {error}"]) from None
    drawn = tuple(in_language(other, language) for other in worded.drawn)
    return worded.model_copy(update={"drawn": drawn})


def _worded(therapy: Therapy, words: TherapyWords) -> Therapy:
    """ValueError names the first id, goal or column that differs."""
    fields = []
    for field, said in _pairs("field", therapy.conceptualization, words.conceptualization):
        _same(f"columns of {field.id}", field.columns, said.columns)
        labels = tuple(said.columns[column] for column in field.columns)
        texts = {"name": said.name, "what": said.what, "labels": labels}
        fields.append(field.model_copy(update=texts))
    client = tuple(
        field.model_copy(update={"name": said.name, "what": said.what})
        for field, said in _pairs("part of the client's file", therapy.client, words.client)
    )
    stages = []
    for stage, of in _pairs("stage", therapy.stages, words.stages):
        if len(of.goals) != len(stage.goals):
            raise ValueError(f"{stage.id} has {len(stage.goals)} goals, its mirror {len(of.goals)}")
        stages.append(stage.model_copy(update={"name": of.name, "goals": of.goals}))
    metas = tuple(
        _skill(meta, said).model_copy(
            update={
                "skills": tuple(_skill(*pair) for pair in _pairs("skill", meta.skills, said.skills))
            }
        )
        for meta, said in _pairs("meta skill", therapy.skills, words.skills)
    )
    return therapy.model_copy(
        update={
            "name": words.name,
            "about": words.about,
            "conceptualization": tuple(fields),
            "client": client,
            "stages": tuple(stages),
            "skills": metas,
        }
    )


def _skill(skill: S, words: SkillWords) -> S:
    parts: list[str] = ["when", "cue"] + ["not_when", "examples"] * isinstance(skill, Skill)
    for part in parts:
        if bool(getattr(skill, part)) != bool(getattr(words, part)):
            raise ValueError(f"{skill.id}: `{part}` is in one of the two only")
    texts = words.model_dump(include={"name", "description", *parts})
    return skill.model_copy(update=texts)


def _pairs(what: str, ours: Sequence[A], theirs: Sequence[B]) -> Iterator[tuple[A, B]]:
    _same(f"ids of each {what}", (one.id for one in ours), (one.id for one in theirs))
    return zip(ours, theirs, strict=True)


def _same(what: str, ours: Iterable[str], theirs: Iterable[str]) -> None:
    here, there = list(ours), list(theirs)
    if here != there:
        missing = [one for one in here if one not in there] or [
            one for one in there if one not in here
        ]
        raise ValueError(f"{what}: {missing or there} differ; the same ids in the same order")
