"""Lines that the safety protocol decided, beside what the clients' files say of danger: of a client
without any, such lines are no course of therapy, and whoever analyses them should know.
"""

from collections.abc import Mapping, Sequence

from simcounsel.policies.listening import dangers_in_file
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.vocabulary import Danger
from simcounsel.specs.world import World


def dangers_in_files(world: World) -> dict[str, tuple[Danger, ...]]:
    """By client, the kinds of danger that the file speaks of; () where it speaks of none."""
    return {
        one.name: dangers_in_file(one.persona, world.language)
        for one in world.present()
        if isinstance(one.persona, ClientPersona)
    }


def files_text(found: Mapping[str, Sequence[str]]) -> str:
    """What clients' files say of danger, in words; '' where there is no client."""
    named = [
        f"the file of {who} speaks of {', '.join(kinds).replace('_', ' ')}"
        for who, kinds in found.items()
        if kinds
    ]
    without = [who for who, kinds in found.items() if not kinds]
    none = [f"no danger in the file of {', '.join(without)}"] if without else []
    return "; ".join((*named, *none))
