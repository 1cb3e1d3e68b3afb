"""Which dialogues of a corpus are rated: by chance, but every theme in proportion and none left out
(Xue et al. 2026, section IV.C, rated 50 so).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from simcounsel.chance import seed_of
from simcounsel.corpus.dialogues import Dialogue

NO_THEME = "no theme"


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What was drawn, in the corpus's order."""

    dialogues: tuple[Dialogue, ...]
    themes: dict[str, tuple[int, int]]
    """By theme how many of how many."""
    left_out: tuple[str, ...] = ()
    """Themes for which there was no place."""


def draw(dialogues: Sequence[Dialogue], size: int | None, seed: int = 0) -> Drawn:
    """`size` dialogues of each condition (all, if None), stratified by theme.

    Each theme gets one place, the rest go by Sainte-Laguë's quotients (themes / (2 places + 1)),
    which are proportional and never take a place away when there are more of them: a larger sample
    with the same seed holds the smaller one. Within a theme the draw goes by client, so that arms
    which share their clients are rated on the same ones. With fewer places than themes, the largest
    themes get one.
    """
    conditions = sorted({one.condition or "" for one in dialogues})
    parts = [
        _draw([one for one in dialogues if (one.condition or "") == condition], size, seed)
        for condition in conditions
    ]
    chosen = {one.id for part in parts for one in part.dialogues}
    themes: dict[str, tuple[int, int]] = {}
    for part in parts:
        for theme, (some, every) in part.themes.items():
            before = themes.get(theme, (0, 0))
            themes[theme] = before[0] + some, before[1] + every
    left_out = tuple(sorted(theme for theme, (some, _) in themes.items() if not some))
    return Drawn(
        dialogues=tuple(one for one in dialogues if one.id in chosen),
        themes=dict(sorted(themes.items())),
        left_out=left_out,
    )


def _draw(dialogues: Sequence[Dialogue], size: int | None, seed: int) -> Drawn:
    strata: dict[str, list[Dialogue]] = {}
    for one in _in_order(dialogues, seed):
        strata.setdefault(one.theme or NO_THEME, []).append(one)
    sizes = {theme: len(stratum) for theme, stratum in strata.items()}
    places = sizes if size is None or size >= len(dialogues) else share_out(size, sizes)
    chosen = tuple(one for theme, stratum in strata.items() for one in stratum[: places[theme]])
    return Drawn(
        dialogues=chosen, themes={theme: (places[theme], sizes[theme]) for theme in strata}
    )


def share_out(size: int, sizes: dict[str, int]) -> dict[str, int]:
    """`size` places over strata of these sizes: one each, then by quotients; ties go to the name
    that comes first.
    """
    places = dict.fromkeys(sizes, 0)
    for theme in sorted(sizes, key=lambda name: (-sizes[name], name))[:size]:
        places[theme] = 1
    for _ in range(size - sum(places.values())):
        open_ones = [name for name in sizes if places[name] < sizes[name]]
        if not open_ones:
            break
        best = max(sorted(open_ones), key=lambda name: Fraction(sizes[name], 2 * places[name] + 1))
        places[best] += 1
    return places


def _in_order(dialogues: Sequence[Dialogue], seed: int) -> list[Dialogue]:
    """In the order of the draw: by client and how many of the client's dialogues came before in the
    corpus, whatever their ids.
    """
    met: dict[str, int] = {}
    keyed = []
    for one in dialogues:
        met[one.client] = met.get(one.client, 0) + 1
        keyed.append((seed_of(seed, "rated", one.client, met[one.client]), one.id, one))
    return [one for _, _, one in sorted(keyed, key=lambda key: key[:2])]
