"""The server as a Flower ServerApp: rounds as in one process, with tasks and answers carried by
SuperLink and SuperNodes.

The account is loaded only to serve: sites start a process for each message, which loads this module
with theirs.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

from training.errors import TrainingError
from training.federation.flower.client import RECORD, SUM, bytes_of
from training.federation.replies import Failed, Summed
from training.federation.state import ServerState
from training.federation.summing import StepMessage, SumStep, sum_over
from training.federation.terms import Terms
from training.federation.updates import Weights
from training.plan import TrainingPlan

if TYPE_CHECKING:
    from training.federation.all_rounds import FederationOutcome
    from training.federation.rounds import RoundReport

Records = Mapping[str, Mapping[str, Any]]
"""A message's content: by name of the record."""
PAUSE_S = 0.2
SHORT_S = 120.0
"""For an answer that needs no training; Flower starts a process for it, which takes seconds, or
many on a busy machine.
"""


@dataclass(frozen=True, kw_only=True)
class ServerSide:
    """What a federation is, as `all_rounds.federate` takes it."""

    start: ServerState
    terms: Terms
    plan: TrainingPlan | None
    rounds: int
    seed: int
    folder: Path
    wait_s: float = 600.0
    """For all sites to be there before the first round."""
    on_round: "Callable[[RoundReport], None]" = lambda report: None
    on_end: "Callable[[FederationOutcome], None]" = lambda outcome: None


def server_app(bring: Callable[[Context], ServerSide]) -> ServerApp:
    """bring: from the run's configuration."""
    app = ServerApp()
    app.main()(lambda grid, context: serve(grid, bring(context)))
    return app


def serve(grid: Grid, run: ServerSide) -> None:
    """All rounds, over this grid."""
    from training.federation.all_rounds import federate

    network = Network(grid, run.terms)
    network.wait(run.wait_s)
    run.on_end(
        federate(
            run.start,
            network,
            run.terms,
            run.plan,
            rounds=run.rounds,
            seed=run.seed,
            folder=run.folder,
            on_round=run.on_round,
        )
    )


class Network:
    """Asks sites over a grid. Which node is which site, each node says itself; nodes are admitted
    by Flower (see `--enable-supernode-auth`).
    """

    def __init__(self, grid: Grid, terms: Terms) -> None:
        self.grid, self.terms = grid, terms
        self._site_of: dict[int, str] = {}

    def nodes(self) -> dict[str, int]:
        """The node of each site that is connected now. TrainingError if two nodes say that they are
        one site.
        """
        here = set(self.grid.get_node_ids())
        new = [
            self._message({RECORD: {}}, node, "query", "who")
            for node in sorted(here - self._site_of.keys())
        ]
        for node, said in self._replies(new, SHORT_S):
            site = None if isinstance(said, Failed) else said[RECORD].get("site")
            if site in self.terms.weights:
                self._site_of[node] = str(site)
        found: dict[str, int] = {}
        for node in sorted(here & self._site_of.keys()):
            if self._site_of[node] in found:
                raise TrainingError(
                    f"two nodes say that they are site {self._site_of[node]!r}; start each site"
                    " once"
                )
            found[self._site_of[node]] = node
        return found

    def wait(self, seconds: float) -> None:
        """Until all sites are there, or enough after that time. TrainingError if not even these
        are.
        """
        until = time.monotonic() + seconds
        while len(there := self.nodes()) < len(self.terms.sites):
            if time.monotonic() > until:
                if len(there) >= self.terms.needed:
                    return
                raise TrainingError(
                    f"{len(there)} of {len(self.terms.sites)} sites came within {seconds:g} s, and"
                    f" {self.terms.needed} are needed"
                )
            time.sleep(PAUSE_S)

    def ask(self, tasks: Mapping[str, bytes], frozen: Weights) -> dict[str, bytes | Failed]:
        """As `replies.Sites.ask`; sites have their frozen adapters from the common seed, and tasks
        carry these adapters' digest.
        """
        said = {
            site: {RECORD: {"task": task, "terms": self.terms.fingerprint}}
            for site, task in tasks.items()
        }
        answers = self._answers(said, self.nodes(), "train", "round", self.terms.timeout_s)
        return {
            site: one if isinstance(one, Failed) else bytes_of(one[RECORD]).get("answer", b"")
            for site, one in answers.items()
        }

    def ask_sum(self, tasks: Mapping[str, bytes], frozen: Weights, size: int) -> Summed:
        """As `replies.Sites.ask_sum`: a message to each site in each step, with the task in the one
        before which it trains.
        """
        nodes = self.nodes()

        def ask(step: SumStep, said: Mapping[str, StepMessage]) -> dict[str, StepMessage | Failed]:
            messages: dict[str, Records] = {site: {SUM: one} for site, one in said.items()}
            if step == "mask":
                messages = {
                    site: {
                        **messages[site],
                        RECORD: {"task": tasks[site], "terms": self.terms.fingerprint},
                    }
                    for site in messages
                }
            seconds = self.terms.timeout_s if step == "mask" else min(self.terms.timeout_s, SHORT_S)
            answers = self._answers(messages, nodes, f"train.{step}", "sum", seconds)
            return {
                site: one if isinstance(one, Failed) else bytes_of(one[SUM])
                for site, one in answers.items()
            }

        return sum_over(tasks, size, ask, self.terms.needed)

    def _answers(
        self,
        said: Mapping[str, Records],
        nodes: Mapping[str, int],
        kind: str,
        group: str,
        seconds: float,
    ) -> dict[str, Records | Failed]:
        """Of each site, or why there is none; sorted."""
        found: dict[str, Records | Failed] = {
            site: Failed(f"no answer within {seconds:g} s" if site in nodes else "not connected")
            for site in sorted(said)
        }
        asked = {nodes[site]: site for site in said if site in nodes}
        messages = [
            self._message(said[site], node, kind, group) for node, site in sorted(asked.items())
        ]
        for node, reply in self._replies(messages, seconds):
            failed = None if isinstance(reply, Failed) else reply[RECORD].get("failed")
            found[asked[node]] = reply if failed is None else Failed(str(failed))
        return found

    def _message(self, said: Records, node: int, kind: str, group: str) -> Message:
        content = RecordDict({name: ConfigRecord(dict(record)) for name, record in said.items()})
        return Message(
            content,
            dst_node_id=node,
            message_type=kind,
            group_id=group,
            ttl=max(self.terms.timeout_s, 60.0) + 60,
        )

    def _replies(
        self, messages: Iterable[Message], timeout_s: float
    ) -> list[tuple[int, Records | Failed]]:
        """What came in time, by node: the record, or why there is none. An error may come from the
        SuperLink in a node's place, so replies are known by the message that they reply to.
        """
        sent = list(messages)
        waiting = {
            name: one.metadata.dst_node_id
            for name, one in zip(self.grid.push_messages(sent), sent, strict=True)
            if name
        }
        found: list[tuple[int, Records | Failed]] = []
        until = time.monotonic() + timeout_s
        while waiting and time.monotonic() < until:
            for reply in self.grid.pull_messages(list(waiting)):
                node = waiting.pop(reply.metadata.reply_to_message_id)
                found.append(
                    (
                        node,
                        (
                            Failed(f"no answer: error {reply.error.code} of Flower")
                            if reply.has_error()
                            else _read(reply)
                        ),
                    )
                )
            if waiting:
                time.sleep(PAUSE_S)
        return found


def _read(reply: Message) -> Records | Failed:
    """What the app at a site says; both records, even if they are empty."""
    records = reply.content.config_records
    if RECORD in records and SUM in records:
        return {name: dict(records[name]) for name in (RECORD, SUM)}
    return Failed("its answer lacks the records of the app at a site")
