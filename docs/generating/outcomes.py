"""Errors, exit codes and prices."""

import inspect
from importlib.resources import files

import yaml

import simcounsel.errors
from docs.generating.text import page, prose, table
from simcounsel import entry
from simcounsel.errors import GivenUp, SimcounselError


def errors() -> list[type[SimcounselError]]:
    """All that are made on purpose."""
    return [
        one
        for _, one in inspect.getmembers(simcounsel.errors, inspect.isclass)
        if issubclass(one, SimcounselError)
    ]


def outcomes() -> str:
    """The page."""
    rows = [
        (f"`{one.__name__}`", "3" if issubclass(one, GivenUp) else "1", prose(one.__doc__))
        for one in errors()
    ]
    told = yaml.safe_load(
        files("simcounsel.llm").joinpath("prices.yaml").read_text(encoding="utf-8")
    )
    prices = (
        "```yaml\n" + yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100) + "```"
    )
    return page(
        "Errors, exit codes, prices",
        "An error that is made on purpose is one message: file, line, value and what to do. A traceback is a fault of ours: please report it.",
        "## Exit codes\n\n```text\n"
        + inspect.cleandoc(entry.__doc__ or "").partition("\n\n")[2]
        + "\n```",
        "## Errors in Python\n\n" + table(("error", "exit code", "when"), rows),
        "## Prices\n\nUSD for a million tokens, as `simcounsel/llm/prices.yaml` has them; your own come first"
        " ([cost and limits](../models.md#cost-and-limits)).\n\n" + prices,
    )
