"""The size of the house, beside its targets: lines, modules, names, imports, dependencies, tests.

python -m tests.benchmarks.house            # seconds
python -m tests.benchmarks.house --cases    # also collects all tests: a minute
"""

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.stage import ROOT
from tests.without import GUESTS

OUTSIDE_TESTS = ("simcounsel", "analysis", "training")


def files(*folders: Path) -> list[Path]:
    """The Python files below the folders."""
    return sorted(file for folder in folders for file in folder.rglob("*.py"))


def lines_of(some: list[Path]) -> int:
    """How many lines the files have."""
    return sum(file.read_text(encoding="utf-8").count("\n") for file in some)


def core_files() -> list[Path]:
    """The Python files of `simcounsel` but for its guests."""
    package = ROOT / "simcounsel"
    guests = {package / guest for guest in GUESTS}
    return [file for file in files(package) if not guests.intersection(file.parents)]


def class_names(some: list[Path]) -> Counter[str]:
    """In how many of the files each class at the top of a module is defined."""
    return Counter(
        node.name
        for file in some
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )


def loaded_by(module: str) -> int:
    """How many of our modules an import of that module loads."""
    code = f"import sys, {module}; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return sum(name.split(".")[0] in OUTSIDE_TESTS for name in found.stdout.split())


def hard_dependencies() -> int:
    """How many packages `pip install simcounsel` names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return len(project["dependencies"])


def collected() -> int:
    """How many cases pytest collects."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", "-m", ""]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    (count,) = re.findall(r"^(\d+) tests? collected", found.stdout, re.M)
    return int(count)


def rows(cases: bool) -> Iterator[tuple[str, int, int]]:
    """What is counted, how many there are, how many there may be."""
    code, tests = files(*(ROOT / one for one in OUTSIDE_TESTS)), files(ROOT / "tests")
    core = core_files()
    yield "lines of Python outside tests", lines_of(code), 82_000
    yield "modules outside tests", len(code), 540
    yield "lines of the core", lines_of(core), 30_000
    twice = sum(times > 1 for times in class_names(code).values())
    yield "class names defined in two modules or more", twice, 60
    yield "modules that engine.simulation loads", loaded_by("simcounsel.engine.simulation"), 110
    yield "hard dependencies", hard_dependencies(), 15
    yield "lines of tests", lines_of(tests), 50_000
    if cases:
        yield "cases of tests", collected(), 4_500


def main() -> None:
    """Print each figure beside its target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", action="store_true", help="collect all tests and count cases")
    print(f"{'':44}{'now':>9}{'at most':>9}")
    for what, now, most in rows(parser.parse_args().cases):
        print(f"{what:44}{now:9,}{most:9,}{'' if now <= most else '  above'}")


if __name__ == "__main__":
    main()
