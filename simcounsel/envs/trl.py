"""GRPO with TRL 1.15 or newer: a language model learns to counsel in the environment.

    rollout = Rollout(EnvSettings(world="insomnia", model="scripted"))
    trainer = GRPOTrainer(model, reward_funcs=episode_reward, rollout_func=rollout, args=...,
        train_dataset=Dataset.from_dict({"prompt": [str(seed) for seed in range(100)]}))

A prompt is the seed of an episode, so that a group differs in nothing but what its counselors say.
Every assistant message is a line of the counselor, the user messages are the client's; only the
counselor's tokens are learned. `max_completion_length` bounds one line, not the episode. What is
hidden is in no prompt. Text within <think> is not said.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from simcounsel.corpus.markup import opening
from simcounsel.envs import CounselingEnv, EnvSettings
from simcounsel.envs.preparing import open_models
from simcounsel.errors import SpecError
from simcounsel.llm.switchboard import Switchboard
from simcounsel.prompts import render

MARK = "simcounsel-line"


class Rollout:
    """TRL's `rollout_func`: all episodes of a batch at once, over one Switchboard.

    models: shared by all environments and not closed here; None: those of the settings. system:
    what the counselor is told first; None: as in exported dialogues.
    """

    def __init__(
        self, settings: EnvSettings, *, models: Switchboard | None = None, system: str | None = None
    ) -> None:
        world = settings.world_played()
        self.settings = replace(settings, world=world)
        self.system = system or render("export_counselor", world.language)[1]
        self.models, self._own = models or open_models(world), models is None
        self._envs: list[CounselingEnv] = []

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any] | None]:
        """Play an episode for each prompt. `env_mask` is 1 at the counselor's own tokens;
        `episode_return` is the sum of an episode's rewards.
        """
        while len(self._envs) < len(prompts):
            self._envs.append(CounselingEnv(self.settings, models=self.models))
        talks = [
            _Talk(env, int(seed), self.system, trainer)
            for env, seed in zip(self._envs, prompts, strict=False)
        ]
        with ThreadPoolExecutor(len(talks)) as pool:  # the clients think side by side
            while going := [talk for talk in talks if not talk.over]:
                lines, logprobs = trainer._generate_single_turn(
                    [talk.prompt + talk.ids for talk in going], None, {}, num_generations=1
                )
                list(pool.map(_Talk.say, going, lines, logprobs or [None] * len(lines)))
        return {
            "prompt_ids": [talk.prompt for talk in talks],
            "completion_ids": [talk.ids for talk in talks],
            "logprobs": [talk.logprobs for talk in talks] if trainer.use_vllm else None,
            "env_mask": [talk.mask for talk in talks],
            "episode_return": [talk.reward for talk in talks],
        }

    def close(self) -> None:
        """Let go of the episodes, and of the models where they are its own."""
        for env in self._envs:
            env.close()
        if self._own:
            self.models.close()


class _Talk:
    """An episode as tokens. mask: 1 for the counselor's own. reward: None once a session had
    instruments and none gave a value.
    """

    def __init__(self, env: CounselingEnv, seed: int, system: str, trainer: Any) -> None:
        self.env, self.trainer, self.tokenizer = env, trainer, trainer.processing_class
        self.begin = opening("client", env.world.language)
        self.ids, self.mask, self.logprobs = list[int](), list[int](), list[float]()
        self.reward: float | None = 0.0
        self.over = False
        told = f"{system}\n\n{env.reset(seed=seed)[0]['known']}"
        self.prompt = self._encode(self._text(("system", told), ("user", self.begin)))

    def say(self, line: list[int], logprobs: list[float] | None) -> None:
        """The counselor's line, and the client's answer to it."""
        self._add(line, logprobs, 1)
        text = self.tokenizer.decode(line, skip_special_tokens=True)
        spoken = text.rpartition("</think>")[2].partition("<think>")[0]
        seen, reward, self.over, _, info = self.env.step(spoken)
        if info["ended"] and self.env.reward.instruments and info["reward"].mix is None:
            self.reward = None
        self.reward = None if self.reward is None else self.reward + reward
        if not self.over:
            heard = seen["heard"] if seen["turn"] else f"{seen['known']}\n\n{self.begin}"
            self._add(self._answer(heard, line[-1] in self.trainer.eos_token_ids), None, 0)

    def _answer(self, heard: str, ended: bool) -> list[int]:
        """What the chat template writes between two lines; ended: the first has its end-of-turn
        token already. What was sampled is never tokenized again.
        """
        text = self._text(("user", "-"), ("assistant", MARK), ("user", heard))
        rest = text.partition(MARK)[2].lstrip()
        ends = self.tokenizer.convert_ids_to_tokens(self.trainer.eos_token_ids)
        end = next((one for one in ends if rest.startswith(one)), None)
        if end is None:
            raise SpecError([f"the chat template ends an assistant's message with none of {ends}"])
        return self._encode(rest.removeprefix(end) if ended else rest)

    def _add(self, ids: list[int], logprobs: list[float] | None, own: int) -> None:
        self.ids += ids
        self.mask += [own] * len(ids)
        self.logprobs += logprobs or [0.0] * len(ids)

    def _text(self, *messages: tuple[str, str]) -> str:
        told = [{"role": role, "content": content} for role, content in messages]
        kind = self.trainer.chat_template_kwargs
        return str(
            self.tokenizer.apply_chat_template(
                told, add_generation_prompt=True, tokenize=False, **kind
            )
        )

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))


def episode_reward(*, episode_return: list[float | None], **_: Any) -> list[float | None]:
    """TRL's reward function: what the environment gave. None leaves an episode out."""
    return episode_return
