"""The client's policy: how open to be, from how well the two know each other and how it goes."""

from typing import ClassVar

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.chance import chance
from simcounsel.llm.question import Ask
from simcounsel.policies.manual import aims
from simcounsel.specs.vocabulary import Stage

OPENNESS_TO_TELL, OPENNESS_TO_HOPE = 3.0, 6.0


class Disclosing:
    """Guarded at first, telling when trust is there, doubting or angry at times, hopeful late.

    Openness is half the relationship score (0 to 5), plus one for each earlier meeting (at most 3),
    plus one for every second own line in this conversation.
    """

    name: ClassVar[str] = "disclosing"

    def decide(self, view: TalkView) -> Ask[Decision]:
        """The stage from which the next line is spoken."""
        if view.parting or view.turns_left <= 1:
            return self._decision(view, "ending", ("ending",), "the talk is ending")
        openness = view.closeness / 2 + min(3, view.meeting - 1) + len(view.moves) / 2
        options = self._options(openness, view)
        move = chance(*view.key, "disclosing", len(view.lines)).choices(
            *zip(*options, strict=True)
        )[0]
        return self._decision(
            view, move, tuple(stage for stage, _ in options), f"openness {openness:.1f}"
        )
        yield  # an Ask that needs no model

    def _options(self, openness: float, view: TalkView) -> list[tuple[Stage, float]]:
        if openness < OPENNESS_TO_TELL and len(view.moves) < 2:
            return [("early", 3.0), ("telling", 1.0)]
        options: list[tuple[Stage, float]] = [("telling", 4.0), ("doubting", 1.5)]
        options.append(("angry", 1.5 if view.emotion in ("anger", "disgust") else 0.5))
        if openness >= OPENNESS_TO_HOPE:
            options.append(
                ("hopeful", 2.5 if view.emotion in ("joy", "trust", "anticipation") else 1.5)
            )
        return options

    def _decision(
        self, view: TalkView, move: Stage, options: tuple[str, ...], reason: str
    ) -> Decision:
        return Decision(
            move=move, options=options, reason=reason, aim=aims(self.name, view.language)[move]
        )
