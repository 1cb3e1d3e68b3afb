"""What a file says beside a policy's name: wrong keys are named with the one that was meant."""

from pathlib import Path

import pytest

from simcounsel.cli.check import check_file
from tests.therapies.test_manual import world_with


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("{name: staged, manuel: motivational}", "manuel: unknown key; did you mean 'manual'?"),
        ("{name: course, sesions: 6}", "sesions: unknown key; did you mean 'sessions'?"),
        ("{name: course, sessions: 99}", "sessions: 99: input should be less than or equal to"),
        (
            "{name: socratic, manual: motivational}",
            "socratic takes no manual; that is for single and staged",
        ),
        ("{name: unguided, mood: 1}", "unguided takes no mood; settings of a policy of one's own"),
        ("{name: staged, manual: {id: x}}", "name: missing; add `name: ...`"),
    ],
)
def test_a_wrong_key_is_named_on_its_line(tmp_path: Path, policy: str, said: str) -> None:
    problem = check_file(world_with(tmp_path, policy))[0]
    assert said in problem and problem.split(":")[1].isdecimal()
