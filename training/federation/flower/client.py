"""A site as a Flower ClientApp. Its learner and its terms are its own: what it clips, noises and
tells is by its own copy.
"""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_args

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from training.errors import SiteRefused, TrainingError
from training.federation.fixedpoint import Residues
from training.federation.secure import Masker
from training.federation.site import SiteSide
from training.federation.summing import SumStep
from training.federation.summing import answered as stepped

RECORD, SUM = "simcounsel", "simcounsel-sum"
MEMBER = "simcounsel-member"
"""In the site's own state, which a SuperNode keeps in memory and does not send: its side of the sum
in progress.
"""
logger = logging.getLogger(__name__)


def site_app(bring: Callable[[Context], SiteSide], name: Callable[[Context], str]) -> ClientApp:
    """bring: called for every task, from the node's configuration; it should keep what is slow to
    load. name: the site's, which is asked for before, and needed for the steps of a secure sum;
    each message may start a process, so it should load nothing.
    """
    app = ClientApp()

    def who(message: Message, context: Context) -> Message:
        return _reply(message, {"site": name(context)})

    def train(message: Message, context: Context) -> Message:
        return _reply(message, answered(bring(context), message))

    def summed(step: SumStep, message: Message, context: Context) -> Message:
        here = bring(context) if step == "mask" else None
        return _reply(
            message, *summing(step, message, context, here.name if here else name(context), here)
        )

    app.query()(who)
    app.train()(train)
    for step in get_args(SumStep):
        app.train(step)(partial(summed, step))
    return app


def answered(here: SiteSide, message: Message) -> dict[str, Any]:
    """The answer in bytes, or why there is none, in words that may leave the site."""
    asked: Mapping[str, Any] = message.content.config_records[RECORD]
    try:
        _agree(here, asked, secure=False)
        return {"answer": here.answer(bytes(asked["task"]))}
    except Exception as error:
        return _failed(error, here.name, here.terms.tells_loss)


def summing(
    step: SumStep, message: Message, context: Context, name: str, here: SiteSide | None
) -> tuple[dict[str, Any], Mapping[str, bytes]]:
    """One step of a secure sum: what went wrong, and the answer. here: where there is a vector to
    be masked.
    """
    kept = context.state.config_records
    try:
        if step != "keys" and MEMBER not in kept:
            raise SiteRefused("no secure sum was begun here")
        member = Masker(name) if step == "keys" else Masker.again(str(kept[MEMBER]["kept"]))
        said = stepped(
            member,
            step,
            bytes_of(message.content.config_records[SUM]),
            partial(_part, here, message),
            here.terms.needed if here else 0,
        )
        kept[MEMBER] = ConfigRecord({"kept": member.kept()})
        if step == "reveal":
            del kept[MEMBER]
        return {}, said
    except Exception as error:
        return _failed(error, name, here is not None and here.terms.tells_loss), {}


def bytes_of(record: Mapping[str, Any]) -> dict[str, bytes]:
    """Only what is bytes: a record of Flower can hold numbers and text too."""
    return {name: value for name, value in record.items() if isinstance(value, bytes)}


def _part(here: SiteSide | None, message: Message) -> Residues:
    if here is None:
        raise SiteRefused("there is a vector in one step only")
    asked: Mapping[str, Any] = message.content.config_records[RECORD]
    _agree(here, asked, secure=True)
    return here.masked_part(bytes(asked["task"]))


def _agree(here: SiteSide, asked: Mapping[str, Any], secure: bool) -> None:
    if asked["terms"] != here.terms.fingerprint:
        raise SiteRefused(
            "the server's terms are not this site's; both need the same recipe, and the same sizes"
            " of sites"
        )
    if here.terms.secure != secure:
        raise SiteRefused(
            f"this site's updates go {'only' if here.terms.secure else 'not'} into secure sums"
        )


def _failed(error: Exception, name: str, tells: bool) -> dict[str, Any]:
    logger.warning("site %s failed", name, exc_info=error)
    if isinstance(error, SiteRefused) or (tells and isinstance(error, TrainingError)):
        return {"failed": str(error)}
    return {
        "failed": (
            f"{type(error).__name__}: {error}"
            if tells
            else f"failed there ({type(error).__name__}); the site's own log says why"
        )
    }


def _reply(
    message: Message, said: Mapping[str, Any], summed: Mapping[str, bytes] | None = None
) -> Message:
    content = RecordDict({RECORD: ConfigRecord(dict(said)), SUM: ConfigRecord(dict(summed or {}))})
    return Message(content, reply_to=message)
