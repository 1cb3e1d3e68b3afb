"""Who may go where."""

import random

from simcounsel.agents.mind import Reachable
from simcounsel.engine.places import Places
from simcounsel.specs.residents import Place
from simcounsel.specs.world_file import load_world
from tests.stage import ROOT, changed, three

INSOMNIA = load_world(ROOT / "worlds" / "insomnia.yaml")
PUBLIC = {"Willow Park", "Counseling Center", "Market"}


def rooms(name: str, *kinds: str) -> set[str]:
    return {f"{name}'s {kind}" for kind in kinds}


def reach(who: str, at: str, *hosts: str) -> set[str]:
    return {
        place.name
        for place in Places(INSOMNIA, random.Random(1)).reachable(who, at, frozenset(hosts))
    }


OWN = rooms("Ines", "Bedroom", "Kitchen", "Living Room", "Garden")


def test_own_rooms_and_public_places() -> None:
    assert reach("Ines", "Ines's Bedroom") == OWN | PUBLIC


def test_a_host_opens_the_shared_rooms_only() -> None:
    assert reach("Ines", "Market", "Omar") == OWN | PUBLIC | rooms(
        "Omar", "Kitchen", "Living Room", "Garden"
    )


def test_a_guest_may_stay_in_the_house_it_stands_in() -> None:
    assert reach("Ines", "Omar's Kitchen") == OWN | PUBLIC | rooms(
        "Omar", "Kitchen", "Living Room", "Garden"
    )


def test_whoever_stands_in_a_bedroom_may_stay() -> None:
    assert "Omar's Bedroom" in reach("Ines", "Omar's Bedroom")
    assert "Omar's Bedroom" not in reach("Ines", "Omar's Kitchen", "Omar")


def test_one_stands_in_leaves() -> None:
    places = Places(INSOMNIA, random.Random(1))
    assert "Ines's House" not in places.leaves()
    assert set(places.leaves()) == {name for name, place in places.spec.items() if not place.places}
    assert {str(c.coordinate) for c in places.network.all_cells} >= set(places.leaves())


def test_houses() -> None:
    places = Places(INSOMNIA, random.Random(1))
    assert (places.house_of("Ines's Garden"), places.house_of("Market")) == ("Ines's House", None)


def test_home_that_is_a_single_room() -> None:
    places = Places(three(), random.Random(1))
    assert places.house_of("Omar's Flat") == "Omar's Flat"
    assert {p.name for p in places.reachable("Omar", "Omar's Flat", frozenset())} == {
        "Omar's Flat",
        "Counseling Center",
    }
    assert "Omar's Flat" in {
        p.name for p in places.reachable("Ines", "Ines's Kitchen", frozenset({"Omar"}))
    }


def test_own_home_is_marked() -> None:
    own = {
        p.name
        for p in Places(INSOMNIA, random.Random(1)).reachable("Ines", "Market", frozenset({"Omar"}))
        if p.own_home
    }
    assert own == OWN
    found = Places(INSOMNIA, random.Random(1)).reachable("Ines", "Market", frozenset())
    assert Reachable(name="Willow Park", kind="park", own_home=False) in found


def test_house_within_a_district() -> None:
    district = Place(
        name="East Side", places=(*INSOMNIA.places[:2], Place(name="Fountain", kind="street"))
    )
    world = changed(INSOMNIA, places=(district, *INSOMNIA.places[2:]))
    found = {
        p.name for p in Places(world, random.Random(1)).reachable("Miriam", "Fountain", frozenset())
    }
    assert found == PUBLIC | {"Fountain"} | rooms(
        "Miriam", "Bedroom", "Kitchen", "Living Room", "Garden"
    )
