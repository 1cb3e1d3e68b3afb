"""Plans: strokes of a day, slots of a block, appointments that stand fast."""

from typing import Any

import pytest

from simcounsel.agents import planning, slots
from simcounsel.agents.mind import Agreed, Effects
from simcounsel.agents.tasks import BlockAnswer, DayAnswer, SlotAnswer, StrokeAnswer
from simcounsel.events import Planned, Recalled, Scheduled, Stroke
from simcounsel.llm.driving import play
from simcounsel.llm.question import Question
from simcounsel.prompts import replaced
from simcounsel.prompts.sets import shipped_set
from simcounsel.specs.vocabulary import Role
from simcounsel.specs.world_settings import MemorySettings
from tests.each import each
from tests.stage import EIGHT, HERE, Alone, changed, noting, scene, tiny, vectors

STROKES = tuple(
    StrokeAnswer(at=at, do=do)
    for at, do in (
        ("9:00", "She works."),
        ("07:15", "gets up"),
        ("12:00", "Ines eats soup"),
        ("14:00", "TV repair"),
        ("22:00", "goes to bed"),
    )
)
DAY = DayAnswer(strokes=STROKES)
LOW: dict[str, Any] = {"emotion": "sadness", "intensity": 5, "poignancy": 2}
MEETING = (EIGHT + 60, "Counseling Center", "Miriam")


def block(*activities: str, place: str = "Ines's Kitchen") -> BlockAnswer:
    return BlockAnswer(
        slots=tuple(SlotAnswer(activity=a, kind="rest", place=place, **LOW) for a in activities)
    )


def planned(
    ines: Alone, *replies: Any, requests: list[Question] | None = None, **more: Any
) -> Effects:
    return play(
        noting(planning.plan(ines.resident, scene(**more)), [] if requests is None else requests),
        *replies,
    )


def test_new_day() -> None:
    seen: list[Question] = []
    effects = planned(
        Alone(), vectors([1, 0]), DAY, block("sits", "sits", "eats", "sits"), requests=seen
    )
    recalled, day, slots = effects.events
    assert isinstance(recalled, Recalled)
    assert day == Planned(
        who="Ines",
        day=0,
        why="a new day",
        strokes=tuple(
            Stroke(at=at, do=do)
            for at, do in (
                ("07:15", "gets up"),
                ("09:00", "works"),
                ("12:00", "eats soup"),
                ("14:00", "TV repair"),
                ("22:00", "goes to bed"),
            )
        ),
        calls=(seen[1].key,),
    )
    assert [draft.calls for draft in effects.drafts] == [(seen[1].key,)]
    assert isinstance(slots, Scheduled)
    assert [s.minute for s in slots.slots] == [EIGHT, EIGHT + 30, EIGHT + 60, EIGHT + 90]
    assert [(r.verb, r.purpose) for r in seen] == [
        ("embed", "plan_day"),
        ("fill", "plan_day"),
        ("fill", "plan_slots"),
    ]
    assert [(d.type, d.origin, d.emotion) for d in effects.drafts] == [("day_plan", "plan", None)]
    assert {(s.emotion, s.intensity, s.poignancy) for s in slots.slots} == {("sadness", 5, 2)}


def test_planned_slots_are_memories_as_in_the_paper_where_that_is_asked_for() -> None:
    world = changed(tiny(), memory=MemorySettings(only_lived=False))
    effects = planned(
        Alone(world=world), vectors([1, 0]), DAY, block("sits", "sits", "eats", "sits")
    )
    assert [(d.type, d.origin, d.emotion) for d in effects.drafts] == [
        ("day_plan", "plan", None)
    ] + [("slot", "plan", None)] * 3
    assert effects.drafts[1].text == "08:00 to 09:00: Ines sits (Ines's Kitchen)."


def test_day_that_is_planned_gets_slots_only() -> None:
    ines = Alone()
    ines.observe(
        Planned(who="Ines", day=0, strokes=(Stroke(at="08:00", do="reads"),), why="a new day")
    )
    seen: list[Question] = []
    effects = planned(ines, block(*["reads"] * 4), requests=seen)
    assert [event.kind for event in effects.events] == ["scheduled"]
    assert [r.purpose for r in seen] == ["plan_slots"]
    assert "08:00 reads" in seen[0].prompt


def test_compact_prompts_say_what_is_due_in_each_slot() -> None:
    """The last step that has begun by the slot's end, or the appointment."""
    ines = Alone()
    steps = (Stroke(at="07:30", do="wakes"), Stroke(at="8:40", do="walks"))
    ines.observe(Planned(who="Ines", day=0, strokes=steps, why="a new day"))
    seen: list[Question] = []
    with replaced(shipped_set("compact")):
        planned(ines, block(*["reads"] * 4), requests=seen, appointments=(MEETING,))
    due = "- 08:00 wakes\n- 08:30 walks\n- 09:00 meets Miriam as agreed\n- 09:30 walks\n"
    assert due in seen[0].prompt


@pytest.mark.parametrize(("session", "kind"), [(True, "counseling"), (False, "social")])
def test_appointment_overrides_the_slot(session: bool, kind: str) -> None:
    at, _, other = MEETING
    role: Role = "counselor" if session else "layperson"
    effects = planned(
        Alone(),
        vectors([1, 0]),
        DAY,
        block("sits", "sits", "eats", "sits"),
        appointments=(MEETING,),
        agreed={(at, other): Agreed(minutes=30, role=role, session=session)},
    )
    scheduled = effects.events[-1]
    assert isinstance(scheduled, Scheduled)
    kept = scheduled.slots[2]
    assert (kept.minute, kept.place, kept.activity, kept.activity_kind) == (
        MEETING[0],
        "Counseling Center",
        "meets Miriam as agreed",
        kind,
    )
    assert (kept.emotion, kept.intensity, kept.poignancy) == ("sadness", 5, 2)
    assert [s.activity for s in scheduled.slots] == [
        "sits",
        "sits",
        "meets Miriam as agreed",
        "sits",
    ]


def test_appointment_is_in_the_prompt_until_it_is_over() -> None:
    seen: list[Question] = []
    planned(
        Alone(), vectors([1, 0]), DAY, block(*["sits"] * 4), requests=seen, appointments=(MEETING,)
    )
    assert all(
        "Ines's appointments today: 09:00 with Miriam at Counseling Center." in r.prompt
        for r in seen[1:]
    )
    later: list[Question] = []
    planned(
        Alone(),
        vectors([1, 0]),
        DAY,
        block(*["sits"] * 4),
        requests=later,
        minute=EIGHT + 90,
        appointments=(MEETING,),
    )
    assert all("Ines has no appointment ahead today." in r.prompt for r in later[1:])


def request_for_slots(**more: Any) -> Question:
    seen: list[Question] = []
    planned(Alone(), vectors([1, 0]), DAY, block(*["sits"] * 4), requests=seen, **more)
    return seen[-1]


def test_check_of_slots() -> None:
    check = request_for_slots().check
    assert check is not None
    assert check(block(*["sits"] * 4)) is None
    assert check(block(*["sits"] * 5)) is None
    assert check(block("sits")) == "1 slots came, 4 were asked for"
    assert check(block(*["sits"] * 4, place="Paris")) == "'Paris' is none of the reachable places"


def test_more_slots_than_asked_for_are_left_out() -> None:
    effects = planned(Alone(), vectors([1, 0]), DAY, block(*["sits"] * 9))
    assert isinstance(effects.events[-1], Scheduled)
    assert len(effects.events[-1].slots) == 4


def test_block_ends_with_the_day() -> None:
    effects = planned(Alone(), vectors([1, 0]), DAY, block(*["sits"] * 4), minute=23 * 60)
    assert isinstance(effects.events[-1], Scheduled)
    assert [s.minute for s in effects.events[-1].slots] == [23 * 60, 23 * 60 + 30]


@each("minute", range(0, 1440, 30))
def test_fallback_is_usual_and_reachable_at_every_hour(minute: int) -> None:
    request = request_for_slots(minute=minute)
    assert isinstance(request.fallback, BlockAnswer)
    assert request.check is not None
    assert request.check(request.fallback) is None
    ines = Alone().resident
    at = {r.do for r in ines.persona.routines if r.covers(minute)}
    assert request.fallback.slots[0].activity in at
    assert {s.place for s in request.fallback.slots} <= {p.name for p in HERE}


def test_fallback_of_a_day_is_one_of_the_usual_days() -> None:
    seen: list[Question] = []
    ines = Alone()
    planned(ines, vectors([1, 0]), DAY, block(*["sits"] * 4), requests=seen)
    usual = [tuple((s.at, s.do) for s in day) for day in ines.resident.persona.days]
    assert tuple((s.at, s.do) for s in seen[1].fallback.strokes) in usual


def test_replan_starts_where_the_scene_is() -> None:
    ines = Alone()
    ines.observe(
        Planned(
            who="Ines",
            day=0,
            strokes=tuple(Stroke(at="08:00", do=f"reads page {n}") for n in range(5)),
            why="a new day",
        )
    )
    seen: list[Question] = []
    effects = play(
        noting(planning.replan(ines.resident, scene(minute=EIGHT + 30), "a row"), seen),
        vectors([1, 0]),
        DAY,
        block(*["rests"] * 4),
    )
    assert isinstance(effects.events[1], Planned)
    assert effects.events[1].why == "a row"
    assert isinstance(effects.events[2], Scheduled)
    assert effects.events[2].slots[0].minute == EIGHT + 30
    assert "a row" in seen[1].prompt
    assert "reads page 3" in seen[1].prompt
    assert [s.at for s in effects.events[1].strokes[:5]] == ["08:00"] * 5, "what is over stays"
    assert [s.do for s in seen[1].fallback.strokes] == ["reads page 4"], "nothing else is left"


def test_place_for_prefers_home() -> None:
    persona = Alone().resident.persona
    at_home = next(r for r in persona.routines if r.place == "bedroom")
    nowhere = next(r for r in persona.routines if r.place == "park")
    assert slots.place_for(at_home, scene()) == "Ines's Bedroom"
    assert slots.place_for(nowhere, scene()) == "Ines's Bedroom"
