"""Sums of which the server sees only the sum, also when members drop out (Bonawitz et al. 2017, the
honest-but-curious protocol).

Every member adds to its vector, modulo 2^32, a mask shared with each other member (one adds what
the other subtracts, so all cancel) and a mask of its own. Keys and own masks are dealt to the
others in Shamir shares: for a member whose vector came, its own mask is revealed, for one that
dropped out, its pairwise key; never both. X25519, HKDF-SHA256, AES-256-GCM for shares, AES-256-CTR
for masks.

Not covered: members or a server that lie (no signatures, no consistency check): transport must
authenticate (TLS), and the server must not collude with `threshold` members or more.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from training.errors import TrainingError
from training.federation.fixedpoint import Residues
from training.federation.shamir import SHARE_BYTES, secret_from, shares_of

Kind = Literal["own mask", "pairwise key"]
KEY_BYTES = 32


@dataclass(frozen=True)
class PublicKeys:
    """Of one member, 32 bytes each: for sending shares, and for masks."""

    packets: bytes
    masks: bytes


@dataclass(frozen=True)
class Revealed:
    """A share of a member's secret, given to the server."""

    kind: Kind
    point: int
    value: int


def threshold_of(members: int) -> int:
    """More than half, so that no two halves can each be told another story; at least two."""
    return max(2, members // 2 + 1)


class Masker:
    """One site's side of one sum. A new one for each sum: keys are used once. Between steps it can
    be kept as text, which is secret.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._packet_key, self._mask_key = X25519PrivateKey.generate(), X25519PrivateKey.generate()
        self._seed = os.urandom(KEY_BYTES)
        self._others: Mapping[str, PublicKeys] = {}
        self._held: dict[str, dict[Kind, tuple[int, int]]] = {}
        self._threshold = self._least = 0
        self._masked = self._revealed = False

    def kept(self) -> str:
        """All that the next step needs."""
        return json.dumps(
            {
                "name": self.name,
                "packet_key": self._packet_key.private_bytes_raw().hex(),
                "mask_key": self._mask_key.private_bytes_raw().hex(),
                "seed": self._seed.hex(),
                "others": {
                    name: [keys.packets.hex(), keys.masks.hex()]
                    for name, keys in self._others.items()
                },
                "held": self._held,
                "threshold": self._threshold,
                "least": self._least,
                "masked": self._masked,
                "revealed": self._revealed,
            }
        )

    @classmethod
    def again(cls, kept: str) -> "Masker":
        """The same member, from what it kept."""
        said = json.loads(kept)
        self = cls(said["name"])
        self._packet_key, self._mask_key = (
            X25519PrivateKey.from_private_bytes(bytes.fromhex(said[key]))
            for key in ("packet_key", "mask_key")
        )
        self._seed, self._threshold = bytes.fromhex(said["seed"]), said["threshold"]
        self._others = {
            name: PublicKeys(bytes.fromhex(packets), bytes.fromhex(masks))
            for name, (packets, masks) in said["others"].items()
        }
        self._held = {
            name: {kind: (at, value) for kind, (at, value) in of.items()}
            for name, of in said["held"].items()
        }
        self._least = said["least"]
        self._masked, self._revealed = said["masked"], said["revealed"]
        return self

    def keys(self) -> PublicKeys:
        """First step: what everybody gets to know."""
        return PublicKeys(
            self._packet_key.public_key().public_bytes_raw(),
            self._mask_key.public_key().public_bytes_raw(),
        )

    def share(self, keys: Mapping[str, PublicKeys], asked: int | None = None) -> dict[str, bytes]:
        """Second step: for each other member, its shares of this one's secrets, encrypted so that
        the server cannot read them.

        asked: how many were to be in the sum, if some gave no keys. TrainingError for keys of
        another sum, or a second call.
        """
        if self._held or keys.get(self.name) != self.keys():
            raise TrainingError(
                f"{self.name}: shares were dealt already, or these are the keys of another sum"
            )
        self._others = {name: keys[name] for name in sorted(keys) if name != self.name}
        self._threshold = threshold_of(max(len(keys), asked or 0))
        own = shares_of(self._seed, self._threshold, len(keys))
        pairwise = shares_of(self._mask_key.private_bytes_raw(), self._threshold, len(keys))
        packets = {}
        for point, name in enumerate(sorted(keys), 1):
            if name == self.name:
                self._held[name] = {
                    "own mask": (point, own[point]),
                    "pairwise key": (point, pairwise[point]),
                }
                continue
            text = (
                point.to_bytes(4, "big")
                + own[point].to_bytes(SHARE_BYTES, "big")
                + pairwise[point].to_bytes(SHARE_BYTES, "big")
            )
            packets[name] = self._sealed(text, self.name, name)
        return packets

    def _sealed(self, text: bytes, sender: str, receiver: str) -> bytes:
        key = agreed(
            self._packet_key, self._others[receiver].packets, f"packet {sender} to {receiver}"
        )
        nonce = os.urandom(12)
        return nonce + AESGCM(key).encrypt(nonce, text, f"{sender} to {receiver}".encode())

    def mask(self, vector: Residues, packets: Mapping[str, bytes], least: int = 0) -> Residues:
        """Third step, once. packets: what the others sent to this member; masks are shared with
        their senders. least: how many vectors must be in the sum for this member to help reveal it.

        TrainingError for a second call (the same masks over two vectors would bare their
        difference).
        """
        if self._masked or not self._held:
            raise TrainingError(
                f"{self.name}: this sum was masked already, or no shares were dealt for it"
            )
        self._masked, self._least = True, least
        for sender, packet in packets.items():
            self._held[sender] = self._opened(sender, packet)
        total = vector + expanded(self._seed, vector.size)
        for name in sorted(packets):
            total += pairwise_mask(
                self._mask_key, self.name, name, self._others[name].masks, vector.size
            )
        return total

    def _opened(self, sender: str, packet: bytes) -> dict[Kind, tuple[int, int]]:
        key = agreed(
            self._packet_key, self._others[sender].packets, f"packet {sender} to {self.name}"
        )
        text = AESGCM(key).decrypt(packet[:12], packet[12:], f"{sender} to {self.name}".encode())
        point, own, pairwise = text[:4], text[4 : 4 + SHARE_BYTES], text[4 + SHARE_BYTES :]
        at = int.from_bytes(point, "big")
        return {
            "own mask": (at, int.from_bytes(own, "big")),
            "pairwise key": (at, int.from_bytes(pairwise, "big")),
        }

    def reveal(self, survivors: Iterable[str]) -> dict[str, Revealed]:
        """Last step, once: of those whose vector came, the share of their own mask; of the others,
        of their pairwise key.

        TrainingError for a second call (both secrets of one member would bare its vector) or too
        few survivors.
        """
        came = set(survivors) & set(self._held)
        if self._revealed:
            raise TrainingError(
                f"{self.name}: shares of this sum were already given; a second answer could bare a"
                " single vector"
            )
        least = max(self._threshold, self._least)
        if len(came) < least or self.name not in came:
            raise TrainingError(
                f"{self.name}: {len(came)} vectors came, and at least {least} must be in a sum,"
                " this one too"
            )
        self._revealed = True
        kinds: dict[str, Kind] = {
            name: "own mask" if name in came else "pairwise key" for name in self._held
        }
        return {name: Revealed(kind, *self._held[name][kind]) for name, kind in kinds.items()}


def agreed(private: X25519PrivateKey, public: bytes, purpose: str) -> bytes:
    """A key that both sides of a pair derive, one for each purpose."""
    shared = private.exchange(X25519PublicKey.from_public_bytes(public))
    return HKDF(
        algorithm=SHA256(),
        length=KEY_BYTES,
        salt=None,
        info=b"simcounsel secure sum: " + purpose.encode(),
    ).derive(shared)


def expanded(key: bytes, size: int) -> Residues:
    """`size` uniform numbers below 2^32, by AES-256-CTR from a key that is used for nothing
    else.
    """
    stream = Cipher(AES(key), CTR(bytes(16))).encryptor().update(bytes(4 * size))
    numbers: Residues = np.frombuffer(stream, dtype="<u4").astype(np.uint32)
    return numbers


def pairwise_mask(
    private: X25519PrivateKey, name: str, other: str, public: bytes, size: int
) -> Residues:
    """What `name` adds for its pair with `other`: the same numbers for both, negated for the one
    whose name comes later.
    """
    first, second = sorted((name, other))
    mask = expanded(agreed(private, public, f"mask {first} and {second}"), size)
    if name != first:
        np.negative(mask, out=mask)
    return mask


def enough(many: int, members: int, least: int = 0) -> None:
    """TrainingError, in words, if fewer answered than the threshold, or than `least`."""
    needed = max(threshold_of(members), least)
    if many < needed:
        raise TrainingError(
            f"secure sum: {many} of {members} sites answered to the end, and {needed} are needed;"
            " nothing can be learned of it"
        )


def unmasked(
    masked: Mapping[str, Residues],
    keys: Mapping[str, PublicKeys],
    revealed: Mapping[str, Mapping[str, Revealed]],
    shared: Iterable[str],
) -> Residues:
    """The server's side: the sum of the vectors that came. shared: who dealt shares, so whose masks
    are in those vectors.
    """
    for came in (masked, revealed):
        enough(len(came), len(keys))
    total: Residues = np.zeros(next(iter(masked.values())).size, dtype=np.uint32)
    for vector in masked.values():
        total += vector
    for name in sorted(shared):
        secret = _recovered(name, "own mask" if name in masked else "pairwise key", revealed)
        if name in masked:
            total -= expanded(secret, total.size)
            continue
        private = X25519PrivateKey.from_private_bytes(secret)
        for other in sorted(masked):  # `other` added minus what `name` would have added
            total += pairwise_mask(private, name, other, keys[other].masks, total.size)
    return total


def _recovered(name: str, kind: Kind, revealed: Mapping[str, Mapping[str, Revealed]]) -> bytes:
    found = {
        share.point: share.value
        for given in revealed.values()
        if (share := given.get(name)) is not None and share.kind == kind
    }
    return secret_from(found, KEY_BYTES)
