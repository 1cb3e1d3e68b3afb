"""A site that sends what it likes: too much of it, or words of the wrong kind."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tests.each import each
from tests.training.federation.leastsquares import start
from tests.training.federation.test_rounds import EVEN, SITE_DP, Moves, moved
from training.federation import messages
from training.federation.fixedpoint import Residues
from training.federation.inprocess import InProcess
from training.federation.replies import Failed, Summed
from training.federation.rounds import RoundReport, conduct
from training.federation.screening import UNLIKELY, reach, too_large
from training.federation.state import ServerState
from training.federation.terms import UNCLIPPED, Terms
from training.federation.updates import Weights, norm_of
from training.privacy.noise import generator

SENDS = ["fp32", "fp16", "int8"]
CLIPPED: dict[str, Any] = {
    "weights": EVEN,
    "fixed": True,
    "clip": 0.1,
    "noise_std": 0.02,
    "noise_at": "each_site",
    "noise": "seeded",
    "tells_loss": False,
}


class Lies(InProcess):
    """`b` sends other bytes than the honest ones."""

    def __init__(self, terms: Terms, lie: Callable[[bytes], Any], by: float = 0.0) -> None:
        super().__init__(Moves(dict.fromkeys(EVEN, by)), terms, 1)
        self.lie = lie

    def ask(self, tasks: Mapping[str, bytes], frozen: Weights) -> dict[str, bytes | Failed]:
        found = super().ask(tasks, frozen)
        honest = found["b"]
        assert isinstance(honest, bytes)
        return {**found, "b": self.lie(honest)}


def sent(terms: Terms, lie: Callable[[bytes], Any], **more: Any) -> tuple[ServerState, RoundReport]:
    return conduct(start(), Lies(terms, lie, **more), terms, 1)


def saying(
    send: str = "fp32", value: float | None = None, **facts: str
) -> Callable[[bytes], bytes]:
    """The honest answer, with other numbers or facts."""

    def lie(honest: bytes) -> bytes:
        told = messages.decoded(honest, send)  # type: ignore[arg-type]
        weights = {
            key: here if value is None else np.full_like(here, value)
            for key, here in told.weights.items()
        }
        rest = {key: text for key, text in told.facts.items() if key != "send"}
        return messages.encoded(weights, send, {**rest, **facts}, generator((1,)))  # type: ignore[arg-type]

    return lie


@each("send", SENDS)
@each("size", [0.3, 1e3, 1e30])
def test_an_update_above_clip_and_noise_is_left_out_and_named(send: str, size: float) -> None:
    if send == "fp16" and size > 1e4:
        return  # no number of float16
    terms = Terms(**CLIPPED, send=send)
    state, report = sent(terms, saying(send, size))
    assert list(report.failed) == ["b"]
    assert "too large: its norm is" in report.failed["b"] and "a clip of 0.1" in report.failed["b"]
    honest, _ = sent(terms, lambda honest: honest)
    assert all(
        np.abs(state.weights[key] - honest.weights[key]).max() < 0.1 for key in state.weights
    )


@pytest.mark.parametrize("send", SENDS)
def test_without_a_clip_an_entry_beyond_the_range_of_secure_sums_is_left_out(send: str) -> None:
    terms = Terms(weights=EVEN, send=send)  # type: ignore[arg-type]
    for size in (UNCLIPPED * 1.1, -1000.0):
        state, report = sent(terms, saying(send, size))
        assert (
            list(report.failed) == ["b"] and "too large: it has an entry of" in report.failed["b"]
        )
        assert moved(state) == 0
    state, report = sent(terms, saying(send, UNCLIPPED))
    assert not report.failed and moved(state) == pytest.approx(UNCLIPPED / 4)


def test_an_honest_site_whose_update_is_beyond_the_range_says_so_itself() -> None:
    state, report = conduct(
        start(),
        InProcess(Moves({**dict.fromkeys(EVEN, 0.0), "b": 20.0}), Terms(weights=EVEN), 1),
        Terms(weights=EVEN),
        1,
    )
    assert "take a smaller learning_rate" in report.failed["b"] and moved(state) == 0


@each("send", SENDS)
@each("shape", [(5, 2), (300, 40), (1, 2000)])
def test_no_honest_update_is_refused(send: str, shape: tuple[int, int]) -> None:
    """However the clipped update lies: spread over all entries, or in a single one."""
    terms = Terms(**CLIPPED, send=send)
    rng = generator((2,))
    for at in range(40):
        update = np.zeros(shape)
        if at % 2:
            update[0, 0] = 0.1
        else:
            update[:] = 0.1 / math.sqrt(update.size)
        noisy = (update + rng.normal(0, 0.02, shape)).astype(np.float32)
        data = messages.encoded({"w": noisy}, terms.send, {}, rng)
        assert too_large(messages.decoded(data, terms.send).weights, terms) is None


def test_the_reach_of_noise_holds_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one in twenty may be beyond it, no more are, and the bound is not far off."""
    assert UNLIKELY <= 1e-12
    monkeypatch.setattr("training.federation.screening.UNLIKELY", 0.05)
    rng = generator((3,))
    for size in (1, 10, 1000):
        drawn = rng.normal(0, 0.5, (4000, size))
        drawn[:, 0] += 2.0
        norms = np.sqrt((drawn**2).sum(axis=1))
        beyond = float((norms > reach(2.0, 0.5, size)).mean())
        assert beyond < 0.05 and reach(2.0, 0.5, size) < 1.7 * float(np.median(norms))


BAD_FACTS: list[tuple[dict[str, str], str]] = [
    ({"steps": "many"}, "`steps` is 'many'"),
    ({"steps": "-3"}, "`steps` is '-3'"),
    ({"steps": "9" * 5000}, "`steps` is '9999"),
    ({"steps": "None"}, "`steps` is 'None'"),
    ({"loss": "bad"}, "`loss` is 'bad'"),
    ({"loss": "nan"}, "`loss` is 'nan'"),
    ({"loss": "None"}, "`loss` is 'None'"),
    ({"loss": "9" * 5000}, "`loss` is '9999"),
    ({"round": "None"}, "an answer to round None"),
]


@each(("facts", "why"), BAD_FACTS)
def test_words_of_the_wrong_kind_leave_that_site_out(facts: dict[str, str], why: str) -> None:
    state, report = sent(Terms(weights=EVEN), saying(**facts), by=1.0)
    assert list(report.failed) == ["b"] and why in report.failed["b"]
    assert len(report.failed["b"]) < 120
    assert report.answered == ("a", "c", "d") and moved(state) == pytest.approx(1)


@each("answer", [None, "text", 7, {}])
def test_an_answer_that_is_no_bytes_leaves_that_site_out(answer: Any) -> None:
    _, report = sent(Terms(weights=EVEN), lambda honest: answer)
    assert "no bytes" in report.failed["b"] and report.answered == ("a", "c", "d")


def test_metadata_of_nothing_is_no_message() -> None:
    """`__metadata__: null` is a header that the library reads."""

    def bare(honest: bytes) -> bytes:
        header = b'{"__metadata__":null}   '
        return len(header).to_bytes(8, "little") + header

    _, report = sent(Terms(weights=EVEN), bare)
    assert list(report.failed) == ["b"]


def test_a_site_tells_no_loss_and_no_steps_where_nobody_asked() -> None:
    """What it says all the same is not read, and so cannot end the round."""
    _, report = sent(Terms(**CLIPPED), saying(steps="many", loss="bad"))
    assert not report.failed and report.steps == {} and report.losses is None


class Adds(InProcess):
    """`b` adds to its vector for a secure sum."""

    def __init__(self, terms: Terms, what: Callable[[Residues], Residues]) -> None:
        super().__init__(Moves(dict.fromkeys(EVEN, 0.0)), terms, 1)
        self.what = what

    def ask_parts(
        self, tasks: Mapping[str, bytes], frozen: Weights
    ) -> dict[str, Residues | Failed]:
        found = super().ask_parts(tasks, frozen)
        honest = found["b"]
        assert not isinstance(honest, Failed)
        return {**found, "b": self.what(honest)}


SECURE = [
    Terms(weights=EVEN, secure=True),
    Terms(**CLIPPED, secure=True),
    Terms(**{**SITE_DP, "noise": "seeded"}, noise_at="sum", secure=True),
    Terms(**{**SITE_DP, "noise": "seeded"}, noise_at="sum", secure=True, dropouts=1),
]


@each("terms", SECURE)
def test_a_sum_beyond_what_all_may_move_is_not_used(terms: Terms) -> None:
    rng = generator((4,))
    for what in (
        lambda part: part + np.uint32(3 * 2**29),
        lambda part: rng.integers(0, 2**32, part.size, dtype=np.uint32),
    ):
        state, report = conduct(start(), Adds(terms, what), terms, 1)
        assert report.void is not None and "who did this cannot be seen" in report.void
        assert moved(state) == 0 and state.charged == 1 and not report.failed
    state, report = conduct(start(), Adds(terms, lambda part: part), terms, 1)
    assert report.void is None


@each("terms", SECURE)
def test_honest_sums_are_used_in_many_rounds_and_with_one_missing(terms: Terms) -> None:
    learner = Moves({**dict.fromkeys(EVEN, 0.15), "d": RuntimeError("gone")})
    if terms.noise_at == "sum" and not terms.dropouts:
        learner = Moves(dict.fromkeys(EVEN, 0.15))
    state, sites = start(), InProcess(learner, terms, 1)
    for _ in range(20):
        state, report = conduct(state, sites, terms, 1)
        assert report.void is None


def test_a_member_whose_answer_is_nothing_is_left_out_of_the_sum() -> None:
    from training.federation.summing import sum_over

    def ask(step: str, said: Mapping[str, Any]) -> Any:
        return dict.fromkeys(said)

    found: Summed = sum_over(EVEN, 3, ask)  # type: ignore[arg-type]
    assert found.total is None and "cannot be read" in found.failed["b"]


def test_norms_of_huge_updates_are_not_lost() -> None:
    assert norm_of({"a": np.full(9, 3e38, np.float32)}) > 8e38
