"""Several episodes at once, over the same models: the clients answer side by side."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from simcounsel.envs.counseling import CounselingEnv, Info
from simcounsel.envs.observing import Observation
from simcounsel.envs.preparing import EnvSettings, open_models
from simcounsel.llm.switchboard import Switchboard


class CounselingVectorEnv(VectorEnv[Observation, Sequence[str], np.ndarray]):
    """What `gymnasium.make_vec("simcounsel/Counseling-v0", num_envs=8, ...)` gives: environments in
    threads that share one Switchboard, its budget and its account.

    An episode that is over begins anew with the next step, whose action is not looked at and whose
    reward is 0 (Gymnasium's AutoresetMode.NEXT_STEP).

    models: a ready Switchboard, which is then not closed here; None: those of the settings' world.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it so)
        "render_modes": ["ansi"],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        settings: EnvSettings,
        num_envs: int = 1,
        *,
        models: Switchboard | None = None,
        render_mode: str | None = None,
    ) -> None:
        self._own = models is None
        self.models = models or open_models(settings.world_played())
        self.envs = [
            CounselingEnv(settings, models=self.models, render_mode=render_mode)
            for _ in range(num_envs)
        ]
        self.num_envs, self.render_mode = num_envs, render_mode
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._pool = ThreadPoolExecutor(num_envs)
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, Info]:
        """New episodes everywhere. seed: the first's, counting on; or one for each."""
        seeds: Sequence[int | None] = (
            [seed + at for at in range(self.num_envs)]
            if isinstance(seed, int)
            else seed or [None] * self.num_envs
        )
        begun = self._pool.map(
            lambda env, own: env.reset(seed=own, options=options), self.envs, seeds
        )
        seen, infos = zip(*begun, strict=True)
        self._over[:] = False
        return self._batched(seen), self._told(infos)

    def step(self, actions: Sequence[str]) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, Info]:
        """A line in each, or a new episode where one was over."""

        def stepped(
            env: CounselingEnv, action: str, over: bool
        ) -> tuple[Observation, float, bool, bool, Info]:
            if over:
                seen, info = env.reset()
                return seen, 0.0, False, False, info
            return env.step(action)

        done = self._pool.map(stepped, self.envs, actions, self._over.copy())
        seen, rewards, ends, cuts, infos = zip(*done, strict=True)
        self._over = np.array(ends, dtype=bool)
        return (
            self._batched(seen),
            np.array(rewards, dtype=np.float64),
            self._over.copy(),
            np.array(cuts, dtype=bool),
            self._told(infos),
        )

    def render(self) -> tuple[Any, ...]:
        """The episodes so far as texts."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of the episodes, and of the models where they are its own."""
        self._pool.shutdown()
        for env in self.envs:
            env.close()
        if self._own:
            self.models.close()

    def _batched(self, seen: Sequence[Observation]) -> Any:
        space = self.single_observation_space
        empty: Any = create_empty_array(space, self.num_envs)
        return deepcopy(concatenate(space, seen, empty))

    def _told(self, infos: Sequence[Info]) -> Info:
        told: Info = {}
        for at, info in enumerate(infos):
            told = self._add_info(told, info, at)
        return told


def counseling_vector_env(
    num_envs: int = 1,
    *,
    models: Switchboard | None = None,
    render_mode: str | None = None,
    **settings: Any,
) -> CounselingVectorEnv:
    """What `gymnasium.make_vec` calls. settings: the fields of `EnvSettings`."""
    return CounselingVectorEnv(
        EnvSettings(**settings), num_envs, models=models, render_mode=render_mode
    )
