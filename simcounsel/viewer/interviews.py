"""Interviews over HTTP: the stored ones, and a question with its answer."""

import asyncio
import atexit
import contextlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from simcounsel.errors import RunError, SimcounselError
from simcounsel.llm.asking import asked, current
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.interview import (
    QUESTION_CHARACTERS,
    SIMULATED,
    WAS_BY_HAND,
    Interview,
    checked,
    introduction,
    not_theirs,
)
from simcounsel.measuring.interview_files import stored
from simcounsel.measuring.models import (
    answering_model,
    may_cost,
    need_weights,
    open_models,
    roles,
    spoke,
)
from simcounsel.policies.listening import word_to_human
from simcounsel.runs.run import Run
from simcounsel.runs.spending import is_by_hand
from simcounsel.safety.help import notice
from simcounsel.viewer.posts import read_object
from simcounsel.viewer.reply import as_json
from simcounsel.viewer.run_list import RunList


def interview_routes(run_list: RunList, models: Sequence[str] = ("embedded",)) -> list[Route]:
    """`GET /api/runs/{run}/interviews` and `POST /api/runs/{run}/interview`, for
    `make_app(more=...)`.

    models: who may answer beside the run's own model; a page cannot name another, since whoever
    started the site pays for what it calls.
    """
    interviewer = Interviewer(run_list, models)
    atexit.register(interviewer.close)
    return [
        Route("/api/runs/{run}/interviews", interviewer.interviews),
        Route("/api/runs/{run}/interview", interviewer.ask, methods=["POST"]),
    ]


class Refused(Exception):
    """A question that is not asked; with the status to answer, and what the page needs to know."""

    def __init__(self, status: int, why: str, **more: Any) -> None:
        super().__init__(why)
        self.status = status
        self.answer = {"error": why} | more


class Interviewer:
    """Puts the questions of a site, one at a time for each run; models are opened once and kept."""

    def __init__(self, run_list: RunList, models: Sequence[str]) -> None:
        self._run_list = run_list
        self._models = tuple(models)
        self._open: dict[tuple[str, ...], Switchboard] = {}
        self._asking = current()
        self._one_at_a_time = threading.Lock()
        self._busy: set[str] = set()

    async def interviews(self, request: Request) -> Response:
        """The stored interviews of a run, and who could answer another."""
        try:
            return as_json(await asyncio.to_thread(self._listed, request.path_params["run"]))
        except Refused as refused:
            return as_json(refused.answer, refused.status)

    async def ask(self, request: Request) -> Response:
        """One question: {who, tick, question, interview or null, model or null, may_cost}."""
        body = await read_object(request)
        name = request.path_params["run"]
        if name in self._busy:
            return as_json(
                {"error": "the last question is still being answered; wait for the answer"}, 429
            )
        self._busy.add(name)
        try:
            return as_json(await asyncio.to_thread(self._answer, name, body))
        except Refused as refused:
            return as_json(refused.answer, refused.status)
        except (SimcounselError, ValueError) as error:
            return as_json({"error": str(error)}, 422)
        finally:
            self._busy.discard(name)

    def close(self) -> None:
        """Let go of all models. What needs a thread for that is left to the end of the process,
        once threads have ended.
        """
        with self._one_at_a_time:
            while self._open:
                with contextlib.suppress(RuntimeError):
                    self._open.popitem()[1].close()

    def _run(self, name: str) -> Run:
        try:
            return Run.open(self._run_list.log(name).folder)
        except KeyError:
            raise Refused(404, f"there is no run {name!r} here") from None
        except RunError as error:
            raise Refused(422, str(error)) from None

    def _listed(self, name: str) -> dict[str, Any]:
        run = self._run(name)
        own: dict[str, str] = {}
        try:
            own, trouble = _own_models(run), ""
        except RunError as error:
            trouble = str(error)
        return {
            "interviews": stored(run.folder),
            "models": [
                {"name": model, "may_cost": may_cost(run, model)}
                for model in (self._offered(own) if own else ())
            ],
            "own": own,
            "by_hand": WAS_BY_HAND if own and _by_hand(run) else "",
            "trouble": trouble,
            "notice": SIMULATED,
            "characters": QUESTION_CHARACTERS,
            "before": notice("before", run.world.language, run.world.safety.locale),
        }

    def _offered(self, own: Mapping[str, str]) -> list[str]:
        return list(dict.fromkeys([*own.values(), *self._models]))

    def _answer(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        run = self._run(name)
        question = checked(_field(body, "question", str))
        if body.get("interview") is not None:
            interview = Interview.reopen(run, _field(body, "interview", str))
        else:
            model = None if body.get("model") is None else _field(body, "model", str)
            interview = Interview.begin(
                run, _field(body, "who", str), _field(body, "tick", int), model
            )
        model = interview.head["model"]
        if model not in (offered := self._offered(_own_models(run))):
            raise Refused(422, f"{model!r} is not offered here; there are {', '.join(offered)}")
        if may_cost(run, model) and body.get("may_cost") is not True:
            raise Refused(
                409, f"{model} may cost money; confirm that it may be asked", may_cost=True
            )
        with self._one_at_a_time:
            exchange = interview.ask(question, self._opened(run, model))
        _, moment, *_ = introduction(interview)
        danger = word_to_human(question, "", run.world.language, run.world.safety.locale)
        return exchange | {
            "danger": danger,
            "interview": interview.name,
            "who": interview.head["who"],
            "tick": interview.head["tick"],
            "moment": moment,
            "not_theirs": not_theirs(interview.past),
        }

    def _opened(self, run: Run, model: str) -> Switchboard:
        wanted = roles(run, model)
        key = tuple(wanted.values())
        if key not in self._open:
            need_weights(wanted)
            with asked(self._asking):
                self._open[key] = open_models(run, model)
        return self._open[key]


def _own_models(run: Run) -> dict[str, str]:
    """By resident, who answers where nobody else is chosen."""
    return {resident.name: answering_model(run, resident.name) for resident in run.world.present()}


def _by_hand(run: Run) -> bool:
    """Whether somebody wrote what people said in it."""
    return any(is_by_hand(spoke(run, resident.name)) for resident in run.world.present())


def _field(body: dict[str, Any], name: str, kind: type) -> Any:
    value = body.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Refused(422, f"{name!r} is missing; it is {'a text' if kind is str else 'a number'}")
    return value
