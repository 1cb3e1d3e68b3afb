"""`library import`: courses that PsychEval published, as cases to play."""

from pathlib import Path
from typing import Annotated

import typer


def import_cases(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Courses as PsychEval publishes them, JSON: mind its licence."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="A folder for the cases, one folder each.")
    ] = Path("cases"),
) -> None:
    """Turn published courses into cases: a client, a plan, their skills.

    A case is played by `simcounsel clinic WORLD --case FOLDER`, from its first session or, with
    --from-session, from a later one. Its `course.json` is rated and exported like any corpus.
    """
    from simcounsel.errors import SpecError
    from simcounsel.therapies.specs.psycheval_course import import_courses

    problems: list[str] = []
    for file in files:
        try:
            made = import_courses(file, out)
        except SpecError as error:
            problems += error.problems
            continue
        for one in made:
            sessions = sum(len(stage["sessions"]) for stage in one.plan["stages"])
            skills = sum(
                len(group["skills"]) for group in (one.therapy or {"skills": ()})["skills"]
            )
            typer.echo(
                f"wrote {out / one.name}: {one.client['name']}, {sessions} sessions,"
                f" {len(one.plan['facts'])} facts, {len(one.plan['held'])} held,"
                f" {f'{skills} skills' if skills else 'no skills of its own'}"
            )
            for note in one.notes:
                typer.echo(f"  {note}")
    if problems:
        raise SpecError(problems)
