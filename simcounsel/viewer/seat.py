"""The page of a person who speaks for a resident: what that resident knows, and nothing else.

No map, no days, no memories or prompts of others, no condition, no name of the run. Whoever does a
study watches the same run with `simcounsel view RUN`, elsewhere.
"""

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from simcounsel.chance import seed_of
from simcounsel.clock import date_text
from simcounsel.disk import write_whole
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.specs.persona import Persona
from simcounsel.specs.world import World
from simcounsel.viewer.guard import Guard
from simcounsel.viewer.pages import STATIC
from simcounsel.viewer.posts import read_object
from simcounsel.viewer.reply import as_json

_PARTS = ("seat", "turn", "form", "notice")
SHOWN = frozenset({"dom.js", "style.css"}) | {
    f"{part}.{end}" for part in _PARTS for end in ("js", "css")
}
"""The files of the page; none of the viewer's."""
NOTES = "notes"
"""The folder in the run's, for what people who took part noted for themselves."""
NOTES_CHARACTERS = 20_000
Fields = dict[str, Any]


def seat_app(run: Path, world: World, who: str, turns: list[Route]) -> Starlette:
    """The site. who: for whom one speaks; turns: the addresses of the turns (`turn_routes`)."""
    log = Log(run)

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "seat.html")

    async def static(request: Request) -> Response:
        name = request.path_params["file"]
        if name not in SHOWN:
            raise HTTPException(404, "no such file")
        return FileResponse(STATIC / name, headers={"cache-control": "no-cache"})

    async def seat(request: Request) -> Response:
        return as_json(known(world, log, who))

    async def note(request: Request) -> Response:
        text = (await read_object(request)).get("notes")
        if not isinstance(text, str) or len(text) > NOTES_CHARACTERS:
            raise HTTPException(422, f"'notes' is a text of at most {NOTES_CHARACTERS} characters")
        _notes(log, who).parent.mkdir(exist_ok=True)
        write_whole(_notes(log, who), text)
        return as_json({"kept": True})

    return Starlette(
        routes=[
            Route("/", page),
            Route("/static/{file}", static),
            Route("/api/seat", seat),
            Route("/api/seat/notes", note, methods=["POST"]),
            *turns,
        ],
        middleware=[Middleware(Guard, token=None)],
    )


def known(world: World, log: Log, who: str) -> Fields:
    """What a resident knows: itself, whom it will meet and when, what was said in its own
    conversations, the time, its notes.
    """
    log.refresh()
    resident = next(one for one in world.residents if one.name == who)
    now = _first(world) + log.ticks * world.tick_minutes
    file = _notes(log, who)
    return {
        "id": f"{seed_of(log.name, who):016x}",
        "who": who,
        "role": resident.role,
        "about": _about(resident.persona, own=resident.role != "counselor"),
        "now": _when(world, now),
        "next": _next(world, who, now),
        "past": _past(world, log, who),
        "over": log.ticks >= world.ticks,
        "notes": file.read_text(encoding="utf-8") if file.is_file() else "",
    }


def _about(persona: Persona, *, own: bool) -> list[str]:
    """Who one is: of a client or a friend the story too, for they are played; a counselor comes
    with a trade of their own.
    """
    lines = [f"{persona.name}, {persona.age}, {persona.occupation}."]
    return [*lines, persona.background, persona.history, persona.style] if own else lines


def _next(world: World, who: str, now: int) -> Fields | None:
    """The next appointment; None where none is to come."""
    here = {one.name for one in world.present()}
    ahead = [
        (begins, one)
        for one in world.appointments
        if who in one.who and here.issuperset(one.who)
        for begins in one.begins()
        if begins >= now
    ]
    if not ahead:
        return None
    begins, one = min(ahead, key=lambda found: found[0])
    other = next(name for name in one.who if name != who)
    return {"with": other, "when": _when(world, begins), "place": one.place}


def _past(world: World, log: Log, who: str) -> list[Fields]:
    """One's own conversations that have ended, as they were said."""
    return [
        {
            "with": next(name for name in held.who if name != who),
            "when": _when(world, held.minute),
            "lines": [[line.who, line.event.text] for line in held.lines],
        }
        for held in History(log).conversations()
        if who in held.who and held.ended is not None and held.lines
    ]


def _first(world: World) -> int:
    """The minute since day 0 at which the world begins."""
    return world.start.hour * 60 + world.start.minute


def _when(world: World, minute: int) -> str:
    return date_text(minute, world.start, world.language)


def _notes(log: Log, who: str) -> Path:
    return log.folder / NOTES / f"{who}.txt"
