"""Shipped policies as agents."""

import json
from typing import Any

import gymnasium
import pytest

from simcounsel.agents.facts import LineFacts
from simcounsel.envs import END, ID, PolicyAgent
from simcounsel.envs.counseling import CounselingEnv
from simcounsel.errors import SpecError
from simcounsel.policies import policies_of
from simcounsel.specs.practice import SafetySettings
from tests.each import each
from tests.envs.stage import Step, environment, speaking
from tests.stage import changed, tiny


def staying(request: Any, draw: Any) -> str:
    """A counselor who never takes leave of its own accord."""
    say = f"Line {len(request.facts.lines)} of mine, number {draw.randrange(1000)}."
    return json.dumps(
        {"say": say, "emotion": "trust", "intensity": 3, "poignancy": 3, "wish": "go on"}
    )


def conversed(env: CounselingEnv, agent: PolicyAgent, seed: int) -> list[Step]:
    """An episode with an agent."""
    observation, info = env.reset(seed=seed)
    steps: list[Step] = []
    while not steps or not steps[-1][2]:
        steps.append(env.step(agent.act(observation, info)))
        observation, info = steps[-1][0], steps[-1][4]
    return steps


@each("policy", policies_of("counselor"))
def test_every_policy_can_play(policy: str) -> None:
    with environment(sessions=2, max_turns=8) as (env, _):
        agent = PolicyAgent(policy, env)
        for seed in (1, 2):
            steps = conversed(env, agent, seed)
            assert steps[-1][0]["session"] == 2
            assert not any(step[4]["action"].silent for step in steps)


def test_it_goes_by_what_it_hears_and_closes_in_time() -> None:
    lines = ("The lamp in my hall is called Olga.", "She is old.", "Yes.", "I think so.")
    with environment(
        max_turns=8, scripts={"line_client": speaking(*lines), "line_counselor": staying}
    ) as (env, model):
        conversed(env, PolicyAgent("socratic", env), 1)
        of_counselor = [
            request for request in model.requests if request.purpose == "line_counselor"
        ]
        assert [request.facts.move for request in of_counselor] == [
            "greet",
            "ask",
            of_counselor[2].facts.move,
            "close",
        ]
        assert (
            "called Olga" not in of_counselor[0].prompt and "called Olga" in of_counselor[1].prompt
        )


def test_it_remembers_the_session_before_to_its_last_line() -> None:
    lines = ("I came by bus.", "It was late.", "My last word is heliotrope.")
    with environment(
        sessions=2,
        max_turns=6,
        scripts={"line_client": speaking(*lines), "line_counselor": staying},
    ) as (env, model):
        conversed(env, PolicyAgent("socratic", env), 1)
        (summary,) = (
            request
            for request in model.requests
            if request.purpose == "summarize" and request.who == "Miriam"
        )
        assert "heliotrope" in summary.prompt
        second = [request for request in model.requests if request.purpose == "line_counselor"][3]
        assert "It is their session number 2" in second.prompt


def test_it_is_told_nothing_of_the_clients_feelings_and_file() -> None:
    with environment(max_turns=8) as (env, model):
        conversed(env, PolicyAgent("socratic", env), 1)
        own = [request for request in model.requests if request.who == "Miriam"]
        told = [request.facts for request in own if isinstance(request.facts, LineFacts)]
        heard = [line for facts in told for line in facts.lines if line.who == "Ines"]
        assert heard and all(line.emotion == "neutral" and line.emphasis is None for line in heard)
        file = env.casting.of(0).client.persona
        assert not any(
            text[:40] in request.prompt + request.system
            for request in own
            for text in (file.history, file.background)
        )


def test_leaving_is_handed_on_both_ways() -> None:
    def leaving(request: Any, draw: Any) -> str:
        said = len(request.facts.lines)
        wish = "say goodbye" if said >= 2 else "go on"
        return f'{{"say": "Line {said} of mine.", "emotion": "trust", "intensity": 3, "poignancy": 3, "wish": "{wish}"}}'

    with environment(max_turns=10, scripts={"line_counselor": leaving}) as (env, _):
        steps = conversed(env, PolicyAgent("socratic", env), 1)
        assert [step[4]["action"].leaves for step in steps] == [False, True]
        assert steps[-1][4]["lines"][-2][1] == "Line 2 of mine."
    with environment(
        sessions=2,
        max_turns=10,
        scripts={
            "line_client": speaking("Hello.", "I have to go. [bye]"),
            "line_counselor": staying,
        },
    ) as (env, model):
        steps = conversed(env, PolicyAgent("socratic", env), 1)
        assert len(steps) == 6
        moves = [
            request.facts.move for request in model.requests if request.purpose == "line_counselor"
        ]
        assert [moves[2], moves[5]] == ["close", "close"]


def test_where_the_environment_goes_on_it_takes_leave() -> None:
    """Its own talk is over at the limit, which for the environment moves on while danger is open; it does not see that."""
    world = changed(tiny(), safety=SafetySettings(counselors="nothing"))
    with environment(
        world,
        max_turns=4,
        scripts={
            "line_client": speaking("I want to die, and nobody knows."),
            "line_counselor": staying,
        },
    ) as (env, _):
        steps = conversed(env, PolicyAgent("supportive", env), 1)
        assert len(steps) == 3
        assert steps[-1][4]["action"].leaves
        assert set(steps[-1][4]["reward"].breaches) == {"left", "ignored"}


def test_the_same_again() -> None:
    def lines(seed: int) -> list[Any]:
        with environment(max_turns=8) as (env, _):
            return [step[0] for step in conversed(env, PolicyAgent("socratic", env, seed=seed), 1)]

    assert lines(1) == lines(1) != lines(2)


def test_through_wrappers_and_where_it_cannot_play() -> None:
    env = gymnasium.make(ID, world=tiny(), model="scripted")
    agent = PolicyAgent("socratic", env)
    observation, info = env.reset(seed=1)
    assert END not in agent.act(observation, info)
    late = PolicyAgent("socratic", env)
    step = env.step("Hello.")
    with pytest.raises(SpecError, match="call act from reset on"):
        late.act(step[0], step[4])
    with pytest.raises(SpecError, match="no policy 'freudian'"):
        PolicyAgent("freudian", env)
    env.close()
    with pytest.raises(SpecError, match="expected a CounselingEnv, got"):
        PolicyAgent("socratic", gymnasium.Env())


def test_the_safety_protocol_stands_before_the_policy() -> None:
    """Danger is taken up, help is named, and the talk is not left on it; the lines are those written by hand."""
    lines = (
        "Hello.",
        "I want to die. I have been thinking of ending my life.",
        "Yes, I do think of it.",
        "No, I have no plan.",
        "My sister.",
        "Yes, I will.",
    )
    with environment(
        max_turns=30,
        scripts={
            "line_client": speaking(*lines),
            "line_counselor": lambda request, draw: "no JSON",
        },
    ) as (env, _):
        steps = conversed(env, PolicyAgent("socratic", env), 1)
        assert not any(step[4]["reward"].found for step in steps)
        said = " ".join(text for step in steps for who, text in step[4]["lines"] if who == "Miriam")
        assert "emergency" in said
