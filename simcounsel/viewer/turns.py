"""A human's turn to speak, and to fill in a questionnaire, over HTTP: the page asks what waits, and
brings the line or the answers.

The page of a person who speaks for a resident: what that resident knows, and nothing else.

No map, no days, no memories or prompts of others, no condition, no name of the run. Whoever does a
study watches the same run with `simcounsel view RUN`, elsewhere.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from simcounsel.engine.measures import scales_of
from simcounsel.errors import SimcounselError
from simcounsel.events import ConversationEnded
from simcounsel.llm.switchboard import Switchboard
from simcounsel.policies.listening import in_answers, reminder, word_to_human
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.safety.help import notice
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger
from simcounsel.specs.persona import Persona
from simcounsel.specs.problems import suggest
from simcounsel.specs.scale import Scale
from simcounsel.specs.vocabulary import EMOTIONS
from simcounsel.specs.world import World
from simcounsel.viewer.forms import Form, Forms
from simcounsel.viewer.guard import Guard
from simcounsel.viewer.human import LINE_CHARACTERS, Board, Human, Refused, Turn
from simcounsel.viewer.pages import STATIC
from simcounsel.viewer.posts import read_object
from simcounsel.viewer.reply import as_json
from simcounsel.viewer.serve import serving

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


def board_for(world: World, name: str, seconds: float | None, *, hints: bool = False) -> Board:
    """A board for the resident of that name. SimcounselError when nobody of that name is present
    under the world's condition.
    """
    present = [spec.name for spec in world.present()]
    found = next((one for one in present if one.casefold() == name.casefold()), None)
    if found is None:
        if any(spec.name.casefold() == name.casefold() for spec in world.residents):
            raise SimcounselError(
                f"--human {name}: does not live there under condition {world.condition!r}; choose"
                f" another --condition, or {' or '.join(present)}"
            )
        raise SimcounselError(f"--human {name}: no such resident; {suggest(name, present)}")
    return Board(who=found, seconds=seconds, hints=hints)


@contextmanager
def taking_part(run: Path, models: Switchboard, board: Board, port: int) -> Iterator[str]:
    """A human speaks for `board.who` while the run goes on; yields the address of their page."""
    world = Run.open(run).world
    asked = (scale for _, scale in scales_of(world) if isinstance(scale, Scale))
    forms = Forms({scale.id: scale for scale in asked}, world.language)
    wrapped = {id(model): Human(model, board, forms) for model in models.chat.values()}
    models.chat = {tier: wrapped[id(model)] for tier, model in models.chat.items()}
    app = seat_app(run, world, board.who, turn_routes(board, world, Log(run)))
    with serving(app, host="127.0.0.1", port=port) as address:
        yield f"{address}/"


class Reminders:
    """What whoever sits in the counselor's seat is reminded of, turn by turn."""

    def __init__(self, world: World, log: Log | None) -> None:
        """log: of the run, for what the last conversation of the two left open."""
        self._world = world
        self._log = log
        self._of: dict[int, str | None] = {}

    def of(self, turn: Turn) -> str | None:
        """None while no danger of a client is open. Made once for a turn: the page asks each
        second.
        """
        if turn.number not in self._of:
            safety = self._world.safety
            listens = turn.other_role == "client" and safety.counselors != "nothing"
            self._of[turn.number] = (
                reminder(
                    turn.lines, turn.other, self._world.language, safety.locale, self._before(turn)
                )
                if listens
                else None
            )
        return self._of[turn.number]

    def _before(self, turn: Turn) -> OpenDanger:
        found = NOTHING_OPEN
        if self._log is not None:
            self._log.refresh()
            for held in History(self._log).outline():
                ended = held.ended
                if isinstance(ended, ConversationEnded) and {*held.who} == {turn.who, turn.other}:
                    found = OpenDanger(level=ended.open_danger, kinds=ended.open_kinds)
        return found


def turn_routes(board: Board, world: World, log: Log | None = None) -> list[Route]:
    """`GET /api/seat/turn`: the turn that waits, or null; with a `reminder` while a client's
    danger is open. `POST` to the same: the line, or more time; the answer holds what the human is
    told where the line sounds like danger. `GET .../turn/notice`: what they are told before the
    first. `/api/seat/form`: the same for a questionnaire and its answers. log: of the run, for what
    the last conversation of the two left open.
    """
    language, locale = world.language, world.safety.locale
    kept: dict[str, str] = {}  # also when the page is loaded again
    reminders = Reminders(world, log)

    async def look(request: Request) -> Response:
        turn = board.pending
        return as_json(
            None if turn is None else shown(turn, board.hints) | {"reminder": reminders.of(turn)}
        )

    async def warn(request: Request) -> Response:
        return as_json({"before": notice("before", language, locale), "danger": kept.get("danger")})

    async def speak(request: Request) -> Response:
        body = await read_object(request)
        number = _number(body)
        try:
            if body.get("more_time"):
                return as_json({"seconds_left": board.prolong(number).seconds_left})
            text, turn = _text(body), board.pending
            board.say(
                number,
                text,
                emotion=str(body.get("emotion", "neutral")),
                intensity=_intensity(body),
                goodbye=body.get("goodbye") is True,
            )
        except Refused as why:
            return as_json({"error": str(why)}, 409 if why.late else 422)
        await asyncio.sleep(0)
        heard = turn.lines[-1][1] if turn and turn.lines and turn.lines[-1][0] != turn.who else ""
        if danger := word_to_human(text, heard, language, locale):
            kept["danger"] = danger
        return as_json({"said": True} | ({"danger": danger} if danger else {}))

    def dangerous() -> str:
        kept["danger"] = notice("danger", language, locale)
        return kept["danger"]

    path = "/api/seat/turn"
    return [
        Route(f"{path}/notice", warn),
        Route(path, look),
        Route(path, speak, methods=["POST"]),
        *form_routes(board, language, dangerous),
    ]


def form_routes(board: Board, language: str, dangerous: Callable[[], str]) -> list[Route]:
    """`GET /api/seat/form`: the questionnaire that waits, or null; `POST`: its answers, or more
    time. dangerous: what the human is told where an answer tells danger.
    """

    async def look(request: Request) -> Response:
        form = board.form
        return as_json(None if form is None else shown_form(form, language))

    async def fill(request: Request) -> Response:
        body = await read_object(request)
        number, given = _number(body), body.get("answers")
        try:
            if body.get("more_time"):
                return as_json({"seconds_left": board.prolong(number).seconds_left})
            if not isinstance(given, dict):
                raise Refused("'answers' is missing: by item a number, or null")
            form = board.answer(number, given)
        except Refused as why:
            return as_json({"error": str(why)}, 409 if why.late else 422)
        await asyncio.sleep(0)
        told = in_answers(form.instrument, given, board.who)
        return as_json({"taken": True} | ({"danger": dangerous()} if told else {}))

    path = "/api/seat/form"
    return [Route(path, look), Route(path, fill, methods=["POST"])]


def shown(turn: Turn, hints: bool) -> dict[str, Any]:
    """A turn as the page needs it. hints: with what the resident's policy would do."""
    left = turn.seconds_left
    return {
        "turn": turn.number,
        "who": turn.who,
        "other": turn.other,
        "place": turn.place,
        "lines": [list(line) for line in turn.lines],
        "move": turn.move if hints else None,
        "aim": turn.aim if hints else None,
        "memories": list(turn.memories),
        "may_leave": turn.may_leave,
        "seconds_left": None if left is None else round(left, 1),
        "prolonged": turn.prolonged,
        "characters": LINE_CHARACTERS,
        "emotions": list(EMOTIONS),
    }


def shown_form(form: Form, language: str) -> dict[str, Any]:
    """A questionnaire as the page needs it."""
    left = form.seconds_left
    return {
        "turn": form.number,
        "who": form.who,
        "language": language,
        "instruction": form.instruction,
        "items": [
            {"id": line.id, "text": line.text, "choices": [list(one) for one in line.choices]}
            | {"low": line.low, "high": line.high, "step": line.step}
            for line in form.lines
        ],
        "seconds_left": None if left is None else round(left, 1),
    }


def _number(body: dict[str, Any]) -> int:
    number = body.get("turn")
    if not isinstance(number, int):
        raise HTTPException(422, "'turn' is missing: the number of the turn that this is for")
    return number


def _text(body: dict[str, Any]) -> str:
    say = body.get("say")
    if not isinstance(say, str):
        raise Refused("'say' is missing; write what you want to say")
    return say


def _intensity(body: dict[str, Any]) -> int:
    value = body.get("intensity", 1)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refused(f"intensity {value!r}; it is a whole number from 1 to 10")
    return value
