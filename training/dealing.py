"""A corpus dealt to sites: each client, with all sessions, to one of them."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.errors import SpecError
from training.recipe import Deal


def deal(dialogues: Iterable[Dialogue], how: Deal, seed: int) -> dict[str, tuple[Dialogue, ...]]:
    """Give every client, with all sessions, to one site, then cut sites down to `how.sessions`.
    SpecError when there are fewer clients than sites.
    """
    of: dict[str, list[Dialogue]] = defaultdict(list)
    for one in dialogues:
        of[one.client].append(one)
    if len(of) < how.sites:
        raise SpecError(
            [
                f"deal.sites: {how.sites} sites, but only {len(of)} clients to train on; take fewer"
                " sites or a larger corpus"
            ]
        )
    rng = np.random.default_rng([seed, 0xDEA1])
    clients = [sorted(of)[at] for at in rng.permutation(len(of))]
    theme_of = {
        client: Counter(one.theme or "" for one in of[client]).most_common(1)[0][0]
        for client in clients
    }
    if how.by == "theme":
        clients.sort(key=lambda client: theme_of[client])
    shares = (
        rng.dirichlet([how.alpha] * how.sites)
        if how.by == "size"
        else np.full(how.sites, 1 / how.sites)
    )
    if how.by == "theme" and len(set(theme_of.values())) == how.sites:
        hands = [
            [client for client in clients if theme_of[client] == theme]
            for theme in sorted(set(theme_of.values()))
        ]
    else:
        hands = (
            _in_turn(clients, of, shares)
            if how.by == "theme"
            else _to_the_neediest(clients, of, shares)
        )
    hands = [_at_most(how.sessions, hand, of) for hand in hands]
    width = len(str(how.sites))
    return {
        f"site-{n:0{width}}": tuple(one for client in hand for one in of[client])
        for n, hand in enumerate(hands, 1)
    }


def _at_most(most: int | None, clients: list[str], of: Mapping[str, list[Dialogue]]) -> list[str]:
    """As many of these clients, in order, as have at most `most` sessions together; one who would
    be too many is passed over.
    """
    if most is None:
        return clients
    kept, taken = [], 0
    for client in clients:
        if taken + len(of[client]) <= most:
            kept.append(client)
            taken += len(of[client])
    return kept


def _to_the_neediest(
    clients: list[str], of: Mapping[str, list[Dialogue]], shares: np.ndarray
) -> list[list[str]]:
    """Each client to the site that is furthest below its share; the first ones so that no site is
    empty.
    """
    total = sum(len(of[client]) for client in clients)
    hands: list[list[str]] = [[client] for client in clients[: len(shares)]]
    held = np.array([len(of[hand[0]]) for hand in hands], dtype=float)
    for client in clients[len(shares) :]:
        neediest = int(np.argmax(shares * total - held))
        hands[neediest].append(client)
        held[neediest] += len(of[client])
    return hands


def _in_turn(
    clients: list[str], of: Mapping[str, list[Dialogue]], shares: np.ndarray
) -> list[list[str]]:
    """Neighbours stay together: a site is filled before the next, and enough clients are left for
    the sites to come.
    """
    total = sum(len(of[client]) for client in clients)
    until = np.cumsum(shares) * total
    hands: list[list[str]] = [[] for _ in shares]
    at, dealt = 0, 0
    for n, client in enumerate(clients):
        full = dealt + len(of[client]) / 2 > until[at] or len(clients) - n <= len(shares) - 1 - at
        if hands[at] and full and at < len(shares) - 1:
            at += 1
        hands[at].append(client)
        dealt += len(of[client])
    return hands


def capped(dialogues: tuple[Dialogue, ...], most: int | None, seed: int) -> tuple[Dialogue, ...]:
    """At most `most` sessions of each client, drawn by the seed; None: all.

    A client's own sessions alone decide which of them are kept: whether someone else is there
    changes nothing, as an account that hides one client takes for granted.
    """
    if most is None:
        return dialogues
    of: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(dialogues):
        of[one.client].append(at)
    chosen = {
        at
        for of_client in of.values()
        for at in sorted(of_client, key=lambda at: _lot(dialogues[at], seed))[:most]
    }
    return tuple(one for at, one in enumerate(dialogues) if at in chosen)


def _lot(session: Dialogue, seed: int) -> bytes:
    """A number as if drawn, of this session and the seed alone."""
    said = [[turn.speaker, turn.text] for turn in session.turns]
    return hashlib.sha256(
        json.dumps([seed, session.client, session.id, said], ensure_ascii=False).encode()
    ).digest()
