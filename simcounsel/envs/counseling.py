"""The environment: an agent counsels a simulated client, text in, text out."""

import weakref
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.error import ResetNeeded

from simcounsel.envs.account import NOTHING_YET, Account, account
from simcounsel.envs.acting import Taken, take
from simcounsel.envs.breaches import Found, breaches
from simcounsel.envs.casting import Casting, sessions_of
from simcounsel.envs.episode import Episode
from simcounsel.envs.hidden import hidden_in
from simcounsel.envs.metering import meters_of, parts_of
from simcounsel.envs.observing import Observation, lines_of, observation_space, observe, transcript
from simcounsel.envs.preparing import EnvSettings, open_models, wanted_client
from simcounsel.envs.reward import find_reward
from simcounsel.envs.rollouts import Calls, write_run
from simcounsel.envs.seat import roles_of
from simcounsel.envs.setting import Setting, counselor_of, turns_of
from simcounsel.envs.spaces import ACTION_CHARACTERS, writing
from simcounsel.errors import SpecError
from simcounsel.events import Measured
from simcounsel.llm.switchboard import Switchboard
from simcounsel.llm.usage import Usage
from simcounsel.policies import policy_for

Info = dict[str, Any]
SEEDS = 2**31


class CounselingEnv(gymnasium.Env[Observation, str]):
    """Counsel one client of a world for some sessions.

        env = CounselingEnv(EnvSettings(world="insomnia", model="scripted"))
        observation, info = env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step("Hello. What brings you here?")

    `gymnasium.make("simcounsel/Counseling-v0", ...)` takes the fields of `EnvSettings` one by one.

    The counselor opens. An action is the next line; `[end]` at its end takes leave. An empty action
    is silence: the client hears `...`. A session is over when somebody took leave and the other has
    answered, or at the turn limit, which moves on while danger is open. The episode terminates with
    the last session; it is never truncated, since the limit is part of the task and is in
    `turns_left`.

    models: a ready Switchboard, which is then not closed here; None: those of the settings' world
    are opened when they are first needed. render_mode: `ansi`, or None for nothing.

    Vectors of environments: `SyncVectorEnv` as it is, `AsyncVectorEnv` only with
    `shared_memory=False`, since Gymnasium reads texts from shared memory once and never again.

    Everything is drawn from the seed, and every request to a model carries one. With models that
    answer the same to the same, the same seed and actions give the same observations.
    ModelUnreachable when a model does not answer: nobody should learn from fallbacks.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(
        self,
        settings: EnvSettings,
        *,
        models: Switchboard | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise SpecError([f"render_mode: {render_mode!r} is not one of ansi, None"])
        self.settings = settings
        self.world = settings.world_played()
        self.casting = Casting(self.world, settings.client, settings.cases, settings.people)
        self.reward = find_reward(settings.reward)
        self.render_mode = render_mode
        self._meters = meters_of(self.reward)
        policy_for("client", settings.policy, self.world.language)
        casts = self.casting.some()
        most = max(
            turns_of(one.world, one.client, counselor_of(one.world, one.client), settings.max_turns)
            for one in casts
        )
        sessions = max(sessions_of(one, settings.sessions) for one in casts)
        self.observation_space = observation_space(sessions, most)
        self.action_space = writing(ACTION_CHARACTERS)
        self._models = models
        self._own_models = models is None
        self._closing: weakref.finalize[Any, Any] | None = None
        self._episode: Episode | None = None
        self._before: dict[str, Measured] = {}
        self._charged: set[Found] = set()

    @property
    def models(self) -> Switchboard:
        """The models, opened when they are first needed."""
        if self._models is None:
            self._models = open_models(self.world)
            self._closing = weakref.finalize(self, self._models.close)
        return self._models

    @property
    def usage(self) -> Usage:
        """What was asked of models so far, and what it cost."""
        return self.models.usage

    @property
    def setting(self) -> Setting:
        """The present episode's frame. ResetNeeded before the first."""
        return self._present().setting

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """A new episode. options: {"client": NAME} in place of the draw, or a number from 0 where
        clients are drawn.
        """
        super().reset(seed=seed)
        self._drop()
        drawn = int(self.np_random.integers(len(self.casting)))
        of_episode = int(self.np_random.integers(SEEDS))
        wanted = wanted_client(options or {})
        cast = self.casting.of(drawn) if wanted is None else self.casting.named(wanted)
        counselor = counselor_of(cast.world, cast.client)
        setting = Setting(
            world=cast.world,
            client=cast.client,
            counselor=counselor,
            outside="counselor",
            seed=of_episode,
            sessions=sessions_of(cast, self.settings.sessions),
            days_apart=self.settings.days_apart,
            max_turns=turns_of(cast.world, cast.client, counselor, self.settings.max_turns),
            policy=self.settings.policy,
            notes=self.settings.notes,
            case=cast.case,
        )
        if self.settings.out is not None:
            Calls.of(self.models)
        episode = Episode(setting, self.models)
        episode.begin()
        self._before = self._measure(episode, 0, only_changes=True)
        self._charged = set()
        episode.open()
        self._episode = episode
        return self._observed(episode, None, NOTHING_YET)

    def step(self, action: str) -> tuple[Observation, float, bool, bool, Info]:
        """Say the next line. ResetNeeded when no session is under way, TypeError when the action is
        no text.
        """
        episode = self._present()
        if episode.view is None:
            raise ResetNeeded("the episode is over; call reset")
        taken = take(action, episode.view)
        try:
            episode.say(taken.line)
            over = episode.view is None
            found = self._new_breaches(episode, taken)
            parts = None
            if over:
                now = self._measure(episode, len(episode.past))
                parts = parts_of(self._meters, now, self._before)
                self._before = self._before | now
                self._charged = set()
            last = over and len(episode.past) == episode.setting.sessions
            if over and not last:
                episode.open()
        except BaseException:
            self._drop()  # broken off in the middle: only a new episode can follow
            raise
        told = episode.past[-1].told if over else 0
        given = account(self.reward, taken, found, parts, told)
        observation, info = self._observed(episode, taken, given)
        if over:
            info["ended"] = episode.past[-1].ended.cause
            info["open_danger"] = episode.past[-1].ended.open_danger
        if last and self.settings.out is not None:
            calls, out = Calls.of(self.models), Path(self.settings.out)
            info["run"] = str(write_run(out, episode.setting, episode.entries, calls))
        return observation, given.total, last, False, info

    def render(self) -> str | None:
        """The episode so far as text, with `render_mode="ansi"`; None without."""
        if self.render_mode is None:
            return None
        episode = self._present()
        now = lines_of(episode) if episode.view else ()
        return transcript(episode.setting, episode.past, now)

    def close(self) -> None:
        """Let go of the episode and of the models; nothing runs on. It may be called again, and
        after Ctrl-C.
        """
        self._drop()
        if self._closing is not None:
            self._closing()
        if self._own_models:
            self._models = self._closing = None
        super().close()

    # on the way

    def _present(self) -> Episode:
        if self._episode is None:
            raise ResetNeeded("no episode is under way; call reset")
        return self._episode

    def _drop(self) -> None:
        if self._episode is not None:
            self._episode.close()
        self._episode = None

    def _new_breaches(self, episode: Episode, taken: Taken) -> tuple[Found, ...]:
        """Those that this step brought to light."""
        lines = roles_of(lines_of(episode), episode.setting.client.name)
        found = breaches(lines, left=taken.leaves, over=episode.view is None)
        new = tuple(one for one in found if one not in self._charged)
        self._charged.update(new)
        return new

    def _measure(
        self, episode: Episode, session: int, only_changes: bool = False
    ) -> dict[str, Measured]:
        """Every instrument of the reward once, by name. only_changes: those of which the change
        counts.
        """
        wanted = {
            meter.instrument: meter.scale
            for meter in self._meters
            if meter.term.change or not only_changes
        }
        point = f"after session {session}" if session else "baseline"
        found = {name: episode.measure(scale, point, session) for name, scale in wanted.items()}
        for one in found.values():
            episode.note(one, session)
        return found

    def _observed(
        self, episode: Episode, taken: Taken | None, given: Account
    ) -> tuple[Observation, Info]:
        """The observation, and beside it: the same uncut, how the action was taken, the reward's
        parts, and what is hidden.
        """
        observation, cut = observe(episode)
        earlier = episode.past if episode.view else episode.past[:-1]
        info: Info = {
            "lines": lines_of(episode),
            "earlier": tuple(one.pairs for one in earlier),
            "cut": cut,
            "action": taken,
            "reward": given,
            "ended": None,
            "open_danger": None,
            "warnings": tuple(f"{one.who}: {one.purpose}: {one.cause}" for one in episode.troubles),
            "hidden": hidden_in(episode),
        }
        episode.troubles = ()
        return observation, info


def counseling_env(
    *, models: Switchboard | None = None, render_mode: str | None = None, **settings: Any
) -> CounselingEnv:
    """What `gymnasium.make` calls. settings: the fields of `EnvSettings`; TypeError for another."""
    return CounselingEnv(EnvSettings(**settings), models=models, render_mode=render_mode)
