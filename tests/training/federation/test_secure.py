"""Secure sums: exact, blind, and what happens when sites drop out."""

from collections.abc import Collection, Mapping

import numpy as np
import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.each import each
from training.errors import TrainingError
from training.federation.fixedpoint import FixedPoint
from training.federation.replies import Failed
from training.federation.secure import Masker, threshold_of, unmasked
from training.federation.shamir import PRIME, secret_from, shares_of
from training.federation.summing import StepMessage, SumStep, answered, sum_of, sum_over

SIZE = 2000
GONE = Failed("gone")
POINT = FixedPoint(largest=1.0, members=5)


def vectors(sites: str = "abcde") -> dict[str, np.ndarray]:
    return {
        site: POINT.encode(np.random.default_rng(ord(site)).uniform(-1, 1, SIZE)) for site in sites
    }


def plain_sum(of: dict[str, np.ndarray], sites: Collection[str]) -> np.ndarray:
    return sum((of[site].astype(np.uint64) for site in sites), np.zeros(SIZE, np.uint64)).astype(
        np.uint32
    )


@pytest.mark.parametrize("gone", ["", "c", "ae"])
def test_the_sum_is_exact_with_no_one_and_two_dropouts(gone: str) -> None:
    of = vectors()
    found = sum_of({site: GONE if site in gone else vector for site, vector in of.items()})
    assert np.array_equal(found.total, plain_sum(of, set(of) - set(gone)))
    assert found.failed == dict.fromkeys(gone, "gone")


@pytest.mark.parametrize("silent", ["d", "bd"])
def test_who_leaves_after_sending_is_still_in_the_sum(silent: str) -> None:
    of = vectors()
    found = sum_of(of, silent)
    assert np.array_equal(found.total, plain_sum(of, of)) and not found.failed


def test_one_drops_out_before_and_one_after_sending() -> None:
    of = vectors()
    assert np.array_equal(sum_of({**of, "a": GONE}, "b").total, plain_sum(of, "bcde"))


def test_below_the_threshold_it_fails_with_words() -> None:
    of = vectors()
    for found in (sum_of({**of, "a": GONE, "b": GONE, "c": GONE}), sum_of(of, silent="abc")):
        assert found.total is None and found.failed.keys() == of.keys()
        assert {found.failed[site] for site in "abc"} <= {"gone", "silent"}
        assert all(
            "2 of 5 sites answered to the end, and 3 are needed" in found.failed[site]
            for site in "de"
        )
    assert [threshold_of(many) for many in (2, 3, 4, 5, 10)] == [2, 2, 3, 3, 6]


def exchanged(
    sites: str = "abc",
) -> tuple[dict[str, Masker], dict[str, object], dict[str, dict[str, bytes]]]:
    members = {site: Masker(site) for site in sites}
    keys = {site: member.keys() for site, member in members.items()}
    packets = {site: member.share(keys) for site, member in members.items()}
    return (
        members,
        keys,
        {
            site: {sender: sent[site] for sender, sent in packets.items() if sender != site}
            for site in sites
        },
    )


def test_the_server_sees_only_the_sum() -> None:
    """All members send zeros, or the same ramp: each masked vector alone is uniform, and no different in the two cases."""
    ramp = POINT.encode(np.linspace(-1, 1, SIZE))
    for vector in (np.zeros(SIZE, np.uint32), ramp):
        members, keys, arrived = exchanged()
        masked = {site: member.mask(vector, arrived[site]) for site, member in members.items()}
        for one in masked.values():
            assert stats.kstest(one / 2**32, "uniform").pvalue > 1e-6
            assert abs(np.corrcoef(one.astype(float), np.arange(SIZE))[0, 1]) < 6 / SIZE**0.5
        pair = (masked["a"] + masked["b"]).astype(float)  # two without the third are as blind
        assert stats.kstest(pair / 2**32, "uniform").pvalue > 1e-6
        revealed = {site: member.reveal(masked) for site, member in members.items()}
        assert np.array_equal(unmasked(masked, keys, revealed, members), np.uint32(3) * vector)  # type: ignore[arg-type]


def test_what_the_server_is_given_does_not_bare_a_vector_that_came() -> None:
    """For a site whose vector came, only its own mask can be had; what remains still hides it behind pairwise masks."""
    members, keys, arrived = exchanged()
    vector = np.zeros(SIZE, np.uint32)
    masked = {site: member.mask(vector, arrived[site]) for site, member in members.items()}
    revealed = {site: member.reveal(masked) for site, member in members.items()}
    assert {share.kind for given in revealed.values() for share in given.values()} == {"own mask"}
    only_a = {"a": masked["a"]}
    with pytest.raises(TrainingError, match="1 of 3 sites"):
        unmasked(only_a, keys, revealed, members)  # type: ignore[arg-type]
    from training.federation.secure import _recovered, expanded

    bared = masked["a"] - expanded(_recovered("a", "own mask", revealed), SIZE)
    assert stats.kstest(bared / 2**32, "uniform").pvalue > 1e-6


def test_a_member_answers_once_and_never_for_too_few() -> None:
    members, _, arrived = exchanged("abcde")
    for site, member in members.items():
        member.mask(np.zeros(4, np.uint32), arrived[site])
    with pytest.raises(TrainingError, match="at least 3 must be in a sum"):
        members["a"].reveal("ab")
    members["a"].reveal("abcd")
    with pytest.raises(TrainingError, match="already given"):
        members["a"].reveal("bcd")


def test_shares_are_sealed_for_their_receiver() -> None:
    members, _, arrived = exchanged()
    stolen = {"a": arrived["b"]["a"], "b": arrived["c"]["b"]}
    with pytest.raises(InvalidTag):
        members["c"].mask(np.zeros(4, np.uint32), stolen)


def test_bytes_are_counted_each_way() -> None:
    found = sum_of(vectors())
    packet = 12 + 4 + 66 + 66 + 16  # nonce, point, two shares, tag
    assert found.bytes_up["a"] == 64 + 4 * packet + 4 * SIZE + 5 * 70
    assert found.bytes_down["a"] == 5 * 64 + 4 * packet


def test_a_member_can_be_kept_between_steps_and_does_each_once() -> None:
    members, keys, arrived = exchanged()
    for site in members:
        members[site] = Masker.again(members[site].kept())
    with pytest.raises(TrainingError, match="dealt already"):
        members["a"].share(keys)  # type: ignore[arg-type]
    with pytest.raises(TrainingError, match="keys of another sum"):
        Masker("a").share(keys)  # type: ignore[arg-type]
    of = vectors("abc")
    masked = {site: member.mask(of[site], arrived[site]) for site, member in members.items()}
    members = {site: Masker.again(member.kept()) for site, member in members.items()}
    with pytest.raises(TrainingError, match="masked already"):
        members["a"].mask(of["a"], arrived["a"])
    revealed = {site: member.reveal(masked) for site, member in members.items()}
    assert np.array_equal(unmasked(masked, keys, revealed, members), plain_sum(of, "abc"))  # type: ignore[arg-type]
    with pytest.raises(TrainingError, match="already given"):
        Masker.again(members["a"].kept()).reveal(masked)


@each(
    ("at", "spoilt"),
    [
        ("keys", {"packets": b"short", "masks": b""}),
        ("share", {}),
        ("mask", {"vector": b"1234"}),
        ("mask", {}),
        ("reveal", {"a": b"x"}),
        ("reveal", {}),
    ],
)
def test_a_site_whose_answer_is_none_is_left_out_and_named(
    at: str, spoilt: dict[str, bytes]
) -> None:
    of, members = vectors(), {site: Masker(site) for site in "abcde"}

    def ask(step: SumStep, said: Mapping[str, StepMessage]) -> dict[str, StepMessage | Failed]:
        return {
            site: spoilt
            if site == "c" and step == at
            else answered(members[site], step, one, lambda site=site: of[site])
            for site, one in said.items()
        }  # type: ignore[misc]

    found = sum_over(of, SIZE, ask)
    if at == "reveal":  # its vector came
        assert np.array_equal(found.total, plain_sum(of, of)) and not found.failed
    else:
        assert np.array_equal(found.total, plain_sum(of, "abde")) and found.failed == {
            "c": f"its answer to {at!r} cannot be read"
        }


def test_those_who_give_no_keys_count_for_the_threshold() -> None:
    """Otherwise a sum of two of five could be had."""
    members = {site: Masker(site) for site in "abc"}
    keys = {site: member.keys() for site, member in members.items()}
    packets = {site: member.share(keys, asked=5) for site, member in members.items()}
    members["a"].mask(np.zeros(4, np.uint32), {site: packets[site]["a"] for site in "bc"})
    with pytest.raises(TrainingError, match="2 vectors came, and at least 3 must be in a sum"):
        members["a"].reveal("ab")


@settings(max_examples=20, deadline=None)
@given(secret=st.binary(min_size=32, max_size=32), members=st.integers(1, 8), data=st.data())
def test_any_threshold_of_shares_gives_the_secret(
    secret: bytes, members: int, data: st.DataObject
) -> None:
    threshold = data.draw(st.integers(1, members))
    shares = shares_of(secret, threshold, members)
    chosen = data.draw(st.permutations(sorted(shares)))[:threshold]
    assert secret_from({point: shares[point] for point in chosen}, 32) == secret


def test_shamir_by_hand_and_one_share_too_few() -> None:
    line = {1: 7, 2: 12}  # 2 + 5 x
    assert secret_from(line, 1) == b"\x02"
    shares = shares_of(b"s" * 32, 3, 5)
    with pytest.raises(OverflowError):
        secret_from({1: shares[1], 2: shares[2]}, 32)
    with pytest.raises(ValueError, match="threshold 4 of 3"):
        shares_of(b"s", 4, 3)
    assert all(value < PRIME for value in shares.values())


@settings(max_examples=40, deadline=None)
@given(members=st.integers(1, 50), largest=st.floats(1e-6, 1e4), seed=st.integers(0, 999))
def test_fixed_point_is_as_precise_as_it_says_and_never_overflows(
    members: int, largest: float, seed: int
) -> None:
    point = FixedPoint(largest=largest, members=members)
    of = np.random.default_rng(seed).uniform(-largest, largest, (members, 20))
    of[:, 0], of[:, 1] = largest, -largest
    total = point.decode(np.sum([point.encode(one) for one in of], axis=0, dtype=np.uint32))
    np.testing.assert_allclose(total, of.sum(axis=0), atol=members * point.step)
    for one in of:
        back = point.decode(point.encode(one))
        assert np.all(
            np.abs(back) <= np.abs(one)
        )  # towards zero: no norm grows, so no clip is passed
        np.testing.assert_allclose(back, one, atol=point.step)


@pytest.mark.parametrize(
    ("value", "why"),
    [(1.001, "beyond 1, the range"), (float("nan"), "NaN"), (float("inf"), "infinite")],
)
def test_what_would_overflow_is_refused(value: float, why: str) -> None:
    with pytest.raises(TrainingError, match=why):
        POINT.encode(np.array([0.0, value]))
