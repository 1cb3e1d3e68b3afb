"""The server as a Flower ServerApp: rounds as in one process, with tasks and answers carried by SuperLink and SuperNodes."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

from training.errors import TrainingError
from training.federation.course import Outcome, federate
from training.federation.flower.client import RECORD
from training.federation.inprocess import Failed
from training.federation.rounds import RoundReport
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.federation.updates import Weights
from training.plan import Plan

PAUSE_S = 0.2
WHO_S = 120.0
"""For a site to say its name; Flower starts a process for it, which takes seconds, or many on a busy machine."""


@dataclass(frozen=True, kw_only=True)
class ServerSide:
    """What a federation is, as `course.federate` takes it. wait_s: for all sites to be there before the first round."""

    start: ServerState
    terms: Terms
    plan: Plan | None
    rounds: int
    seed: int
    folder: Path
    wait_s: float = 600.0
    on_round: Callable[[RoundReport], None] = lambda report: None
    on_end: Callable[[Outcome], None] = lambda outcome: None


def server_app(bring: Callable[[Context], ServerSide]) -> ServerApp:
    """bring: from the run's configuration."""
    app = ServerApp()

    def main(grid: Grid, context: Context) -> None:
        run = bring(context)
        network = Network(grid, run.terms)
        network.wait(run.wait_s)
        run.on_end(federate(
            run.start, network, run.terms, run.plan, rounds=run.rounds, seed=run.seed, folder=run.folder, on_round=run.on_round,
        ))

    app.main()(main)
    return app


class Network:
    """Asks sites over a grid. Which node is which site, each node says itself; nodes are admitted by Flower (see `--enable-supernode-auth`)."""

    def __init__(self, grid: Grid, terms: Terms) -> None:
        self.grid, self.terms = grid, terms
        self._site_of: dict[int, str] = {}

    def nodes(self) -> dict[str, int]:
        """The node of each site that is connected now. TrainingError if two nodes say that they are one site."""
        here = set(self.grid.get_node_ids())
        new = [self._message({}, node, "query", "who") for node in sorted(here - self._site_of.keys())]
        for node, said in self._replies(new, WHO_S):
            if isinstance(said, Mapping) and said.get("site") in self.terms.weights:
                self._site_of[node] = str(said["site"])
        found: dict[str, int] = {}
        for node in sorted(here & self._site_of.keys()):
            if self._site_of[node] in found:
                raise TrainingError(f"two nodes say that they are site {self._site_of[node]!r}; start each site once")
            found[self._site_of[node]] = node
        return found

    def wait(self, seconds: float) -> None:
        """Until all sites are there, or enough after that time. TrainingError if not even these are."""
        until = time.monotonic() + seconds
        while len(there := self.nodes()) < len(self.terms.sites):
            if time.monotonic() > until:
                if len(there) >= self.terms.min_sites:
                    return
                raise TrainingError(f"{len(there)} of {len(self.terms.sites)} sites came within {seconds:g} s, and {self.terms.min_sites} are needed")
            time.sleep(PAUSE_S)

    def ask(self, tasks: Mapping[str, bytes], frozen: Weights) -> dict[str, bytes | Failed]:
        """As `rounds.Sites.ask`; sites have their frozen adapters from the common seed, and tasks carry these adapters' digest."""
        nodes = self.nodes()
        found: dict[str, bytes | Failed] = {site: Failed("not connected") for site in tasks if site not in nodes}
        asked = {nodes[site]: site for site in tasks if site in nodes}
        messages = [
            self._message({"task": tasks[site], "terms": self.terms.fingerprint}, node, "train", "round") for node, site in sorted(asked.items())
        ]
        for node, said in self._replies(messages, self.terms.timeout_s):
            found[asked[node]] = _answer(said)
        late = Failed(f"no answer within {self.terms.timeout_s:g} s")
        return {site: found.get(site, late) for site in sorted(tasks)}

    def ask_parts(self, tasks: Mapping[str, bytes], drawn: Collection[str], frozen: Weights) -> dict[str, Any]:
        """Refused: a vector that is not masked yet must not travel."""
        raise TrainingError("averaging.secure: secure sums are made between sites of one process only, so far; not over Flower")

    def _message(self, said: Mapping[str, str | bytes], node: int, kind: str, group: str) -> Message:
        record: dict[str, Any] = dict(said)
        content = RecordDict({RECORD: ConfigRecord(record)})
        return Message(content, dst_node_id=node, message_type=kind, group_id=group, ttl=max(self.terms.timeout_s, 60.0) + 60)

    def _replies(self, messages: Iterable[Message], timeout_s: float) -> list[tuple[int, Mapping[str, Any] | Failed]]:
        """What came in time, by node: the record, or why there is none. An error may come from the SuperLink in a node's place, so
        replies are known by the message that they reply to."""
        sent = list(messages)
        waiting = {name: one.metadata.dst_node_id for name, one in zip(self.grid.push_messages(sent), sent, strict=True) if name}
        found: list[tuple[int, Mapping[str, Any] | Failed]] = []
        until = time.monotonic() + timeout_s
        while waiting and time.monotonic() < until:
            for reply in self.grid.pull_messages(list(waiting)):
                node = waiting.pop(reply.metadata.reply_to_message_id)
                failed = Failed(f"no answer: error {reply.error.code} of Flower") if reply.has_error() else None
                found.append((node, failed or reply.content.config_records[RECORD]))
            time.sleep(PAUSE_S)
        return found


def _answer(said: Mapping[str, Any] | Failed) -> bytes | Failed:
    if isinstance(said, Failed):
        return said
    if "answer" in said:
        return bytes(said["answer"])
    return Failed(str(said.get("failed", "an answer that is none")))
