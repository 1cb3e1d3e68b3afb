"""From an action to what the client hears."""

import re
from dataclasses import dataclass

from simcounsel.agents.speech import spoken
from simcounsel.agents.talk import TalkView
from simcounsel.envs.seat import Line
from simcounsel.envs.spaces import ACTION_CHARACTERS
from simcounsel.intake import whole_characters

END = "[end]"
"""Written at the end of a line, it takes leave: the client answers once more, and the session is
over. The client does not hear it.
"""
SILENCE = "..."
"""What the client hears when nothing was said."""
_END = re.compile(r"\s*\[end\]\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Taken:
    """How an action was taken."""

    text: str
    """What the client heard."""
    silent: bool = False
    """Nothing was said."""
    cut: int = 0
    """Characters beyond ACTION_CHARACTERS that were left off its end."""
    leaves: bool = False
    """It took leave."""
    repeated: bool = False
    """It was said before in this session."""

    @property
    def line(self) -> Line:
        """For the conversation."""
        return Line(text=self.text, leaves=self.leaves)


def take(action: object, view: TalkView) -> Taken:
    """One line of speech, without its speaker's name or quotation marks. TypeError when the action
    is no text.
    """
    if not isinstance(action, str):
        raise TypeError(
            f"an action is what the counselor says, a text; got {type(action).__name__}"
        )
    whole = whole_characters(action)
    leaves = _END.search(whole) is not None
    whole = _END.sub("", whole) if leaves else whole
    text = spoken(whole[:ACTION_CHARACTERS], view)
    silent = not any(character.isalnum() for character in text)
    said = SILENCE if silent and not text else text
    repeated = not silent and any(
        line.who == view.me and line.text.casefold() == said.casefold() for line in view.lines
    )
    return Taken(
        text=said,
        silent=silent,
        cut=max(0, len(whole) - ACTION_CHARACTERS),
        leaves=leaves,
        repeated=repeated,
    )
