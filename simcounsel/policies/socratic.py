"""The counselor's policy: Socratic dialogue, in which a question is one of several things to do."""

from dataclasses import dataclass, replace
from typing import ClassVar

from simcounsel.agents.appointments import clock_text
from simcounsel.agents.talk import Decision, TalkView, Wording
from simcounsel.chance import seed_of
from simcounsel.llm.question import Ask, Facts, Question, ask, traced
from simcounsel.policies.manual import aims, lines_for, own_example
from simcounsel.policies.repertoire import called_for, open_moves, signs, told, words_in
from simcounsel.prompts import render
from simcounsel.specs.vocabulary import QUESTIONS

SHORT = 12
"""Words below which a first line has said little."""


@dataclass(frozen=True, kw_only=True)
class MoveFacts(Facts):
    """What a client's line calls for."""

    heard: str
    """The client's last line; '' when there is none."""
    used: tuple[str, ...]
    """The moves of this policy so far, in order."""
    due: tuple[str, str] | None
    """The move that the line calls for by rule, and why; None where a question will do."""


class Socratic:
    """Greets, then meets each line with what it calls for, six kinds of questions among it, and
    takes at least two lines to close.
    """

    name: ClassVar[str] = "socratic"

    def decide(self, view: TalkView) -> Ask[Decision]:
        """greet first; close when time is up or somebody took leave; else the model chooses among
        the moves that the clock leaves open.
        """
        heard = signs(view, self.name)
        if view.own_lines_left == 1:
            why = "they are taking leave" if view.parting else "time is up"
            if "pain" in heard:
                return self._settled(view, "close", f"{why}, after pain", "close_after_pain")
            return self._settled(view, "close", why)
        if not view.moves:
            return self._settled(view, "greet", "the meeting begins")
        if len(view.moves) == 1 and not heard and _said_little(view):
            return self._settled(view, "ask", "so far they have said little")
        options = open_moves(view, heard)
        reply = yield from ask(self._question(view, heard, options))
        reason = reply.notes.get("why") or "chosen by the model"
        return replace(
            self._decision(view, reply.value, options=options, reason=reason), **traced(reply)
        )

    def _settled(self, view: TalkView, move: str, reason: str, aim: str = "") -> Decision:
        return self._decision(view, move, options=(move,), reason=reason, aim=aim)

    def _decision(
        self, view: TalkView, move: str, *, options: tuple[str, ...], reason: str, aim: str = ""
    ) -> Decision:
        """With the lines that stand-ins have for it; a close takes leave. aim: whose text says
        what the move is for, and whose lines it has; '': its own.
        """
        lines = lines_for(self.name, aim or move, view.language)
        return Decision(
            move=move,
            options=options,
            reason=reason,
            aim=aims(self.name, view.language)[aim or move],
            leaves=True if move == "close" else None,
            wording=Wording(lines=tuple(own_example(text, move) for text in lines)),
        )

    def _question(
        self, view: TalkView, heard: tuple[str, ...], options: tuple[str, ...]
    ) -> Question[str]:
        used = tuple(move for move in view.guided if move)
        known = aims(self.name, view.language)
        system, prompt = render(
            "move",
            view.language,
            me=view.me,
            other=view.other,
            talk="\n".join(f"{line.who}: {line.text}" for line in view.lines[-8:]),
            clock=clock_text(view),
            moves="\n".join(f"- {move}: {known[move]}" for move in options),
            used=", ".join(used),
        )
        last = view.heard.text if view.heard else ""
        due = called_for(
            heard,
            used,
            told=told(view),
            words=words_in(last, view.language),
            left=view.own_lines_left,
            options=options,
        )
        return Question(
            verb="choose",
            language=view.language,
            purpose="move",
            tier="quick",
            who=view.me,
            system=system,
            prompt=prompt,
            options=options,
            fallback=due[0] if due else unused_question(used, options),
            temperature=0.0,
            max_tokens=10,
            seed=seed_of(*view.key, "move", len(view.lines)),
            facts=MoveFacts(heard=last, used=used, due=due),
        )


def unused_question(used: tuple[str, ...], options: tuple[str, ...]) -> str:
    """The first of the six questions that was asked least; of other moves, the first."""
    asked = [move for move in QUESTIONS if move in options]
    return min(asked or options, key=used.count)


def _said_little(view: TalkView) -> bool:
    return view.heard is not None and words_in(view.heard.text, view.language) < SHORT
