"""`check`, `init`, `list`, `models`, `library personas` and `library pack`: what there is to work
with.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli import app, library
from simcounsel.cli.weights import console_of
from simcounsel.cli.weights import pull as pull_weights

personas = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Draw clients, or import them."
)
library.add_typer(personas, name="personas")
models = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode=None,
    help="List what models can be used here, and what is fetched.",
)
app.add_typer(models, name="models")


@app.command()
def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help=(
                "Worlds, personas, experiments, instruments, manuals, therapies, plans, settings of"
                " corpora; or a folder with such files."
            ),
        ),
    ],
    graph: Annotated[
        Path | None,
        typer.Option(
            "--graph",
            metavar="MERMAID",
            help="Write the states of the one FILE, a manual, as a Mermaid flowchart into this"
            " file.",
        ),
    ] = None,
) -> None:
    """Check files that people write: worlds, personas, experiments and others.

    Each problem is named with file, line and remedy, and the exit code is 1. Code that a file names
    is reported, and does not run.

    Example: simcounsel check manual.yaml --graph manual.mmd
    """
    from simcounsel.cli.check import check_file, code_in, files_of, graph_of_file, ok_line
    from simcounsel.specs.file_text import write_text
    from simcounsel.specs.problems import each_once

    if graph is not None and len(files) != 1:
        raise typer.BadParameter(
            f"one manual is drawn at a time, and {len(files)} files are named", param_hint="--graph"
        )
    wrong: list[str] = []
    named = [files_of(file) for file in files]
    for file in (one for ours, _ in named for one in ours):
        problems = check_file(file)
        code, not_found = code_in(file) if not problems else ([], [])
        problems += not_found
        told, wrong = len(wrong), each_once([*wrong, *problems])
        for line in filter(None, [*(wrong[told:] or [ok_line(file, problems)]), *code]):
            typer.echo(line)
        if graph is not None and not problems:
            write_text(graph, graph_of_file(file))
            typer.echo(f"wrote {graph}")
    for file in (one for _, others in named for one in others):
        typer.echo(f"{file}: left out, no file of simcounsel's by its keys")
    sys.exit(1 if wrong else 0)


@models.callback()
def list_models(
    context: typer.Context,
    pull: Annotated[
        bool, typer.Option("--pull", help="Fetch weights now: of the embedded models, or --model.")
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="NAME", help="With --pull: such as local:qwen2.5-1.5b."),
    ] = None,
) -> None:
    """List what models can be used here, and what is fetched."""
    if context.invoked_subcommand is not None:
        return
    from simcounsel.llm.catalog import model_lines, needed_weights, roles_for

    if pull:
        for name in model or ["embedded"]:
            pull_weights(needed_weights(roles_for(name)), console_of(), quiet=False)
    for line in model_lines():
        typer.echo(line)


@app.command("list")
def list_included() -> None:
    """List what is included: worlds, experiments, and runs to look at.

    Example: simcounsel list; simcounsel run insomnia; simcounsel view gallery:staged
    """
    from simcounsel.gallery import PREFIX, exhibits
    from simcounsel.specs import shipped
    from simcounsel.specs.load import read_yaml

    kinds: tuple[tuple[shipped.Kind, str], ...] = (
        ("worlds", "worlds, for `simcounsel run NAME`:"),
        ("experiments", "experiments, for `simcounsel sweep NAME`:"),
    )
    for kind, title in kinds:
        typer.echo(title)
        for file in shipped.files(kind):
            data, _ = read_yaml(file)
            if "cells" not in data:  # a sweep of trainings
                about = data.get("about") or "A client and a counselor, for tests and first tries."
                typer.echo(f"  {file.stem:<18} {about}")
        typer.echo(f"  (files: {shipped.folder(kind)}; copy one and change it)")
    typer.echo("runs written by hand, for `simcounsel view NAME` and wherever a run is named:")
    for one in exhibits().values():
        typer.echo(f"  {PREFIX + one.name:<25} {one.line}")


@library.command()
def pack(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    name: Annotated[str, typer.Option("--name", help="Its name in the gallery.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for NAME.tar.xz.")] = Path(),
) -> None:
    """Pack a run as the gallery holds it: the same bytes for the same run. Prints what
    gallery.yaml says of it.

    Example: simcounsel library pack runs/RUN --name staged -o simcounsel/gallery
    """
    import hashlib

    from simcounsel.disk import write_data
    from simcounsel.gallery import pack as packed_run
    from simcounsel.runs.record import open_record
    from simcounsel.runs.verifying import verify

    opened = open_record(run)
    if damages := verify(run).damages:
        raise typer.BadParameter(f"{run}: {damages[0]}")
    packed = packed_run(opened.folder, name, opened.kind.manifest_in(opened.folder).name)
    out.mkdir(parents=True, exist_ok=True)
    write_data(out / f"{name}.tar.xz", packed)
    typer.echo(
        f"- name: {name}\n  line: \n  made: \n  sha256: {hashlib.sha256(packed).hexdigest()}"
    )


@app.command()
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that does not exist yet, or is empty.")
    ],
    theme: Annotated[
        str | None,
        typer.Option(
            "--theme",
            help="Take people who are included, with a client who has this theme: anxiety,"
            " depression, family conflict, grief, insomnia, loneliness or work stress. Without it"
            " three short, commented people are written, which want a capable model to speak.",
        ),
    ] = None,
) -> None:
    """Write a study to start from: a world, three people, an experiment.

    Example: simcounsel init my-study --theme insomnia
    """
    from simcounsel.cli.starter import write_starter

    for file in write_starter(folder, theme):
        typer.echo(f"wrote {file}")
    if theme is None:
        typer.echo(
            "These people have no lines of their own, so a capable model must speak for them"
            " (`simcounsel models`); with --theme insomnia none is needed."
        )
        typer.echo(f"now: simcounsel run {folder}/world.yaml --ticks 24 --model auto")
    else:
        typer.echo(f"now: simcounsel run {folder}/world.yaml --ticks 24")


@personas.command("import")
def import_personas(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Patient-Psi records, JSON.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the persona files.")] = Path(
        "personas"
    ),
    style: Annotated[
        str | None,
        typer.Option(
            "--style",
            help="How all of them speak: plain, upset, verbose, reserved, tangent or pleasing. Left"
            " out: one for each person, drawn out of those that its records name.",
        ),
    ] = None,
    theme: Annotated[
        str | None,
        typer.Option(
            "--theme",
            help="Their theme, such as insomnia, after which their days and nights are filled in."
            " Left out: as the words of their records say, else depression.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="The same seed, the same drawn styles.")
    ] = 1,
) -> None:
    """Read Patient-Psi records into persona files; several records of one id are one person.

    A record that cannot be used is refused by name, and the rest is written; exit code 1 says that
    something was refused.

    Example: simcounsel library personas import profiles.json --theme insomnia --out people
    """
    from simcounsel.specs.patient_psi import import_records
    from simcounsel.specs.patient_psi_persona import ImportChoices

    choices = ImportChoices(style=style, theme=theme, seed=seed)
    imported = import_records(file, out, choices)
    for written in imported.written:
        typer.echo(f"wrote {written}")
    for words in (*imported.notes, *(f"refused: {one}" for one in imported.refused)):
        typer.echo(words, err=True)
    typer.echo(f"people: {len(imported.written)}, out of records: {imported.records}")
    sys.exit(1 if imported.refused else 0)


@personas.command("draw")
def draw(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Personas of clients; those of others are left out."
        ),
    ],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="So many clients.")],
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="The same seed, the same clients.")
    ] = 1,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the persona files.")] = Path(
        "drawn"
    ),
    theme: Annotated[
        str | None, typer.Option("--theme", help="Only clients with this theme, such as grief.")
    ] = None,
    years: Annotated[int, typer.Option(min=0, help="Age differs by so many at most.")] = 2,
    belief: Annotated[
        int, typer.Option(min=0, max=100, help="A belief's strength differs by so many at most.")
    ] = 20,
    names: Annotated[
        Path | None, typer.Option("--names", help="YAML: other first names, by the written one's.")
    ] = None,
) -> None:
    """Draw clients for a large study from written ones.

    Each has a written one's life, another name, and other features within bounds: age, beliefs,
    situations, coping, manner.

    The files and every report say that they were drawn. Clients of one written life are more alike
    than other people: their number is not the number of lives.

    Example: simcounsel library personas draw personas/*.yaml --count 66 --seed 1 --out personas-66
    """
    from simcounsel.specs.drawing import Bounds, draw_personas, names_of
    from simcounsel.specs.persona import ClientPersona
    from simcounsel.specs.persona_file import load_persona

    clients = []
    for file in files:
        persona = load_persona(file)
        if isinstance(persona, ClientPersona) and theme in (None, persona.theme):
            clients.append(file)
    if not clients:
        raise typer.BadParameter(
            f"no persona of a client{f' with the theme {theme!r}' if theme else ''} among"
            f" {len(files)} files",
            param_hint="FILE",
        )
    drawn = draw_personas(
        clients, count, seed, out, bounds=Bounds(years=years, belief=belief), names=names_of(names)
    )
    typer.echo(f"wrote {len(drawn)} clients, drawn from {len(clients)}, into {out}")
