"""A trial as its file says: arms, days, questions, whom to call, and what it may cost."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from simcounsel.errors import SpecError
from simcounsel.specs.experiment import Arm, Hypothesis
from simcounsel.specs.load import Spec, load_spec
from simcounsel.specs.practice import HelpLocale
from simcounsel.specs.world_settings import ModelRoles

FILE = "trial.yaml"
LANGUAGES = {"en": "English", "zh": "中文", "fa": "فارسی"}
"""In which the pages are, each by its own name."""
Language = Literal["en", "zh", "fa"]
Share = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Time = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]


class Contact(Spec):
    """The person whom participants can reach, and who answers for the trial."""

    name: Annotated[str, Field(min_length=2, max_length=80)]
    email: Annotated[str, Field(max_length=120, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")] | None = (
        None
    )
    phone: Annotated[str, Field(max_length=40)] | None = None

    @model_validator(mode="after")
    def _can_be_reached(self) -> "Contact":
        if not (self.email or self.phone):
            raise ValueError("an `email` or a `phone`: participants must be able to reach them")
        return self

    @property
    def said(self) -> str:
        """In a line."""
        return ", ".join(one for one in (self.name, self.email, self.phone) if one)


class PracticeTask(Spec):
    """The participant counsels a simulated client, in place of being counseled."""

    clients: Annotated[tuple[str, ...], Field(min_length=1)]
    """One for each talk, in turn: residents of the world, written personas, cases."""
    feedback: Literal["line", "end", "none"] = "line"
    """When the participant gets feedback."""
    without: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """Talks that have none all the same, such as the first and the last, which are compared."""

    def feedback_in(self, talk: int) -> str:
        """When there is feedback in a talk, by its number."""
        return "none" if talk in self.without else self.feedback


class TrialArm(Arm):
    """A condition: how the world differs in it, as in an experiment. Without an appointment of the
    world's client with a counselor or friend there is nobody to talk with.
    """

    waits: bool = False
    """A waiting list: questions, and nobody to talk with."""
    practice: PracticeTask | None = None
    with_whom: str | None = None
    """Whom its participants talk with, such as the world's friend; None: as the trial says."""


class Allocation(Spec):
    """How chance deals participants to arms. The list is made, and its hash written down, before
    the first person.
    """

    method: Literal["block", "simple"] = "block"
    """`block`: within each block every arm comes equally often; `simple`: each place by itself."""
    blocks: Annotated[tuple[Annotated[int, Field(ge=1, le=10)], ...], Field(min_length=1)] = (1, 2)
    """How often an arm may come in a block; chance draws the next block's length."""
    by: tuple[Annotated[str, Field(pattern=r"^\w+\.\w+$")], ...] = ()
    """Strata: QUESTIONNAIRE.ITEM of the questions before, such as demographics.gender; each
    combination of answers has a list of its own.
    """


class Entrance(Spec):
    """How people come in."""

    people: Annotated[int, Field(ge=1, le=100_000)]
    """How many are allocated at most."""
    links: Literal["personal", "open"] = "personal"
    """A secret link for each person; or one link for all, with a code."""
    finish_code: Annotated[str, Field(max_length=40)] | None = None
    """What Prolific, or another panel, wants to see at the end."""
    finish_url: Annotated[str, Field(max_length=300, pattern=r"^https://\S+$")] | None = None


class Screen(Spec):
    """Who does not take part, but is told where help is."""

    item: Annotated[str, Field(pattern=r"^\w+\.\w+$")]
    """QUESTIONNAIRE.ITEM, or QUESTIONNAIRE.SCORE of a scale, such as phq9.total."""
    at_least: float
    danger: bool = True
    """Whether the coordinator is alerted."""


class Questions(Spec):
    """Which questionnaires are asked when: names of scales, of surveys that are included
    (demographics, familiarity, comments), or files of one's own.
    """

    before: tuple[str, ...] = ("demographics", "phq9", "gad7", "familiarity")
    after_each: tuple[str, ...] = ()
    """After each talk."""
    after: tuple[str, ...] = ("chatbot_survey", "comments")


class Talks(Spec):
    """The talks of a day."""

    a_day: Annotated[int, Field(ge=1, le=6)] = 1
    lines: Annotated[int, Field(ge=4, le=200)] = 40
    """Of both together; while danger is open a talk goes on beyond."""


class Limits(Spec):
    """What talking may cost; no line is answered beyond it. None: no limit."""

    usd: Share | None = None
    calls: Annotated[int, Field(ge=1)] | None = None
    each_usd: Share | None = None
    """Of one participant."""
    each_calls: Annotated[int, Field(ge=1)] | None = None


class Mail(Spec):
    """How reminders are sent."""

    host: str
    port: Annotated[int, Field(ge=1, le=65535)] = 587
    tls: bool = True
    """Whether the connection is encrypted (STARTTLS); only a server on this machine may do without.
    """
    sender: str
    user: str | None = None
    """With the password in the environment variable SIMCOUNSEL_SMTP_PASSWORD."""


class Trial(Spec):
    """A trial, whole."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[\w][\w .-]*$")]
    title: Annotated[str, Field(min_length=1, max_length=120)]
    """As participants read it; of no arm."""
    organisation: Annotated[str, Field(min_length=2, max_length=120)]
    ethics: Annotated[str, Field(max_length=300)] = ""
    """Who approved it, under which number."""
    contact: Contact
    watched: Annotated[str, Field(min_length=20, max_length=400)]
    """Who looks at alerts of danger, when, and what they do; participants read it."""
    locale: HelpLocale
    """Whose help lines are shown, such as fa-IR."""
    languages: Annotated[tuple[Language, ...], Field(min_length=1)] = ("en",)
    days: Annotated[int, Field(ge=1, le=366)] = 8
    world: str = "insomnia"
    """Where the talks are, as far as the counselor knows: a world, or its file."""
    in_place_of: str = "Ines"
    """Whose place in the world the participant has."""
    with_whom: str = "Miriam"
    """With whom they talk."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Patches of the world for all arms."""
    models: ModelRoles | None = None
    arms: Annotated[tuple[TrialArm, ...], Field(min_length=1)]
    talks: Talks = Talks()
    questions: Questions = Questions()
    screen: tuple[Screen, ...] = (Screen(item="phq9.p9", at_least=1),)
    allocation: Allocation = Allocation()
    entrance: Entrance
    limits: Limits = Limits()
    remind_at: Time = "17:00"
    """By the participant's clock; who has not talked by then is on the list."""
    mail: Mail | None = None
    texts: dict[Language, dict[str, str]] = Field(default_factory=dict)
    """Of one's own in place of those that are included, such as information, debriefing; and title
    and watched in that language.
    """
    version: Annotated[str, Field(min_length=1, max_length=20)] = "1"
    """Of information and consent."""
    hypotheses: tuple[Hypothesis, ...] = ()
    """The planned tests, as in an experiment."""

    @field_validator("locale")
    @classmethod
    def _names_a_country(cls, value: str) -> str:
        if value == "default":
            raise ValueError("name the country whose help lines participants see, such as en-GB")
        return value

    @field_validator("contact", "organisation", "watched", mode="before")
    @classmethod
    def _was_written(cls, value: Any) -> Any:
        if re.search(r"\bTODO\b", str(value)):
            raise ValueError("fill it in: participants read it, and rely on it")
        return value

    @model_validator(mode="after")
    def _holds_together(self) -> "Trial":
        names = [arm.name for arm in self.arms]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two arms are called {twice!r}")
        asked = {self.id_of(one) for one in self.questions.before}
        for item in (*self.allocation.by, *(one.item for one in self.screen)):
            if item.split(".")[0] not in asked:
                raise ValueError(
                    f"{item}: {item.split('.')[0]} is not among the questions before; there are"
                    f" {', '.join(sorted(asked))}"
                )
        return self

    @staticmethod
    def id_of(named: str) -> str:
        """The id of a questionnaire that is named so."""
        return Path(named).stem

    def arm(self, name: str) -> TrialArm:
        """The arm of that name."""
        return next(one for one in self.arms if one.name == name)


def load_trial(folder: Path) -> Trial:
    """The trial in a folder. SpecError names every problem with its line."""
    file = folder / FILE
    if not file.is_file():
        raise SpecError(
            [f"{file}: no such file; `simcounsel trial new {folder}` writes one to start from"]
        )
    trial, _ = load_spec(file, Trial, "`simcounsel trial new` writes one to start from")
    return trial


def texts_of(trial: Trial, language: str) -> Mapping[str, str]:
    """The study's own texts in a language."""
    return next((texts for code, texts in trial.texts.items() if code == language), {})
