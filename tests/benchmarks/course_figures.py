"""The figures of docs/evidence.md, out of the course that the page shows: run it after a change of stand-ins, courses or danger.

python -m tests.benchmarks.course_figures           # prints the sentence
python -m tests.benchmarks.course_figures --write   # and puts it into the page
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from simcounsel.runs.run import load_run
from simcounsel.runs.spending import Spending
from tests.benchmarks.safety_moves import counted
from tests.stage import ROOT

PAGE = ROOT / "docs" / "evidence.md"
COMMAND = "clinic insomnia --client Ines --therapy cbt --sessions 6 --lines 24"
MARKED = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)


def sentence(run: Path) -> str:
    """What the page says of the run."""
    share, opened = counted(run), load_run(run)
    events = (run / "events.jsonl").read_text(encoding="utf-8")
    rows = events.count('"kind":"formulated"')
    asked = Spending.of(opened.calls()).calls
    return (
        f"`{COMMAND}`\nasks {asked} questions and fills {rows} rows. {share.hits} of the counselor's {share.of} lines are"
        " safety moves: the file holds no danger."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "simcounsel", *COMMAND.split(), "--quiet", "--out", out]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        said = sentence(next(Path(out).iterdir()))
    print(said)
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(MARKED.sub(lambda found: f"{said}\n", text), encoding="utf-8")


if __name__ == "__main__":
    main()
