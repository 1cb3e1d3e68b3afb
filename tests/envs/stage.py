"""What tests of the environment set up: a small world, clients who say and answer what a test wants."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any

from simcounsel.envs import CounselingEnv
from simcounsel.envs.counseling import Info, counseling_env
from simcounsel.envs.observing import Observation
from simcounsel.llm.question import Question
from simcounsel.scripted import Script
from simcounsel.specs.world import World
from tests.stage import Listening, switchboard, tiny

Step = tuple[Observation, float, bool, bool, Info]
PLAIN = "My days are long, and I count the hours."


def speaking(*lines: str) -> Script:
    """A client who says these lines one after the other in each session, then something plain. `[bye]` at the end takes leave."""

    def script(request: Question, draw: Random) -> str:
        turn = sum(line.who == request.who for line in request.facts.lines)
        text = lines[turn] if turn < len(lines) else f"{PLAIN} That was line {turn}."
        leaves = text.endswith("[bye]")
        wish = "say goodbye" if leaves else "go on"
        return json.dumps(
            {
                "say": text.removesuffix("[bye]").strip(),
                "emotion": "sadness",
                "intensity": 5,
                "poignancy": 5,
                "wish": wish,
            }
        )

    return script


def answering(answers: Mapping[str, Callable[[int], Any]]) -> Script:
    """A client who answers an instrument by how often it was asked before (an answer that cannot be used is asked again): a list with an answer for each
    item, or one for all."""
    asked: dict[str, int] = {}

    def script(request: Question, draw: Random) -> str:
        name = request.facts.instrument
        asked[name] = asked.get(name, -1) + 1
        value = answers[name](asked[name])
        return json.dumps(
            {
                question.id: value[number] if isinstance(value, list) else value
                for number, question in enumerate(request.facts.items)
            }
        )

    return script


@contextmanager
def environment(
    world: World | None = None, *, scripts: Mapping[str, Script] | None = None, **kind: Any
) -> Iterator[tuple[CounselingEnv, Listening]]:
    """An environment of the tiny world, and the model that answers in it."""
    model = Listening({"line_client": speaking(), **(scripts or {})})
    models = switchboard(model)
    env = counseling_env(world=world or tiny(), models=models, **kind)
    try:
        yield env, model
    finally:
        env.close()
        models.close()


def played(env: CounselingEnv, *actions: str) -> list[Step]:
    """Steps with these actions."""
    return [env.step(action) for action in actions]


def to_the_end(env: CounselingEnv, *actions: str, most: int = 60) -> list[Step]:
    """Steps with these actions, then with plain ones, until the episode is over."""
    steps: list[Step] = []
    for number in range(most):
        steps.append(
            env.step(
                actions[number] if number < len(actions) else f"Say a little more, number {number}."
            )
        )
        if steps[-1][2]:
            return steps
    raise AssertionError(f"not over after {most} steps")
