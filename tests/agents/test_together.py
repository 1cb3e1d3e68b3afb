"""What two people are to each other is said right in every world that ships."""

from pathlib import Path

from simcounsel.agents.resident import STRANGERS, Resident
from simcounsel.agents.ties import together
from simcounsel.prompts import phrase
from simcounsel.specs.world_file import load_world
from tests.each import each
from tests.stage import ROOT, scene, view

WORLDS = (
    *sorted((ROOT / "worlds").glob("*.yaml")),
    ROOT / "simcounsel" / "cli" / "starter_files" / "world.yaml",
)


@each("path", WORLDS)
def test_who_is_close_is_told_what_the_two_are(path: Path) -> None:
    world = load_world(path)
    specs = {one.name: one for one in world.residents}
    for tie in world.relationships:
        for me, other in (tie.between, tie.between[::-1]):
            seen = view(me=me, other=other, role=specs[other].role, closeness=tie.score)
            told = together(Resident(specs[me], world, {}), scene(), seen)
            strangers = phrase("moment", "strangers", "en", me=me, other=other)
            assert tie.score <= STRANGERS or strangers not in told
            assert tie.how, f"{path}: say how {me} and {other} know each other"
            assert tie.how in told
            assert tie.since in told


def test_neighbours_of_the_default_world_know_each_other() -> None:
    world = load_world(ROOT / "worlds" / "insomnia.yaml")
    omar = Resident(next(one for one in world.residents if one.name == "Omar"), world, {})
    seen = view(me="Omar", other="Ines", role="client", appointment=False, closeness=6)
    assert together(omar, scene(), seen) == (
        "Omar and Ines are neighbours and friends, for four years."
        " How close Omar feels to Ines: 6 of 10."
    )
