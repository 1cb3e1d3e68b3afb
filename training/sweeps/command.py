"""`simcounsel train sweep | compare`.

OUT/CELL.yaml   the cell's recipe, which `simcounsel train tune` or `federate` takes as well
OUT/CELL/       its training; in it audit.json, and audits/ of each round, where they were asked for
"""

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Annotated, Any

import typer
from filelock import FileLock, Timeout

from simcounsel.disk import write_text, write_whole
from simcounsel.errors import SimcounselError
from simcounsel.specs import shipped
from training.audit.command import audit as attack
from training.audit.table import grid
from training.errors import TrainingError
from training.learning.command import federate, tune
from training.plan import SiteSize, TrainingPlan
from training.recipe import WITHOUT_PRIVACY, Recipe
from training.sites import Sites, find, planned
from training.sweeps.plan import AUDIT, AUDITS, TrainingCell, TrainingSweep, load_sweep

SweepFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A sweep of trainings; `privacy` is included.",
        callback=lambda path: shipped.found("experiments", path),
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="One folder in it for each cell; trainings/NAME if not given.",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="CELL", help="Only this cell; may be given again."),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Say what each cell would cost, in privacy and in steps, and train nothing.",
    ),
]
Audit = Annotated[
    bool,
    typer.Option(
        "--audit", help="Attack each training when it is finished, as `training audit` does."
    ),
]

Memorization = Annotated[
    bool,
    typer.Option(
        "--memorization", help="With --audit: also how near its replies are to what it learned."
    ),
]
EachRound = Annotated[
    bool,
    typer.Option(
        "--each-round", help="With --audit: also attack the adapter as it was after each round."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(sweep)
    app.command()(compare)


def sweep(
    file: SweepFile,
    out: Out = None,
    only: Only = None,
    dry_run: DryRun = False,
    audit: Audit = False,
    memorization: Memorization = False,
    each_round: EachRound = False,
) -> None:
    """Train each cell of a sweep in turn. Ctrl-C stops; the same command goes on, and leaves alone
    what is finished.

    Example: simcounsel train sweep privacy --dry-run
    """
    if (memorization or each_round) and not audit:
        raise TrainingError("--memorization and --each-round belong to --audit; add it")
    plan, cells = load_sweep(file)
    cells = chosen(cells, only or [])
    out = out or Path("trainings") / file.stem
    if dry_run:
        typer.echo("\n".join(planned_lines(plan, cells)))
        return
    for cell in cells:
        counted(cell)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(str(out / "sweep.lock"), timeout=0):
            failed = run(cells, out, audit=audit, memorization=memorization, each_round=each_round)
    except Timeout:
        raise TrainingError(
            f"{out}: another process is at work on this sweep; wait for it, or stop it first"
        ) from None
    except (KeyboardInterrupt, typer.Exit):
        typer.echo("stopped; the same command goes on")
        raise typer.Exit(130) from None
    typer.echo(f"{len(cells) - len(failed)} of {len(cells)} cells are finished in {out}")
    typer.echo(
        f"compare:  simcounsel train compare {out}\nfigures:  simcounsel study privacy {out}"
        " --out report"
    )
    if failed:
        raise TrainingError(
            f"{len(failed)} cells failed: {', '.join(failed)}; the first:"
            f" {next(iter(failed.values()))}"
        )


def run(
    cells: Sequence[TrainingCell],
    out: Path,
    *,
    audit: bool = False,
    memorization: bool = False,
    each_round: bool = False,
) -> dict[str, str]:
    """Train the cells in turn, in `out`, and return why each failed that did. TrainingError, before
    anything is computed, where `out` holds other trainings by these names. typer.Exit when one is
    stopped.
    """
    done = {cell.name: finished(cell, out) for cell in cells}
    failed: dict[str, str] = {}
    for number, cell in enumerate(cells, 1):
        more = "is finished" if done[cell.name] else cell.about
        typer.echo(f"cell {number} of {len(cells)}   {cell.name}   {more}".rstrip())
        what = "failed"
        try:
            if not done[cell.name]:
                train(cell, out)
            what = "not audited"
            where = out / cell.name
            if audit and not _audited(where, memorization):
                attack(where, memorization=memorization, json_file=where / AUDIT)
            if audit and each_round and cell.kind == "federate":
                attack_rounds(where)
        except SimcounselError as error:
            typer.echo(f"  {what}: {error}")
            failed |= {cell.name: str(error)} if what == "failed" else {}
    return failed


def _audited(where: Path, memorization: bool) -> bool:
    """Whether an audit is there, with all that is asked for."""
    from training.learning.folder import json_of  # slow: safetensors

    found = json_of(where / AUDIT)
    return found is not None and (not memorization or bool(found.get("memorization")))


def attack_rounds(where: Path) -> None:
    """Leave an audit of the adapter after each round in `AUDITS` of the training's folder, with the
    attacks of MindChat's Figure 9 and Table VIII; those that are there stay.
    """
    from training.audit.running import AuditOptions, audit_training  # slow: torch
    from training.audit.scores import ATTACKS
    from training.learning.folder import TrainingFolder
    from training.progress import bar

    card = TrainingFolder.open(where).card() or {}
    rounds = int(card["measured"]["rounds"])  # fewer than planned where it ended early
    wanted = tuple(one for one in ATTACKS if one in ("loss", "zlib", "min_k"))
    (where / AUDITS).mkdir(exist_ok=True)
    with bar(stderr=True) as progress:
        for number in range(1, rounds + 1):
            file = where / AUDITS / f"{number:04}.json"
            if not file.is_file():
                progress.say(f"attacking round {number} of {rounds}")
                options = AuditOptions(attacks=wanted, round=number)
                found = audit_training(where, options, progress.show)
                write_whole(file, found.model_dump_json(indent=1) + "\n")


def train(cell: TrainingCell, out: Path) -> None:
    """Train a cell, or go on with it."""
    file = out / f"{cell.name}.yaml"
    write_whole(file, cell.written_for(out))
    (tune if cell.kind == "tune" else federate)(file, out / cell.name)


def finished(cell: TrainingCell, out: Path) -> bool:
    """Whether its training has come to its end. TrainingError if a training with another recipe
    lies at its place.
    """
    from training.learning.folder import MANIFEST, TrainingFolder  # slow: safetensors

    path = out / cell.name
    if not (path / MANIFEST).is_file():
        return False
    folder = TrainingFolder.open(path)
    kind = folder.manifest()["kind"]
    there, wanted = (one.model_dump(mode="json") for one in (folder.recipe(), cell.recipe))
    data = ("corpus", "folders")  # their paths are seen from another folder
    other = sorted(key for key in wanted if key not in data and there[key] != wanted[key])
    if other or kind != cell.kind:
        what = ", ".join(other) or "kind"
        raise TrainingError(
            f"{path}: was trained otherwise than the sweep says now ({what}); remove it, or choose"
            " another --out"
        )
    return folder.finished()


def chosen(cells: Sequence[TrainingCell], only: Sequence[str]) -> tuple[TrainingCell, ...]:
    """The cells that are named, in the file's order; all where none is. TrainingError names those
    there are.
    """
    names = [cell.name for cell in cells]
    for name in only:
        if name not in names:
            raise TrainingError(f"--only {name}: no such cell; there are {', '.join(names)}")
    return tuple(cell for cell in cells if not only or cell.name in only)


def counted(cell: TrainingCell) -> tuple[Sites, TrainingPlan | None]:
    """The data of a cell, and its plan if it has privacy. SpecError, CorpusError if it cannot be
    trained.
    """
    sites = find(cell.recipe, cell.file, together=cell.kind == "tune")
    return sites, planned(cell.recipe, cell.file, cell.lines, sites)


def steps_in_all(recipe: Recipe, plan: TrainingPlan | None, here: Sequence[SiteSize]) -> int:
    """Over all sites and rounds, as expected where sites take part by chance."""
    privacy = plan.privacy if plan else None
    by_site = privacy is not None and privacy.unit == "site"
    shares = privacy.participation if privacy and by_site else recipe.participation
    steps = sum(
        site.count
        * (
            plan.steps_per_round(site)
            if plan and not by_site
            else recipe.local_epochs * ceil(site.sessions / (recipe.batch_size or WITHOUT_PRIVACY))
        )
        for site in here
    )
    federated = bool(recipe.deal or recipe.folders or recipe.sites)
    return round(recipe.rounds * steps * (shares if federated else 1))


def cost(cell: TrainingCell) -> dict[str, Any]:
    """What a cell takes, by column; without privacy None in the last. steps: over all sites and
    rounds, as expected where sites take part by chance. SpecError, CorpusError, TrainingError if it
    cannot be trained.
    """
    from training.privacy import budget

    recipe, (sites, plan) = cell.recipe, counted(cell)
    account = budget.make(plan) if plan else None
    if account and account.last_round is not None:
        raise TrainingError(
            f"cell {cell.name!r}: its budget would be overrun after round {account.last_round} of"
            f" {recipe.rounds}"
        )
    privacy, here = plan.privacy if plan else None, sites.counted()
    return {
        "cell": cell.name,
        "how": cell.kind,
        "sites": len(here),
        "sessions": sum(site.sessions for site in here),
        "held out": len(sites.held_out),
        "steps": steps_in_all(recipe, plan, here),
        "unit": privacy.unit if privacy else None,
        "epsilon": account.total_epsilon if account else None,
        "delta": privacy.delta if privacy else None,
        "noise": account.multiplier if account else None,
    }


def planned_lines(plan: TrainingSweep, cells: Sequence[TrainingCell]) -> list[str]:
    """What a sweep would do, a line a cell."""
    rows = [cost(cell) for cell in cells]
    told = [[_told(value) for value in row.values()] for row in rows]
    return [
        plan.name,
        *grid([list(rows[0]), *told]),
        (
            f"{len(cells)} cells, {sum(row['steps'] for row in rows)} steps in all; noise: its"
            " standard deviation over the clipping norm. Nothing was trained."
        ),
    ]


def _told(value: str | float | None) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUNS...", help="Trainings' folders, or folders of them, such as a sweep's."
        ),
    ],
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write the table here, with all columns."),
    ] = None,
    attacks: Annotated[
        bool,
        typer.Option("--attacks", help="Every attack of every audit: ROC and PR, with intervals."),
    ] = False,
) -> None:
    """Utility beside privacy: held-out loss, what is protected and how well, and what an audit's
    best attack reached.

    Example: simcounsel train compare trainings/privacy --csv privacy.csv
    """
    from training.sweeps import comparing  # slow: safetensors

    rows = comparing.read(runs)
    found = comparing.attacked(rows) if attacks else []
    if attacks and not found:
        raise TrainingError(
            "no audit lies beside these trainings; simcounsel train sweep FILE --audit makes them,"
            " or simcounsel train audit RUN --json RUN/audit.json"
        )
    typer.echo("\n".join(comparing.attack_lines(found) if attacks else comparing.lines(rows)))
    for words in comparing.warnings(rows):
        typer.echo(words, err=True)
    if csv is not None:
        write_text(csv, comparing.as_csv(found or rows))
        typer.echo(f"wrote {csv}")
