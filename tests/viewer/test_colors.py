"""What colors stand for is told apart by every kind of color vision, in light and dark."""

import itertools
import re
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from simcounsel.specs.vocabulary import EMOTIONS, ActivityKind
from simcounsel.viewer.routes import STATIC
from tests.each import each

Array = NDArray[np.float64]
VISIONS: dict[str, Array] = {
    "normal": np.eye(3),
    # Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
D65 = np.array([0.95047, 1.0, 1.08883])
PALETTES = {
    "kind": ("sleep", "awake", "care", "work", "free", "company", "counseling"),
    "emotion": EMOTIONS,
    "term": ("recency", "poignancy", "emotion_score", "emotion_relevance", "relevance"),
    "arm": tuple("123456"),
    "feel": ("up", "down"),
}


def linear(color: str) -> Array:
    srgb = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: Array) -> Array:
    """CIELAB under D65 of linear RGB."""
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / D65
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def delta_e(one: Array, two: Array) -> float:
    """CIEDE2000 (Sharma, Wu and Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean_c = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean_c**7 / (mean_c**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for b, a in ((b1, a1), (b2, a2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    turned = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    h = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    ll, c = (l1 + l2) / 2, (c1 + c2) / 2
    t = (
        1
        - 0.17 * np.cos(np.radians(h - 30))
        + 0.24 * np.cos(np.radians(2 * h))
        + 0.32 * np.cos(np.radians(3 * h + 6))
        - 0.20 * np.cos(np.radians(4 * h - 63))
    )
    sl = 1 + 0.015 * (ll - 50) ** 2 / np.sqrt(20 + (ll - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    rt = (
        -2
        * np.sqrt(c**7 / (c**7 + 25**7))
        * np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2))))
    )
    x, y, z = (l2 - l1) / sl, (c2 - c1) / sc, turned / sh
    return float(np.sqrt(x * x + y * y + z * z + rt * y * z))


def contrast(one: str, two: str) -> float:
    """WCAG 2: from 1 to 21."""
    dark, light = sorted(float(TO_XYZ[1] @ linear(color)) for color in (one, two))
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture(scope="module")
def modes() -> dict[str, dict[str, str]]:
    """The colors by their names, in light and dark, as the pages have them."""
    files = ("style.css", "palette.css")
    css = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in files)
    found: dict[str, dict[str, str]] = {"light": {}, "dark": {}}
    dark = "\n".join(re.findall(r"@media \(prefers-color-scheme: dark\) \{(.*?)\n\}", css, re.S))
    light = re.sub(r"@media \(prefers-color-scheme: dark\) \{.*?\n\}", "", css, flags=re.S)
    for mode, text in (("light", light), ("dark", dark)):
        found[mode] = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", text))
    return found


@each(
    ("one", "two", "apart"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((6.7747, -0.2908, -2.4247), (5.8714, -0.0985, -2.2286), 0.6377),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_as_published(
    one: tuple[float, ...], two: tuple[float, ...], apart: float
) -> None:
    """Of the test data that Sharma, Wu and Dalal publish."""
    assert delta_e(np.array(one), np.array(two)) == pytest.approx(apart, abs=1e-4)


@each("mode", ["light", "dark"])
@each("palette", PALETTES)
def test_any_two_of_a_palette_are_told_apart(
    modes: dict[str, dict[str, str]], palette: str, mode: str
) -> None:
    colors = {name: modes[mode][f"{palette}-{name}"] for name in PALETTES[palette]}
    alike = {
        (vision, one, two): round(apart, 1)
        for vision, seen in VISIONS.items()
        for one, two in itertools.combinations(colors, 2)
        if (apart := delta_e(*(lab(seen @ linear(colors[name])) for name in (one, two)))) < 10
    }
    assert alike == {}


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_words_on_colors_can_be_read(modes: dict[str, dict[str, str]], mode: str) -> None:
    colors = modes[mode]
    pairs = [(f"kind-{kind}", f"on-{kind}") for kind in PALETTES["kind"]]
    pairs += [(f"emotion-{emotion}", f"on-emotion-{emotion}") for emotion in EMOTIONS]
    assert {pair for pair in pairs if contrast(*(colors[name] for name in pair)) < 4.5} == set()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_what_matters_most_stands_out(modes: dict[str, dict[str, str]], mode: str) -> None:
    """Sleep is the darkest or next to it; neutral is never the brightest; lines stand out from the sheet."""
    colors, sheet = modes[mode], modes[mode]["sheet"]
    light = {name: float(lab(linear(color))[0]) for name, color in colors.items()}
    assert sorted(PALETTES["kind"], key=lambda kind: light[f"kind-{kind}"]).index("sleep") <= 1
    assert max(EMOTIONS, key=lambda emotion: light[f"emotion-{emotion}"]) != "neutral"
    lines = [f"arm-{n}" for n in PALETTES["arm"]] + ["feel-up", "feel-down"]
    assert {name for name in lines if contrast(colors[name], sheet) < 3} == set()


def test_the_page_knows_every_kind_and_emotion() -> None:
    source = (STATIC / "palette.js").read_text(encoding="utf-8")
    groups = re.search(r"GROUPS = \{(.*?)\};", source)
    assert groups is not None
    kinds = re.findall(r'\["[^"]+", \[([^\]]*)\]\]', groups.group(1))
    named = [kind for group in kinds for kind in re.findall(r'"(\w+)"', group)]
    assert sorted(named) == sorted(get_args(ActivityKind))
    assert len(kinds) <= 7  # as many as one reads at a glance
    feel = (STATIC / "feel.js").read_text(encoding="utf-8")
    assert all(f"{emotion}:" in feel for emotion in EMOTIONS)
