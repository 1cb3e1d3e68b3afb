"""A therapy as data: what a counselor fills in about a client, three stages with goals, and skills
from coarse to fine.

Those that come with simcounsel are `therapies/schools/ID.yaml`; one's own is a file of the same
shape.
"""

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from simcounsel.errors import SpecError
from simcounsel.specs.load import Spec, load_spec

CourseStage = Literal["case_conceptualization", "core_intervention", "consolidation"]
COURSE_STAGES: tuple[CourseStage, ...] = get_args(CourseStage)
"""The three stages of a course, in order (PsychEval, section 2.2)."""
Text = Annotated[str, Field(min_length=1, max_length=4000)]
Id = Annotated[str, Field(pattern=r"^[\w-]+$", max_length=80)]


class ConceptField(Spec):
    """One thing that a counselor fills in about a client over the sessions."""

    id: Id
    name: Text
    what: Text
    holds: Literal["text", "list", "table"]
    columns: tuple[Id, ...] = ()
    """Of a table."""
    labels: tuple[str, ...] = ()
    """What the columns are called in the language of the texts; () as their ids."""

    @model_validator(mode="after")
    def _columns_for_tables(self) -> "ConceptField":
        if (self.holds == "table") != bool(self.columns):
            raise ValueError(f"{self.id}: a table has `columns:`, a text or list has none")
        return self


class CaseField(Spec):
    """One thing of a client's file that this therapy works on."""

    id: Id
    name: Text
    what: Text
    moves: bool = False
    """Whether the client's state has a strength for it, 0 to 100, that talk and life move."""


class TherapyStage(Spec):
    """A stretch of a course."""

    id: CourseStage
    name: Text
    sessions: tuple[Annotated[int, Field(ge=1, le=10)], Annotated[int, Field(ge=1, le=10)]]
    """Usual least and most."""
    goals: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Each can be called met or unmet from a transcript."""


class Skill(Spec):
    """An atomic skill: what can be done in one utterance."""

    id: Id
    name: Text
    description: Text
    when: str = ""
    cue: str = ""
    not_when: str = ""
    """When it is left alone, and why."""
    examples: tuple[Text, ...] = ()
    """Lines that carry it out, for people who read the catalogue: no model is shown them."""
    parent: str = ""
    """The meta skill it belongs to, set when its therapy is read."""


class MetaSkill(Spec):
    """An intention that several atomic skills carry out."""

    id: Id
    name: Text
    description: Text
    stages: Annotated[tuple[CourseStage, ...], Field(min_length=1)] = COURSE_STAGES
    """Where it has its place."""
    when: str = ""
    cue: str = ""
    skills: Annotated[tuple[Skill, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _parents(self) -> "MetaSkill":
        object.__setattr__(
            self,
            "skills",
            tuple(skill.model_copy(update={"parent": self.id}) for skill in self.skills),
        )
        return self


class Therapy(Spec):
    """A school of counseling."""

    id: Id
    name: Text
    about: Text
    draws_on: tuple[str, ...] = ()
    """Ids of other therapies whose skills may be used beside its own."""
    conceptualization: Annotated[tuple[ConceptField, ...], Field(min_length=1)]
    client: tuple[CaseField, ...] = ()
    """What a client's file has in its terms (PsychEval, appendix F.1); () where the file's beliefs,
    rules and ways of coping are meant, as in CBT.
    """
    stages: Annotated[tuple[TherapyStage, ...], Field(min_length=3, max_length=3)]
    skills: Annotated[tuple[MetaSkill, ...], Field(min_length=1)]
    drawn: tuple["Therapy", ...] = ()
    """These in full."""

    @model_validator(mode="after")
    def _holds_together(self) -> "Therapy":
        wrong = self.problems()
        if wrong:
            raise ValueError(wrong[0])
        if self.draws_on and not self.drawn:
            object.__setattr__(self, "drawn", tuple(therapy_named(name) for name in self.draws_on))
        return self

    def problems(self) -> list[str]:
        """What its parts say against each other; empty when it holds together."""
        found = []
        if tuple(stage.id for stage in self.stages) != COURSE_STAGES:
            found.append(f"stages: a course has {', '.join(COURSE_STAGES)}, in this order")
        for what, ids in (
            ("field", [field.id for field in self.conceptualization]),
            ("part of the client's file", [field.id for field in self.client]),
            (
                "skill",
                [
                    one
                    for meta in self.skills
                    for one in (meta.id, *(skill.id for skill in meta.skills))
                ],
            ),
        ):
            found += [
                f"a second {what} has the id {one!r}; ids must differ"
                for one in sorted({i for i in ids if ids.count(i) > 1})
            ]
        for stage in self.stages:
            if not self.metas(stage.id):
                found.append(f"no meta skill serves {stage.id}; name it among the `stages:` of one")
            if stage.sessions[0] > stage.sessions[1]:
                found.append(
                    f"{stage.id}: sessions: the least comes first, {list(stage.sessions)} is the"
                    " wrong way round"
                )
        return found

    def stage(self, name: str) -> TherapyStage:
        """The stage of that id."""
        return next(stage for stage in self.stages if stage.id == name)

    def metas(self, stage: str) -> tuple[MetaSkill, ...]:
        """The meta skills that have their place in a stage."""
        return tuple(meta for meta in self.skills if stage in meta.stages)

    def library(self) -> dict[str, MetaSkill | Skill]:
        """All skills by id; those of a therapy that it draws on as THERAPY.ID."""
        found: dict[str, MetaSkill | Skill] = {}
        for meta in self.skills:
            found |= {meta.id: meta} | {skill.id: skill for skill in meta.skills}
        for other in self.drawn:
            found |= {f"{other.id}.{one}": skill for one, skill in other.library().items()}
        return found


def shipped_therapies() -> tuple[str, ...]:
    """Ids of the therapies that come with simcounsel, in order."""
    folder = files("simcounsel").joinpath("therapies", "schools")
    return tuple(
        sorted(
            file.name.removesuffix(".yaml")
            for file in folder.iterdir()
            if file.name.endswith(".yaml")
        )
    )


@cache
def shipped_therapy(name: str) -> Therapy:
    """The therapy of that id. SpecError when there is none."""
    if name not in shipped_therapies():
        raise SpecError(
            [
                f"no therapy {name!r}; there are {', '.join(shipped_therapies())}, or give the path"
                " of a file that ends in .yaml"
            ]
        )
    with as_file(files("simcounsel").joinpath("therapies", "schools", f"{name}.yaml")) as path:
        return load_spec(path, Therapy)[0]


def find_therapy(name_or_file: str, folder: Path = Path()) -> Therapy:
    """A shipped therapy by its id, or one's own by its file, seen from `folder`."""
    if name_or_file.endswith((".yaml", ".yml")):
        return load_spec(folder / name_or_file, Therapy)[0]
    return shipped_therapy(name_or_file)


def therapy_named(value: Any) -> Any:
    """For a field that may hold a shipped therapy's id: the therapy itself. ValueError when there
    is none of that id.
    """
    if not isinstance(value, str):
        return value
    try:
        return shipped_therapy(value)
    except SpecError as error:
        raise ValueError(error.problems[0]) from None
