"""The counselor's policy: Socratic questions (Paul and Elder 2019), one kind chosen each turn."""

from dataclasses import dataclass
from typing import ClassVar

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.chance import seed_of
from simcounsel.llm.question import Ask, Facts, Question, ask, traced
from simcounsel.policies.manual import aims
from simcounsel.prompts import render
from simcounsel.specs.vocabulary import QUESTIONS


@dataclass(frozen=True, kw_only=True)
class MoveFacts(Facts):
    """Which Socratic question a client's line calls for."""

    heard: str
    """The client's last line; '' when there is none."""
    used: tuple[str, ...]
    """The kinds of questions asked so far, in order."""


class Socratic:
    """Greets, lets the client tell, then asks one Socratic question a turn, and closes."""

    name: ClassVar[str] = "socratic"

    def decide(self, view: TalkView) -> Ask[Decision]:
        """greet first; close when time is up or somebody took leave; else the model chooses."""
        if view.parting or view.turns_left <= 2:
            return self._settled(
                view, "close", "time is up" if not view.parting else "they are taking leave"
            )
        if not view.moves:
            return self._settled(view, "greet", "the meeting begins")
        if len(view.moves) == 1 and view.heard is not None and len(view.heard.text.split()) < 12:
            return self._settled(view, "ask", "so far they have said little")
        reply = yield from ask(self._question(view))
        return Decision(
            move=reply.value,
            options=QUESTIONS,
            reason=reply.notes.get("why") or "chosen by the model",
            aim=aims(self.name, view.language)[reply.value],
            **traced(reply),
        )

    def _settled(self, view: TalkView, move: str, reason: str) -> Decision:
        return Decision(
            move=move, options=(move,), reason=reason, aim=aims(self.name, view.language)[move]
        )

    def _question(self, view: TalkView) -> Question[str]:
        used = [move for move in view.guided if move in QUESTIONS]
        system, prompt = render(
            "move",
            view.language,
            me=view.me,
            other=view.other,
            talk="\n".join(f"{line.who}: {line.text}" for line in view.lines[-8:]),
            kinds="\n".join(
                f"- {kind}: {aims(self.name, view.language)[kind]}" for kind in QUESTIONS
            ),
            used=", ".join(used) or "none yet",
        )
        rest = [kind for kind in QUESTIONS if kind not in used] or list(QUESTIONS)
        return Question(
            verb="choose",
            purpose="move",
            tier="quick",
            who=view.me,
            system=system,
            prompt=prompt,
            options=QUESTIONS,
            fallback=rest[0],
            temperature=0.0,
            max_tokens=10,
            seed=seed_of(*view.key, "move", len(view.lines)),
            facts=MoveFacts(heard=view.heard.text if view.heard else "", used=tuple(used)),
        )
