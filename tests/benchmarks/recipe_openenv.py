"""Two steps of REINFORCE of a tiny random model on the CPU, against the environment served by OpenEnv. In an environment of its own, since
OpenEnv brings much along:

    pip install openenv && pip install -e '.[env,train,test]' && python -m tests.benchmarks.recipe_openenv

Prints each step's rewards, and how far the weights moved. It shows that the parts fit together, not that anything is learned.
"""

import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import torch
import uvicorn
from openenv.core.generic_client import GenericEnvClient
from transformers import AutoModelForCausalLM, AutoTokenizer

from simcounsel.envs import EnvSettings
from simcounsel.envs.openenv import app_of
from tests.stage import ROOT
from tests.training.learning.small import small_model

LINE_TOKENS, EPISODES, STEPS = 24, 4, 2


def served(settings: EnvSettings) -> tuple[str, uvicorn.Server]:
    """The server in a thread, on a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app_of(settings), port=port, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.1)
    return f"http://127.0.0.1:{port}", server


def episode(env: Any, seed: int, model: Any, tokenizer: Any) -> tuple[torch.Tensor, float]:
    """The log-probability of all that the counselor said, and the sum of its rewards."""
    seen = env.reset(seed=seed).observation
    total, said, done = 0.0, torch.zeros(()), False
    while not done:
        told = tokenizer(f"{seen['history'][-400:]}\nCounselor:", return_tensors="pt")
        ids = model.generate(**told, do_sample=True, max_new_tokens=LINE_TOKENS, pad_token_id=0)
        own = ids[0, told["input_ids"].shape[1] :]
        logits = model(ids).logits[0, -len(own) - 1 : -1]
        said = said + torch.log_softmax(logits, -1).gather(1, own[:, None]).sum()
        step = env.step({"line": tokenizer.decode(own, skip_special_tokens=True)})
        seen, done, total = step.observation, step.done, total + float(step.reward or 0)
    return said, total


def main() -> None:
    torch.manual_seed(0)
    texts = [file.read_text("utf-8") for file in sorted((ROOT / "worlds").glob("*.yaml"))]
    with tempfile.TemporaryDirectory() as folder:
        base = str(small_model(Path(folder) / "base", texts))
        model = AutoModelForCausalLM.from_pretrained(base)
        tokenizer = AutoTokenizer.from_pretrained(base)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    address, server = served(EnvSettings(model="scripted", people=2000, max_turns=6))
    with GenericEnvClient(base_url=address).sync() as env:
        for step in range(STEPS):
            before = [one.detach().clone() for one in model.parameters()]
            played = [
                episode(env, EPISODES * step + at, model, tokenizer) for at in range(EPISODES)
            ]
            rewards = torch.tensor([reward for _, reward in played])
            apart = rewards - rewards.mean()
            loss = -sum(said * one for (said, _), one in zip(played, apart, strict=True)) / EPISODES
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            after = zip(before, model.parameters(), strict=True)
            moved = max(float((old - new).abs().max().detach()) for old, new in after)
            print(f"step {step + 1}: rewards {rewards.tolist()}, moved {moved:.1e}")
            assert moved > 0
    server.should_exit = True


if __name__ == "__main__":
    main()
