"""Options that several commands share."""

import inspect
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simcounsel.cli import completing
from simcounsel.named_code import name_code
from simcounsel.secret import HIDDEN, scrub

if TYPE_CHECKING:
    from simcounsel.specs.world_settings import FallbackLimits


def found_model(named: str | None) -> str | None:
    """A model's name; `auto` made the first that a server of this machine offers."""
    if named != "auto":
        return named
    from simcounsel.cli.reaching import first_served

    model = first_served()
    if model is None:
        raise typer.BadParameter(
            "auto: no server of this machine offers a model (`simcounsel doctor` says where it"
            " looked); start one, such as Ollama, or leave --model out for the embedded model",
            param_hint="--model",
        )
    typer.echo(f"model          {model}")
    return model


Out = Annotated[
    Path, typer.Option("--out", "-o", help="Folder in which the run's own folder is made.")
]
WorldSeed = Annotated[int | None, typer.Option("--seed", min=0, help="In place of the world's.")]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        help=(
            "Model for all roles but `embed`, in place of the world's; `simcounsel models` lists"
            " the forms. auto: what a server of this machine offers, as `doctor` finds it. What"
            " `--set models.ROLE=...` says of one role stays."
        ),
        callback=found_model,
    ),
]
Ticks = Annotated[
    int | None, typer.Option("--ticks", min=1, help="Stop after so many ticks; `resume` goes on.")
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Plain lines instead of the live display (a pipe gets them anyway)."
    ),
]
InFlight = Annotated[
    int, typer.Option("--in-flight", min=1, help="How many requests may go to the model at once.")
]


def amount(text: str) -> float:
    """USD, or `none` for no limit."""
    if text == "none":
        return math.inf
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise typer.BadParameter(
            f"{text} is no amount; give a number from 0 on, or `none` for no limit"
        )
    return value


def number_of_requests(text: str) -> float:
    """Requests, or `none` for no limit."""
    if text == "none":
        return math.inf
    if not (text.isascii() and text.isdigit() and len(text) <= 15 and int(text)):
        raise typer.BadParameter(
            f"{text} is no number of requests; give one from 1 on, or `none` for no limit"
        )
    return int(text)


BudgetUsd = Annotated[
    Any,
    typer.Option(
        "--budget-usd",
        metavar="USD",
        parser=amount,
        help=(
            "Stop before this run costs more, all its earlier sessions included. 0: only free"
            " models. It is remembered; `none` lifts it."
        ),
    ),
]
BudgetCalls = Annotated[
    Any,
    typer.Option(
        "--budget-calls",
        metavar="N",
        parser=number_of_requests,
        help=(
            "Stop after so many requests, earlier ones and repetitions included. It is remembered;"
            " `none` lifts it."
        ),
    ),
]


def _fallback_limits(text: str) -> "FallbackLimits":
    from pydantic import ValidationError

    from simcounsel.specs.world_settings import FallbackLimits

    most, comma, over = text.partition(",")
    given = {"most": most} | ({"over": over} if comma else {})
    try:
        return FallbackLimits.model_validate_strings(given)
    except ValidationError:
        raise typer.BadParameter(
            f"{text!r} is neither MOST nor MOST,OVER: a share from 0 to 1, and a number of"
            " answers, such as 0.2,50"
        ) from None


Fallbacks = Annotated[
    Any,
    typer.Option(
        "--fallbacks",
        metavar="MOST[,OVER]",
        parser=_fallback_limits,
        show_default="0.2,50",
        help=(
            "Stop with exit code 3 when more than this share of the answers is unusable, from OVER"
            " answers on. 1: never."
        ),
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help=("Say what would be asked and what it would cost. Nothing is asked or written."),
    ),
]
PricesFile = Annotated[
    Path | None,
    typer.Option("--prices", help="YAML with your own prices, in USD per million tokens."),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change the world, e.g. conversation.max_turns=6; may be given again.",
    ),
]
HumanNames = Annotated[
    list[str] | None,
    typer.Option(
        "--human",
        metavar="NAME",
        help=(
            "You speak for this resident: a page asks for the lines, and the answers to"
            " questionnaires, while the run goes on. Given again, each has a page."
        ),
    ),
]
HumanSeconds = Annotated[
    float | None,
    typer.Option(
        "--human-seconds",
        min=5,
        help=(
            "How long the page waits for your line, and for each item of a questionnaire. Then the"
            " conversation ends, or the item is missing. Nothing is ever said in your name. Left"
            " out: it waits as long as you need."
        ),
    ),
]
HumanHints = Annotated[
    bool,
    typer.Option(
        "--human-hints",
        help="Show on that page what the resident's policy would do. It steers who sits there.",
    ),
]
HumanPort = Annotated[
    int,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help="Where the page for --human is served, and the next port for the next; 0 is any that"
        " is free.",
    ),
]
Damaged = Annotated[
    bool,
    typer.Option(
        "--damaged",
        help=(
            "Go on with what can be read of a damaged run, and mark what comes of it; see"
            " `simcounsel verify`."
        ),
    ),
]
Judge = Annotated[
    str, typer.Option("--model", help="The judge; `simcounsel models` lists the forms.")
]
Samples = Annotated[
    int,
    typer.Option(
        "--samples", min=1, max=100, help="Answers to average where no probabilities are told."
    ),
]
OnlyClient = Annotated[str | None, typer.Option("--who", metavar="NAME", help="Only this client.")]
AtTick = Annotated[
    int | None,
    typer.Option(
        "--at",
        metavar="TICK",
        help="As of the end of this tick; the last complete one if not given.",
    ),
]
RunFolder = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", help="A run's folder, or gallery:NAME.", autocompletion=completing.runs
    ),
]


def changes_of(
    sets: list[str] | None, option: str = "--set", such_as: str = "conversation.max_turns=6"
) -> dict[str, Any]:
    """KEY=VALUE pairs as a dictionary; code that they name may be run."""
    found: dict[str, Any] = {}
    for pair in sets or []:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise typer.BadParameter(
                f"{pair!r} is not KEY=VALUE, such as {such_as}", param_hint=option
            )
        found[key.strip()] = value.strip()
        if "models" not in key.split(".") and option == "--set" and scrub(value) != value:
            raise typer.BadParameter(  # of a model's name it is said where that is looked up
                f"{scrub(key)}: the value is a key or password, or holds one, and would be written"
                f" as {HIDDEN}; give another one",
                param_hint=option,
            )
    name_code(found)
    return found


def with_model(changes: dict[str, Any], model: str | None) -> dict[str, Any]:
    """The changes with one model for all roles, before those of single roles, which so prevail."""
    if model is None:
        return changes
    if "models" in changes:
        raise typer.BadParameter(
            "names all models, and so does `--set models=...`; leave one of the two out",
            param_hint="--model",
        )
    from simcounsel.llm.catalog import roles_for

    return {"models": roles_for(model)} | changes


def with_more_options(
    outer: Callable[..., None],
    command: Callable[..., None],
    options: Iterable[tuple[str, Any, object]],
) -> None:
    """Let what is wrapped around a command take its options and these: name, kind, default."""
    own, options = inspect.signature(command), tuple(options)
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, kind, default in options
    ]
    outer.__signature__ = own.replace(parameters=[*own.parameters.values(), *more])  # type: ignore[attr-defined]
    outer.__annotations__ = command.__annotations__ | {name: kind for name, kind, _ in options}
