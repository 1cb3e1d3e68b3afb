"""What a counselor's line asks of a client by its words."""

from simcounsel.embedded.clientstates import first_task
from tests.each import each


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
