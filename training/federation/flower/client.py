"""A site as a Flower ClientApp. Its learner and its terms are its own: no server can change what is clipped, noised or told."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from training.errors import TrainingError
from training.federation import site as site_side
from training.federation.terms import Terms
from training.federation.updates import Learner, Weights

RECORD = "simcounsel"
logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class SiteSide:
    """What a site brings. name: as in the terms. frozen: adapters that do not travel, drawn at the site by the common seed; empty where
    both factors do."""

    name: str
    learner: Learner
    terms: Terms
    seed: int
    frozen: Weights


def site_app(bring: Callable[[Context], SiteSide], name: Callable[[Context], str]) -> ClientApp:
    """bring: called for every task, from the node's configuration; it should keep what is slow to load. name: the site's, which is asked
    for before; each message may start a process, so it should load nothing."""
    app = ClientApp()

    def who(message: Message, context: Context) -> Message:
        return _reply(message, {"site": name(context)})

    def train(message: Message, context: Context) -> Message:
        return _reply(message, answered(bring(context), message))

    app.query()(who)
    app.train()(train)
    return app


def answered(here: SiteSide, message: Message) -> dict[str, Any]:
    """The answer in bytes, or why there is none, in words that may leave the site."""
    asked: Mapping[str, Any] = message.content.config_records[RECORD]
    try:
        if asked["terms"] != here.terms.fingerprint:
            return {"failed": "the server's terms are not this site's; both need the same recipe, and the same sizes of sites"}
        return {"answer": site_side.answer(bytes(asked["task"]), here.name, here.learner, here.terms, here.seed, here.frozen)}
    except Exception as error:
        logger.warning("site %s failed", here.name, exc_info=error)
        if not here.terms.tells_loss:
            return {"failed": f"failed there ({type(error).__name__}); the site's own log says why"}
        return {"failed": str(error) if isinstance(error, TrainingError) else f"{type(error).__name__}: {error}"}


def _reply(message: Message, said: dict[str, Any]) -> Message:
    return Message(RecordDict({RECORD: ConfigRecord(said)}), reply_to=message)
