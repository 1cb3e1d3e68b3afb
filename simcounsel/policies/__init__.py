"""How a counselor, a layperson or a client decides what to do next in a conversation."""

from collections.abc import Callable

from simcounsel.errors import SpecError
from simcounsel.policies.changing import Changing
from simcounsel.policies.course import Course
from simcounsel.policies.disclosing import Disclosing
from simcounsel.policies.policy import Policy
from simcounsel.policies.protection import Guarded
from simcounsel.policies.socratic import Socratic
from simcounsel.policies.staged.manuals import manual_of
from simcounsel.policies.staged.policy import Staged
from simcounsel.policies.supportive import Supportive
from simcounsel.policies.unstaged import Single, Unguided
from simcounsel.specs.practice import Language, PolicySpec, SafetySettings
from simcounsel.specs.therapy import shipped_therapy
from simcounsel.specs.vocabulary import Role

POLICIES: dict[str, Callable[[PolicySpec, Language], Policy]] = {
    Changing.name: lambda spec, language: Changing(),
    Course.name: lambda spec, language: Course(
        spec.therapy or shipped_therapy("cbt"), spec.sessions, spec.plan
    ),
    Disclosing.name: lambda spec, language: Disclosing(),
    Single.name: lambda spec, language: Single(manual_of(spec.manual, language)),
    Socratic.name: lambda spec, language: Socratic(),
    Staged.name: lambda spec, language: Staged(manual_of(spec.manual, language)),
    Supportive.name: lambda spec, language: Supportive(),
    Unguided.name: lambda spec, language: Unguided(),
}
"""Makes each policy, by its name, from what a world says of it and the language of the world."""
TAKES: dict[str, frozenset[str]] = {
    Course.name: frozenset({"therapy", "sessions", "plan"}),
    Single.name: frozenset({"manual"}),
    Staged.name: frozenset({"manual"}),
}
"""What a policy can be told; the others take nothing."""
OF_CLIENTS = frozenset({Changing.name, Disclosing.name})
"""How a client talks; the others are for those who talk with clients."""
DEFAULT: dict[Role, str] = {
    "client": "disclosing",
    "counselor": "socratic",
    "layperson": "supportive",
}

UNGUARDED = SafetySettings(counselors="nothing")

__all__ = ["DEFAULT", "OF_CLIENTS", "POLICIES", "TAKES", "Policy", "policy_for"]


def policy_for(
    role: Role,
    wanted: PolicySpec | str | None,
    language: Language = "en",
    safety: SafetySettings = UNGUARDED,
) -> Policy:
    """The policy of that name, or the role's own; a counselor's behind the safety protocol where a
    world's settings say so. SpecError when there is none of that name, or it is told what it does
    not take.
    """
    spec = wanted if isinstance(wanted, PolicySpec) else PolicySpec(name=wanted or DEFAULT[role])
    if spec.name not in POLICIES:
        raise SpecError(
            [f"policy: no policy {spec.name!r}; there are {', '.join(sorted(POLICIES))}"]
        )
    if (spec.name in OF_CLIENTS) != (role == "client"):
        fitting = sorted(OF_CLIENTS if role == "client" else set(POLICIES) - OF_CLIENTS)
        raise SpecError([f"policy: {spec.name} is no {role}'s; there are {', '.join(fitting)}"])
    told = sorted(
        name
        for name in PolicySpec.model_fields
        if name != "name" and getattr(spec, name) is not None
    )
    unknown = [name for name in told if name not in TAKES.get(spec.name, ())]
    if unknown:
        taking = sorted(name for name, takes in TAKES.items() if unknown[0] in takes)
        raise SpecError(
            [f"policy: {spec.name} takes no {unknown[0]}; that is for {' and '.join(taking)}"]
        )
    policy = POLICIES[spec.name](spec, language)
    return Guarded(policy) if role == "counselor" and safety.counselors == "protocol" else policy
