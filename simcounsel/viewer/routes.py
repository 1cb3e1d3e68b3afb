"""The site's pages and addresses: the runs of a list, as JSON.

Several runs at once: each score over time, and the mean of each arm with its interval over
runs.
"""

import asyncio
import atexit
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from statistics import fmean, stdev
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import BaseRoute, Route

from simcounsel.errors import SimcounselError
from simcounsel.measuring.meaning import MeaningSearch
from simcounsel.runs.history import History
from simcounsel.runs.index import TICK_DIGITS
from simcounsel.runs.log import Log
from simcounsel.viewer import parts, people, requests
from simcounsel.viewer.comparison import compare, last_scores, lines_apart, other_clock
from simcounsel.viewer.dangers import safety_moves
from simcounsel.viewer.guard import IN_NOTEBOOKS, NOWHERE, Guard
from simcounsel.viewer.outcomes import outcomes, scored
from simcounsel.viewer.pages import (
    STATIC,
    Answer,
    not_side_by_side,
    other_pages,
    page_of,
    static_files,
)
from simcounsel.viewer.parts import summed
from simcounsel.viewer.reply import as_json
from simcounsel.viewer.row import Rows
from simcounsel.viewer.run_list import RunList, shown_in_gallery
from simcounsel.viewer.search import nearest, search

Fields = dict[str, Any]
LEAST = 3
"""Runs of an arm from which on its mean has an interval."""
_CONFIDENCE = 0.95
_STEPS = 400


def several(histories: Mapping[str, History]) -> Fields:
    """Runs, by their name in the list, with their arm and start, and for each score of each
    instrument the points of every run and the means of every arm.

    The unit is the run: where one has several clients, or several measurements at the same point of
    its plan, their mean counts once. A point is named as in the plan ('baseline', 'end'), so that
    sessions at other times are set beside each other. Retests are left out.
    """
    runs: list[Fields] = []
    scales: Fields = {}
    series: defaultdict[tuple[str, str, str], list[Fields]] = defaultdict(list)
    for name, history in histories.items():
        about = summed(history.log) | {"name": name}
        arm = about["arm"] or about["condition"] or "?"
        found = outcomes(history)
        runs.append(about | {"arm": arm, "clock": _clock(history)})
        scales |= found["scales"]
        for (who, instrument, score, respondent), point in scored(found["points"]):
            series[instrument, score, respondent].append(
                {"run": name, "arm": arm, "who": who, "tick": point["tick"]}
                | {"minute": point["minute"], "point": point["point"], "value": point["value"]}
                | {"chats": point["chats"], "trial": point["trial"]}
            )
    return {
        "runs": runs,
        "scales": scales,
        "series": [
            {"instrument": instrument, "score": score, "respondent": respondent}
            | {"points": points, "means": arm_means(points)}
            for (instrument, score, respondent), points in series.items()
        ],
    }


def arm_means(points: Iterable[Fields]) -> list[Fields]:
    """For each arm and point of the plan the mean over runs, from how many, and its 95 % interval
    (Student's t over runs); no interval with fewer than LEAST runs.
    """
    cells: defaultdict[tuple[str, str], defaultdict[str, list[Fields]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in points:
        cells[one["arm"], one["point"]][one["run"]].append(one)
    found = []
    for (arm, point), by_run in cells.items():
        values = [fmean(one["value"] for one in all_of) for all_of in by_run.values()]
        minute = fmean(fmean(one["minute"] for one in all_of) for all_of in by_run.values())
        found.append(
            {"arm": arm, "point": point, "minute": minute, "mean": fmean(values)}
            | {"n": len(values), "interval": interval(values)}
        )
    return sorted(found, key=lambda one: (one["arm"], one["minute"]))


def interval(values: Sequence[float]) -> list[float] | None:
    """The 95 % interval of their mean, by Student's t; None with fewer than LEAST."""
    if len(values) < LEAST:
        return None
    half = t_quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return [fmean(values) - half, fmean(values) + half]


@lru_cache
def t_quantile(freedom: int) -> float:
    """Within how many standard errors of 0 Student's t lies with probability 0.95.

    With t = sqrt(freedom) tan(angle) that probability is a share of the integral of
    cos(angle) ** (freedom - 1) from 0 to a right angle (Simpson's rule; bisection).
    """
    low, high = 0.0, math.pi / 2
    whole = _integral(freedom, high)
    for _ in range(60):
        middle = (low + high) / 2
        if _integral(freedom, middle) < _CONFIDENCE * whole:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _integral(freedom: int, upto: float) -> float:
    step = upto / _STEPS
    values = [math.cos(n * step) ** (freedom - 1) for n in range(_STEPS + 1)]
    inner = 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2])
    return (values[0] + values[-1] + inner) * step / 3


def _clock(history: History) -> Fields:
    """When the world begins, as the pages need it: its date, the minute of tick 0, minutes to a
    tick, and ticks.
    """
    world = history.log.manifest.get("world") or {}
    return {"start": world.get("start"), "ticks": history.log.ticks} | {
        "tick_minutes": world.get("tick_minutes", 15)
    }


LONGEST_QUERY = 200
"""Characters of a search."""


def make_app(
    run_list: RunList,
    *,
    token: str | None = None,
    more: Sequence[BaseRoute] = (),
    framed: bool = False,
) -> Starlette:
    """The site over a list of runs. more: routes of other parts, such as interviews. framed:
    whether a notebook of this machine may show it within its own page.
    """
    site = Site(run_list)
    routes: list[BaseRoute] = [
        Route("/", site.home),
        Route("/run/{run}", site.run),
        Route("/compare", site.page("compare.html")),
        Route("/several", site.page("several.html")),
        Route("/static/{file}", site.static),
        Route("/api/runs", site.runs),
        Route("/api/gallery", lambda request: as_json(shown_in_gallery())),
        Route("/api/compare", site.compare),
        Route("/api/several", site.several),
        *(
            Route(f"/api/runs/{{run}}/{name}", site.answering(answer))
            for name, answer in {
                "overview": lambda request, history: parts.overview(history),
                "outcomes": lambda request, history: outcomes(history),
                "safety": lambda request, history: safety_moves(history),
                "row": lambda request, history: _row(site.rows, history),
                "search": lambda request, history: _search(request, history, site.meaning),
                "size": lambda request, history: parts.size(history),
                "person/{who}": _of_person(people.person),
                "memories/{who}": _of_person(people.memories),
                "recalls/{who}": _of_person(people.recalls),
                "conversation/{chat}": _conversation,
                "calls/{tick}": _calls,
                "behind/{seq}": _behind,
                "warnings": lambda request, history: people.warnings(history),
            }.items()
        ),
        *(
            Route(f"/api/runs/{{run}}/{name}", site.answering(answer))
            for page in other_pages()
            for name, answer in page.answers.items()
        ),
        *more,
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, token=token, frames=IN_NOTEBOOKS if framed else NOWHERE)],
    )


class Site:
    """The pages, and the way from a request to a run's log."""

    def __init__(self, run_list: RunList) -> None:
        self.run_list = run_list
        self.rows = Rows()
        self.meaning = MeaningSearch()
        atexit.register(self.meaning.close)

    async def home(self, request: Request) -> Response:
        """The list of runs; the run itself when there is one only."""
        if self.run_list.only is not None:
            return RedirectResponse(f"/run/{self.run_list.only}", 303)
        return FileResponse(STATIC / "index.html")

    async def run(self, request: Request) -> Response:
        """The page of a run, by its kind."""
        name = request.path_params["run"]
        try:
            page = page_of(await asyncio.to_thread(self.run_list.log, name))
        except KeyError:
            return PlainTextResponse(f"there is no run {name!r} here", 404)
        return FileResponse(page.static / f"{page.name}.html")

    def page(self, file: str) -> Callable[[Request], Awaitable[Response]]:
        """A page that reads its data itself."""
        html = (STATIC / file).read_text(encoding="utf-8")

        async def show(request: Request) -> Response:
            return HTMLResponse(html)

        return show

    async def static(self, request: Request) -> Response:
        """A file of the pages."""
        file = static_files().get(request.path_params["file"])
        if file is None:
            raise HTTPException(404, "no such file")
        return FileResponse(file, headers={"cache-control": "no-cache"})

    async def runs(self, request: Request) -> Response:
        """Name, world, condition, seed and length of each run."""
        return as_json(
            await asyncio.to_thread(
                lambda: [_listed(self.run_list, name) for name in reversed(self.run_list.names())]
            )
        )

    async def compare(self, request: Request) -> Response:
        """Where two runs part. Without days there is nothing to compare: that is said."""
        try:
            a, b = (self.run_list.log(request.query_params.get(side, "")) for side in ("a", "b"))
        except KeyError as name:
            raise HTTPException(
                404, f"there is no run {name.args[0]!r} here; name two: ?a=RUN&b=RUN"
            ) from None

        def work() -> Response:
            for log in (a, b):
                log.refresh()
            refused = not_side_by_side(a, b)
            if refused is None:
                both = [History(log) for log in (a, b)]
                one, two = (parts.overview(history) for history in both)
                refused = other_clock(one, two)
            if refused is not None:
                return PlainTextResponse(refused, 422)
            points = (outcomes(history)["points"] for history in both)
            apart = compare(one, two)
            lines = lines_apart(both[0], both[1], apart["ticks"])
            return as_json(apart | {"scores": last_scores(*points), "said": lines})

        return await asyncio.to_thread(work)

    async def several(self, request: Request) -> Response:
        """The scores of several runs. Where nobody is measured, that is said."""
        try:
            names = dict.fromkeys(request.query_params.getlist("run"))
            logs = {name: self.run_list.log(name) for name in names}
        except KeyError as name:
            raise HTTPException(404, f"there is no run {name.args[0]!r} here") from None

        def work() -> Response:
            for log in logs.values():
                log.refresh()
            refused = not_side_by_side(*logs.values())
            return (
                PlainTextResponse(refused, 422)
                if refused
                else as_json(several({name: History(log) for name, log in logs.items()}))
            )

        return await asyncio.to_thread(work)

    def answering(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        """JSON about one run."""

        async def respond(request: Request) -> Response:
            try:
                log = self.run_list.log(request.path_params["run"])
            except KeyError as name:
                raise HTTPException(404, f"there is no run {name.args[0]!r} here") from None
            found = await asyncio.to_thread(partial(_fresh, answer, request, log))
            return found if isinstance(found, Response) else as_json(found)

        return respond


def _fresh(answer: Answer, request: Request, log: Log) -> Any:
    """The answer over the log as it is now. What another version wrote, or half of it, may lack
    what we look for.
    """
    log.refresh()
    try:
        return answer(request, History(log))
    except (KeyError, TypeError, AttributeError) as error:
        why = "; ".join(log.problems()) or f"an event lacks {error}"
        return PlainTextResponse(f"this part of the run cannot be shown: {why}", 422)
    except SimcounselError as error:
        return PlainTextResponse(str(error), 422)


def _listed(run_list: RunList, name: str) -> dict[str, Any]:
    """What the list says of a run; one that cannot be read at all is named with its trouble."""
    try:
        log = run_list.log(name)
        log.refresh()
        return page_of(log).summed(log) | {"name": name}
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        return {
            "name": name,
            "ticks": 0,
            "unreadable": True,
            "problems": [f"cannot be read ({type(error).__name__}: {error})"],
        }


# what is asked about one run


def _of_person(part: Callable[[History, str], Any]) -> Answer:
    return lambda request, history: part(history, request.path_params["who"])


def _conversation(request: Request, history: History) -> Any:
    found = parts.conversation(history, request.path_params["chat"])
    if found is None:
        raise HTTPException(404, "no such conversation")
    return found


def _calls(request: Request, history: History) -> Any:
    """Every request of a tick, of one person if `who` is given."""
    tick = _number(request.path_params["tick"])
    if tick is None:
        raise HTTPException(404, "no such tick")
    calls = history.calls(tick, request.query_params.get("who"))
    return [requests.request(call) for call in calls]


def _behind(request: Request, history: History) -> Any:
    """One event, by its number and tick, and the keys of the requests behind it."""
    tick, seq = _number(request.query_params.get("tick", "")), _number(request.path_params["seq"])
    entry = None if tick is None or seq is None else history.event(seq, tick)
    if entry is None:
        raise HTTPException(404, "no such event in that tick")
    return requests.behind(entry)


def _number(text: str) -> int | None:
    """A number in an address; None when it is none."""
    return int(text) if text.isdecimal() and len(text) < TICK_DIGITS else None


def _search(request: Request, history: History, meaning: MeaningSearch) -> Any:
    words = request.query_params.get("q", "")[:LONGEST_QUERY]
    if request.query_params.get("by") != "meaning" or not words.strip():
        return search(history, words)
    return nearest(history, words, meaning)


def _row(rows: Rows, history: History) -> Any:
    if page_of(history.log).apart is not None:
        kind = history.log.kind.noun
        raise HTTPException(404, f"{history.log.name} is a {kind}: nobody is measured in it")
    return rows.of(history)
