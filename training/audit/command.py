"""`simcounsel train audit | plant`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.disk import write_whole
from training.errors import TrainingError

if TYPE_CHECKING:
    from training.audit.memorization import Embed
    from training.audit.scores import Attack

RUN = typer.Argument(metavar="RUN", help="A training's folder, such as trainings/smoke.")


Attacks = Annotated[
    str,
    typer.Option(
        "--attacks",
        help=("With commas: loss, zlib, min_k, min_k_plus_plus, reference. Default: all."),
    ),
]
WhoseWords = Annotated[
    str,
    typer.Option(
        "--words", help="Whose words are scored: counselor (which alone are learned), or all."
    ),
]
Memorization = Annotated[
    bool,
    typer.Option(
        "--memorization", help="Also let both models go on from sessions' beginnings; minutes."
    ),
]
Bootstrap = Annotated[
    int,
    typer.Option(
        "--bootstrap", min=0, max=100_000, help="Resamples for the intervals; 0: no intervals."
    ),
]
Most = Annotated[
    int,
    typer.Option(
        "--sessions",
        min=2,
        help="Largest number trained on, and held out; whole clients, by the seed.",
    ),
]
Turns = Annotated[
    int, typer.Option("--turns", min=1, help="Places of each session where the models go on.")
]
Canaries = Annotated[
    Path | None,
    typer.Option(
        "--canaries",
        metavar="FILE",
        help="What `training plant` wrote beside the corpus: exposure, and a proof by one run.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of all draws of the audit.")]
Round = Annotated[
    int | None,
    typer.Option("--round", min=1, help="Of a federation: attack the adapter after this round."),
]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write all numbers here; - for the screen."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(audit)
    app.command()(plant)


def audit(
    run: Annotated[Path, RUN],
    attacks: Attacks = "",
    words: WhoseWords = "counselor",
    memorization: Memorization = False,
    bootstrap: Bootstrap = 1000,
    most: Most = 200,
    turns: Turns = 1,
    canaries: Canaries = None,
    seed: Seed = 0,
    round: Round = None,
    json_file: JsonFile = None,
) -> None:
    """Attack a finished training: can one tell who was trained on, and does that fit the privacy
    that was paid?

    Sessions of the training are compared with those of clients who were held out, on the trained
    model and on the untouched base. Example: simcounsel train audit trainings/smoke --json
    audit.json
    """
    from training.progress import bar

    if words not in ("counselor", "all"):
        raise TrainingError(f"--words {words}: take counselor or all")
    wanted = chosen(attacks)
    with bar(stderr=True) as progress:
        progress.say("reading the sessions, the adapter and the base model")
        from training.audit.running import AuditOptions, audit_training  # slow: torch

        options = AuditOptions(
            attacks=wanted,
            words=words,  # type: ignore[arg-type]
            bootstrap=bootstrap,
            most=most,
            memorization=memorization,
            turns=turns,
            seed=seed,
            canaries=canaries,
            round=round,
            embed=_embed() if memorization else None,
        )
        report = audit_training(run, options, progress.show)
    from training.audit.table import lines

    text = report.model_dump_json(indent=1)
    if json_file is not None and str(json_file) == "-":
        typer.echo(text)
        return
    typer.echo("\n".join([f"{'training':<16}{run}", *lines(report)]))
    if json_file is not None:
        write_whole(json_file, text + "\n")
        typer.echo(f"\nwrote {json_file}")


def plant(
    corpus: Annotated[
        str,
        typer.Argument(metavar="CORPUS", help="A corpus file or folder, or the word `samples`."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The corpus with canaries, a new .jsonl file to train on.",
        ),
    ],
    n: Annotated[
        int,
        typer.Option(
            "-n",
            min=2,
            help="How many canaries; about half get into the corpus, each by its own coin.",
        ),
    ] = 100,
    held_out: Annotated[
        float,
        typer.Option("--held-out", min=0.0, max=0.95, help="Share of clients who are held out."),
    ] = 0.2,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Draws the canaries and their coins.")
    ] = 1,
) -> None:
    """Put made-up sessions (canaries) into a corpus, to see later whether a training learned them
    by heart.

    Example: simcounsel train plant samples -n 100 --out planted.jsonl
    """
    from simcounsel.corpus.reading import read_dialogues
    from training.audit.planting import write

    planted, beside = write(read_dialogues(corpus), n, seed, held_out, out)
    typer.echo(
        f"wrote {out}: {len(planted.dialogues)} sessions, {sum(planted.included)} of them canaries;"
        " `simcounsel export` leaves canaries out"
    )
    typer.echo(
        f"wrote {beside}: all {n} canaries and their coins; for `simcounsel train audit RUN"
        f" --canaries {beside}`"
    )


def chosen(attacks: str) -> "tuple[Attack, ...]":
    """The attacks that a list with commas names. TrainingError for an unknown one."""
    from training.audit.scores import ATTACKS

    names = [name.strip() for name in attacks.split(",") if name.strip()]
    if names in ([], ["all"]):
        return ATTACKS
    wrong = next((name for name in names if name not in ATTACKS), None)
    if wrong:
        raise TrainingError(
            f"--attacks {wrong}: no such attack; there are {', '.join(ATTACKS)}, or all"
        )
    return tuple(name for name in ATTACKS if name in names)


def _embed() -> "Embed":
    from simcounsel.llm.embeddings import MiniLM

    return MiniLM().embed_now
