"""What the house promises of itself: its modules and functions stay short enough to be read at once."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.each import each
from tests.stage import ROOT

PACKAGES = ("simcounsel", "analysis", "training")
MODULE_LINES = 500
FUNCTION_LINES = 50
"""Of its body: a signature with an option a line, as Typer wants it, and a docstring are read
beside it.
"""


def modules() -> list[Path]:
    return sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))


def bodies(file: Path) -> Iterator[tuple[str, int]]:
    """The name of each function, and how many lines its body has without its docstring."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1:] if ast.get_docstring(node) is not None else node.body
            lines = (node.end_lineno or 0) - first[0].lineno + 1 if first else 0
            yield f"{file.relative_to(ROOT)}:{node.lineno} {node.name}", lines


def test_no_module_is_long() -> None:
    long = {
        str(file.relative_to(ROOT)): lines
        for file in modules()
        if (lines := file.read_text(encoding="utf-8").count("\n")) > MODULE_LINES
    }
    assert not long, f"above {MODULE_LINES} lines; split by meaning: {long}"


def test_no_function_is_long() -> None:
    long = {name: n for file in modules() for name, n in bodies(file) if n > FUNCTION_LINES}
    assert not long, f"above {FUNCTION_LINES} lines; split by meaning: {long}"


def paragraph_fields(file: Path) -> Iterator[str]:
    """Fields that their class's docstring documents ("turn: from 1. span: where ..."), in place of
    a docstring of their own below them. What a model answers is left out: there the docstring is
    part of the schema that the model reads.
    """
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ClassDef) or {"Answer", "BaseModel"} & {
            *map(ast.unparse, node.bases)
        }:
            continue
        text = " ".join((ast.get_docstring(node) or "").split())
        for field in node.body:
            if isinstance(field, ast.AnnAssign) and re.search(
                rf"(^|[.;)] |, )`?{ast.unparse(field.target)}`?(, `?\w+`?)*: ", text
            ):
                yield f"{file.relative_to(ROOT)}:{node.lineno} {node.name}.{ast.unparse(field.target)}"


def test_fields_are_documented_at_their_own_line() -> None:
    found = [name for file in modules() for name in paragraph_fields(file)]
    assert not found


def test_bodies_are_counted_without_signature_and_docstring(tmp_path: Path) -> None:
    file = ROOT / "tests" / "test_house.py"
    found = dict(bodies(file))
    (modules_body,) = (lines for name, lines in found.items() if name.endswith(" modules"))
    assert modules_body == 1


@each("package", PACKAGES)
def test_every_module_says_what_it_is(package: str) -> None:
    silent = [
        str(file.relative_to(ROOT))
        for file in (ROOT / package).rglob("*.py")
        if not ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert not silent


def test_help_loads_little() -> None:
    """A command line that only shows its help loads no data models, tables or numbers."""
    code = "import sys, simcounsel.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"pydantic", "numpy", "pandas", "mesa", "starlette", "openai", "rich.console"}
    assert not heavy & set(loaded.stdout.split())
