"""A secure sum, step by step, wherever the members are: the server's side of all steps, and a
site's answer to each.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Literal, TypeVar

import numpy as np

from training.errors import TrainingError
from training.federation.fixedpoint import Residues
from training.federation.replies import Failed, Summed
from training.federation.secure import (
    KEY_BYTES,
    Kind,
    Masker,
    PublicKeys,
    Revealed,
    enough,
    unmasked,
)
from training.federation.shamir import SHARE_BYTES

SumStep = Literal["keys", "share", "mask", "reveal"]
StepMessage = Mapping[str, bytes]
"""What one step says to a site, or a site to it: by the name of a site that it is about, or by what
it is.
"""
AskSites = Callable[[SumStep, Mapping[str, StepMessage]], Mapping[str, StepMessage | Failed]]
Read = TypeVar("Read")
KINDS: dict[bytes, Kind] = {b"o": "own mask", b"p": "pairwise key"}
POINT_BYTES = 3


def sum_over(sites: Collection[str], size: int, ask: AskSites, least: int = 0) -> Summed:
    """The sum of the sites' vectors. size: numbers in each. ask: puts a step to several sites; who
    fails in one is not asked again. Who fails after its vector came is still in the sum. least: how
    many vectors it must have.
    """
    server = _Server(sites, ask, least)
    try:
        total = server.total(size)
    except TrainingError as error:
        total = None
        server.failed |= {site: str(error) for site in sites if site not in server.failed}
    return Summed(total=total, failed=server.failed, bytes_up=server.up, bytes_down=server.down)


class _Server:
    def __init__(self, sites: Collection[str], ask: AskSites, least: int) -> None:
        self.sites, self.ask, self.least = sorted(sites), ask, least
        self.failed: dict[str, str] = {}
        self.up: Counter[str] = Counter()
        self.down: Counter[str] = Counter()

    def total(self, size: int) -> Residues:
        keys = self._asked(
            "keys", {site: {} for site in self.sites}, lambda _, said: _keys_from(said)
        )
        known = {
            site: keys[site].packets + keys[site].masks if site in keys else b""
            for site in self.sites
        }
        packets = self._asked(
            "share",
            dict.fromkeys(keys, known),
            lambda site, said: _packets_from(said, keys.keys() - {site}),
        )
        arrived = {
            site: {sender: sent[site] for sender, sent in packets.items() if sender != site}
            for site in packets
        }
        masked = self._asked("mask", arrived, lambda _, said: _vector_from(said, size))
        enough(len(masked), len(self.sites), self.least)
        came = dict(self.failed)
        revealed = self._asked(
            "reveal",
            dict.fromkeys(masked, dict.fromkeys(masked, b"")),
            lambda _, said: _revealed_from(said, packets),
        )
        self.failed = came
        try:
            return unmasked(masked, keys, revealed, packets)
        except (OverflowError, ValueError):
            raise TrainingError(
                "secure sum: the shares of a mask do not belong together; nothing can be learned"
                " of it"
            ) from None

    def _asked(
        self,
        step: SumStep,
        said: Mapping[str, StepMessage],
        read: Callable[[str, StepMessage], Read],
    ) -> dict[str, Read]:
        for site, one in said.items():
            self.down[site] += sum(map(len, one.values()))
        found: dict[str, Read] = {}
        for site, answer in sorted(self.ask(step, said).items()):
            if isinstance(answer, Failed):
                self.failed[site] = answer.why
                continue
            try:
                self.up[site] += sum(map(len, answer.values()))
                found[site] = read(site, answer)
            except (AttributeError, KeyError, TypeError, ValueError):
                self.failed[site] = f"its answer to {step!r} cannot be read"
        enough(len(found), len(self.sites))
        return found


def answered(
    member: Masker, step: SumStep, said: StepMessage, vector: Callable[[], Residues], least: int = 0
) -> StepMessage:
    """A site's answer. vector: only called to mask it, when the site says how many vectors must be
    in the sum at `least`.
    """
    match step:
        case "keys":
            keys = member.keys()
            return {"packets": keys.packets, "masks": keys.masks}
        case "share":
            return member.share(
                {
                    site: PublicKeys(one[:KEY_BYTES], one[KEY_BYTES:])
                    for site, one in said.items()
                    if one
                },
                len(said),
            )
        case "mask":
            return {"vector": member.mask(vector(), said, least).astype("<u4").tobytes()}
        case "reveal":
            letter = {kind: letter for letter, kind in KINDS.items()}
            return {
                site: (
                    letter[one.kind]
                    + one.point.to_bytes(POINT_BYTES, "big")
                    + one.value.to_bytes(SHARE_BYTES, "big")
                )
                for site, one in member.reveal(said).items()
            }


def _keys_from(said: StepMessage) -> PublicKeys:
    return PublicKeys(_sized(said["packets"], KEY_BYTES), _sized(said["masks"], KEY_BYTES))


def _packets_from(said: StepMessage, others: Collection[str]) -> StepMessage:
    return {site: said[site] for site in others}


def _vector_from(said: StepMessage, size: int) -> Residues:
    return np.frombuffer(_sized(said["vector"], 4 * size), dtype="<u4").astype(np.uint32)


def _revealed_from(said: StepMessage, dealt: Collection[str]) -> dict[str, Revealed]:
    ends = 1 + POINT_BYTES
    return {
        site: Revealed(
            KINDS[one[:1]], int.from_bytes(one[1:ends], "big"), int.from_bytes(one[ends:], "big")
        )
        for site in dealt
        for one in (_sized(said[site], ends + SHARE_BYTES),)
    }


def _sized(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise ValueError(f"{len(data)} bytes in place of {size}")
    return data


def sum_of(
    vectors: Mapping[str, Residues | Failed], silent: Collection[str] = (), least: int = 0
) -> Summed:
    """Among sites in one process. Failed: a site that drops out before it sends its vector. silent:
    sites that drop out after it.
    """
    members = {name: Masker(name) for name in sorted(vectors)}

    def ask(step: SumStep, said: Mapping[str, StepMessage]) -> dict[str, StepMessage | Failed]:
        return {name: asked(step, name, one) for name, one in said.items()}

    def asked(step: SumStep, name: str, said: StepMessage) -> StepMessage | Failed:
        vector = vectors[name]
        if isinstance(vector, Failed):
            return (
                vector
                if step == "mask"
                else answered(members[name], step, said, lambda: np.zeros(0, np.uint32))
            )
        return (
            Failed("silent")
            if step == "reveal" and name in silent
            else answered(members[name], step, said, lambda: vector, least)
        )

    sizes = {vector.size for vector in vectors.values() if not isinstance(vector, Failed)}
    return sum_over(vectors, max(sizes, default=0), ask, least)
