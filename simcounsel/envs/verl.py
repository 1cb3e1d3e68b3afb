"""verl (0.9): a policy counsels the simulated client in an agent loop.

Every line it generates is an assistant message, every answer of the client a user message. In the
YAML file that `actor_rollout_ref.rollout.agent.agent_loop_config_path` names:

    - name: counseling
      _target_: simcounsel.envs.verl.CounselingLoop
      settings: {world: insomnia, model: scripted, reward: alliance}
      turn_tokens: 128

A row of the data: `prompt`, one system message that says how to counsel; `agent_name`,
"counseling"; `extra_info`, perhaps `{"seed": 7, "client": NAME}`. With a seed, all rollouts of a
row (GRPO's group) begin alike. The reward is the episode's sum; verl asks no reward function then.
Thinking has to be off (`data.apply_chat_template_kwargs.enable_thinking=false`), or it is said.
"""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from omegaconf import OmegaConf
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput, register
from verl.utils.profiler import simple_timer

from simcounsel.envs.acting import END
from simcounsel.envs.counseling import CounselingEnv
from simcounsel.envs.preparing import EnvSettings, open_models
from simcounsel.errors import SpecError
from simcounsel.llm.switchboard import Switchboard

_opened: dict[tuple[tuple[str, str], ...], Switchboard] = {}
_opening = threading.Lock()


def shared_models(settings: EnvSettings) -> Switchboard:
    """The process's one Switchboard for these models: verl makes a loop for every episode."""
    world = settings.world_played()
    names = tuple(sorted((role, str(name)) for role, name in world.model_names().items()))
    with _opening:
        if names not in _opened:
            _opened[names] = open_models(world)
        return _opened[names]


@register("counseling")
class CounselingLoop(AgentLoopBase):
    """One episode of one session. settings: the fields of `EnvSettings`. turn_tokens: of a line.

    Where `rollout.response_length` is used up before the episode is over, the counselor takes leave
    without a word, so that its reward is measured all the same (`cut_short`).
    """

    def __init__(
        self, *args: Any, settings: Mapping[str, Any], turn_tokens: int = 128, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        fields: Any = OmegaConf.to_container(OmegaConf.create(settings))
        self.settings = EnvSettings(**{"sessions": 1, **fields})
        if self.settings.sessions != 1:
            raise SpecError([f"sessions: {self.settings.sessions}; with verl an episode has one"])
        self.turn_tokens = turn_tokens

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> AgentLoopOutput:
        """Play the episode of a row. What is hidden in it gets into nothing."""
        row = kwargs.get("extra_info") or {}
        models = await asyncio.to_thread(shared_models, self.settings)
        env = CounselingEnv(self.settings, models=models)
        try:
            options = {"client": row["client"]} if row.get("client") is not None else None
            seed = int(row["seed"]) if row.get("seed") is not None else None
            seen, _ = await asyncio.to_thread(env.reset, seed=seed, options=options)
            told = f"{next(iter(kwargs['raw_prompt']))['content']}\n\n{seen['known']}"
            talk = _Talk(self, env, sampling_params)
            await talk.begin(told)
            while talk.room > 0 and not talk.over:
                await talk.turn()
            cut_short = float(not talk.over)
            while not talk.over:
                await talk.say(END)
        finally:
            await asyncio.to_thread(env.close)
        start = len(talk.tokens) - len(talk.mask)
        return AgentLoopOutput(
            prompt_ids=talk.tokens[:start],
            response_ids=talk.tokens[start:],
            response_mask=talk.mask,
            response_logprobs=talk.probs,
            reward_score=sum(talk.rewards),
            num_turns=2 * talk.turns + 1,
            metrics=talk.spent,
            extra_fields={
                "turn_scores": talk.rewards,
                "tool_rewards": [],
                "reward_extra_info": {"cut_short": cut_short},
            },
        )


class _Talk:
    """An episode as tokens. mask: 1 for the counselor's own; both begin after the prompt."""

    def __init__(self, loop: CounselingLoop, env: CounselingEnv, asked: dict[str, Any]) -> None:
        self.loop, self.env, self.asked = loop, env, asked
        self.most: int = loop.rollout_config.response_length - 1
        self.request = uuid4().hex
        self.said: list[dict[str, str]] = []
        self.tokens, self.mask = list[int](), list[int]()
        self.probs: list[float] | None = [] if asked.get("logprobs") else None
        self.rewards, self.spent = list[float](), dict[str, float]()
        self.turns, self.over, self.heard = 0, False, ""

    @property
    def room(self) -> int:
        """Tokens that the next line may have."""
        return min(self.loop.turn_tokens, self.most - len(self.mask))

    async def begin(self, told: str) -> None:
        self.said = [{"role": "system", "content": told}]
        self.tokens = await self.loop.ct_build_initial_tokens(self.said)

    async def turn(self) -> None:
        """A line and its answer; without the answer where that has no room any more."""
        room, eos = self.room, self.loop.tokenizer.eos_token_id
        with simple_timer("generate_sequences", self.spent):
            made = await self.loop.server_manager.generate(
                request_id=self.request,
                prompt_ids=self.tokens,
                sampling_params={**self.asked, "max_tokens": room},
            )
        own = made.log_probs if self.probs is not None else None
        merged, self.mask, self.probs = await self.loop.ct_merge_assistant_token(
            self.tokens, made.token_ids, self.mask, self.probs, own
        )
        self.tokens, self.turns = merged.token_ids, self.turns + 1
        if len(made.token_ids) >= room and made.token_ids[-1] != eos:  # broken off
            self.tokens, self.mask = [*self.tokens, eos], [*self.mask, 0]
            self.probs = None if self.probs is None else [*self.probs, 0.0]
        line = self.loop.tokenizer.decode(made.token_ids, skip_special_tokens=True)
        await self.say(line)
        if self.over:
            return
        before = [*self.said, {"role": "assistant", "content": line}]
        self.said = [*before, {"role": "user", "content": self.heard}]
        merged, mask, probs = await self.loop.ct_merge_context_msg(
            before, self.said, self.tokens, self.mask, self.probs
        )
        if len(mask) >= self.most:
            self.most = 0
        else:
            self.tokens, self.mask, self.probs = merged.token_ids, mask, probs

    async def say(self, line: str) -> None:
        with simple_timer("tool_calls", self.spent):
            seen, reward, self.over, _, _ = await asyncio.to_thread(self.env.step, line)
        self.rewards.append(reward)
        self.heard = seen["heard"]
