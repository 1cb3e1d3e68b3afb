"""How a counselor, a layperson or a client decides what to do next in a conversation."""

from collections.abc import Callable

from simcounsel.errors import SpecError
from simcounsel.policies.disclosing import Disclosing
from simcounsel.policies.policy import Policy
from simcounsel.policies.protection import Guarded
from simcounsel.policies.socratic import Socratic
from simcounsel.policies.supportive import Supportive
from simcounsel.specs.practice import Language, PolicySpec, SafetySettings
from simcounsel.specs.vocabulary import Role

POLICIES: dict[str, Callable[[PolicySpec, Language], Policy]] = {
    Disclosing.name: lambda spec, language: Disclosing(),
    Socratic.name: lambda spec, language: Socratic(),
    Supportive.name: lambda spec, language: Supportive(),
}
"""Makes each policy, by its name, from what a world says of it and the language of the world."""
DEFAULT: dict[Role, str] = {"client": "disclosing", "counselor": "socratic", "layperson": "supportive"}

UNGUARDED = SafetySettings(counselors="nothing")

__all__ = ["DEFAULT", "POLICIES", "Policy", "policy_for"]


def policy_for(
    role: Role, wanted: PolicySpec | str | None, language: Language = "en", safety: SafetySettings = UNGUARDED,
) -> Policy:
    """The policy of that name, or the role's own; a counselor's behind the safety protocol where a world's settings say so.
    SpecError when there is none of that name."""
    spec = wanted if isinstance(wanted, PolicySpec) else PolicySpec(name=wanted or DEFAULT[role])
    if spec.name not in POLICIES:
        raise SpecError([f"policy: no policy {spec.name!r}; there are {', '.join(sorted(POLICIES))}"])
    policy = POLICIES[spec.name](spec, language)
    return Guarded(policy) if role == "counselor" and safety.counselors == "protocol" else policy
