"""Environments in which a counselor can learn (Gymnasium; `pip install 'simcounsel[env]'`).

    import gymnasium
    import simcounsel.envs
    env = gymnasium.make("simcounsel/Counseling-v0", world="insomnia", model="scripted")

The client is simulated: no reward here says that a counselor may talk with a person in distress.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

ID = "simcounsel/Counseling-v0"

if TYPE_CHECKING or find_spec("gymnasium"):
    import gymnasium

    from simcounsel.envs.account import Account
    from simcounsel.envs.acting import END, SILENCE, Taken
    from simcounsel.envs.baseline import PolicyAgent
    from simcounsel.envs.breaches import Found
    from simcounsel.envs.counseling import CounselingEnv
    from simcounsel.envs.hidden import Hidden
    from simcounsel.envs.metering import Part
    from simcounsel.envs.preparing import EnvSettings
    from simcounsel.envs.reward import Reward, Term, find_reward, preset_names
    from simcounsel.envs.vector import CounselingVectorEnv

    gymnasium.register(
        id=ID,
        entry_point="simcounsel.envs.counseling:counseling_env",
        vector_entry_point="simcounsel.envs.vector:counseling_vector_env",
    )
else:  # an episode needs no Gymnasium: trials and practice play with it, too

    def __getattr__(name: str) -> Any:
        if name in __all__:
            raise ImportError("simcounsel.envs needs Gymnasium: pip install 'simcounsel[env]'")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "END",
    "ID",
    "SILENCE",
    "Account",
    "CounselingEnv",
    "CounselingVectorEnv",
    "EnvSettings",
    "Found",
    "Hidden",
    "Part",
    "PolicyAgent",
    "Reward",
    "Taken",
    "Term",
    "find_reward",
    "preset_names",
]
