"""An entity that asks two questions at once, in threads, before it acts; and counts its acts."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from concordia.typing.entity import OutputType


class _Agent:
    def __init__(self, name, model, bank):
        self.name, self.model, self.bank, self.acts = name, model, bank, 0

    def observe(self, observation):
        self.bank.add(f"[observation] {observation}")

    def act(self, spec):
        self.acts += 1
        question = spec.call_to_action.format(name=self.name)
        near = self.bank.nearest(question)
        with ThreadPoolExecutor() as pool:
            asked = [f"Who is {self.name}? {near}", f"Where is {self.name}? {near}"]
            context = " ".join(pool.map(self.model.sample_text, asked))
        prompt = f"{context} {self.acts} {question}"
        if spec.output_type is OutputType.CHOICE:
            return spec.options[self.model.sample_choice(prompt, spec.options)[0]]
        return (
            f'{self.name} {self.name} -- "{self.model.sample_text(prompt, terminators=(chr(10),))}"'
        )

    def get_state(self):
        return {
            "act_component": {"acts": self.acts},
            "context_components": {"__memory__": {"all": self.bank.get_all_memories_as_text()}},
        }

    def set_state(self, state):
        self.acts = state["act_component"]["acts"]


@dataclass
class Entity:
    params: dict = field(default_factory=lambda: {"name": "Alice"})

    def build(self, model, memory_bank):
        return _Agent(self.params["name"], model, memory_bank)
