"""A secure sum among sites in one process, step by step as it goes over a network, with the bytes that it would take."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from training.federation.fixedpoint import Residues
from training.federation.secure import Member, threshold_of, unmasked
from training.federation.shamir import SHARE_BYTES


@dataclass(frozen=True, kw_only=True)
class Summed:
    """total: modulo 2^32, of those who sent. bytes_up, bytes_down: by site, as a site sends and receives them."""

    total: Residues
    bytes_up: Mapping[str, int]
    bytes_down: Mapping[str, int]


def sum_of(vectors: Mapping[str, Residues | None], silent: Collection[str] = ()) -> Summed:
    """None: a site that drops out before it sends its vector. silent: sites that drop out after it. TrainingError if too few are left."""
    members = {name: Member(name) for name in sorted(vectors)}
    up: Counter[str] = Counter()
    down: Counter[str] = Counter()
    keys = {name: member.keys() for name, member in members.items()}
    packets = {name: member.share(keys) for name, member in members.items()}
    arrived = {name: {sender: sent[name] for sender, sent in packets.items() if sender != name} for name in members}
    masked = {name: members[name].mask(vector, arrived[name]) for name, vector in vectors.items() if vector is not None}
    for name in members:
        up[name] += 64 + sum(map(len, packets[name].values()))
        down[name] += 64 * (len(members) - 1) + sum(map(len, arrived[name].values()))
    revealed = {}
    for name, vector in masked.items():
        up[name] += vector.nbytes
        if name not in silent and len(masked) >= threshold_of(len(members)):
            revealed[name] = members[name].reveal(masked)
            up[name] += len(revealed[name]) * (4 + SHARE_BYTES)
            down[name] += (len(members) + 7) // 8
    return Summed(total=unmasked(masked, keys, revealed, members), bytes_up=up, bytes_down=down)
