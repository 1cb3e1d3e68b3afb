"""The environment served by OpenEnv (`pip install openenv`), for trainers that speak its protocol.

    from simcounsel.envs import EnvSettings
    from simcounsel.envs.openenv import serve
    serve(EnvSettings(model="scripted", people=2000), port=8000)      # on 127.0.0.1

    with GenericEnvClient("http://127.0.0.1:8000", message_timeout_s=600).sync() as env:
        begun = env.reset(seed=1)
        next = env.step({"line": "Hello. What brings you here?"})

Each connection is an episode of its own; all share one Switchboard. What is hidden is not sent. A
client that waits less long than the models take is connected to a new episode without a word.
"""

from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from pydantic import Field
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from simcounsel.envs.acting import END
from simcounsel.envs.counseling import CounselingEnv
from simcounsel.envs.observing import Observation as Seen
from simcounsel.envs.preparing import EnvSettings, open_models
from simcounsel.llm.switchboard import Switchboard


class SaidLine(Action):
    """What the counselor says next."""

    line: str = Field(description=f"One line; {END} at its end takes leave, '' is silence")


class Heard(Observation):
    """What the counselor knows now; `reward` and `done` beside it."""

    client: str
    session: int
    turn: int
    turns_left: int
    parting: int
    heard: str
    history: str
    known: str


class Where(State):
    """Where the episode is."""

    client: str = ""
    session: int = 1


class Served(Environment[SaidLine, Heard, Where]):
    """One episode after the other."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, settings: EnvSettings, models: Switchboard) -> None:
        super().__init__()
        self._env = CounselingEnv(settings, models=models)
        self._where = Where()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Heard:
        """A new episode. client: in place of the draw, a name or a number."""
        seen, _ = self._env.reset(seed=seed, options=kwargs)
        self._where = Where(episode_id=episode_id, client=seen["client"])
        return self._heard(seen, None, False)

    def step(self, action: SaidLine, timeout_s: float | None = None, **kwargs: Any) -> Heard:
        """The next line, and the answer to it."""
        seen, reward, over, _, _ = self._env.step(action.line)
        self._where.step_count += 1
        self._where.session = seen["session"]
        return self._heard(seen, reward, over)

    @property
    def state(self) -> Where:
        """Where the episode is."""
        return self._where

    def close(self) -> None:
        """Let go of the episode."""
        self._env.close()

    def _heard(self, seen: Seen, reward: float | None, over: bool) -> Heard:
        return Heard(**seen, reward=reward, done=over)


class ProgramsAlone:
    """Refuses web pages: OpenEnv asks for no Origin, so any page could spend the models' money."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """403, or a connection that is not accepted."""
        if scope["type"] == "lifespan" or "origin" not in Headers(scope=scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse("web pages may not ask here", 403)(scope, receive, send)


def app_of(settings: EnvSettings, *, most: int = 64) -> FastAPI:
    """The server as an application. most: episodes at once."""
    models = open_models(settings.world_played())
    app: FastAPI = create_fastapi_app(
        partial(Served, settings, models),
        SaidLine,
        Heard,
        max_concurrent_envs=most,
        env_name="simcounsel",
        state_cls=Where,
    )
    app.add_middleware(ProgramsAlone)
    return app


def serve(settings: EnvSettings, *, port: int = 8000, most: int = 64) -> None:
    """Serve on this machine alone, until Ctrl-C."""
    uvicorn.run(app_of(settings, most=most), host="127.0.0.1", port=port, log_level="warning")
