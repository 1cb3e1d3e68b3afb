"""One round: a pure function of the server's state, the sites' answers and a seed (secure noise
aside).
"""

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from training.errors import TrainingError
from training.federation import aggregation, draws, messages, screening
from training.federation.replies import Failed, Gathered, SiteLinks, SiteReport
from training.federation.site import task_bytes, travelling
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.federation.updates import Array, Task, Weights

DIGITS = 9
"""Of a number of steps, at most."""


@dataclass(frozen=True, kw_only=True)
class RoundReport:
    """What a round was. Where the account counts on nobody knowing who was drawn, `drawn`,
    `answered`, `shares`, `steps` and bytes by site are None.
    """

    round: int
    sites: int
    drawn: tuple[str, ...] | None
    answered: tuple[str, ...] | None
    failed: Mapping[str, str]
    """Sites without an accepted answer, and why."""
    void: str | None
    """Why the round changed nothing; its privacy is charged all the same."""
    shares: Mapping[str, float] | None
    steps: Mapping[str, int] | None
    losses: Mapping[str, float] | None
    """By site; None with privacy."""
    bytes_down: Mapping[str, int] | None
    """`bytes_down`, `bytes_up`: by site, as it receives and sends."""
    bytes_up: Mapping[str, int] | None
    bytes_all: int
    seconds: float
    """In all."""
    learning_s: float | None
    """Within the learners, None where that is not known."""
    said: tuple[str, ...] = ()
    """What else a reader should know."""


def conduct(
    state: ServerState, sites: SiteLinks, terms: Terms, seed: int
) -> tuple[ServerState, RoundReport]:
    """The next round, wherever the sites are."""
    began, learned = time.perf_counter(), getattr(sites, "learning_s", None)
    number = state.round + 1
    drawn = (
        terms.sites
        if terms.hidden_draw
        else draws.poisson(terms.sites, terms.participation, seed, number, "seeded")
    )
    got = (
        _summed(state, sites, terms, seed, drawn)
        if terms.secure
        else _separate(state, sites, terms, seed, drawn)
    )
    void = _void(got, terms)
    after = ServerState(
        weights=state.weights,
        round=number,
        shift=state.shift,
        moments=state.moments,
        charged=state.charged + 1,
    )
    if void is None:
        after = aggregation.stepped(after, got, terms, seed)
    learned_s = None if learned is None else getattr(sites, "learning_s", 0.0) - learned
    return after, _report(number, got, terms, drawn, void, time.perf_counter() - began, learned_s)


def _tasks(state: ServerState, terms: Terms, seed: int, to: Collection[str]) -> dict[str, bytes]:
    """One message for each rank, so that sites of one rank start from the same numbers."""
    ranks = {site: terms.ranks.get(site) for site in to}
    of_rank = {
        rank: task_bytes(
            Task(
                round=state.round + 1,
                weights=travelling(aggregation.cut(state.weights, rank), terms),
                base_shift=state.shift,
            ),
            terms,
            seed,
            _frozen(state, terms),
        )
        for rank in set(ranks.values())
    }
    return {site: of_rank[rank] for site, rank in sorted(ranks.items())}


def _frozen(state: ServerState, terms: Terms) -> dict[str, Array]:
    sent = travelling(state.weights, terms)
    return {key: value for key, value in state.weights.items() if key not in sent}


def _separate(
    state: ServerState, sites: SiteLinks, terms: Terms, seed: int, drawn: Collection[str]
) -> Gathered:
    """Every update is seen by the server, and screened."""
    tasks = _tasks(state, terms, seed, drawn)
    got = Gathered(down={site: len(data) for site, data in tasks.items()})
    for site, data in sorted(sites.ask(tasks, _frozen(state, terms)).items()):
        if isinstance(data, Failed):
            got.failed[site] = data.why
            continue
        if not isinstance(data, bytes):
            got.failed[site] = f"an answer that is no bytes ({type(data).__name__})"
            continue
        got.up[site] = len(data)
        try:
            got.deltas[site], got.answered[site] = accepted(data, state, terms, site)
        except TrainingError as error:
            got.failed[site] = str(error)
    if terms.rule in ("fedavg", "fedadam"):
        got.total = aggregation.weighted_sum(
            got.deltas, terms.weights, travelling(state.weights, terms)
        )
    return got


def accepted(
    data: bytes, state: ServerState, terms: Terms, site: str
) -> tuple[Weights, SiteReport]:
    """A site's update and what it says of it. TrainingError says why it must be left out."""
    message = messages.decoded(data, terms.send)
    if message.facts.get("round") != str(state.round + 1):
        raise TrainingError(
            f"an answer to round {message.facts.get('round')}, not to {state.round + 1}"
        )
    like = travelling(aggregation.cut(state.weights, terms.ranks.get(site)), terms)
    problem = screening.problem_of(message.weights, like) or screening.too_large(
        message.weights, terms
    )
    if problem:
        raise TrainingError(problem)
    return message.weights, _told(message.facts, terms)


def _told(facts: Mapping[str, str], terms: Terms) -> SiteReport:
    """What the terms let a site say; anything else that it says is not looked at. TrainingError for
    what is no such number.
    """
    steps = None if terms.fixed else facts.get("steps")
    if steps is not None and not (steps.isascii() and steps.isdecimal() and len(steps) <= DIGITS):
        raise TrainingError(f"`steps` is {steps[:40]!r}, and must be a whole number")
    loss = facts.get("loss") if terms.tells_loss else None
    if loss is not None and not _is_number(loss):
        raise TrainingError(f"`loss` is {loss[:40]!r}, and must be a finite number")
    return SiteReport(
        steps=None if steps is None else int(steps), loss=None if loss is None else float(loss)
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _summed(
    state: ServerState, sites: SiteLinks, terms: Terms, seed: int, drawn: Collection[str]
) -> Gathered:
    """Only the sum of weighted updates is seen, with the sites' noise in it where that was
    agreed.
    """
    frozen = _frozen(state, terms)
    tasks = _tasks(state, terms, seed, drawn)
    moved = travelling(state.weights, terms)
    summed = sites.ask_sum(tasks, frozen, sum(value.size for value in moved.values()))
    got = Gathered(
        failed={site: summed.failed[site] for site in sorted(summed.failed)},
        up=dict(summed.bytes_up),
        down={site: len(tasks[site]) + many for site, many in summed.bytes_down.items()},
    )
    if summed.total is None:
        return got
    got.answered = {site: SiteReport() for site in sorted(tasks) if site not in got.failed}
    flat, at = terms.fixed_point.decode(summed.total), 0
    got.total = {}
    for key, value in sorted(moved.items()):
        got.total[key] = flat[at : at + value.size].reshape(value.shape)
        at += value.size
    if problem := screening.sum_too_large(got.total, got.answered, terms):
        got.unusable = f"the sum is {problem}; who did this cannot be seen"
    return got


def _void(got: Gathered, terms: Terms) -> str | None:
    """Too few answers."""
    many = len(got.answered)
    if many >= terms.needed:
        return got.unusable and f"{got.unusable}; the weights stay as they were"
    more = (
        "; `privacy.dropouts` says how many may be missing"
        if terms.noise_at == "sum" and terms.needed > terms.min_sites
        else ""
    )
    return (
        f"{many} of {len(terms.sites)} sites answered, and {terms.needed} are needed; the weights"
        f" stay as they were{more}"
    )


def _report(
    number: int,
    got: Gathered,
    terms: Terms,
    drawn: tuple[str, ...],
    void: str | None,
    seconds: float,
    learning_s: float | None,
) -> RoundReport:
    reveals = not terms.hidden_draw
    losses = (
        {site: told.loss for site, told in got.answered.items() if told.loss is not None}
        if terms.tells_loss
        else None
    )
    return RoundReport(
        round=number,
        sites=len(terms.sites),
        drawn=drawn if reveals else None,
        answered=tuple(got.answered) if reveals else None,
        failed=dict(got.failed),
        void=void,
        losses=losses,
        seconds=seconds,
        learning_s=learning_s,
        shares=(
            aggregation.shares(terms.weights, got.answered, fixed=terms.fixed)
            if reveals and got.answered
            else None
        ),
        steps=(
            {site: told.steps for site, told in got.answered.items() if told.steps is not None}
            if reveals
            else None
        ),
        bytes_down=dict(got.down) if reveals else None,
        bytes_up=dict(got.up) if reveals else None,
        bytes_all=sum(got.up.values()) + sum(got.down.values()),
        said=_said(got, terms, void),
    )


def _said(got: Gathered, terms: Terms, void: str | None) -> tuple[str, ...]:
    found = []
    if got.failed and void is None:
        found.append(
            "the failed sites' part counts as zero, as the sensitivity demands"
            if terms.fixed
            else "the failed sites' part was dealt to those who answered, by their weights"
        )
    if void is not None and not terms.tells_loss:
        found.append("the round is charged in the privacy account, although it changed nothing")
    return tuple(found)
