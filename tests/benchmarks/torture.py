"""What must not break, tried for minutes: one line a part, with what was tried and what differed.

python -m tests.benchmarks.torture                  (all parts)
python -m tests.benchmarks.torture deaths kills     (some)

A part is a module `torture_NAME` beside this one with a function that returns its line.
"""

import importlib
import sys

PARTS = {
    "deaths": "torture_deaths:deaths",
    "kills": "torture_kills:kills",
    "damages": "torture_damages:damages",
    "workers": "torture_workers:workers_left",
}


def main(names: list[str]) -> None:
    """Print the lines of the parts, each as soon as it is known."""
    for name in names or list(PARTS):
        module, _, function = PARTS[name].partition(":")
        part = getattr(importlib.import_module(f"tests.benchmarks.{module}"), function)
        print(part(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
