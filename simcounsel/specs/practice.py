"""How a resident's conversations are guided, and what is done when there is danger."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from simcounsel.errors import SpecError
from simcounsel.packaged import packaged
from simcounsel.registry import Registry, missing_part
from simcounsel.specs.load import Spec
from simcounsel.specs.vocabulary import Language as Language


@dataclass(frozen=True, kw_only=True)
class PolicyFile:
    """What a file may tell a policy beside its name (entry points of the group
    simcounsel.policy_files, under the policy's name).
    """

    settings: type[BaseModel]
    """The keys that are beside `name:`."""
    reads: Mapping[str, Callable[[Path], object]]
    """Those that may name a file, and who reads it."""
    argument: str
    """The key of what is behind the policy's name and a colon, as in course:cbt."""
    by_file: bool = False
    """Whether such a file's name alone means this policy: `policy: mine.yaml`."""


POLICY_FILES: Registry[PolicyFile] = Registry(
    "simcounsel.policy_files", "settings of a policy in a file", PolicyFile, {}
)


def policy_files() -> dict[str, PolicyFile]:
    """By the policy's name."""
    return {one.name: POLICY_FILES.load(one) for one in POLICY_FILES.plugins()}


def policy_of_file(file: str) -> dict[str, str] | None:
    """The policy that a file's name alone means; None where no policy is installed that is named
    so.
    """
    found = ((name, kind) for name, kind in policy_files().items() if kind.by_file)
    return next(({"name": name, kind.argument: file} for name, kind in found), None)


class PolicySpec(Spec):
    """A policy and its settings. In a file its name alone will do: `policy: socratic`; or a
    manual's file: `policy: mine.yaml`. Beside `name` stand the settings that its `PolicyFile` has.
    """

    model_config = ConfigDict(extra="allow")
    name: Annotated[str, Field(min_length=1, max_length=60)]
    settings: dict[str, JsonValue] | None = None
    """What a policy of another package is given; it says itself what it takes."""

    @classmethod
    def beside(cls) -> tuple[type[BaseModel], ...]:
        """The settings that policies have in files."""
        return tuple(kind.settings for kind in policy_files().values())

    def given(self) -> dict[str, Any]:
        """All that the policy was given, by name."""
        return (self.model_extra or {}) | (self.settings or {})

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            by_file = policy_of_file(value) if value.endswith((".yaml", ".yml")) else None
            value = by_file or {"name": value}
        if not isinstance(value, dict):
            return value
        rest = {k: v for k, v in value.items() if k not in cls.model_fields and v is not None}
        known = {key: one for key, one in value.items() if key in cls.model_fields}
        return known | _told(value.get("name"), rest)


def _told(name: object, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that are beside a policy's name, as its own model has them. ValidationError
    names each that it does not take.
    """
    kind = POLICY_FILES.get(name) if isinstance(name, str) else None
    if kind is not None:
        made = kind.settings.model_validate(settings)
        found = {key: getattr(made, key) for key in type(made).model_fields}
        return {key: one for key, one in found.items() if one is not None}
    if settings:
        raise ValidationError.from_exception_data(
            "PolicySpec", [_not_taken(name, key, value) for key, value in settings.items()]
        )
    return {}


def _not_taken(name: object, key: str, value: object) -> InitErrorDetails:
    taking = [n for n, kind in policy_files().items() if key in kind.settings.model_fields]
    why = (
        f"that is for {' and '.join(sorted(taking))}"
        if taking
        else "settings of a policy of one's own are under `settings:`"
    )
    text = missing_part("simcounsel.policies", str(name)) or f"{name} takes no {key}; {why}"
    said = PydanticCustomError("not_taken", "{said}", {"said": text})
    return InitErrorDetails(type=said, loc=(key,), input=value)


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
    return tuple(packaged("simcounsel", "safety", "help_lines.yaml"))


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


def _has_help_lines(locale: str) -> str:
    if problem := locale_problem(locale):
        raise ValueError(problem)
    return locale


HelpLocale = Annotated[str, AfterValidator(_has_help_lines)]
"""A locale that has help lines."""


def check_locale(settings: SafetySettings) -> None:
    """SpecError where settings that were not read from a file name a locale without help lines."""
    if problem := locale_problem(settings.locale):
        raise SpecError([f"safety.locale: {problem}"])
