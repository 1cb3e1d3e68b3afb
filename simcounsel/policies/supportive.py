"""The layperson's policy: chats, with surface empathy and no technique."""

from typing import ClassVar

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.chance import chance
from simcounsel.llm.question import Ask
from simcounsel.policies.manual import aims

LATER = ("sympathize", "ask", "share", "suggest", "close")
OFTEN = (5, 3, 3, 2, 2)
LONG_ENOUGH = 5
"""From so many lines on a layperson may take leave of its own accord."""


class Supportive:
    """Greets, then sympathizes, asks, tells or suggests as chance has it, and takes leave."""

    name: ClassVar[str] = "supportive"

    def decide(self, view: TalkView) -> Ask[Decision]:
        """By rule at both ends, by a draw in between; after good news no pity."""
        if view.parting or view.turns_left <= 2:
            return self._decision(view, "close", ("close",), "it is time to go")
        if not view.moves:
            return self._decision(view, "greet", ("greet",), "they have just met")
        options = tuple(
            move
            for move in LATER
            if move != view.moves[-1] and (move != "close" or len(view.lines) >= LONG_ENOUGH)
        )
        odds = [OFTEN[LATER.index(move)] for move in options]
        move = chance(*view.key, "supportive", len(view.lines)).choices(options, odds)[0]
        return self._decision(view, move, options, "drawn")
        yield  # an Ask that needs no model

    def _decision(
        self, view: TalkView, move: str, options: tuple[str, ...], reason: str
    ) -> Decision:
        return Decision(
            move=move, options=options, reason=reason, aim=aims(self.name, view.language)[move]
        )
