"""Clients by name, as PatientHub has them: `CLIENT_REGISTRY`, `get_client_config`."""

import json
import os
import random
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel


@dataclass
class Config:
    agent_name: str = ""
    model_type: str = "OPENAI"
    model_name: str = "gpt-4o"
    lang: str = "en"
    data_path: str = "data/characters.json"
    prompt_path: str = "data/prompts.json"
    data_idx: int = 0
    principles: str = "data/prompts.json"


class BaseClient:
    def __init__(self, configs: Config) -> None:
        self.configs = configs
        with open(configs.data_path, encoding="utf-8") as file:
            self.data = json.load(file)[configs.data_idx]
        with open(configs.prompt_path, encoding="utf-8") as file:
            self.prompts = json.load(file)
        self.chat_model = self.load_chat_model()
        self.therapist: str | None = None
        self.build_sys_prompt()

    def load_chat_model(self) -> Any:
        raise RuntimeError("no key: a simulator must not reach its own model")

    def set_therapist(self, therapist: Any, prev_sessions: Any = None) -> None:
        self.therapist = therapist.name

    def build_sys_prompt(self) -> None:
        self.messages = [{"role": "system", "content": self.prompts["system"] + str(self.data)}]


class PatientPsi(BaseClient):
    """All from one prompt: opens up at once."""

    def generate_response(self, msg: str) -> Any:
        self.messages.append({"role": "user", "content": msg})
        answer = self.chat_model.generate(self.messages)
        self.messages.append({"role": "assistant", "content": answer.content})
        return answer


class Reaction(BaseModel):
    warm: bool
    why: str = ""


class Trust:
    """State in an object, as some simulators keep it."""

    def __init__(self) -> None:
        self.level = 1.0
        self.heard: set[str] = set()


class Guarded(BaseClient):
    """Asks its model how it was met, keeps trust in an object, and tells more with it."""

    def build_sys_prompt(self) -> None:
        super().build_sys_prompt()
        self.trust = Trust()
        self.reactions: list[Reaction] = []
        self.lock = object()  # what no log can hold, and is there from the start

    def generate_response(self, msg: str) -> str:
        reaction = self.chat_model.generate(
            [{"role": "system", "content": f"Was this warm? {msg}"}], response_format=Reaction
        )
        self.reactions.append(reaction)
        self.trust.level += 0.5 if reaction.warm else -0.5
        self.trust.heard.add(msg)
        return "I feel so ashamed of it." if self.trust.level > 2 else "It was a Tuesday."


@dataclass
class Staged:
    """The dice of the moment."""

    stage: str = "early"
    turns: list[str] = field(default_factory=list)


class Dicing(BaseClient):
    """Draws what it does, with Python's own dice; asks nothing."""

    def build_sys_prompt(self) -> None:
        super().build_sys_prompt()
        self.state = Staged()

    def generate_response(self, msg: str) -> str:
        said = random.choice(["No.", "Yes, that is right.", "I feel lost.", "The bus was late."])
        self.state.turns.append(said)
        return said


class Forgetful(BaseClient):
    """Keeps what no log can hold."""

    def generate_response(self, msg: str) -> str:
        self.handle = lambda: msg
        return "Yes."


class Older(BaseClient):
    """As an older edition has them: its own model, a path by another name, a therapist that is a mapping."""

    def __init__(self, configs: Config) -> None:
        self.configs = configs
        self.chat_model = None
        with open(configs.principles, encoding="utf-8") as file:
            self.principles = json.load(file)
        self.messages: list[dict[str, str]] = []

    def set_therapist(self, therapist: Any, prev_sessions: Any = None) -> None:
        self.therapist = therapist.get("name", "Therapist")

    def generate_response(self, msg: str) -> str:
        self.messages.append({"role": "Therapist", "content": msg})
        warm = self.chat_model.generate([{"role": "system", "content": msg}], response_format=bool)
        return f"{self.therapist}, {'yes' if warm else 'no'}."


class Keyed(BaseClient):
    """Keeps a server with a key, as a simulator with a reranker does."""

    def build_sys_prompt(self) -> None:
        super().build_sys_prompt()
        self.reranker = Trust()
        self.reranker.api_key = os.environ.get("LOCAL_API_KEY")

    def generate_response(self, msg: str) -> str:
        self.messages.append({"role": "user", "content": msg})
        return "Yes."


CLIENT_REGISTRY = {
    "patientPsi": PatientPsi, "eeyore": Guarded, "guarded": Guarded, "dicing": Dicing,
    "forgetful": Forgetful, "older": Older, "keyed": Keyed, "user": BaseClient,
}  # fmt: skip


def get_client_config(name: str) -> Config:
    return Config(agent_name=name)
