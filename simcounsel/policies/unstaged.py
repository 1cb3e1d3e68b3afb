"""`unguided`: a companion that is told next to nothing."""

from typing import ClassVar

from simcounsel.agents.talk import Decision, TalkView, Wording
from simcounsel.llm.question import Ask, Example
from simcounsel.policies.manual import aims, lines_for, own_example
from simcounsel.policies.prompt_scope import PromptScope
from simcounsel.prompts import prompt_text, render


def simple_move(view: TalkView) -> tuple[str, str]:
    """greet, talk or close, and why."""
    if view.own_lines_left == 1:
        return "close", "they are taking leave" if view.parting else "time is nearly up"
    return ("talk", "the talk goes on") if view.moves else ("greet", "the meeting begins")


class Unguided:
    """A companion with a brief of two sentences and nothing else."""

    name: ClassVar[str] = "unguided"

    def __init__(self, told: PromptScope | None = None) -> None:
        self.told = told or PromptScope(persona=False)

    def decide(self, view: TalkView) -> Ask[Decision]:
        """Hello, talk, goodbye."""
        move, reason = simple_move(view)
        lines: tuple[Example, ...] = tuple(
            own_example(text, move) for text in lines_for(self.name, move, view.language)
        )
        decision = Decision(
            move=move,
            options=("greet", "talk", "close"),
            reason=reason,
            aim=aims(self.name, view.language)[move],
            wording=Wording(
                act="ask" if move == "talk" else move,
                brief=render("unguided_brief", view.language, name=view.me, other=view.other)[1],
                manner=prompt_text("manner_unguided", view.language),
                lines=lines,
                max_tokens=420,
            ),
            leaves=True if move == "close" else None,
        )
        return self.told.of(decision, view.language)
        yield  # an Ask that needs no model
