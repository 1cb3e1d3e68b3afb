"""Two GRPO steps of a tiny random model on the CPU, with verl's agent loop and verl's algorithms. In an environment of its own, since verl
holds transformers and tensordict at older versions:

    pip install verl cachetools fastapi TransferQueue && pip install -e '.[env,test]' && python -m tests.benchmarks.recipe_verl

What stands in for the parts of verl that need a GPU: `Served` for its vLLM server, and one plain forward and backward for its FSDP engine.
verl's own trainer (`python -m verl.trainer.main_ppo`) does not start without a GPU.
"""

import asyncio
import tempfile
from pathlib import Path

import numpy as np
import torch
import verl
from hydra import compose, initialize_config_dir
from transformers import AutoModelForCausalLM, AutoTokenizer
from verl import DataProto
from verl.experimental.agent_loop import AgentLoopWorker
from verl.trainer.ppo.core_algos import AdvantageEstimator, get_policy_loss_fn
from verl.trainer.ppo.ray_trainer import compute_advantage
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.torch_functional import logprobs_from_logits
from verl.workers.config.optimizer import build_optimizer
from verl.workers.rollout.llm_server import LLMServerClient
from verl.workers.rollout.replica import TokenOutput

import simcounsel.envs.verl  # noqa: F401 (registers "counseling")
from tests.stage import ROOT
from tests.training.learning.small import small_model

LOOPS = """
- name: counseling
  _target_: simcounsel.envs.verl.CounselingLoop
  settings: {world: insomnia, model: scripted, max_turns: 8, reward: alliance}
  turn_tokens: 12
"""
RULES = "You are the counselor. Say one short line at a time; end with [end] to take leave."


class Served(LLMServerClient):
    """In place of a server: `generate` of the very model that is trained."""

    def __init__(self, config, model, tokenizer):
        super().__init__(config)
        self.model, self.tokenizer = model, tokenizer

    def __deepcopy__(self, memo):
        return self  # hydra.utils.instantiate copies what it passes on

    async def generate(self, request_id, *, prompt_ids, sampling_params, **kwargs):
        prompt = torch.tensor([prompt_ids])
        with torch.no_grad():
            made = self.model.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                do_sample=True,
                top_k=0,
                temperature=sampling_params["temperature"],
                top_p=sampling_params["top_p"],
                max_new_tokens=sampling_params["max_tokens"],
                eos_token_id=self.tokenizer.eos_token_id,
                pad_token_id=self.tokenizer.pad_token_id,
                output_logits=True,
                return_dict_in_generate=True,
            )
        ids = made.sequences[0, len(prompt_ids) :]
        each = logprobs_from_logits(torch.stack(made.logits, 1)[0].float(), ids)
        return TokenOutput(
            token_ids=ids.tolist(),
            log_probs=each.tolist(),
            stop_reason="completed",
            num_preempted=0,
        )


def configured(model: Path, rollouts: int, loops: Path):
    """verl's own defaults, and what a tiny run on one CPU changes."""
    with initialize_config_dir(
        str(Path(verl.__file__).parent / "trainer/config"), version_base=None
    ):
        return compose(
            "ppo_trainer",
            overrides=[
                f"actor_rollout_ref.model.path={model}",
                "actor_rollout_ref.rollout.name=vllm",
                f"actor_rollout_ref.rollout.n={rollouts}",
                "algorithm.adv_estimator=grpo",
                "data.max_prompt_length=160",
                "data.max_response_length=400",
                "trainer.n_gpus_per_node=1",
                f"actor_rollout_ref.rollout.agent.agent_loop_config_path={loops}",
                "actor_rollout_ref.actor.ppo_mini_batch_size=2",
                "actor_rollout_ref.actor.optim.lr=1e-3",
                "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2",
                "actor_rollout_ref.actor.optim.weight_decay=0.0",
            ],
        )


def rows(seeds: list[int]) -> DataProto:
    """What the trainer makes of the data's rows. One client is one group (`uid`), with other seeds:
    the scripted client's reward depends on the seed and hardly on what is said."""

    def column(values):
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out

    return DataProto.from_dict(
        non_tensors={
            "raw_prompt": column([[{"role": "system", "content": RULES}] for _ in seeds]),
            "agent_name": column(["counseling" for _ in seeds]),
            "extra_info": column([{"seed": seed, "client": "Ines"} for seed in seeds]),
            "uid": column(["Ines" for _ in seeds]),
            "index": np.array(seeds),
        }
    )


def updated(model, optimizer, actor, batch, temperature) -> tuple[float, float]:
    """One step with verl's policy loss."""
    tensors, length = batch.batch, batch.batch["responses"].shape[1]
    logits = (
        model(
            input_ids=tensors["input_ids"],
            attention_mask=tensors["attention_mask"],
            position_ids=tensors["position_ids"],
        ).logits[:, -length - 1 : -1]
        / temperature
    )
    loss, _ = get_policy_loss_fn(actor.policy_loss.loss_mode)(
        old_log_prob=tensors["rollout_log_probs"],
        log_prob=logprobs_from_logits(logits, tensors["responses"]),
        advantages=tensors["advantages"],
        response_mask=tensors["response_mask"],
        loss_agg_mode=actor.loss_agg_mode,
        config=actor,
    )
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), actor.optim.clip_grad)
    optimizer.step()
    return loss.item(), norm.item()


def main(rollouts: int = 4) -> None:
    torch.manual_seed(0)
    work = Path(tempfile.mkdtemp())
    texts = [file.read_text("utf-8") for file in sorted((ROOT / "worlds").glob("*.yaml"))]
    folder = small_model(work / "base", texts)
    (work / "loops.yaml").write_text(LOOPS)
    config = configured(folder, rollouts, work / "loops.yaml")
    model, tokenizer = (
        AutoModelForCausalLM.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    optimizer = build_optimizer(model.parameters(), actor.optim)
    loops = asyncio.new_event_loop()
    for step in (1, 2):
        before = [one.clone() for one in model.parameters()]

        async def played(step=step):
            worker = AgentLoopWorker(config, Served(config, model.eval(), tokenizer))
            return await worker.generate_sequences(
                rows([rollouts * step + at for at in range(rollouts)])
            )

        batch = loops.run_until_complete(played())
        batch.batch["token_level_scores"] = batch.batch["token_level_rewards"] = batch.batch[
            "rm_scores"
        ]
        batch = compute_advantage(batch, AdvantageEstimator.GRPO, config=config.algorithm)
        loss, norm = updated(
            model.train(), optimizer, actor, batch, config.actor_rollout_ref.rollout.temperature
        )
        moved = max(
            float((a - b).abs().max()) for a, b in zip(before, model.parameters(), strict=True)
        )
        print(
            f"step {step}: rewards {batch.batch['rm_scores'].sum(1).tolist()} turns {batch.non_tensor_batch['__num_turns__'].tolist()}"
            f" cut {batch.non_tensor_batch['cut_short'].tolist()} loss {loss:.5f} grad {norm:.4f} moved {moved:.2e}"
        )
        print(
            "  masked tokens",
            batch.batch["response_mask"].sum(1).tolist(),
            "of",
            batch.batch["attention_mask"][:, -400:].sum(1).tolist(),
        )
        assert moved > 0


if __name__ == "__main__":
    main()
