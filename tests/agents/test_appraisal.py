"""What begins feels as its slot foresaw; only who comes unexpectedly is asked about."""

from typing import Any

from simcounsel.agents import appraisal
from simcounsel.agents.mind import Effects
from simcounsel.agents.tasks import FeelingAnswer, FeelingsAnswer
from simcounsel.events import Acted, Appraised, Perceived, Said, Scheduled, Sight, Slot
from simcounsel.llm.driving import play
from simcounsel.llm.question import Question
from tests.stage import EIGHT, Alone, changed, noting, scene, three

GLAD = FeelingAnswer(emotion="joy", intensity=3, poignancy=2)
TOLD = """What Ines did not expect there:
1. A woman whom Ines does not know is here and waits.
2. Omar is here and waits. To Ines, Omar is: neighbour and friend. How close Ines feels to Omar: 2 of 10."""
AFRAID = FeelingAnswer(emotion="fear", intensity=8, poignancy=6)


def coffee(minute: int = EIGHT, **feeling: Any) -> Slot:
    feeling = feeling or {"emotion": "sadness", "intensity": 6, "poignancy": 4}
    return Slot(
        minute=minute,
        activity="makes coffee",
        activity_kind="meal",
        place="Ines's Kitchen",
        **feeling,
    )


def acts(ines: Alone, slot: Slot, at: int | None = None) -> None:
    ines.observe(
        Acted(
            who="Ines", activity=slot.activity, activity_kind=slot.activity_kind, place=slot.place
        ),
        slot.minute if at is None else at,
    )


def begins(*slots: Slot) -> Alone:
    """She lives the last of these slots, which were planned together."""
    ines = Alone(world=changed(three(), appointments=()))
    slots = slots or (coffee(),)
    ines.observe(Scheduled(who="Ines", slots=slots, calls=("the plan",)))
    acts(ines, slots[-1])
    return ines


def meets(ines: Alone, *names: str, minute: int = EIGHT) -> None:
    """She comes upon them, though she has no appointment with anybody."""
    others = tuple(Sight(name=name, activity="waits") for name in names)
    ines.observe(Perceived(who="Ines", others=others), minute)


def felt(ines: Alone, *replies: Any, seen: list[Question] | None = None) -> Effects:
    """What is felt, and observed by her."""
    requests: list[Question] = [] if seen is None else seen
    lived = play(noting(appraisal.appraise(ines.resident, scene()), requests), *replies)
    for event in lived.events:
        ines.observe(event)
    return lived


def test_what_begins_feels_as_planned_and_nothing_is_asked() -> None:
    ines, seen = begins(), list[Question]()
    lived = felt(ines, seen=seen)
    assert not seen
    assert lived.events == (
        Appraised(
            who="Ines",
            about="Ines makes coffee.",
            emotion="sadness",
            intensity=6,
            poignancy=4,
            calls=("the plan",),
        ),
    )
    (memory,) = lived.drafts
    assert (memory.type, memory.origin, memory.text, memory.place, memory.calls) == (
        "event",
        "own act",
        "Ines makes coffee.",
        "Ines's Kitchen",
        ("the plan",),
    )
    assert (memory.emotion, memory.intensity, memory.poignancy) == ("sadness", 6, 4)
    assert (ines.resident.emotion, ines.resident.intensity) == ("sadness", 6)


def test_what_goes_on_is_felt_once() -> None:
    ines = begins()
    felt(ines)
    acts(ines, coffee(), EIGHT + 15)
    assert felt(ines) == Effects()


def test_who_comes_unexpectedly_is_asked_about_all_at_once() -> None:
    ines, seen = begins(), list[Question]()
    meets(ines, "Miriam", "Omar")
    lived = felt(ines, FeelingsAnswer(feelings=(GLAD, AFRAID)), seen=seen)
    assert len(seen) == 1
    assert TOLD in seen[0].prompt
    assert "makes coffee" in seen[0].prompt, "what she does is told"
    assert [(d.text, d.origin, d.emotion, d.present) for d in lived.drafts] == [
        ("Ines makes coffee.", "own act", "sadness", ("Miriam", "Omar")),
        ("A woman whom Ines does not know is here and waits.", "sight", "joy", ("Miriam", "Omar")),
        ("Omar is here and waits.", "sight", "fear", ("Miriam", "Omar")),
    ]
    assert [event.calls for event in lived.events if isinstance(event, Appraised)] == [
        ("the plan",),
        (seen[0].key,),
        (seen[0].key,),
    ]
    assert (ines.resident.emotion, ines.resident.intensity) == ("fear", 8), "the strongest stays"
    assert ines.resident.news == () and ines.resident.begun is None


def test_what_is_told_is_the_feeling_of_what_has_just_begun() -> None:
    ines, seen = begins(), list[Question]()
    ines.observe(said())
    ines.observe(Scheduled(who="Ines", slots=(coffee(),), calls=("the plan",)))
    meets(ines, "Omar")
    felt(ines, FeelingsAnswer(feelings=(GLAD,)), seen=seen)
    assert "Ines feels rather low at this moment." in seen[0].prompt
    assert "angry" not in seen[0].prompt


def test_the_strongest_stays_though_it_was_felt_first() -> None:
    ines = begins()
    meets(ines, "Omar")
    felt(ines, FeelingsAnswer(feelings=(GLAD,)))
    assert (ines.resident.emotion, ines.resident.intensity) == ("sadness", 6)


def test_too_few_feelings_are_complained_about() -> None:
    ines, seen = begins(), list[Question]()
    meets(ines, "Miriam", "Omar")
    felt(ines, FeelingsAnswer(feelings=(GLAD, AFRAID)), seen=seen)
    check = seen[0].check
    assert check is not None
    assert check(FeelingsAnswer(feelings=(GLAD,))) == "1 feelings came, 2 were asked for"
    assert check(FeelingsAnswer(feelings=(GLAD, AFRAID))) is None
    assert check(seen[0].fallback) is None


class TestWhatIsFeltLater:
    """What was planned to be felt counts until something else was felt."""

    later = coffee(EIGHT + 15, emotion="joy", intensity=5, poignancy=3)

    def later_felt(self, ines: Alone) -> Appraised:
        acts(ines, self.later.model_copy(update={"activity": "drinks it"}))
        (event,) = felt(ines).events
        assert isinstance(event, Appraised)
        return event

    def planned(self) -> Alone:
        drinks = self.later.model_copy(update={"activity": "drinks it"})
        ines = Alone()
        ines.observe(Scheduled(who="Ines", slots=(coffee(), drinks)))
        acts(ines, coffee())
        felt(ines)
        return ines

    def test_as_planned(self) -> None:
        event = self.later_felt(self.planned())
        assert (event.emotion, event.intensity, event.poignancy) == ("joy", 5, 3)

    def test_after_a_talk_what_was_felt_there_stays(self) -> None:
        ines = self.planned()
        ines.observe(said())
        event = self.later_felt(ines)
        assert (event.emotion, event.intensity, event.poignancy) == ("anger", 6, 3), "7 fades: 6.4"

    def test_what_stays_of_a_talk_is_weaker_than_its_lines_and_counts(self) -> None:
        ines = self.planned()
        ines.observe(said())
        stays = Appraised(who="Ines", about="a talk", emotion="trust", intensity=3, poignancy=4)
        ines.observe(stays)
        assert (ines.resident.emotion, ines.resident.intensity) == ("trust", 3)
        assert self.later_felt(ines).emotion == "trust"

    def test_after_somebody_unexpected_too(self) -> None:
        ines = self.planned()
        meets(ines, "Omar")
        felt(ines, FeelingsAnswer(feelings=(AFRAID,)))
        event = self.later_felt(ines)
        assert (event.emotion, event.intensity) == ("fear", 7), "8 fades: 7.3"

    def test_after_a_half_life_what_was_foreseen_counts_if_it_is_stronger(self) -> None:
        for intensity, felt_then in ((3, ("anger", 4)), (5, ("joy", 5))):
            ines = self.planned()
            ines.observe(said())
            later = coffee(EIGHT + 120, emotion="joy", intensity=intensity, poignancy=3)
            later = later.model_copy(update={"activity": "reads"})
            ines.resident.slots[later.minute] = later
            acts(ines, later)
            (event,) = felt(ines).events
            assert isinstance(event, Appraised)
            assert (event.emotion, event.intensity) == felt_then, "anger 7 is 3.5 by now"

    def test_until_it_has_faded(self) -> None:
        ines = self.planned()
        ines.observe(said())
        evening = self.later.model_copy(update={"minute": EIGHT + 360, "activity": "reads"})
        ines.resident.slots[evening.minute] = evening
        acts(ines, evening)
        (event,) = felt(ines).events
        assert isinstance(event, Appraised)
        assert (event.emotion, event.intensity) == ("joy", 5), "as planned again"
        assert not ines.resident.mood.moved

    def test_until_slots_are_planned_anew(self) -> None:
        ines = self.planned()
        ines.observe(said())
        again = self.later.model_copy(update={"activity": "drinks it"})
        ines.observe(Scheduled(who="Ines", slots=(again,)))
        assert self.later_felt(ines).emotion == "joy"

    def test_a_slot_of_an_older_log_says_none(self) -> None:
        ines = Alone()
        bare = Slot(minute=EIGHT, activity="sits", activity_kind="rest", place="Ines's Kitchen")
        ines.observe(Scheduled(who="Ines", slots=(bare,)))
        acts(ines, bare)
        (event,) = felt(ines).events
        assert isinstance(event, Appraised)
        assert (event.emotion, event.intensity, event.poignancy) == ("neutral", 1, 1)


def said() -> Said:
    return Said(
        chat="0:Ines+Miriam",
        message=0,
        who="Ines",
        to="Miriam",
        text="Leave me alone.",
        emotion="anger",
        intensity=7,
        poignancy=5,
        emphasis=None,
        source="generated",
    )
