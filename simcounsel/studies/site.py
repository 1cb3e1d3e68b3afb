"""The raters' pages: one secret link each, the items in that rater's order, answers kept as they
come.
"""

import asyncio
import json
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
)
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from simcounsel.errors import StudyError
from simcounsel.studies.answers import Given, answer_of, append, last_answers, read_answers
from simcounsel.studies.study import Rater, Study, open_study
from simcounsel.viewer.guard import LOOPBACK, Guard
from simcounsel.viewer.pages import STATIC
from simcounsel.viewer.serve import listen

OWN_TOKEN = ("/rate/", "/api/rate/", "/static/")
"""Paths for which the site's own token is not asked: a rater's link holds a token of its own;
/static/ tells nothing.
"""


class RatingSite:
    """A study's pages. It reads study.json and answers.jsonl, never key.json."""

    def __init__(self, folder: Path) -> None:
        """StudyError when there is no study in that folder."""
        self.folder = folder
        self.study: Study = open_study(folder)

    async def page(self, request: Request) -> Response:
        """The page behind a link."""
        if self._rater(request) is None:
            return PlainTextResponse(
                "This link is not known. Please check that it is complete.", 404
            )
        return FileResponse(STATIC / "rate.html")

    async def state(self, request: Request) -> Response:
        """What that rater is asked, and what has been answered so far."""
        rater = self._rater(request)
        if rater is None:
            return JSONResponse({"problem": "this link is not known"}, 404)
        given = await asyncio.to_thread(self._given, rater)
        return HTMLResponse(
            json.dumps(self.study.shown_to(rater) | {"given": given}), media_type="application/json"
        )

    def _given(self, rater: Rater) -> dict[str, Any]:
        last = last_answers(
            answer for answer in read_answers(self.folder) if answer.rater == rater.name
        )
        return {
            item: answer.model_dump(mode="json", include={"answers", "comment"})
            for (_, item), answer in last.items()
        }

    async def answer(self, request: Request) -> Response:
        """Keep one item's answers."""
        rater = self._rater(request)
        if rater is None:
            return JSONResponse({"problem": "this link is not known"}, 404)
        try:
            answer = answer_of(self.study, rater, Given.model_validate_json(await request.body()))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            return JSONResponse(
                {"problem": f"{'.'.join(str(part)[:40] for part in first['loc'])}: {first['msg']}"},
                422,
            )
        except ValueError as error:
            return JSONResponse({"problem": str(error)}, 422)
        try:
            await asyncio.to_thread(append, self.folder, [answer])
        except StudyError:
            return JSONResponse(
                {
                    "problem": (
                        "the answers could not be written; please tell whoever sent you the link"
                    )
                },
                507,
            )
        return JSONResponse({"kept": answer.item, "time": answer.time})

    def _rater(self, request: Request) -> Rater | None:
        return self.study.rater(request.path_params["token"])


def rating_routes(folder: Path) -> list[BaseRoute]:
    """The routes of the study in that folder."""
    site = RatingSite(folder)
    return [
        Route("/rate/{token}", site.page),
        Route("/api/rate/{token}", site.state),
        Route("/api/rate/{token}", site.answer, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


def make_rating_app(folder: Path, *, public: bool = False) -> Starlette:
    """A site of nothing but the study. public: others can reach it, so only a rater's own token
    opens anything.
    """
    token = secrets.token_urlsafe(24) if public else None
    return Starlette(
        routes=rating_routes(folder), middleware=[Middleware(Guard, token=token, own=OWN_TOKEN)]
    )


def links(study: Study, base: str) -> list[str]:
    """For each rater, name and link."""
    return [f"{rater.name}  {base}/rate/{rater.token}" for rater in study.raters]


def serve_ratings(folder: Path, *, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve the study until Ctrl-C; tells each rater's link."""
    study = open_study(folder)

    def announce(base: str) -> None:
        for line in links(
            study,
            base.replace("//0.0.0.0:", f"//{socket.gethostname()}:").replace(
                "//[::]:", f"//{socket.gethostname()}:"
            ),
        ):
            say(line)

    listen(
        make_rating_app(folder, public=host not in LOOPBACK), host=host, port=port, opened=announce
    )
