"""Secure sums over Flower's messages: nodes in this process, real messages, every one that the server gets kept."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr", reason="pip install -e '.[test-all]'")
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.supercore.task_identity import TaskIdentity

from tests.training.federation.leastsquares import LeastSquares, data, start
from training.federation.fixedpoint import Residues
from training.federation.flower.client import MEMBER, RECORD, SUM, site_app
from training.federation.flower.server import Network
from training.federation.inprocess import InProcess
from training.federation.replies import Failed
from training.federation.rounds import RoundReport, conduct
from training.federation.site import SiteSide
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.federation.updates import Weights

SIZES = {"east": 10, "mid": 20, "north": 60, "south": 30, "west": 15}
DATA = data(SIZES)
SECURE = Terms(weights={site: size / 135 for site, size in SIZES.items()}, secure=True, timeout_s=5)
PRIVATE = replace(
    SECURE,
    fixed=True,
    participation=0.6,
    hidden_draw=True,
    clip=1.0,
    noise_at="sum",
    noise_std=0.1,
    tells_loss=False,
    min_sites=0,
)


@pytest.fixture(autouse=True)
def run(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that Flower has started: messages belong to a run."""
    monkeypatch.setattr(TaskIdentity, "_run_id", 1)
    monkeypatch.setattr(TaskIdentity, "_node_id", 0)
    monkeypatch.setattr(TaskIdentity, "_task_id", 1)


class Wire:
    """A grid. gone: kind of message at which a site is no longer there, in every round from `since` on."""

    def __init__(self, app: ClientApp, gone: Mapping[str, str], since: int = 1) -> None:
        self.app, self.gone, self.since = app, gone, since
        self.contexts = {
            node: Context(
                run_id=1,
                node_id=node,
                node_config={"site": site},
                state=RecordDict(),
                run_config={},
            )
            for node, site in enumerate(SIZES, 1)
        }
        self.round = 0
        self.heard: list[Message] = []
        self.told: list[Message] = []
        self.waiting: dict[str, Message] = {}

    def get_node_ids(self) -> list[int]:
        return list(self.contexts)

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        return [self._push(message) for message in messages]

    def _push(self, message: Message) -> str:
        node, kind = message.metadata.dst_node_id, message.metadata.message_type
        name = message.metadata.__dict__["_message_id"] = uuid.uuid4().hex
        self.told.append(message)
        if self.round >= self.since and self.gone.get(self.site(node)) == kind:
            return ""
        self.waiting[name] = self.app(message, self.contexts[node])
        return name

    def pull_messages(self, names: Iterable[str]) -> list[Message]:
        came = [self.waiting.pop(name) for name in names]
        self.heard += came
        return came

    def site(self, node: int) -> str:
        return str(self.contexts[node].node_config["site"])


def wire(terms: Terms, gone: Mapping[str, str] | None = None, since: int = 1) -> Wire:
    def bring(context: Context) -> SiteSide:
        return SiteSide(
            name=str(context.node_config["site"]),
            learner=LeastSquares(DATA),
            terms=terms,
            seed=1,
            frozen={},
        )

    return Wire(
        site_app(bring, lambda context: str(context.node_config["site"])), gone or {}, since
    )


class Without(InProcess):
    """In process, some sites failing."""

    def __init__(self, terms: Terms, gone: Iterable[str]) -> None:
        super().__init__(LeastSquares(DATA), terms, 1)
        self.gone = set(gone)

    def ask_parts(self, *given: Any) -> dict[str, Residues | Failed]:
        return {
            site: Failed("gone") if site in self.gone else part
            for site, part in super().ask_parts(*given).items()
        }


def over(grid: Wire, terms: Terms, rounds: int = 3) -> tuple[ServerState, list[RoundReport]]:
    network, state, reports = Network(grid, terms), start(), []
    for grid.round in range(1, rounds + 1):
        state, report = conduct(state, network, terms, 1)
        reports.append(report)
    return state, reports


def in_process(terms: Terms, gone: Mapping[int, Iterable[str]]) -> ServerState:
    state = start()
    for one in range(1, 4):
        state, _ = conduct(state, Without(terms, gone.get(one, ())), terms, 1)
    return state


def equal(one: ServerState, two: ServerState) -> bool:
    return one.weights.keys() == two.weights.keys() and all(
        np.array_equal(one.weights[key], two.weights[key]) for key in one.weights
    )


@pytest.mark.parametrize("terms", [SECURE, PRIVATE], ids=["open", "private"])
def test_the_result_is_that_of_one_process_and_no_update_ever_came_to_the_server(
    terms: Terms,
) -> None:
    grid = wire(terms)
    state, reports = over(grid, terms)
    assert equal(state, in_process(terms, {})) and not equal(state, start())
    assert not any(report.failed or report.void for report in reports)
    heard = b"".join(
        value
        for message in grid.heard
        for record in message.content.config_records.values()
        for value in record.values()
        if isinstance(value, bytes)
    )
    masks = [message for message in grid.told if message.metadata.message_type == "train.mask"]
    assert len(masks) == 3 * len(SIZES)
    for message in masks:
        asked, site = (
            message.content.config_records[RECORD],
            grid.site(message.metadata.dst_node_id),
        )
        plain = SiteSide(
            name=site, learner=LeastSquares(DATA), terms=terms, seed=1, frozen={}
        ).masked_part(asked["task"])
        reply = next(
            one
            for one in grid.heard
            if one.metadata.reply_to_message_id == message.metadata.message_id
        )
        masked = np.frombuffer(reply.content.config_records[SUM]["vector"], "<u4")
        assert (
            masked.shape == plain.shape
            and not np.any(masked == plain)
            and plain.tobytes() not in heard
        )
        update = (
            SiteSide(name=site, learner=LeastSquares(DATA), terms=terms, seed=1, frozen={})
            .update_of(asked["task"])
            .delta
        )
        assert not any(value.tobytes() in heard for value in update.values())
    kinds = {message.metadata.message_type for message in grid.heard}
    assert kinds == {"query", "train.keys", "train.share", "train.mask", "train.reveal"}
    assert not any(MEMBER in context.state.config_records for context in grid.contexts.values())


@pytest.mark.parametrize("step", ["keys", "share", "mask"])
def test_a_site_that_dies_before_it_sends_its_vector_is_left_out_as_in_one_process(
    step: str,
) -> None:
    gone = {"mid": f"train.{step}", "south": "train.mask"}
    state, reports = over(wire(SECURE, gone, since=2), SECURE)
    assert equal(state, in_process(SECURE, {2: gone, 3: gone}))
    assert [set(report.failed) for report in reports] == [set(), set(gone), set(gone)]


def test_a_site_that_dies_after_it_is_in_the_sum() -> None:
    state, reports = over(wire(SECURE, {"mid": "train.reveal"}), SECURE)
    assert equal(state, in_process(SECURE, {})) and not any(report.failed for report in reports)


def test_with_too_few_nothing_is_learned_and_the_round_is_void() -> None:
    gone = {"mid": "train.keys", "south": "train.share", "west": "train.mask"}
    grid = wire(SECURE, gone)
    state, reports = over(grid, SECURE, rounds=1)
    assert (
        equal(state, start())
        and reports[0].void
        and "2 of 5 sites answered to the end, and 3 are needed" in reports[0].failed["east"]
    )
    assert not any(message.metadata.message_type == "train.reveal" for message in grid.told)


def test_a_failed_training_is_a_dropout_and_tells_no_more_than_the_terms_allow() -> None:
    class Breaks(LeastSquares):
        def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Any:
            if site == "south":
                raise RuntimeError("Ines said")
            return super().learn(site, weights, round, shift)

    terms = replace(PRIVATE, participation=1.0, hidden_draw=False, dropouts=1)
    app = site_app(
        lambda context: SiteSide(
            name=str(context.node_config["site"]),
            learner=Breaks(DATA),
            terms=terms,
            seed=1,
            frozen={},
        ),
        lambda context: str(context.node_config["site"]),
    )
    state, reports = over(Wire(app, {}), terms)
    assert equal(state, in_process(terms, {1: ["south"], 2: ["south"], 3: ["south"]}))
    assert reports[0].failed == {
        "south": "failed there (RuntimeError); the site's own log says why"
    }


def asked(grid: Wire, kind: str, **records: Mapping[str, Any]) -> str:
    """What the first node says to a message of its own making."""
    content = RecordDict(
        {name: ConfigRecord(dict(records.get(name, {}))) for name in (RECORD, SUM)}
    )
    name = grid._push(Message(content, dst_node_id=1, message_type=kind))
    return str(grid.waiting[name].content.config_records[RECORD].get("failed"))


def test_a_site_refuses_what_would_bare_its_update() -> None:
    grid = wire(SECURE)
    over(grid, SECURE, rounds=1)
    task = {"task": b"", "terms": SECURE.fingerprint}
    assert "updates go only into secure sums" in asked(grid, "train", **{RECORD: task})
    for step in ("share", "mask", "reveal"):
        assert "no secure sum was begun here" in asked(grid, f"train.{step}", **{RECORD: task})
    asked(grid, "train.keys")
    real = next(
        one.content.config_records[RECORD]
        for one in grid.told
        if one.metadata.message_type == "train.mask"
    )
    assert "no shares were dealt" in asked(grid, "train.mask", **{RECORD: dict(real)})
    assert "the server's terms are not this site's" in asked(
        grid, "train.mask", **{RECORD: {**real, "terms": replace(SECURE, alpha=1.0).fingerprint}}
    )
