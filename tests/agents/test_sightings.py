"""Who is come upon unexpectedly, and who is not."""

from hypothesis import given
from hypothesis import strategies as st

from simcounsel.agents.sightings import EARLY_MINUTES, SAME_SIGHT_MINUTES, Sightings
from simcounsel.events import Sight
from simcounsel.specs.residents import Relationship
from tests.stage import EIGHT, changed, three

PARK, HOME, NAMES = "Counseling Center", "Ines's Kitchen", ("Miriam", "Omar")


def sights(*names: str) -> tuple[Sight, ...]:
    return tuple(Sight(name=name, activity="waits") for name in names)


def ines(**changes: object) -> Sightings:
    world = changed(three(), **changes)
    return Sightings(next(one for one in world.residents if one.name == "Ines"), world)


def found(seen: tuple[Sight, ...]) -> list[str]:
    return [one.name for one in seen]


def test_who_comes_is_found_and_who_stays_is_not() -> None:
    own = ines()
    assert found(own.observe((), sights("Omar"), EIGHT, PARK)) == ["Omar"]
    late = own.observe(sights("Omar"), sights("Miriam", "Omar"), EIGHT + 600, HOME)
    assert found(late) == ["Miriam"]
    assert found(own.observe(sights("Omar"), sights("Miriam", "Omar"), EIGHT + 700, PARK)) == []


def test_who_comes_again_within_the_hour_is_no_news() -> None:
    own = ines()
    own.observe((), sights("Omar"), EIGHT, PARK)
    own.observe(sights("Omar"), (), EIGHT + 30, PARK)
    back = EIGHT + 30 + SAME_SIGHT_MINUTES
    assert found(own.observe((), sights("Omar"), back, PARK)) == []
    own.observe(sights("Omar"), (), back + 15, PARK)
    late = back + 15 + SAME_SIGHT_MINUTES + 15
    assert found(own.observe((), sights("Omar"), late, PARK)) == ["Omar"]


def test_who_comes_as_agreed_is_expected_then_and_only_then() -> None:
    appointment = next(one for one in three().appointments if set(one.who) == {"Ines", "Omar"})
    at = appointment.begins()[0]
    for early in (0, 15, EARLY_MINUTES):
        assert found(ines().observe((), sights("Omar"), at - early, PARK)) == []
    assert found(ines().observe((), sights("Miriam", "Omar"), at, HOME)) == ["Miriam"]
    assert found(ines().observe((), sights("Omar"), at + 15, PARK)) == ["Omar"]
    much_too_early = at - EARLY_MINUTES - 15
    assert found(ines().observe((), sights("Omar"), much_too_early, PARK)) == ["Omar"]


def test_who_is_at_their_own_home_or_at_work_is_expected() -> None:
    """Miriam works at the counseling center, by her habits; Omar lives in his flat."""
    alone = ines(appointments=())
    for who, there in (("Miriam", PARK), ("Miriam", "Miriam's Kitchen"), ("Omar", "Omar's Flat")):
        assert found(alone.observe((), sights(who), EIGHT, there)) == [], (who, there)
    assert found(ines(appointments=()).observe((), sights("Miriam"), EIGHT, HOME)) == ["Miriam"]


def test_whom_one_knows() -> None:
    """By an appointment, by one's own file, by a relationship; a stranger is a woman or a man."""
    assert ines().knows("Miriam") and ines().knows("Omar")
    alone = ines(appointments=())
    assert alone.knows("Omar"), "he is one of the people of her file"
    assert not alone.knows("Miriam")
    assert alone.stranger("Miriam") == "stranger_woman"
    assert alone.stranger("Omar") == "stranger_man"
    for score, how, known in ((6, "", True), (2, "", False), (1, "rivals", True)):
        tie = Relationship(between=("Ines", "Miriam"), score=score, how=how)
        assert ines(appointments=(), relationships=(tie,)).knows("Miriam") is known


def test_who_lives_here_too_is_expected_at_home_and_nowhere_else() -> None:
    home = next(one.home for one in three().residents if one.name == "Ines")
    together = tuple(
        one.model_copy(update={"home": home}) if one.name == "Omar" else one
        for one in three().residents
    )
    rooms = [
        place.name
        for _, top in three().every_place()
        if top.name == home
        for _, place in top.walk()
    ]
    for room in rooms:
        assert found(ines(residents=together).observe((), sights("Omar"), EIGHT, room)) == []
        assert found(ines().observe((), sights("Omar"), EIGHT, room)) == ["Omar"]
    assert found(ines(residents=together).observe((), sights("Omar"), EIGHT, PARK)) == ["Omar"]


@given(st.lists(st.sets(st.sampled_from(NAMES)), min_size=1, max_size=30))
def test_nobody_is_found_twice_within_the_hour(presences: list[set[str]]) -> None:
    own, last, before = ines(), dict[str, int](), ()
    for step, present in enumerate(presences):
        minute = 10 * 24 * 60 + 15 * step  # no appointment lies there
        now = sights(*sorted(present))
        for name in found(own.observe(before, now, minute, PARK)):
            assert minute - last.get(name, -1000) > SAME_SIGHT_MINUTES
            last[name] = minute
        before = now
