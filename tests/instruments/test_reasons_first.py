"""Every judge says why before it says how much: what is written first decides what comes next."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

import simcounsel
from simcounsel.instruments.scale import shipped_names
from simcounsel.prompts import prompt_text
from tests.each import each
from tests.instruments.stage import shipped
from tests.stage import ELSEWHERE

JUDGES = {"judge", "evaluator"}
REASONS = {"because", "why", "reason", "reasoning", "evidence", "quote"}
OF_ONESELF = {"emotion", "intensity", "poignancy"}
"""What a speaker feels; nobody judges it."""


def modules() -> Iterator[ModuleType]:
    """Of simcounsel, all that ask models something."""
    for found in pkgutil.walk_packages(simcounsel.__path__, "simcounsel."):
        if not found.name.endswith(("__main__", *ELSEWHERE)):
            yield importlib.import_module(found.name)


MODULES = tuple(modules())


def answers() -> tuple[type[BaseModel], ...]:
    """All types of answers that give a reason and a verdict."""
    known = {
        value
        for module in MODULES
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, BaseModel)
        and value.__module__.startswith("simcounsel.")
    }
    return tuple(
        one
        for one in sorted(known, key=lambda one: (one.__module__, one.__qualname__))
        if REASONS & set(one.model_fields)
        and verdicts(one.model_json_schema()["properties"])
        and one.model_config.get("extra") == "ignore"
    )


def verdicts(fields: dict[str, Any]) -> list[str]:
    """The fields that judge: a number between two bounds, yes or no, one of two."""
    return [name for name, one in fields.items() if _judges(one) and name not in OF_ONESELF]


def _judges(field: dict[str, Any]) -> bool:
    if "anyOf" in field:
        return any(_judges(one) for one in field["anyOf"])
    bounded = {"minimum", "maximum"} <= set(field) or field.get("type") == "boolean"
    return bounded or set(field.get("enum", ())) in ({"yes", "no"}, {"first", "second"})


def reasoned(schema: dict[str, Any]) -> None:
    """Wherever an object of the schema holds a verdict, a reason is before it, and a judge is
    made to give it.
    """
    for one in (schema, *schema.get("$defs", {}).values(), *schema.get("properties", {}).values()):
        fields = one.get("properties", {})
        judged = verdicts(fields)
        if judged:
            names = list(fields)
            reasons = [name for name in names if name in REASONS]
            assert reasons and names.index(reasons[0]) < names.index(judged[0]), names
            assert set(one["required"]) >= {reasons[0], *judged}, one["required"]


@each("answer", answers())
def test_of_each_answer_that_gives_both(answer: type[BaseModel]) -> None:
    fields = list(answer.model_json_schema()["properties"])
    first = fields.index(verdicts(answer.model_json_schema()["properties"])[0])
    assert all(fields.index(name) < first for name in REASONS & set(fields)), fields


def judges() -> Iterator[tuple[ModuleType, dict[str, ast.expr]]]:
    """Each question in the code that goes to a judge, by its arguments."""
    for module in MODULES:
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            given = {one.arg: one.value for one in call.keywords if one.arg}
            tier = given.get("tier")
            if isinstance(tier, ast.Constant) and tier.value in JUDGES and "purpose" in given:
                yield module, given


def value_of(module: ModuleType, expression: ast.expr) -> Any:
    """What is there, or the name behind it in the module."""
    return (
        expression.value
        if isinstance(expression, ast.Constant)
        else vars(module)[name_of(expression)]
    )


def name_of(expression: ast.expr) -> str:
    assert isinstance(expression, ast.Name), ast.dump(expression)
    return expression.id


ASKED = tuple(judges())


def test_all_judges_are_found() -> None:
    purposes = {value_of(module, given["purpose"]) for module, given in ASKED}
    known = {
        "judge_item",
        "judge_block",
        "judge_audit",
        "judge_pair",
        "judge_codes",
        "evaluate",
        "bench_judge",
    }
    assert purposes >= known


@each(("module", "given"), ASKED)
def test_of_each_question_to_a_judge(module: ModuleType, given: dict[str, ast.expr]) -> None:
    """In its schema, or, where it has none, in the words of its prompt."""
    verb = value_of(module, given["verb"])
    assert verb in ("fill", "rate"), "a judge that chooses gives no reason"
    if verb == "rate":
        text = prompt_text(value_of(module, given["purpose"]))
        assert 0 <= text.find("because:") < text.find("score:")
        return
    schema = given["schema"]
    if isinstance(schema, ast.Name):
        reasoned(vars(module)[schema.id].model_json_schema())
        return
    assert isinstance(schema, ast.Call)
    build = vars(module)[name_of(schema.func)]
    for name in shipped_names():
        scale = shipped(name)
        if scale.respondent == "observer" and scale.audits == (module.__name__.endswith("audit")):
            known = {"scale": scale, "items": scale.items}
            wanted = {one: known[one] for one in inspect.signature(build).parameters}
            made = build(**wanted).model_json_schema()
            assert made["required"] == list(made["properties"]) == [one.id for one in scale.items]
            reasoned(made)
