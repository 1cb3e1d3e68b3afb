"""The policies that come with simcounsel, as they are registered."""

from simcounsel.policies.client import Client
from simcounsel.policies.policy import NoSettings, PolicyKind
from simcounsel.policies.prompt_scope import PromptScope
from simcounsel.policies.socratic import Socratic
from simcounsel.policies.supportive import Supportive
from simcounsel.policies.unstaged import Unguided
from simcounsel.specs.vocabulary import Role

CLIENTS: frozenset[Role] = frozenset({"client"})


class Alone(PromptScope):
    """Of one without a brief."""

    persona: bool = False
    """As of `PromptScope`; not unless asked for."""


CLIENT = PolicyKind(make=lambda settings, lang: Client(), settings=NoSettings, roles=CLIENTS)
SOCRATIC = PolicyKind(make=lambda settings, lang: Socratic(), settings=NoSettings)
SUPPORTIVE = PolicyKind(make=lambda settings, lang: Supportive(), settings=NoSettings)
UNGUIDED = PolicyKind(make=lambda settings, lang: Unguided(settings), settings=Alone)
