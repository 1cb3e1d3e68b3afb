"""TRL's GRPO over episodes of the environment: two steps of a tiny random model on the CPU."""

from pathlib import Path

import pytest

from simcounsel.envs import CounselingEnv, EnvSettings, find_reward
from tests.envs.stage import to_the_end
from tests.stage import ROOT


@pytest.mark.slow(40)
@pytest.mark.filterwarnings("default")
def test_two_steps_of_grpo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import torch
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    from simcounsel.envs.trl import Rollout, episode_reward
    from tests.training.learning.small import small_model

    texts = [file.read_text("utf-8") for file in sorted((ROOT / "worlds").glob("*.yaml"))]
    folder = str(small_model(tmp_path / "base", texts))
    model = AutoModelForCausalLM.from_pretrained(folder)
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    short = find_reward("alliance").model_copy(update={"most_words": 12})
    settings = EnvSettings(model="scripted", max_turns=6, people=20, reward=short)
    rollout, kept = Rollout(settings), []

    def noted(prompts: list[str], trainer: GRPOTrainer) -> dict[str, list[object] | None]:
        kept.append(rollout(prompts, trainer))
        return kept[-1]

    trainer = GRPOTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(folder),
        reward_funcs=episode_reward,
        rollout_func=noted,
        train_dataset=Dataset.from_dict({"prompt": ["1", "2"]}),
        args=GRPOConfig(
            output_dir=str(tmp_path / "out"),
            use_cpu=True,
            bf16=False,
            max_steps=2,
            num_generations=2,
            per_device_train_batch_size=4,
            max_completion_length=48,
            learning_rate=1e-3,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            seed=0,
        ),
    )
    trainer.train()
    assert trainer.state.global_step == 2
    assert any(not torch.equal(value, before[name]) for name, value in model.named_parameters())
    tokenizer = trainer.processing_class
    assert [len(one["prompt_ids"]) for one in kept] == [4, 4]
    for at in range(4):
        ids, mask = (kept[0][key][at] for key in ("completion_ids", "env_mask"))
        own: list[list[int]] = []
        for position, (token, mine) in enumerate(zip(ids, mask, strict=True)):
            if mine:
                own += [] if position and mask[position - 1] else [[]]
                own[-1].append(token)
        env = CounselingEnv(settings, models=rollout.models)
        env.reset(seed=[1, 1, 2, 2][at])
        lines = [tokenizer.decode(one, skip_special_tokens=True) for one in own]
        steps = to_the_end(env, *lines)
        assert sum(step[1] for step in steps) == pytest.approx(kept[0]["episode_return"][at])
        text = tokenizer.decode(ids)
        assert all(step[0]["heard"] in text for step in steps[:-1]), "the client is heard"
        said = tokenizer.decode(kept[0]["prompt_ids"][at]) + text
        assert "closeness" not in said and "emotion=" not in said
    rollout.close()
