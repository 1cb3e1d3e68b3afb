"""Whose sessions lie where: a corpus split by client into what is trained on and what is held out,
and dealt to sites.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simcounsel.corpus.dialogues import Dialogue, merge_turns
from simcounsel.corpus.reading import FAULTED, SAMPLES, read_dialogues
from simcounsel.corpus.split import Shares, split_dialogues
from simcounsel.corpus.teaching import Teaching
from simcounsel.errors import SpecError
from simcounsel.specs.load import Lines
from training.dealing import capped, deal
from training.plan import SiteSize, TrainingPlan
from training.plan_problems import problems
from training.recipe import Recipe
from training.recipe_file import load_recipe, refuse
from training.shipped import FOLDER

ALL = "all"
"""The only site of a central training."""


@dataclass(frozen=True, kw_only=True)
class Sites:
    """The sessions of a training, by site."""

    sessions: Mapping[str, tuple[Dialogue, ...]]
    """By site, in order."""
    held_out: tuple[Dialogue, ...]
    """Sessions of clients who are at no site. Nobody is in both; consecutive turns are merged."""
    left_out: int = 0
    """Sessions of training clients above `sessions_per_client`."""

    def counted(self) -> tuple[SiteSize, ...]:
        """The sites in numbers, as an account needs them."""
        return tuple(
            SiteSize(name=name, sessions=len(here), clients=len({one.client for one in here}))
            for name, here in self.sessions.items()
        )

    @property
    def shared_clients(self) -> tuple[str, ...]:
        """Clients who are at more than one site."""
        at = Counter(
            client for here in self.sessions.values() for client in {one.client for one in here}
        )
        return tuple(sorted(client for client, sites in at.items() if sites > 1))


def load_plan(path: Path) -> tuple[TrainingPlan, Lines]:
    """A recipe's plan, with the sites of its data counted. SpecError names every problem with
    file:line and remedy; CorpusError the data's.
    """
    recipe, lines = load_recipe(path)
    plan = planned(recipe, path, lines, None if recipe.sites else find(recipe, path))
    if plan is None:
        raise SpecError(
            [
                f"{path}: `privacy: none` costs everything: there is nothing to account for; see"
                f" {FOLDER / 'record_dp.yaml'}"
            ]
        )
    return plan, lines


def planned(recipe: Recipe, path: Path, lines: Lines, sites: Sites | None) -> TrainingPlan | None:
    """The plan of a recipe with these sites, checked; None without privacy."""
    plan = recipe.plan(sites.counted() if sites else ())
    if plan is not None:
        found = problems(plan)
        if sites and plan.privacy.disjoint_sites and sites.shared_clients:
            shared = sites.shared_clients
            found.append(
                (
                    ("privacy", "disjoint_sites"),
                    (
                        f"{len(shared)} clients are at more than one site, such as {shared[0]!r};"
                        " set it to false"
                    ),
                )
            )
        if sites and plan.privacy.unit == "session" and recipe.folders and (twice := _twice(sites)):
            found.append(
                (
                    ("folders",),
                    (
                        f"session {twice!r} lies at more than one site, so a session is not hidden"
                        " as the account says; remove one"
                    ),
                )
            )
        refuse(path, lines, found)
    return plan


def find(recipe: Recipe, path: Path, *, together: bool = False) -> Sites:
    """Read the data of a recipe that is at `path`. together: as one site, for a central
    training.
    """
    if recipe.sites:
        raise SpecError(
            [
                f"{path}: `sites:` holds numbers only, for `account`; to train, name a `corpus:` or"
                " `folders:`"
            ]
        )
    if recipe.corpus:
        train, held_out = _split(_read(recipe.corpus, path, recipe), recipe)
        train = of_themes({ALL: train}, held_out, recipe.themes, path)[ALL]
        sessions = (
            {ALL: train}
            if together or recipe.deal is None
            else deal(train, recipe.deal, recipe.seed)
        )
    else:
        parts = {
            name: _split(_read(folder, path, recipe), recipe)
            for name, folder in recipe.folders.items()
        }
        away = {one.client for _, out in parts.values() for one in out}
        sessions = {
            name: tuple(one for one in train if one.client not in away)
            for name, (train, _) in parts.items()
        }
        held_out = tuple(one for _, out in parts.values() for one in out)
        sessions = of_themes(sessions, held_out, recipe.themes, path)
        sessions = (
            {ALL: tuple(one for here in sessions.values() for one in here)}
            if together
            else sessions
        )
    cap = recipe.privacy.sessions_per_client if recipe.privacy else None
    kept = {name: capped(here, cap, recipe.seed) for name, here in sessions.items()}
    _check(kept, path)
    lost = sum(map(len, sessions.values())) - sum(map(len, kept.values()))
    return Sites(sessions=kept, held_out=held_out, left_out=lost)


def themes(dialogues: Iterable[Dialogue]) -> str:
    """The themes of some sessions, the most common first, in one line."""
    counted = Counter(one.theme or "no theme" for one in dialogues).most_common()
    return ", ".join(f"{theme} {many}" for theme, many in counted[:4]) + (
        f" and {len(counted) - 4} more" if len(counted) > 4 else ""
    )


def _read(source: str, path: Path, recipe: Recipe) -> tuple[Dialogue, ...]:
    """The dialogues that a counselor can be taught with, by preferences those with a revised line;
    with `sample`, of as many clients as keep
    below it, drawn by the seed.
    """
    teaching, dpo = Teaching(), recipe.learning.by_pairs
    found = tuple(
        one
        for one in merge_turns(read_dialogues(place(source, path))).dialogues
        if (any(teaching.revised(one)) if dpo else teaching.chat(one))
    )
    if dpo and not found:
        raise SpecError(
            [
                f"{path}: learning.objective: `dpo` needs turns with a `draft`, and {source} has"
                " none; `simcounsel synthesize` writes them, or take `sft`"
            ]
        )
    if recipe.sample is None:
        return found
    sizes = Counter(one.client for one in found)
    rng, chosen, taken = np.random.default_rng([recipe.seed, 0x5A3]), set(), 0
    for at in rng.permutation(len(sizes)):
        client = sorted(sizes)[at]
        if taken + sizes[client] <= recipe.sample:
            chosen.add(client)
            taken += sizes[client]
    return tuple(one for one in found if one.client in chosen)


def of_themes(
    sessions: Mapping[str, tuple[Dialogue, ...]],
    held_out: Iterable[Dialogue],
    wanted: Iterable[str],
    path: Path,
) -> dict[str, tuple[Dialogue, ...]]:
    """What is trained on, cut down to these themes; all of it where none is named. SpecError names
    the themes there are.
    """
    every = [one for here in sessions.values() for one in here]
    there = {one.theme for one in (*every, *held_out) if one.theme}
    for theme in wanted:
        if theme not in there:
            known = f"there are {themes(every)}" if there else "its sessions name no theme"
            raise SpecError([f"{path}: themes: no session has the theme {theme!r}; {known}"])
    chosen = set(wanted)
    return {
        name: tuple(one for one in here if not chosen or one.theme in chosen)
        for name, here in sessions.items()
    }


def own(recipe: Recipe, path: Path, site: str, source: str) -> Sites:
    """A site's own sessions, read at that site, as a recipe counts them under `sites:`. SpecError
    if the numbers are not those.
    """
    train, held_out = _split(_read(source, path, recipe), recipe)
    cap = recipe.privacy.sessions_per_client if recipe.privacy else None
    here = Sites(sessions={site: capped(train, cap, recipe.seed)}, held_out=held_out)
    stated = next((one for one in recipe.sites if one.name == site), None)
    found = here.counted()[0]
    if stated is None or stated.count != 1:
        raise SpecError(
            [
                f"{path}: no single site {site!r} under `sites:`; there are"
                f" {', '.join(one.name for one in recipe.sites)}"
            ]
        )
    if stated.sessions != found.sessions or stated.clients not in (None, found.clients):
        there = f"{found.sessions} sessions of {found.clients} clients to train on"
        raise SpecError(
            [
                f"{path}: {site!r} has {there}, and the recipe says {stated.sessions} of"
                f" {stated.clients}; everybody's recipe must have the true numbers, since the"
                " account and the averaging go by them"
            ]
        )
    return here


def place(source: str, path: Path) -> Path:
    """Where a source lies that a file names: a word that `read_dialogues` knows, beside the file,
    or in the working folder.
    """
    if source in (SAMPLES, FAULTED):
        return Path(source)
    beside = path.parent / source
    return beside if beside.exists() else Path(source)


def _split(
    dialogues: tuple[Dialogue, ...], recipe: Recipe
) -> tuple[tuple[Dialogue, ...], tuple[Dialogue, ...]]:
    """What is trained on and what is held out: as the file says, if it says so of every dialogue,
    else drawn by client.
    """
    if not all(one.split for one in dialogues):
        dialogues = split_dialogues(
            dialogues,
            Shares(train=1 - recipe.held_out, validation=0, test=recipe.held_out),
            recipe.seed,
        )
    return tuple(one for one in dialogues if one.split == "train"), tuple(
        one for one in dialogues if one.split != "train"
    )


def _twice(sites: Sites) -> str | None:
    at = Counter(
        key for here in sites.sessions.values() for key in {_identity(one) for one in here}
    )
    return next((client for (client, _), times in at.items() if times > 1), None)


def _identity(session: Dialogue) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What makes two records the same session: whose it is, and what was said."""
    return session.client, tuple((turn.speaker, turn.text) for turn in session.turns)


def _check(sessions: Mapping[str, tuple[Dialogue, ...]], path: Path) -> None:
    for name, here in sessions.items():
        if not here:
            raise SpecError(
                [
                    f"{path}: nothing to train on at {name!r}; take a larger corpus, fewer sites or"
                    " a smaller `held_out`"
                ]
            )
