"""How a counselor, a layperson or a client decides what to do next in a conversation."""

from simcounsel.errors import SpecError
from simcounsel.policies.disclosing import Disclosing
from simcounsel.policies.policy import Policy
from simcounsel.policies.socratic import Socratic
from simcounsel.policies.supportive import Supportive
from simcounsel.specs.vocabulary import Role

POLICIES: dict[str, type[Policy]] = {p.name: p for p in (Disclosing, Socratic, Supportive)}
DEFAULT: dict[Role, str] = {"client": "disclosing", "counselor": "socratic", "layperson": "supportive"}

__all__ = ["DEFAULT", "POLICIES", "Policy", "policy_for"]


def policy_for(role: Role, name: str | None) -> Policy:
    """The policy of that name, or the role's own. SpecError when there is none of that name."""
    wanted = name or DEFAULT[role]
    if wanted not in POLICIES:
        raise SpecError([f"policy: no policy {wanted!r}; there are {', '.join(sorted(POLICIES))}"])
    return POLICIES[wanted]()
