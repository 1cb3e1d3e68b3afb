"""Rounds: they converge, sample as they say, survive bad sites, and report what was sent."""

import math
import multiprocessing
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.each import each
from tests.training.federation.leastsquares import (
    ALPHA,
    INPUTS,
    KEY_A,
    KEY_B,
    LAYER,
    OUTPUTS,
    LeastSquares,
    adapters,
    central_b,
    data,
    run_round,
    start,
)
from training.errors import TrainingError
from training.federation.draws import poisson
from training.federation.rounds import RoundReport
from training.federation.shift import dense
from training.federation.site import SiteSide, task_bytes
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.federation.updates import Learned, Learner, Task, Weights

SIZES = {"north": 60, "south": 30, "west": 10}
EVEN = {"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}
SITE_DP: dict[str, Any] = {
    "fixed": True,
    "clip": 1.0,
    "noise_std": 0.05,
    "tells_loss": False,
    "weights": EVEN,
}


def by_size(sizes: Mapping[str, int], **more: Any) -> Terms:
    return Terms(
        weights={site: size / sum(sizes.values()) for site, size in sizes.items()},
        alpha=ALPHA,
        **more,
    )


def run(
    learner: Learner,
    terms: Terms,
    rounds: int,
    state: ServerState | None = None,
    seed: int = 1,
    **more: Any,
) -> tuple[ServerState, list[RoundReport]]:
    state, reports = state or start(), []
    for _ in range(rounds):
        state, report = run_round(state, learner, terms, seed, **more)
        reports.append(report)
    return state, reports


class Moves:
    """A learner that moves every number by what a site's entry says: a number, an error to raise, or what to do with the weights."""

    def __init__(
        self,
        how: Mapping[str, float | Exception | Callable[[Weights], Weights]],
        loss: float | None = 0.5,
    ) -> None:
        self.how, self.loss = how, loss

    def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
        how = self.how[site]
        if isinstance(how, Exception):
            raise how
        moved = (
            how(weights)
            if callable(how)
            else {
                key: (value + np.float32(how)).astype(np.float32) for key, value in weights.items()
            }
        )
        return Learned(weights=moved, steps=7, loss=self.loss)


def moved(state: ServerState, before: ServerState | None = None) -> float:
    """By how much every number of the adapters moved; an error if not all alike."""
    change = np.concatenate(
        [(state.weights[key] - value).ravel() for key, value in (before or start()).weights.items()]
    )
    np.testing.assert_allclose(change, change[0], atol=1e-6)
    return float(change[0])


def test_one_local_step_is_central_gradient_descent() -> None:
    """With full batches and weights by size, the mean of the sites' gradients is the gradient over all data, round for round."""
    of = data(SIZES)
    everything = {
        "all": (
            np.concatenate([x for x, _ in of.values()]),
            np.concatenate([y for _, y in of.values()]),
        )
    }
    apart, together = start(), start()
    for _ in range(15):
        apart, _ = run_round(apart, LeastSquares(of, only_b=True), by_size(SIZES, factors="b"), 1)
        together, _ = run_round(
            together, LeastSquares(everything, only_b=True), by_size({"all": 100}, factors="b"), 1
        )
        np.testing.assert_allclose(apart.weights[KEY_B], together.weights[KEY_B], atol=1e-5)


def test_fedavg_on_iid_sites_reaches_the_central_solution() -> None:
    sizes = dict.fromkeys("abcd", 500)
    of = data(sizes)
    state, reports = run(
        LeastSquares(of, steps=3, rate=0.05, only_b=True), by_size(sizes, factors="b"), 60
    )
    best = central_b(of, adapters()[KEY_A])
    assert np.linalg.norm(state.weights[KEY_B] - best) < 0.02 * np.linalg.norm(best)
    losses = [np.mean(list(report.losses.values())) for report in reports if report.losses]
    assert (
        len(losses) == 60
        and losses[-1] < 0.9 * losses[0]
        and losses[-1] == pytest.approx(losses[-2], rel=1e-3)
    )


@each(("rule", "rate"), [("fedavg", 1.0), ("fedadam", 0.05), ("exact", 1.0), ("stack", 1.0)])
@each("send", ["fp32", "int8"])
def test_every_rule_learns(rule: str, rate: float, send: str) -> None:
    sizes = dict.fromkeys("abc", 100)
    of = data(sizes, noise=0.1, rank=2)
    _, reports = run(
        LeastSquares(of, steps=4, rate=0.05),
        by_size(sizes, rule=rule, learning_rate=rate, send=send),
        40,
    )
    first, last = (
        np.mean(list((report.losses or {}).values())) for report in (reports[0], reports[-1])
    )
    assert last < 0.35 * first


@pytest.mark.parametrize("ranks", [{}, {"a": 1}])
def test_stack_hands_sites_their_rank_and_the_shift(ranks: dict[str, int]) -> None:
    sizes = {"a": 50, "b": 50}
    of = data(sizes)
    learner = LeastSquares(of, steps=2)
    state, _ = run_round(start(), learner, by_size(sizes, rule="stack", ranks=ranks), 1)
    after = {
        site: LeastSquares(of, steps=2)
        .learn(
            site,
            {
                KEY_A: adapters()[KEY_A][: ranks.get(site, 2)],
                KEY_B: np.zeros((OUTPUTS, ranks.get(site, 2)), np.float32),
            },
            1,
            None,
        )
        .weights
        for site in sizes
    }
    wanted = sum(
        0.5 * ALPHA / one[KEY_A].shape[0] * one[KEY_B] @ one[KEY_A] for one in after.values()
    )
    np.testing.assert_allclose((dense(state.shift) or {})[LAYER], wanted, atol=1e-5)
    run_round(state, learner, by_size(sizes, rule="stack", ranks=ranks), 1)
    np.testing.assert_allclose((learner.shifts[-1] or {})[LAYER], wanted, atol=1e-5)
    assert learner.shifts[:2] == [None, None]


def test_a_round_is_a_pure_function_of_state_and_seed() -> None:
    of = data(SIZES)
    for terms in (
        by_size(SIZES, send="int8", participation=0.7),
        by_size(SIZES, rule="stack"),
        by_size(SIZES, rule="fedadam", learning_rate=0.1),
    ):
        (one, first), (two, second) = (
            run_round(start(), LeastSquares(of), terms, 5) for _ in range(2)
        )
        assert all(np.array_equal(one.weights[key], two.weights[key]) for key in one.weights)
        assert replace(first, seconds=0, learning_s=0) == replace(second, seconds=0, learning_s=0)


def test_order_of_sites_and_a_pool_of_workers_change_nothing() -> None:
    of = data(SIZES)
    one, _ = run_round(start(), LeastSquares(of), by_size(SIZES), 1)
    turned, _ = run_round(start(), LeastSquares(of), by_size(dict(reversed(SIZES.items()))), 1)
    with ThreadPoolExecutor(2) as pool:
        pooled, report = run_round(start(), LeastSquares(of), by_size(SIZES), 1, workers=pool)
    for key, value in one.weights.items():
        assert np.array_equal(value, turned.weights[key]) and np.array_equal(
            value, pooled.weights[key]
        )
    assert report.learning_s is None


def test_participation_is_poisson() -> None:
    """Each site alone with probability 0.3: sizes vary as a binomial does, empty rounds included, and sites are independent."""
    sites = [f"s{at}" for at in range(6)]
    drawn = [poisson(sites, 0.3, 1, number, "seeded") for number in range(1, 601)]
    there = np.array([[site in here for site in sites] for here in drawn])
    assert there.mean() == pytest.approx(0.3, abs=5 * math.sqrt(0.21 / there.size))
    sizes = there.sum(axis=1)
    assert sizes.var() == pytest.approx(6 * 0.21, rel=0.3) and set(sizes) >= {0, 1, 2, 3, 4}
    together = np.corrcoef(there.T) - np.eye(6)
    assert np.abs(together).max() < 5 / math.sqrt(600)
    assert len({poisson(sites, 0.5, 1, 1, "secure") for _ in range(40)}) > 5
    _, reports = run(
        Moves(dict.fromkeys(sites, 0.0)),
        Terms(weights=dict.fromkeys(sites, 1 / 6), participation=0.3),
        40,
    )
    assert [report.drawn for report in reports] == drawn[:40]
    assert [report.void is None for report in reports] == [
        bool(here) for here in drawn[:40]
    ] and () in drawn[:40]


BAD: dict[str, tuple[Any, str]] = {
    "raises": (RuntimeError("out of memory"), "RuntimeError: out of memory"),
    "exits": (TrainingError("no data here"), "no data here"),
    "nan": (float("nan"), "entries that are not finite"),
    "inf": (
        lambda weights: {key: np.full_like(value, np.inf) for key, value in weights.items()},
        "entries that are not finite",
    ),
    "shape": (
        lambda weights: {key: value[:1] for key, value in weights.items()},
        r"has shape \(1, 6\), not \(2, 6\)",
    ),
    "dtype": (
        lambda weights: {key: value.astype(np.float64) for key, value in weights.items()},
        "is float64, not float32",
    ),
    "missing": (lambda weights: {KEY_A: weights[KEY_A]}, "1 of 2 tensors are missing"),
    "extra": (
        lambda weights: {**weights, "spy": weights[KEY_A]},
        "1 tensors that nobody asked for, such as 'spy'",
    ),
}


@each("bad", sorted(BAD))
def test_a_bad_site_is_left_out_and_named_and_the_others_take_its_weight(bad: str) -> None:
    how, why = BAD[bad]
    state, report = run_round(
        start(), Moves({"a": 1.0, "b": how, "c": 3.0, "d": 2.0}), Terms(weights=EVEN), 1
    )
    assert list(report.failed) == ["b"]
    with pytest.raises(TrainingError, match=why):
        raise TrainingError(report.failed["b"])
    assert moved(state) == pytest.approx(2) and report.answered == ("a", "c", "d")
    assert report.shares == pytest.approx({"a": 1 / 3, "c": 1 / 3, "d": 1 / 3})
    assert report.said == (
        "the failed sites' part was dealt to those who answered, by their weights",
    )


@each("bad", sorted(BAD))
def test_with_site_privacy_a_bad_site_counts_as_zero_and_its_words_stay_home(bad: str) -> None:
    terms = Terms(**{**SITE_DP, "clip": 100.0, "noise_std": 1e-9, "noise_at": "each_site"})
    state, report = run_round(
        start(), Moves({"a": 1.0, "b": BAD[bad][0], "c": 3.0, "d": 2.0}), terms, 1
    )
    assert moved(state) == pytest.approx(6 / 4)  # a fixed denominator of four
    assert report.losses is None and report.steps == {}
    if bad != "raises":  # what numbers may cause is answered with noise (see test_lying_server)
        assert not report.failed and report.answered == ("a", "b", "c", "d")
        return
    assert report.failed == {"b": "failed there (RuntimeError); the site's own log says why"}
    assert report.shares == {"a": 0.25, "c": 0.25, "d": 0.25}
    assert report.said == ("the failed sites' part counts as zero, as the sensitivity demands",)


def test_a_site_that_hangs_is_left_out_and_does_not_meet_the_next_one_in_the_learner() -> None:
    free, together = threading.Event(), []

    class Hangs(Moves):
        def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
            together.append(site)
            if site == "b":
                free.wait(5)
                together.remove(site)
            else:
                assert together == [site] or "b" not in together
                together.remove(site)
            return super().learn(site, weights, round, shift)

    began = time.perf_counter()
    state, report = run_round(
        start(), Hangs(dict.fromkeys(EVEN, 1.0)), Terms(weights=EVEN, timeout_s=0.1), 1
    )
    free.set()
    assert time.perf_counter() - began < 2
    assert report.failed == {
        "b": "no answer within 0.1 s",
        **dict.fromkeys(
            "cd", "not begun: the learner is still busy with 'b', which did not answer in time"
        ),
    }
    assert report.answered == ("a",) and moved(state) == pytest.approx(1)


def test_with_workers_only_the_site_that_hangs_is_left_out() -> None:
    free = threading.Event()

    def hang(weights: Weights) -> Weights:
        free.wait(5)
        return weights

    with ThreadPoolExecutor(4) as pool:
        _, report = run_round(
            start(),
            Moves({"a": 1.0, "b": hang, "c": 1.0, "d": RuntimeError("x")}),
            Terms(weights=EVEN, timeout_s=0.2),
            1,
            pool,
        )
        free.set()
    assert report.failed == {
        "b": "no answer within 0.2 s",
        "d": "RuntimeError: x",
    } and report.answered == ("a", "c")


def test_too_few_answers_make_a_round_void_and_it_is_charged() -> None:
    terms = Terms(**SITE_DP, noise_at="each_site", min_sites=3)
    state, report = run_round(
        start(),
        Moves({"a": 1.0, "b": RuntimeError("x"), "c": RuntimeError("x"), "d": 2.0}),
        terms,
        1,
    )
    assert report.void == "2 of 4 sites answered, and 3 are needed; the weights stay as they were"
    assert moved(state) == 0 and (state.round, state.charged) == (1, 1)
    assert report.said == (
        "the round is charged in the privacy account, although it changed nothing",
    )


def test_zero_updates_change_nothing_and_divide_by_nothing() -> None:
    for terms in (
        Terms(weights=EVEN),
        Terms(weights=EVEN, send="int8"),
        Terms(weights=EVEN, rule="fedadam", learning_rate=0.1),
    ):
        state, report = run_round(start(), Moves(dict.fromkeys(EVEN, 0.0)), terms, 1)
        assert not report.failed and moved(state) == 0
    clipped = Terms(**{**SITE_DP, "noise_at": "each_site", "noise_std": 1e-9})
    assert moved(
        run_round(start(), Moves(dict.fromkeys(EVEN, 0.0)), clipped, 1)[0]
    ) == pytest.approx(0, abs=1e-6)


def test_a_loss_that_is_no_number_is_a_failure() -> None:
    _, report = run_round(
        start(), Moves(dict.fromkeys(EVEN, 1.0), loss=math.nan), Terms(weights=EVEN), 1
    )
    assert report.failed == dict.fromkeys("abcd", "its loss is nan")


NOISY = [("each_site", False, 0.05 * 0.5), ("sum", True, 0.05)]


@each(("noise_at", "secure", "std"), NOISY)
@each("noise", ["seeded", "secure"])
def test_noise_is_in_the_result_as_the_account_says(
    noise_at: str, secure: bool, std: float, noise: str
) -> None:
    """On the average: noise_std itself where sites share it; where each of four sites adds it, half of that (1/4 * sqrt 4)."""
    terms = Terms(**SITE_DP, noise_at=noise_at, secure=secure, noise=noise)  # type: ignore[arg-type]
    big = ServerState(weights={"w.lora_B.weight": np.zeros((200, 50), np.float32)})
    state, _ = run_round(big, Moves(dict.fromkeys(EVEN, 0.0)), terms, 1)
    assert state.weights["w.lora_B.weight"].std() == pytest.approx(
        std, rel=0.05
    )  # standard error 0.7%
    again, _ = run_round(big, Moves(dict.fromkeys(EVEN, 0.0)), terms, 1)
    assert np.array_equal(again.weights["w.lora_B.weight"], state.weights["w.lora_B.weight"]) == (
        noise == "seeded"
    )


def test_no_site_moves_the_average_by_more_than_clip_times_its_weight() -> None:
    """The sensitivity of `noise_at: sum`: whole numbers may not lengthen an update. Both runs have the same noise."""
    weights = {"a": 0.6, "b": 0.3, "c": 0.1}
    terms = Terms(
        weights=weights,
        fixed=True,
        clip=1.0,
        noise_at="sum",
        noise_std=0.3,
        secure=True,
        tells_loss=False,
    )
    for site, weight in weights.items():
        state, _ = run_round(start(), Moves({**dict.fromkeys(weights, 0.0), site: 1e3}), terms, 1)
        none, _ = run_round(start(), Moves(dict.fromkeys(weights, 0.0)), terms, 1)
        length = math.sqrt(
            sum(
                float(np.sum((state.weights[key].astype(float) - none.weights[key]) ** 2))
                for key in state.weights
            )
        )
        assert 0.95 * weight < length <= weight * (1 + 1e-5)


@pytest.mark.slow
def test_a_draw_that_counts_is_not_told_and_the_average_stays_unbiased() -> None:
    terms = Terms(**SITE_DP, noise_at="sum", participation=0.5, hidden_draw=True, secure=True)
    learner, still = Moves(dict.fromkeys(EVEN, 0.1)), Moves(dict.fromkeys(EVEN, 0.0))
    steps = []
    for seed in range(120):
        state, report = run_round(start(), learner, terms, seed)
        assert (
            report.drawn,
            report.answered,
            report.shares,
            report.steps,
            report.bytes_up,
            report.bytes_down,
        ) == (None,) * 6
        assert report.void is None
        noise, _ = run_round(start(), still, terms, seed)
        steps.append(moved(state, noise))
    assert set(np.round(steps, 4)) == {
        0,
        0.05,
        0.1,
        0.15,
        0.2,
    }  # a number of sites, over four, over the probability
    assert np.mean(steps) == pytest.approx(0.1, abs=5 * 0.05 / math.sqrt(120))


def test_who_is_not_drawn_trains_all_the_same_and_sends_noise_alone() -> None:
    """The site draws; the server is told neither by a message nor by the time that it takes."""
    terms = Terms(**SITE_DP, noise_at="sum", participation=0.5, hidden_draw=True, secure=True)
    task = task_bytes(Task(round=1, weights=start().weights, base_shift=None), terms, 1, {})
    took_part = []
    for seed in range(40):
        learner = Moves({"a": 0.1})
        part, alone = (
            SiteSide(name="a", learner=one, terms=terms, seed=seed, frozen={}).masked_part(task)
            for one in (learner, Moves({"a": 0.0}))
        )
        took_part.append(not np.array_equal(part, alone))
        assert terms.fixed_point.decode(alone).any()
    assert 8 < sum(took_part) < 32
    learner = LeastSquares(data(dict.fromkeys(EVEN, 20)))
    run_round(start(), learner, terms, 1)
    assert sorted(learner.seen) == [(site, 1) for site in sorted(EVEN)]


def test_a_secure_sum_gives_what_a_plain_average_gives_with_failures_too() -> None:
    of = data(SIZES)

    class Fails(LeastSquares):
        def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
            if site == "south":
                raise RuntimeError("gone")
            return super().learn(site, weights, round, shift)

    for learner in (LeastSquares(of), Fails(of)):
        plain, _ = run_round(start(), learner, by_size(SIZES), 1)
        secure, report = run_round(start(), learner, by_size(SIZES, secure=True), 1)
        for key, value in plain.weights.items():
            np.testing.assert_allclose(secure.weights[key], value, atol=1e-6)
        assert (
            report.answered
            == (tuple(SIZES) if learner.__class__ is LeastSquares else ("north", "west"))
            and not report.losses
        )
    nobody, report = run_round(
        start(),
        Moves({"north": 1.0, "south": RuntimeError("x"), "west": RuntimeError("y")}),
        by_size(SIZES, secure=True),
        1,
    )
    assert (
        "1 of 3 sites answered to the end, and 2 are needed" in report.failed["north"]
        and report.void
        and moved(nobody) == 0
    )


def test_ffa_sends_and_moves_lora_b_only() -> None:
    of = data(SIZES)
    state, report = run_round(
        start(), LeastSquares(of, only_b=True), by_size(SIZES, factors="b"), 1
    )
    assert np.array_equal(state.weights[KEY_A], adapters()[KEY_A]) and state.weights[KEY_B].any()
    _, both = run_round(start(), LeastSquares(of), by_size(SIZES), 1)
    assert (report.bytes_up or {})["north"] < (both.bytes_up or {})["north"] - 4 * 2 * INPUTS
    _, cheats = run_round(start(), LeastSquares(of), by_size(SIZES, factors="b"), 1)
    assert not cheats.failed  # B is still zero, so its gradient left A alone
    _, cheats = run_round(state, LeastSquares(of), by_size(SIZES, factors="b"), 1)
    assert set(cheats.failed.values()) == {
        "lora_A was trained, and `lora.train: b` says that it is frozen"
    }


def test_bytes_each_way_are_the_messages_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    from training.federation.inprocess import InProcess

    asked: dict[str, Any] = {}
    real = InProcess.ask

    def spy(self: InProcess, tasks: Mapping[str, bytes], frozen: Weights) -> Any:
        asked["down"], asked["up"] = tasks, real(self, tasks, frozen)
        return asked["up"]

    monkeypatch.setattr(InProcess, "ask", spy)
    _, report = run_round(start(), LeastSquares(data(SIZES)), by_size(SIZES), 1)
    assert report.bytes_down == {site: len(text) for site, text in asked["down"].items()}
    assert report.bytes_up == {site: len(text) for site, text in asked["up"].items()}
    assert report.bytes_all == sum(report.bytes_down.values()) + sum(report.bytes_up.values())
    assert 0 <= (report.learning_s or 0) <= report.seconds


def test_an_answer_to_another_round_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from training.federation import inprocess

    class Stale(inprocess.InProcess):
        def ask(self, tasks: Mapping[str, bytes], frozen: Weights) -> dict[str, Any]:
            return super().ask(
                {
                    site: text.replace(b'"round":"1"', b'"round":"9"')
                    for site, text in tasks.items()
                },
                frozen,
            )

    from training.federation.rounds import conduct

    terms = by_size(SIZES)
    _, report = conduct(start(), Stale(LeastSquares(data(SIZES)), terms, 1), terms, 1)
    assert set(report.failed.values()) == {"an answer to round 9, not to 1"} and report.void


@each(
    ("wrong", "why"),
    [
        ({"weights": {}}, "weights of sites"),
        ({"weights": {"a": 0.7, "b": 0.7}}, "weights of sites"),
        ({"participation": 0.0}, "participation 0"),
        ({"noise_at": "sum", "noise_std": 1.0}, "without them there is no sensitivity"),
        ({"noise_at": "sum", "fixed": True, "clip": 1.0}, "without them there is no sensitivity"),
        ({"fixed": True, "rule": "stack"}, "`stack` multiplies updates"),
        ({"factors": "b", "rule": "exact"}, "`fedavg` is already exact"),
        ({"ranks": {"a": 4}}, "unequal ranks cannot be averaged by `fedavg`"),
        ({"secure": True, "weights": {"a": 0.5, "b": 0.5}}, "need three sites or more"),
        ({"secure": True, "send": "int8"}, "`send: fp32`"),
        ({**SITE_DP, "noise_at": "sum"}, "need a secure sum"),
        ({"hidden_draw": True}, "need a secure sum"),
        ({"dropouts": 1}, "where sites share the noise"),
        ({**SITE_DP, "noise_at": "sum", "secure": True, "dropouts": 2}, "more than half"),
        ({**SITE_DP, "noise_at": "sum", "secure": True, "noise_std": 1e-12}, "is too little"),
        ({"min_sites": 5}, "every round would be void"),
    ],
)
def test_terms_that_cannot_hold_are_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(TrainingError, match=why):
        Terms(**{"weights": EVEN, **wrong})


def test_sites_can_be_trained_in_other_processes() -> None:
    of = data(SIZES)
    one, _ = run_round(start(), LeastSquares(of), by_size(SIZES), 1)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        two, report = run_round(start(), LeastSquares(of), by_size(SIZES), 1, workers=pool)
    assert not report.failed and all(
        np.array_equal(two.weights[key], value) for key, value in one.weights.items()
    )
