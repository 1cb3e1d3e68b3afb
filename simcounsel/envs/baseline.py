"""Agents to compare with: any counselor policy of simcounsel, playing the environment like any
other agent.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium

from simcounsel.agents.handwritten import LEAVE
from simcounsel.chance import seed_of
from simcounsel.envs.acting import END, SILENCE
from simcounsel.envs.counseling import CounselingEnv
from simcounsel.envs.episode import Episode
from simcounsel.envs.observing import Observation, pairs_of
from simcounsel.envs.seat import Line
from simcounsel.envs.setting import Setting
from simcounsel.errors import SpecError
from simcounsel.named_code import name_code
from simcounsel.policies import policy_for
from simcounsel.specs.practice import PolicySpec

MOST_FAREWELLS = 4


class PolicyAgent:
    """A counselor with a policy of simcounsel, such as `socratic`, and the persona and models of
    the environment's world.

        agent = PolicyAgent("socratic", env) observation, info = env.reset(seed=1) while not
        terminated: observation, reward, terminated, truncated, info =
        env.step(agent.act(observation, info))

    It is told what every agent is told, the client's words and nothing of its emotion, and keeps
    its own memories from session to session. seed: of its own draws. Code that the
    policy names may be run.
    """

    def __init__(
        self, policy: PolicySpec | str, env: "gymnasium.Env[Any, Any]", *, seed: int = 0
    ) -> None:
        inner = env.unwrapped
        if not isinstance(inner, CounselingEnv):
            raise SpecError(
                [f"env: expected a CounselingEnv, got {type(inner).__name__}; see simcounsel.envs"]
            )
        name_code(policy)
        policy_for("counselor", policy, inner.world.language)
        self.policy = policy
        self._env = inner
        self._seed = seed
        self._episodes = 0
        self._own: Episode | None = None

    @property
    def _farewell(self) -> str:
        """Said when its own talk is over and the environment's is not."""
        return f"{LEAVE[self._env.world.language]['counselor']} {END}"

    def act(self, observation: Observation, info: Mapping[str, Any]) -> str:
        """The next line; call it with everything that `reset` and `step` return."""
        if not info["lines"]:
            if int(observation["session"]) == 1:
                self._begin()
            else:
                self._end(info["earlier"][-1])
            own = self._present()
            own.open()
            return self._said(own, said=0, parting=False)
        own = self._present()
        if own.view is None:
            return self._farewell
        said, parting = len(own.view.lines), bool(observation["parting"])
        was_parting = own.view.parting
        own.say(Line(text=_last(info["lines"]), leaves=parting and not was_parting))
        return self._said(own, said=said + 1, parting=parting)

    def _present(self) -> Episode:
        if self._own is None:
            raise SpecError(
                ["PolicyAgent: the episode did not begin with it; call act from reset on"]
            )
        return self._own

    def _begin(self) -> None:
        setting = self._env.setting
        self._episodes += 1
        self._own = Episode(
            Setting(
                world=setting.world,
                client=setting.client,
                counselor=setting.counselor,
                outside="client",
                seed=seed_of(self._seed, self._episodes) >> 32,
                sessions=setting.sessions,
                days_apart=setting.days_apart,
                max_turns=setting.max_turns,
                policy=self.policy,
            ),
            self._env.models,
        )
        self._own.begin()

    def _end(self, lines: tuple[tuple[str, str], ...]) -> None:
        """The environment's session is over: the client's last words end the own talk as well,
        which becomes memory.
        """
        own, text = self._present(), _last(lines)
        for _ in range(MOST_FAREWELLS):
            if own.view is None:
                return
            own.say(Line(text=text, leaves=True))
            text = SILENCE
        own.close()

    def _said(self, own: Episode, said: int, parting: bool) -> str:
        """What it has just said, as an action."""
        lines = pairs_of(own.view) if own.view else own.past[-1].pairs
        if said >= len(lines):
            return self._farewell
        left = own.view is not None and own.view.parting and not parting
        return lines[said][1] + (f" {END}" if left else "")


def _last(lines: tuple[tuple[str, str], ...]) -> str:
    return lines[-1][1]
