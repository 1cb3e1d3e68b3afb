"""What the part `danger` brings to simcounsel, by entry point."""

from simcounsel.danger.hearing.detector import hear
from simcounsel.danger.hearing.gate import VECTORS_BY
from simcounsel.danger.hearing.in_answers import in_answers
from simcounsel.danger.hearing.in_file import dangers_in_file
from simcounsel.danger.hearing.reminding import reminder
from simcounsel.danger.protection.guarded import Guarded
from simcounsel.danger.protection.listener import DangerListener
from simcounsel.policies.listening import Hearing, ListenerKind
from simcounsel.policies.policy import Policy
from simcounsel.specs.practice import SafetySettings
from simcounsel.specs.vocabulary import Role


def danger_listener(
    safety: SafetySettings, *, protects: bool, embed: str = ""
) -> DangerListener | None:
    """How danger is listened for under these settings; None: not at all. embed: the name of the
    model for vectors.
    """
    if safety.counselors == "nothing":
        return None
    return DangerListener(
        every_line=safety.ask == "every_line", vectors=embed == VECTORS_BY, protects=protects
    )


def guard(policy: Policy, role: Role, safety: SafetySettings) -> Policy:
    """A counselor's policy behind the safety protocol, where the settings want it."""
    return Guarded(policy) if role == "counselor" and safety.counselors == "protocol" else policy


def _make(hearing: Hearing) -> DangerListener | None:
    if hearing.other != "client":
        return None
    safety = hearing.world.safety
    protects = hearing.me == "counselor" and safety.counselors == "protocol"
    return danger_listener(safety, protects=protects, embed=hearing.embed)


def _alarms(text: str, before: str) -> bool:
    return hear(text, None, before).level != "none"


DANGER = ListenerKind(
    make=_make,
    guard=guard,
    in_answers=in_answers,
    in_file=dangers_in_file,
    alarms=_alarms,
    reminder=reminder,
)
