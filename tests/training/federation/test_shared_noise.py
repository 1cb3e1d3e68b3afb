"""Noise inside a secure sum: whoever decodes the sum sees it with the agreed noise, and never a single site's update."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.training.federation.leastsquares import start
from tests.training.federation.test_rounds import Moves
from training.errors import TrainingError
from training.federation.inprocess import InProcess
from training.federation.replies import Failed, Summed
from training.federation.rounds import conduct
from training.federation.secure import Masker
from training.federation.state import ServerState
from training.federation.summing import sum_of
from training.federation.terms import Terms

SITES = "abcdefghij"
STD = 0.4834
BIG = ServerState(weights={"w.lora_B.weight": np.zeros((100, 100), np.float32)})
TERMS = Terms(
    weights=dict.fromkeys(SITES, 0.1),
    fixed=True,
    clip=1.0,
    noise_at="sum",
    noise_std=STD,
    dropouts=3,
    secure=True,
    tells_loss=False,
)


class Watched(InProcess):
    """What a server that looks gets to see: the sums, decoded. gone: sites that drop out."""

    def __init__(self, terms: Terms, gone: str = "", seed: int = 1) -> None:
        super().__init__(Moves(dict.fromkeys(SITES, 0.01)), terms, seed)
        self.gone, self.seen = gone, []

    def ask_parts(self, *given: Any) -> dict[str, Any]:
        parts = super().ask_parts(*given)
        return {site: Failed("gone") if site in self.gone else parts[site] for site in parts}

    def ask_sum(self, *given: Any) -> Summed:
        found = super().ask_sum(*given)
        if found.total is not None:
            self.seen.append(self.terms.fixed_point.decode(found.total))
        return found


def decoded(gone: str = "", **more: Any) -> list[np.ndarray]:
    terms = replace(TERMS, **more)
    watched = Watched(terms, gone)
    conduct(BIG, watched, terms, 1)
    return watched.seen


@pytest.mark.parametrize("noise", ["secure", "seeded"])
def test_the_sum_that_the_server_decodes_has_the_noise_already(noise: str) -> None:
    """The spread was 0.00, and the server added the noise itself."""
    (seen,) = decoded(noise=noise)
    assert seen.std() == pytest.approx(STD * np.sqrt(10 / 7), rel=0.03)
    assert seen.mean() == pytest.approx(1.0 / 100, abs=6 * STD / 100)  # clip 1 over 10,000 numbers


def test_with_as_many_dropouts_as_are_named_there_is_noise_enough_and_with_more_no_sum() -> None:
    (seen,) = decoded(gone="abc")
    assert seen.std() == pytest.approx(STD, rel=0.03)
    assert not decoded(gone="abcd")
    state, report = conduct(BIG, Watched(TERMS, "abcd"), TERMS, 1)
    assert report.void == (
        "6 of 10 sites answered, and 7 are needed; the weights stay as they were;"
        " `privacy.dropouts` says how many may be missing"
    ) or report.void.startswith("0 of 10")  # type: ignore[union-attr]
    assert not state.weights["w.lora_B.weight"].any() and state.charged == 1


def test_with_one_site_drawn_the_sum_is_not_its_update() -> None:
    """Who is not drawn adds noise all the same."""
    for seen in (decoded(participation=0.1, hidden_draw=True, noise="secure")[0] for _ in range(3)):
        assert seen.std() == pytest.approx(STD * np.sqrt(10 / 7), rel=0.03)


def test_a_site_helps_to_reveal_no_sum_of_fewer_than_it_agreed_on() -> None:
    """Whatever the server says: the site has it from its own terms."""
    vectors = {site: np.zeros(4, np.uint32) for site in SITES}
    few = {**vectors, **dict.fromkeys("abcd", Failed("gone"))}
    assert sum_of(few).total is not None
    assert sum_of(few, least=7).total is None
    members = {site: Masker(site) for site in SITES}
    keys = {site: member.keys() for site, member in members.items()}
    packets: Mapping[str, Mapping[str, bytes]] = {
        site: member.share(keys) for site, member in members.items()
    }
    mine = {site: sent["a"] for site, sent in packets.items() if site != "a"}
    members["a"].mask(np.zeros(4, np.uint32), mine, least=7)
    again = Masker.again(members["a"].kept())
    with pytest.raises(TrainingError, match="6 vectors came, and at least 7 must be in a sum"):
        again.reveal("abcdef")


def test_min_sites_are_in_every_sum_also_without_privacy() -> None:
    open_terms = Terms(weights=dict.fromkeys(SITES, 0.1), secure=True, min_sites=8)
    _, report = conduct(start(), Watched(open_terms, "abc"), open_terms, 1)
    assert report.void and "8 are needed" in " ".join(report.failed.values())
    _, report = conduct(start(), Watched(open_terms, "ab"), open_terms, 1)
    assert not report.void
