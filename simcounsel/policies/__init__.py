"""How a counselor, a layperson or a client decides what to do next in a conversation."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from simcounsel.errors import PluginError, SpecError
from simcounsel.named_code import check_code
from simcounsel.policies.policy import Policy, PolicyKind
from simcounsel.registry import Plugin, Registry, missing_part
from simcounsel.specs.practice import Language, PolicySpec
from simcounsel.specs.vocabulary import Role

_BUILT_IN = "client socratic supportive unguided"
POLICIES: Registry[PolicyKind[Any]] = Registry(
    "simcounsel.policies",
    "a policy",
    PolicyKind,
    {name: f"simcounsel.policies.built_in:{name.upper()}" for name in _BUILT_IN.split()},
)
"""By name; the settings of each are of its own type."""
DEFAULT: dict[Role, str] = {"client": "client", "counselor": "socratic", "layperson": "supportive"}

__all__ = ["DEFAULT", "POLICIES", "Policy", "PolicyKind", "policies_of", "policy_for"]


def policy_for(role: Role, wanted: PolicySpec | str | None, language: Language = "en") -> Policy:
    """The policy of that name, or the role's own. SpecError when there is none of that name, or it
    is told what it does not take.
    """
    spec = wanted if isinstance(wanted, PolicySpec) else PolicySpec(name=wanted or DEFAULT[role])
    kind = kind_of(spec.name)
    if kind is None and (gone := missing_part(POLICIES.group, spec.name)):
        raise SpecError([f"policy: {gone}"])
    if kind is None:
        raise SpecError(
            [
                f"policy: no policy {spec.name!r}; there are {POLICIES.known()}, or write"
                " module:NAME for a `PolicyKind` of your own"
            ]
        )
    if role not in kind.roles:
        raise SpecError(
            [f"policy: {spec.name} is no {role}'s; there are {', '.join(policies_of(role))}"]
        )
    return kind.make(_settings(kind, spec), language)


def kind_of(name: str) -> PolicyKind[Any] | None:
    """The policy of a registered name, or where the world says `module:NAME`, what lies there; None
    when there is none. PluginError when it cannot be imported, or is no policy, or is code that the
    user did not allow.
    """
    if ":" not in name:
        return POLICIES.get(name)
    check_code(name)
    return POLICIES.load(Plugin(name=name, value=name, distribution="named in the world"))


def policies_of(role: Role) -> tuple[str, ...]:
    """The names of the policies that a role can have, sorted; without those that cannot be
    imported.
    """
    return tuple(sorted(name for name, kind in _importable() if role in kind.roles))


def _importable() -> Iterator[tuple[str, PolicyKind[Any]]]:
    for plugin in POLICIES.plugins():
        try:
            yield plugin.name, POLICIES.load(plugin)
        except PluginError:  # named where it is asked for
            continue


def _settings(kind: PolicyKind[Any], spec: PolicySpec) -> object:
    """What the world tells the policy, as its own model. SpecError names what it does not take, or
    what is wrong.
    """
    given, takes = spec.given(), kind.settings.model_fields
    unknown = sorted(set(given) - set(takes))
    if unknown and kind.settings.model_config.get("extra") != "allow":
        taking = sorted(
            n for n, other in _importable() if unknown[0] in other.settings.model_fields
        )
        rest = f"that is for {' and '.join(taking)}" if taking else ""
        mine = f"it takes {', '.join(sorted(takes))}" if takes else "it takes nothing"
        raise SpecError([f"policy: {spec.name} takes no {unknown[0]}; {rest or mine}"])
    try:
        return kind.settings.model_validate(given)
    except ValidationError as error:
        raise SpecError(
            [
                f"policy: {spec.name}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}"
                for problem in error.errors(include_url=False)
            ]
        ) from None
