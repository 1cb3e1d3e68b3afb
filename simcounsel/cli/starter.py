"""A study to start from (`simcounsel init`): a world, a client, a counselor, a friend, and an
experiment.
"""

from importlib.resources import files
from pathlib import Path

import yaml

from simcounsel.disk import write_text
from simcounsel.errors import SpecError
from simcounsel.specs import shipped
from simcounsel.specs.load import read_yaml

FILES = ("world.yaml", "client.yaml", "counselor.yaml", "friend.yaml", "experiment.yaml")
WRITTEN_FOR = {"client": "Ada", "counselor": "Cleo", "layperson": "Bert"}
"""Who has which part in the files here, by first name."""
FILE_OF = {"client": "client.yaml", "counselor": "counselor.yaml", "layperson": "friend.yaml"}
ASKED = {"insomnia": "insomnia_severity", "anxiety": "state_anxiety", "depression": "low_mood"}
"""What the experiment measures, by theme; else distress in general."""
USUALLY_ASKED = "general_distress"


def themes() -> list[str]:
    """Of the clients who are included."""
    return sorted(_clients())


def write_starter(folder: Path, theme: str | None = None) -> list[Path]:
    """Write a study into a new or empty folder; return its files. SpecError when it is in use.

    theme: with people who are included and a client with that theme, so that the embedded model has
    lines to choose from. None: with three short invented people whose files explain themselves.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError([f"{folder}: exists and is not an empty folder; choose another DIR"])
    texts = {name: _starter(name) for name in FILES}
    if theme is not None:
        texts = _with_people(texts, _cast(theme))
        asked = ASKED.get(theme, USUALLY_ASKED)
        texts["experiment.yaml"] = texts["experiment.yaml"].replace(USUALLY_ASKED, asked)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_text(folder / name, text)
    except OSError as error:
        raise SpecError(
            [f"{folder}: cannot be written ({error.strerror}); choose another DIR"]
        ) from None
    return [folder / name for name in texts]


def _starter(name: str) -> str:
    return files("simcounsel.cli").joinpath("starter_files", name).read_text(encoding="utf-8")


def _clients() -> dict[str, list[Path]]:
    """Persona files of clients by theme."""
    found: dict[str, list[Path]] = {}
    for file in shipped.files("personas"):
        data, _ = read_yaml(file)
        if data["role"] == "client":
            found.setdefault(data["theme"], []).append(file)
    return found


def _cast(theme: str) -> dict[str, Path]:
    """Persona files by role: of the world that is included for a client of that theme, else a
    client of that theme and the counselor of the first world, who knows none of them.
    """
    clients = _clients().get(theme)
    if not clients:
        raise SpecError([f"no client is included with the theme {theme!r}; there are {themes()}"])
    worlds = [_people(file) for file in shipped.files("worlds")]
    whole = [world for world in worlds if len(world) == len(FILE_OF)]
    for world in whole:
        if world["client"] in clients:
            return world
    return {"client": clients[0], "counselor": whole[0]["counselor"]}


def _people(world: Path) -> dict[str, Path]:
    """The persona files of a world's residents, by role."""
    data, _ = read_yaml(world)
    named = [(world.parent / one["persona"]).resolve() for one in data["residents"]]
    return {read_yaml(file)[0]["role"]: file for file in named}


def _with_people(texts: dict[str, str], cast: dict[str, Path]) -> dict[str, str]:
    """The files with other people in them, and their first names wherever those here stand."""
    texts = dict(texts)
    for role, file in cast.items():
        texts[FILE_OF[role]] = ""
        name = yaml.safe_load(file.read_text(encoding="utf-8"))["name"].split()[0]
        for there, text in texts.items():
            texts[there] = text.replace(WRITTEN_FOR[role], name)
    return texts | {FILE_OF[role]: file.read_text(encoding="utf-8") for role, file in cast.items()}
