"""Environments in which a counselor can learn (Gymnasium; `pip install 'simcounsel[env]'`).

    import gymnasium
    import simcounsel.envs
    env = gymnasium.make("simcounsel/Counseling-v0", world="insomnia", model="scripted")

The client is simulated: no reward here says that a counselor may talk with a person in distress.
"""

try:
    import gymnasium
except ModuleNotFoundError as error:
    if error.name != "gymnasium":
        raise
    raise ImportError("simcounsel.envs needs Gymnasium: pip install 'simcounsel[env]'") from None

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

ID = "simcounsel/Counseling-v0"
gymnasium.register(
    id=ID,
    entry_point="simcounsel.envs.counseling:counseling_env",
    vector_entry_point="simcounsel.envs.vector:counseling_vector_env",
)

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
