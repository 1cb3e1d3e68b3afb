"""Who is trained on, who is held out, and who lies where: always whole clients."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from simcounsel.corpus.dialogues import Dialogue, Draft, Turn
from simcounsel.errors import SpecError
from tests.each import each
from training.__main__ import app
from training.dealing import capped, deal
from training.recipe import Deal, Recipe
from training.recipe_file import load_recipe
from training.sites import Sites, find, load_plan, planned, themes

PRIVATE = {"unit": "session", "clip": 1, "delta": 1e-3, "noise_multiplier": 1.5}


def session(number: int, client: str, theme: str = "sleep") -> Dialogue:
    return Dialogue(
        id=f"s{number}",
        client=client,
        theme=theme,
        turns=(
            Turn(speaker="client", text=f"I lay awake, {number}."),
            Turn(speaker="counselor", text="What kept you awake?"),
        ),
    )


def many(sizes: list[int], of_themes: list[str] | None = None) -> list[Dialogue]:
    """Clients with so many sessions each."""
    names = of_themes or ["sleep"] * len(sizes)
    return [
        session(100 * at + n, f"client {at}", names[at])
        for at, size in enumerate(sizes)
        for n in range(size)
    ]


def file_of(folder: Path, dialogues: list[Dialogue], name: str = "corpus.jsonl") -> Path:
    file = folder / name
    file.write_text(
        "".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in dialogues),
        encoding="utf-8",
    )
    return file


def recipe_of(folder: Path, **keys: Any) -> Path:
    file = folder / "recipe.yaml"
    file.write_text(json.dumps({"privacy": "none", "batch_size": 2, **keys}), encoding="utf-8")
    return file


def found(file: Path) -> Sites:
    return find(load_recipe(file)[0], file)


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=4, max_size=30),
    sites=st.integers(1, 4),
    seed=st.integers(0, 9),
    by=st.sampled_from(["even", "theme", "size"]),
)
def test_every_client_is_at_exactly_one_site(
    sizes: list[int], sites: int, seed: int, by: Any
) -> None:
    dialogues = many(sizes, [f"theme {n % 3}" for n in range(len(sizes))])
    dealt = deal(dialogues, Deal(sites=sites, by=by), seed)
    assert Counter(one.id for here in dealt.values() for one in here) == Counter(
        one.id for one in dialogues
    )
    at = Counter(client for here in dealt.values() for client in {one.client for one in here})
    assert set(at.values()) == {1} and len(dealt) == sites and all(dealt.values())
    assert deal(dialogues, Deal(sites=sites, by=by), seed) == dealt


def test_even_sites_differ_by_less_than_the_largest_client() -> None:
    dealt = deal(many([3, 1, 2, 4, 1, 2, 3, 1, 1, 2, 4, 3]), Deal(sites=3), 1)
    sizes = sorted(map(len, dealt.values()))
    assert sizes[-1] - sizes[0] <= 4


def test_a_theme_stays_together() -> None:
    dealt = deal(
        many([2] * 12, [f"theme {n % 4}" for n in range(12)]), Deal(sites=4, by="theme"), 1
    )
    assert sorted(themes(here) for here in dealt.values()) == [f"theme {n} 6" for n in range(4)]


def test_a_small_alpha_makes_unequal_sites() -> None:
    def spread(alpha: float) -> float:
        sizes = [
            max(
                map(len, deal(many([1] * 60), Deal(sites=4, by="size", alpha=alpha), seed).values())
            )
            for seed in range(10)
        ]
        return sum(sizes) / len(sizes)

    assert spread(0.1) > 40 > 25 > spread(100)


def test_too_few_clients() -> None:
    with pytest.raises(SpecError, match="5 sites, but only 4 clients"):
        deal(many([2] * 4), Deal(sites=5), 1)


@settings(max_examples=30, deadline=None)
@given(sizes=st.lists(st.integers(1, 8), min_size=1, max_size=10), most=st.integers(1, 5))
def test_a_cap_keeps_as_many_as_it_may(sizes: list[int], most: int) -> None:
    kept = capped(tuple(many(sizes)), most, 1)
    assert Counter(one.client for one in kept) == {
        f"client {at}": min(size, most) for at, size in enumerate(sizes)
    }


def test_a_cap_draws_of_each_client_without_looking_at_the_others() -> None:
    """Else taking one client out would change what is learned of others, which no account counts."""
    everybody = many([9] * 40)
    kept = {one.id for one in capped(tuple(everybody), 3, 1)}
    for gone in ("client 0", "client 7", "client 39"):
        rest = tuple(one for one in everybody if one.client != gone)
        assert {one.id for one in capped(rest, 3, 1)} == {
            one.id for one in everybody if one.client != gone and one.id in kept
        }
    assert {one.id for one in capped(tuple(everybody), 3, 2)} != kept


def test_nobody_is_both_trained_on_and_held_out(tmp_path: Path) -> None:
    here = found(
        recipe_of(
            tmp_path, corpus=str(file_of(tmp_path, many([2] * 40))), held_out=0.3, deal={"sites": 3}
        )
    )
    trained = {one.client for site in here.sessions.values() for one in site}
    out = {one.client for one in here.held_out}
    assert not trained & out and len(trained | out) == 40 and 4 < len(out) < 22


def test_a_corpus_that_is_split_already_stays_so(tmp_path: Path) -> None:
    rows = [
        one.model_copy(update={"split": "test" if one.client == "client 1" else "train"})
        for one in many([2] * 5)
    ]
    here = found(recipe_of(tmp_path, corpus=str(file_of(tmp_path, rows))))
    assert {one.client for one in here.held_out} == {"client 1"}


def test_a_client_held_out_at_one_site_is_trained_on_at_none(tmp_path: Path) -> None:
    first, second = many([1] * 30), [session(900 + n, f"client {n}") for n in range(30)]
    folders = {
        "north": str(file_of(tmp_path, first, "north.jsonl")),
        "south": str(file_of(tmp_path, second, "south.jsonl")),
    }
    here = found(recipe_of(tmp_path, folders=folders, held_out=0.3))
    assert not {one.client for site in here.sessions.values() for one in site} & {
        one.client for one in here.held_out
    }
    assert here.shared_clients


def test_a_sample_takes_whole_clients(tmp_path: Path) -> None:
    file = file_of(tmp_path, many([3] * 10))
    here = found(recipe_of(tmp_path, corpus=str(file), sample=10, held_out=0))
    assert (
        Counter(one.client for one in here.sessions["all"]).most_common()[-1][1] == 3
        and len(here.sessions["all"]) == 9
    )


def test_the_plan_is_counted_from_the_data(tmp_path: Path) -> None:
    file = recipe_of(
        tmp_path,
        corpus=str(file_of(tmp_path, many([2] * 20))),
        held_out=0,
        deal={"sites": 2},
        privacy=PRIVATE,
    )
    plan, _ = load_plan(file)
    assert [(site.sessions, site.clients) for site in plan.sites] == [(20, 10), (20, 10)]


def test_a_client_at_two_sites_is_not_disjoint(tmp_path: Path) -> None:
    folders = {
        "north": str(file_of(tmp_path, many([2] * 9), "a.jsonl")),
        "south": str(
            file_of(tmp_path, [session(800 + n, f"client {n}") for n in range(9)], "b.jsonl")
        ),
    }
    privacy = {**PRIVATE, "unit": "client", "draw": "client", "disjoint_sites": True}
    file = recipe_of(tmp_path, folders=folders, held_out=0, privacy=privacy)
    recipe, lines = load_recipe(file)
    with pytest.raises(
        SpecError, match="9 clients are at more than one site, such as 'client 0'; set it to false"
    ):
        planned(recipe, file, lines, find(recipe, file))


def test_a_session_that_lies_at_two_sites_is_not_hidden_at_one(tmp_path: Path) -> None:
    folders = {
        "north": str(file_of(tmp_path, many([2] * 9), "a.jsonl")),
        "south": str(file_of(tmp_path, many([2] * 9), "b.jsonl")),
    }
    file = recipe_of(tmp_path, folders=folders, held_out=0, privacy=PRIVATE)
    recipe, lines = load_recipe(file)
    with pytest.raises(SpecError, match="lies at more than one site"):
        planned(recipe, file, lines, find(recipe, file))


def test_revised_lines_are_compared_by_what_was_said(tmp_path: Path) -> None:
    """A turn that keeps its draft cannot be put into a set."""
    draft = Draft(text="Sleep!", reason="a command", ratings={"warmth": 2})
    revised = [
        one.model_copy(
            update={"turns": (one.turns[0], one.turns[1].model_copy(update={"draft": draft}))}
        )
        for one in many([2] * 9)
    ]
    others = [one.model_copy(update={"client": f"other {one.client}"}) for one in revised]
    folders = {
        "north": str(file_of(tmp_path, revised, "a.jsonl")),
        "south": str(file_of(tmp_path, others, "b.jsonl")),
    }
    file = recipe_of(tmp_path, folders=folders, held_out=0, privacy=PRIVATE)
    recipe, lines = load_recipe(file)
    plan = planned(recipe, file, lines, find(recipe, file))
    assert plan is not None and plan.n_sites == 2
    folders["south"] = str(file_of(tmp_path, many([2] * 9), "b.jsonl"))
    file = recipe_of(tmp_path, folders=folders, held_out=0, privacy=PRIVATE)
    recipe, lines = load_recipe(file)
    with pytest.raises(SpecError, match="lies at more than one site"):
        planned(recipe, file, lines, find(recipe, file))


@each(
    ("keys", "what"),
    [
        ({}, "no data: add `corpus: samples`"),
        ({"corpus": "samples", "folders": {"a": "b"}}, "is beside `corpus`"),
        ({"folders": {"a": "b"}, "deal": {"sites": 2}}, "deals one `corpus`"),
        (
            {"corpus": "samples", "lora": {"ranks": {"a": 2}}},
            "unequal ranks cannot be averaged by `fedavg`",
        ),
        (
            {"corpus": "samples", "averaging": {"rule": "fedadam"}},
            "each weight would move by up to 1 a round",
        ),
        (
            {"corpus": "samples", "lora": {"train": "b"}, "averaging": {"rule": "exact"}},
            "with `lora.train: b` plain `fedavg` is already exact",
        ),
        ({"corpus": "samples", "noise": "secure"}, "there is no noise with `privacy: none`"),
        (
            {"corpus": "samples", "averaging": {"secure": True, "send": "int8"}},
            "take `rule: fedavg` or `fedadam` and `send: fp32`",
        ),
        (
            {"corpus": "samples", "privacy": PRIVATE, "lora": {"dropout": 0.1}},
            "is not needed with DP-SGD",
        ),
        (
            {
                "corpus": "samples",
                "privacy": {
                    "unit": "site",
                    "clip": 1,
                    "delta": 1e-5,
                    "noise_at": "sum",
                    "noise_multiplier": 1,
                },
            },
            "add `averaging: {secure: true}`",
        ),
        (
            {
                "corpus": "samples",
                "privacy": {
                    "unit": "site",
                    "clip": 1,
                    "delta": 1e-5,
                    "noise_at": "each_site",
                    "noise_multiplier": 1,
                },
                "participation": 0.5,
            },
            "move it under `privacy:`",
        ),
    ],
)
def test_a_recipe_that_cannot_be(tmp_path: Path, keys: dict[str, Any], what: str) -> None:
    with pytest.raises(SpecError) as told:
        load_recipe(recipe_of(tmp_path, **keys))
    assert what in str(told.value) and "recipe.yaml:" in str(told.value)


def test_privacy_must_be_spoken_of(tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_text("corpus: samples\nbatch_size: 2\n", encoding="utf-8")
    with pytest.raises(SpecError, match="privacy is missing: say `privacy: none`"):
        load_recipe(file)


def test_numbers_alone_can_be_accounted_for_but_not_trained_on(tmp_path: Path) -> None:
    file = recipe_of(tmp_path, sites=[{"name": "a", "sessions": 50}], privacy=PRIVATE)
    assert load_plan(file)[0].sites[0].sessions == 50
    with pytest.raises(SpecError, match="holds numbers only, for `account`"):
        found(file)
    with pytest.raises(SpecError, match="`privacy: none` costs everything"):
        load_plan(recipe_of(tmp_path, corpus="samples"))


@pytest.mark.parametrize(
    "name",
    sorted(
        file.name for file in (Path(__file__).parents[2] / "training" / "configs").glob("*.yaml")
    ),
)
def test_every_recipe_that_comes_along_can_be_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of folders after the tutorial's first command, which deals them."""
    file = Path(__file__).parents[2] / "training" / "configs" / name
    recipe, lines = load_recipe(file)
    assert isinstance(recipe, Recipe)
    if recipe.folders:
        monkeypatch.chdir(tmp_path)
        page = Path(__file__).parents[2] / "docs" / "tutorials" / "clinics.md"
        (typed,) = re.findall(r"^simcounsel train (sites .*)$", page.read_text("utf-8"), re.M)
        assert CliRunner().invoke(app, typed.split()).exit_code == 0
    if not recipe.sites:
        planned(recipe, file, lines, find(recipe, file))
