"""What only the simulation knows of an episode."""

from dataclasses import dataclass

from simcounsel.envs.danger import open_dangers
from simcounsel.envs.episode import Episode
from simcounsel.envs.observing import lines_of
from simcounsel.envs.seat import roles_of
from simcounsel.specs.vocabulary import Emotion


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """What only the simulation knows: for analysis, not for learning."""

    emotion: Emotion
    """Of the client's last line."""
    closeness: float
    """The client's to the counselor, 0 to 10."""
    memories: int
    """How many the client has."""
    open_dangers: int
    """Danger voiced in this session that was not taken up yet: how many places."""


def hidden_in(episode: Episode) -> Hidden:
    """As it is now."""
    resident, lines = episode.mind.resident, episode.view.lines if episode.view else ()
    emotion = next(
        (line.emotion for line in reversed(lines) if line.who == resident.name), resident.emotion
    )
    return Hidden(
        emotion=emotion,
        closeness=resident.close_to(episode.setting.counselor.name),
        memories=len(resident.memory),
        open_dangers=len(open_dangers(roles_of(lines_of(episode), resident.name))),
    )
