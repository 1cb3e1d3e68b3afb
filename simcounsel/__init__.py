"""simcounsel: people with emotions, memories and homes, some of whom meet a counselor.

    from simcounsel import Simulation, load_world
    world = load_world("worlds/insomnia.yaml")
    Simulation(world).run()

What `__all__` lists, and all of `simcounsel.testing`, is the public interface: it changes only with
a note in the change log. Every other module and name is private, whatever it is called. The names
are imported when they are first used, so that `import simcounsel` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simcounsel.agents.mind import Effects, Mind, Scene, Spoken
    from simcounsel.agents.person import Person
    from simcounsel.agents.resident import Resident
    from simcounsel.agents.talk import Decision, TalkView, Thought, ThoughtFacts, Wording
    from simcounsel.agents.tasks import LineAnswer
    from simcounsel.engine.simulation import Simulation
    from simcounsel.errors import SimcounselError
    from simcounsel.events import Data, Foreign, ItemAnswer, written
    from simcounsel.instruments.kind import Counted, ScaleFile
    from simcounsel.lab.sweep import Sweep
    from simcounsel.llm.models import ChatModel, Completion, EmbedModel, Failure, Provider
    from simcounsel.llm.question import Ask, Facts, Question, Reply, ask
    from simcounsel.measuring.rate import rate
    from simcounsel.named_code import allow_code
    from simcounsel.policies.listening import HeardLine, Hearing, Listener, ListenerKind
    from simcounsel.policies.policy import NoSettings, Policy, PolicyKind
    from simcounsel.runs.run import Run, load_run
    from simcounsel.specs.scale import Scale
    from simcounsel.specs.world import World
    from simcounsel.specs.world_file import load_world
    from simcounsel.viewer.frame import view

__version__ = "0.1.0"
__all__ = [
    "Ask",
    "ChatModel",
    "Completion",
    "Counted",
    "Data",
    "Decision",
    "Effects",
    "EmbedModel",
    "Facts",
    "Failure",
    "Foreign",
    "HeardLine",
    "Hearing",
    "ItemAnswer",
    "LineAnswer",
    "Listener",
    "ListenerKind",
    "Mind",
    "NoSettings",
    "Person",
    "Policy",
    "PolicyKind",
    "Provider",
    "Question",
    "Reply",
    "Resident",
    "Run",
    "Scale",
    "ScaleFile",
    "Scene",
    "SimcounselError",
    "Simulation",
    "Spoken",
    "Sweep",
    "TalkView",
    "Thought",
    "ThoughtFacts",
    "Wording",
    "World",
    "__version__",
    "allow_code",
    "ask",
    "load_run",
    "load_world",
    "rate",
    "view",
    "written",
]

_HOMES = {
    "agents.mind": "Effects Mind Scene Spoken",
    "agents.person": "Person",
    "agents.resident": "Resident",
    "agents.talk": "Decision TalkView Thought ThoughtFacts Wording",
    "agents.tasks": "LineAnswer",
    "engine.simulation": "Simulation",
    "errors": "SimcounselError",
    "events": "Data Foreign ItemAnswer written",
    "instruments.kind": "Counted ScaleFile",
    "lab.sweep": "Sweep",
    "llm.models": "ChatModel Completion EmbedModel Failure Provider",
    "llm.question": "Ask Facts Question Reply ask",
    "measuring.rate": "rate",
    "named_code": "allow_code",
    "policies.listening": "HeardLine Hearing Listener ListenerKind",
    "policies.policy": "NoSettings Policy PolicyKind",
    "runs.run": "Run load_run",
    "specs.scale": "Scale",
    "specs.world": "World",
    "specs.world_file": "load_world",
    "viewer.frame": "view",
}
_HOME = {name: f"simcounsel.{home}" for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(
            f"module 'simcounsel' has no public name {name!r}; there are {', '.join(__all__)}"
        )
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
