"""`simcounsel practice`: start, new, serve, record."""

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import Model

practice = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=(
        "Practice counseling with a simulated client, with feedback on each line.\n\n"
        "Begin with:  simcounsel practice start --client Ines\n\n"
        "For a group:  simcounsel practice new FOLDER --trainee Ada --trainee Ben"
    ),
)
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that keeps all of it.")]
WorldName = Annotated[str, typer.Option("--world", help="The world in which clients are met.")]
LanguageName = Annotated[
    str | None, typer.Option("--language", help="Of talk and pages: en or zh; as in the world.")
]
Judge = Annotated[
    str | None, typer.Option("--judge", help="Model that gives feedback; left out: as --model.")
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0 is any that is free.")]
Host = Annotated[str, typer.Option("--host", help="The address to serve on.")]
SHOWN = (
    *("trainee", "session", "client", "difficulty", "lines", "open", "closed", "reflections"),
    *("advice", "talk_share", "openness_before", "openness_after"),
)
"""What of the learning record a terminal shows."""


@practice.command()
@asks_models
def start(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="The folder that keeps all of it.")
    ] = Path("practice"),
    client: Annotated[
        str | None, typer.Option("--client", help="Whom to counsel; left out: the page asks.")
    ] = None,
    feedback: Annotated[
        str, typer.Option("--feedback", help="line (after each), request, end, none.")
    ] = "line",
    world: WorldName = "insomnia",
    language: LanguageName = None,
    model: Model = None,
    judge: Judge = None,
    port: Port = 8780,
) -> None:
    """Practice alone: a page on this machine, until Ctrl-C.

    The folder keeps all that was said; start it again, and you go on.
    """
    from simcounsel.practice.group import LINKS, begin_folder

    if not (folder / LINKS).exists():
        settings = {"world": world, "language": language, "model": model, "judge": judge}
        begin_folder(folder, ("you",), settings)
    _serve(folder, (model, judge), "127.0.0.1", port, "you", client, feedback)


@practice.command()
def new(
    folder: Folder,
    trainee: Annotated[
        list[str], typer.Option("--trainee", help="A name; give it again for each.")
    ],
    world: WorldName = "insomnia",
    language: LanguageName = None,
    model: Model = None,
    judge: Judge = None,
) -> None:
    """Make a folder for a group, with a secret link for each trainee and the supervisor."""
    from simcounsel.practice.group import begin_folder

    settings = {"world": world, "language": language, "model": model, "judge": judge}
    begin_folder(folder, tuple(trainee), settings)
    typer.echo(f"wrote {folder}/links.json: whoever has a link is that person")
    typer.echo(f"next: simcounsel practice serve {folder}")


@practice.command()
@asks_models
def serve(
    folder: Folder,
    model: Model = None,
    judge: Judge = None,
    host: Host = "127.0.0.1",
    port: Port = 8780,
) -> None:
    """Serve the pages of a group until Ctrl-C, and tell each link."""
    _serve(folder, (model, judge), host, port)


@practice.command()
def record(
    folder: Folder, csv: Annotated[bool, typer.Option("--csv", help="As CSV.")] = False
) -> None:
    """Tell the learning record: a row for each session that has ended."""
    import csv as table
    import sys

    from simcounsel.practice.group import Practice, read_folder

    with closing(Practice(folder, _world(read_folder(folder)[0]))) as found:
        rows = list(found.record())
    if not rows:
        typer.echo("no session has ended yet")
    elif csv:
        writer = table.DictWriter(sys.stdout, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    else:
        for row in rows:
            typer.echo("  ".join(f"{key} {row[key]}" for key in SHOWN if row[key] is not None))


def _world(settings: dict[str, Any], model: str | None = None, judge: str | None = None) -> Any:
    from simcounsel.envs.preparing import EnvSettings
    from simcounsel.specs.world_file import load_world

    changes = {"language": settings["language"]} if settings["language"] else {}
    world = load_world(settings["world"], **changes)
    return EnvSettings(
        world=world, model=model or settings["model"], judge=judge or settings["judge"]
    ).world_played()


def _serve(
    folder: Path,
    models: tuple[str | None, str | None],
    host: str,
    port: int,
    who: str | None = None,
    client: str | None = None,
    feedback: str = "line",
) -> None:
    import socket

    from simcounsel.cli.weights import console_of, fetch_weights
    from simcounsel.engine.opening import check_models
    from simcounsel.envs.preparing import open_models
    from simcounsel.practice.clients import levels
    from simcounsel.practice.group import Practice, read_folder
    from simcounsel.practice.site import make_practice_app
    from simcounsel.viewer.guard import LOOPBACK
    from simcounsel.viewer.serve import listen

    world = _world(read_folder(folder)[0], *models)
    check_models(world)
    fetch_weights(world.model_names(), console_of(), False)
    levels(world)  # some seconds, once; otherwise the first page would wait for them
    with closing(Practice(folder, world, open_models(world))) as found:
        going = {one.client for one in found.sessions.values() if one.report is None}
        if who and client and client not in going:
            found.begin(who, client, feedback)

        def told(base: str) -> None:
            base = base.replace("//0.0.0.0:", f"//{socket.gethostname()}:")
            for name, token in found.links.items():
                if who in (None, name):
                    typer.echo(f"{name:14} {base}/p/{token}")

        listen(
            make_practice_app(found, public=host not in LOOPBACK), host=host, port=port, opened=told
        )
