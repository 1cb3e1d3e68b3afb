"""What a client's sentence shows by its own words: fields of a conceptualization, goals of a course."""

from simcounsel.embedded.clientstates import first_task
from simcounsel.embedded.shown import of_field, of_goal
from simcounsel.therapies.course.learning import described
from simcounsel.therapies.specs.therapy import shipped_therapy
from tests.each import each
from tests.stage import view

CBT = shipped_therapy("cbt")
SAID = (
    "I sleep badly.",
    "If I don't check the drawing, somebody gets hurt.",
    "I am just a burden to them.",
    "I always check the sheet six times.",
    "My father always left the table when I played.",
    "Talking to my brother helps me a little.",
    "Nobody helps me with any of it.",
    "Last night I lay awake until four.",
    "I've noticed that I breathe less when he calls.",
    "Do I have to do it again?",
    "He is a good man.",
    "When I say home, I have to stop and think which one I mean.",
    "I must feel I'm in the way by nature.",
    "I drop off all right, and then at ten to three I'm wide awake for no reason.",
    "I take it that tired means dangerous.",
    "It's coffee because I'm tired and tired because of the coffee.",
    "I lie on my back and work out what's left.",
    "I must run, sorry, somebody needs something.",
    "It's worse before I have to send something off.",
)


@each(
    ("field", "sentences"),
    [
        ("rules", (1, 14)),
        ("core_beliefs", (2,)),
        ("coping", (3, 16)),
        ("formative_experiences", (4,)),
        ("strengths", (5,)),
        ("problems_and_goals", (13,)),
        ("situations", (7, 13)),
        ("maintaining_cycle", (15,)),
    ],
)
def test_a_field_gets_only_what_is_of_its_kind(field: str, sentences: tuple[int, ...]) -> None:
    assert of_field(described(view(), CBT)[field], SAID) == [SAID[one] for one in sentences]


def test_a_goal_is_shown_by_one_sentence_or_stays_open() -> None:
    goals = {goal: of_goal(goal, SAID) for stage in CBT.stages for goal in stage.goals}
    shown = {goal: quote for goal, quote in goals.items() if quote}
    assert set(shown.values()) == {SAID[5], SAID[7], SAID[8]}
    assert all("strength" in goal for goal, quote in shown.items() if quote == SAID[5])
    assert len(shown) == 3
    assert not any(of_goal(goal, SAID[:1]) for goal in goals)


@each("name", ["behavioral", "integrative", "postmodern", "psychodynamic"])
def test_other_therapies_have_a_field_that_a_sentence_can_fill(name: str) -> None:
    fields = described(view(), shipped_therapy(name)).values()
    assert any(of_field(field, SAID) for field in fields)


@each(
    ("line", "task"),
    [
        ("Would you write down one such moment until we meet?", True),
        ("Until next time, keep a note of when you wake.", True),
        ("Where in your body do you notice it first?", False),
        ("You don't have to wait until we meet again.", False),
    ],
)
def test_a_task_is_something_to_do(line: str, task: bool) -> None:
    assert bool(first_task([line])) == task
