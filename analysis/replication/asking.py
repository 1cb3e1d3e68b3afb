"""What is asked after the runs: one question to each client, and rating studies for people."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from analysis.replication.after import After
from analysis.sample import Sample
from simcounsel.errors import StudyError
from simcounsel.measuring.interview import Interview
from simcounsel.measuring.interview_files import interview_files, read_interview
from simcounsel.measuring.models import open_models
from simcounsel.runs.run import Run
from simcounsel.studies.instrument import load_instrument
from simcounsel.studies.items import Choice
from simcounsel.studies.making import make_study
from simcounsel.studies.offline import write_offline
from simcounsel.studies.study import open_study
from simcounsel.studies.table import rows, write_csv

QUESTION = (
    "The talks with the counselor are over. What was good about them, and what was not? Say it as"
    " you would to a friend, in a few sentences."
)
STUDIES = {
    "recall": "recall_aptness",
    "consistency": "persona_consistency",
    "change": "persona_change",
    "realism": "change_realism",
}
"""By name of the folder under people/: the rating instrument."""


def comment(sample: Sample, after: After, tell: Callable[[str], None]) -> pd.DataFrame:
    """Each client's answer to QUESTION after its run; asked once, kept with the run. Columns: run,
    arm, client, comment.
    """
    found = []
    for member in sample.members:
        run = Run.open(member.log.folder)
        for client in member.clients:
            answer = _asked_before(run, client)
            if answer is None:
                tell(f"asking {client} ({member.name})")
                sitting = Interview.begin(run, client)
                models = after.limited(open_models(run, str(sitting.head["model"]), after.prices))
                try:
                    answer = str(sitting.ask(QUESTION, models)["answer"])
                finally:
                    models.close()
            found.append(
                {"run": member.name, "arm": member.arm, "client": client, "comment": answer}
            )
    return pd.DataFrame(found, columns=["run", "arm", "client", "comment"])


def _asked_before(run: Run, client: str) -> str | None:
    for file in interview_files(run.folder):
        head, answers = read_interview(file)
        if head.get("who") == client:
            for one in answers:
                if one["question"] == QUESTION:
                    return str(one["answer"])
    return None


def people(
    runs: Path, out: Path, names: Sequence[str], raters: int, per_run: int, seed: int = 0
) -> list[str]:
    """Make the rating studies that are not there yet, in OUT/people; what to do with them, a line
    each.
    """
    said = []
    for name in names:
        folder = out / "people" / name
        if not folder.exists():
            try:
                study = make_study(
                    [runs],
                    load_instrument(STUDIES[name]),
                    folder,
                    raters=raters,
                    seed=seed,
                    choice=Choice(most=per_run),
                )
            except StudyError as error:
                said.append(f"people       {name}: none, {error}")
                continue
            write_offline(folder, study)
        count = len(open_study(folder).items)
        said.append(
            f"people       {name}: {count} items; simcounsel study rate-page --out {folder}"
            f" --serve, or send out {folder / 'offline'}"
        )
    return said


def answers_in(out: Path) -> tuple[Path, ...]:
    """People's answers so far as CSVs, OUT/people/NAME.csv, for the report; a study without answers
    has none.
    """
    found = []
    for name in STUDIES:
        folder = out / "people" / name
        if folder.exists() and any(True for _ in rows(folder)):
            file = out / "people" / f"{name}.csv"
            write_csv(folder, file)
            found.append(file)
    return tuple(found)
