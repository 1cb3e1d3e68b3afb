"""What was read out of a case report, as files."""

from pathlib import Path

from simcounsel.errors import SpecError
from simcounsel.specs.load import write_yaml
from simcounsel.therapies.course.case_reading import CaseReading
from simcounsel.therapies.course.case_report import CaseReport


def write_case(reading: CaseReading, report: CaseReport, folder: Path) -> tuple[Path, ...]:
    """client.yaml, plan.yaml and talk.yaml in a folder. SpecError when one of them is there already
    or cannot be written.
    """
    source = report.path.name
    talk = {"features": [feature.model_dump(mode="json") for feature in reading.talk]}
    plan = reading.plan.model_dump(mode="json")
    files = (
        (
            "client.yaml",
            reading.client,
            (
                f"Read from {source}: the whole life before the first session, in whichever session"
                " it was told; what of it the counselor hears, the client tells. Routines are plain"
                " stand-ins. Add a `voice`."
            ),
        ),
        (
            "plan.yaml",
            plan,
            (
                f"Read from {source}. `told`: the session in which a fact was told; no session uses"
                " a later one."
            ),
        ),
        (
            "talk.yaml",
            talk,
            f"Lines that are in {source}, and what they show of how these two talk.",
        ),
    )
    there = [str(folder / name) for name, _, _ in files if (folder / name).exists()]
    if there:
        raise SpecError(
            [f"{', '.join(there)}: there already, perhaps with changes of yours; choose another -o"]
        )
    for name, data, head in files:
        write_yaml(folder / name, f"# {head}\n", data)
    return tuple(folder / name for name, _, _ in files)
