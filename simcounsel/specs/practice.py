"""How a resident's conversations are guided, and what is done when there is danger."""

from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, JsonValue, model_validator

from simcounsel.errors import SpecError
from simcounsel.specs.course import FEWEST_SESSIONS, MOST_SESSIONS, CoursePlan
from simcounsel.specs.exercises import Exercises
from simcounsel.specs.load import Spec
from simcounsel.specs.manual import Manual
from simcounsel.specs.therapy import Therapy, therapy_named
from simcounsel.specs.vocabulary import Language as Language


class PolicySpec(Spec):
    """A policy and its settings. In a file its name alone will do: `policy: socratic`; or a
    manual's file: `policy: mine.yaml`.
    """

    name: Annotated[str, Field(min_length=1, max_length=60)]
    manual: Manual | Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """For `staged` and `single`, the name of one that comes with simcounsel, or in a file the path
    of one's own, which is read then.
    """
    exercises: Exercises | None = None
    """For `staged` and `single`, a catalogue of one's own in place of the one that comes with
    simcounsel; in a file it is named by its file.
    """
    therapy: Therapy | None = None
    """Of a `course`; in a file it is named by its id or its file. It stands here in full, so that a
    world is complete.
    """
    sessions: Annotated[int, Field(ge=FEWEST_SESSIONS, le=MOST_SESSIONS)] | None = None
    """Of a `course`: how many."""
    plan: CoursePlan | None = None
    """Of a `course`; in a file it is named by its file."""
    settings: dict[str, JsonValue] | None = None
    """What a policy of another package is given; it says itself what it takes."""

    def given(self) -> dict[str, object]:
        """All that the policy was given, by name."""
        own = {
            name: value
            for name in PolicySpec.model_fields
            if name not in ("name", "settings") and (value := getattr(self, name)) is not None
        }
        return own | (self.settings or {})

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = (
                {"name": "staged", "manual": value}
                if value.endswith((".yaml", ".yml"))
                else {"name": value}
            )
        if isinstance(value, dict) and (value.get("therapy") or value.get("name") == "course"):
            plan = value.get("plan")
            planned = (
                plan.get("therapy")
                if isinstance(plan, dict)
                else plan.therapy
                if isinstance(plan, CoursePlan)
                else None
            )
            value = value | {"therapy": therapy_named(value.get("therapy") or planned or "cbt")}
        return value

    @model_validator(mode="after")
    def _plan_fits(self) -> "PolicySpec":
        if self.plan and self.sessions not in (None, self.plan.length):
            raise ValueError(
                f"sessions: {self.sessions}, but the plan has {self.plan.length}; leave `sessions:`"
                " out, or change the plan"
            )
        if self.plan and self.therapy and self.therapy.id != self.plan.therapy:
            raise ValueError(
                f"therapy: {self.therapy.id}, but the plan is one of {self.plan.therapy}; leave"
                " `therapy:` out, or change the plan"
            )
        return self


class SafetySettings(Spec):
    """What is done about danger in what a client says."""

    counselors: Literal["protocol", "assess", "nothing"] = "protocol"
    """`protocol`, the safety protocol goes before the policy of every counselor; `assess`, danger
    is assessed and logged, and the policy does what it does; `nothing`. The last two are for
    research on what a policy does by itself.
    """
    ask: Literal["in_doubt", "every_line"] = "in_doubt"
    """When the `quick` model is asked whether there is danger in a client's line: where the
    detector is `in_doubt`, or about `every_line` that is no clear danger (it hears more of what is
    only hinted at, for one request a line).
    """
    locale: Annotated[str, Field(pattern=r"^(default|[a-z]{2}-[A-Z]{2})$")] = "default"
    """Whose help lines a counselor points to, such as en-GB."""


@cache
def locale_names() -> tuple[str, ...]:
    """Every locale of safety/help_lines.yaml, `default` among them."""
    return tuple(
        yaml.safe_load(
            files("simcounsel").joinpath("safety", "help_lines.yaml").read_text(encoding="utf-8")
        )
    )


def locale_problem(locale: str) -> str | None:
    """Why a locale cannot be had, with those of its language; None where it has help lines."""
    known = locale_names()
    if locale in known:
        return None
    language = locale.split("-")[0]
    near = [name for name in known if name.split("-")[0] == language]
    there = ", ".join(near or [name for name in known if name != "default"])
    return (
        f"no help lines for {locale!r}; known{f' for {language}' if near else ''}: {there}; and"
        " `default` for any other country"
    )


def check_locale(settings: SafetySettings) -> None:
    """SpecError where settings that were not read from a file name a locale without help lines."""
    if problem := locale_problem(settings.locale):
        raise SpecError([f"safety.locale: {problem}"])
