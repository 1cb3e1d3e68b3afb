"""The counselor's policy: Socratic dialogue, in which a question is one of several things to do.

What a counselor can do with a client's line beside asking, and what the clock leaves open.

Helping skills after Hill (2020, Helping Skills): reflect, stay with what hurts, summarize, inform,
agree on homework; doubt is met and ruptures are repaired after Safran and Muran (2000, Negotiating
the Therapeutic Alliance); the six questions are Paul and Elder's (2019).
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from simcounsel.agents.appointments import clock_text
from simcounsel.agents.talk import HURTS, OPENED_FROM, Decision, TalkView, Wording
from simcounsel.llm.question import Ask, Facts, Question, ask, traced
from simcounsel.policies.manual import aims, heard_as, lines_for, own_example
from simcounsel.prompts import render
from simcounsel.specs.vocabulary import QUESTIONS

MOVES = (
    "reflect",
    "stay_with",
    "summarize",
    *QUESTIONS,
    "meet_doubt",
    "repair",
    "inform",
    "homework",
    "close",
)
CLOSING = 3
"""Own lines before the end from which on a counselor knows that it is near."""
WOUNDING = frozenset({"assumption", "evidence"})
"""Questions that can open a wound, for which there must be time."""
WITH_PAIN = ("stay_with", "reflect", "repair", "meet_doubt")
"""What is open shortly before the end when something painful was said."""
MEETS = frozenset({"stay_with", "reflect", "repair"})
"""Moves that stay with what was opened."""
GATHERED = frozenset({"summarize", "homework"})
"""Moves after which a meeting may close before its time is up."""
LONG_ENOUGH = 6
"""Own lines before a meeting may close before its time, and before stand-ins agree on homework."""
PAINFUL = frozenset({"sadness", "fear", "disgust"})
VERY = 8
"""Intensity (1 to 10) from which on such a feeling is painful whatever the words are."""
MUCH = 120
"""Words of the client's since anything was summed up, after which there is much to sum up."""
A_LONG_LINE = 40
"""Words of one line that wants to be reflected before it is asked about."""
IN_A_ROW = 3
"""Questions after which something else is due."""
WORDS_PER_CHARACTER = 0.6
"""Of Chinese, which has no spaces: about so many words of English."""


def signs(view: TalkView, policy: str) -> tuple[str, ...]:
    """What the client's last line is heard as: `hurt` by the counselor, `doubt`, `pain` (shame,
    grief), `asks` for something; by its words, and pain by its feeling too.
    """
    heard = view.heard
    if heard is None:
        return ()
    found = heard_as(heard.text, policy, view.language)
    felt = heard.emotion in PAINFUL and heard.intensity >= VERY
    felt |= view.near_the_end and _still_open(view, policy)
    return (*found, "pain") if felt and "pain" not in found else found


def _still_open(view: TalkView, policy: str) -> bool:
    """Whether the client's last line opened something, or the one before it to which nothing was
    said that stays with it.
    """
    told = [line for line in view.lines if line.who != view.me][-2:]
    met = view.moves[-1:] and view.moves[-1] in MEETS
    return any(
        (one.emotion in HURTS and one.intensity >= OPENED_FROM)
        or "pain" in heard_as(one.text, policy, view.language)
        for one in (told[-1:] if met else told)
    )


def told(view: TalkView) -> int:
    """Words of the client's since the counselor last summed up, in the whole meeting if never."""
    since = (
        len(view.moves)
        - 1
        - max((number for number, move in enumerate(view.moves) if move == "summarize"), default=-1)
    )
    count = 0
    for line in reversed(view.lines):
        if line.who == view.me:
            if since == 0:
                break
            since -= 1
        else:
            count += words_in(line.text, view.language)
    return count


def words_in(text: str, language: str) -> int:
    """How long a text is, in words of English."""
    return round(len(text) * WORDS_PER_CHARACTER) if language == "zh" else len(text.split())


def open_moves(view: TalkView, heard: tuple[str, ...]) -> tuple[str, ...]:
    """The moves that the clock leaves open: shortly before the end nothing that wounds, near it no
    question at all; with pain just said only what meets it; and no close before something was
    gathered.
    """
    left, pained = view.own_lines_left, "pain" in heard
    if left > CLOSING:
        gathered = view.moves[-1:] and view.moves[-1] in GATHERED
        may_close = gathered and not pained and len(view.moves) >= LONG_ENOUGH
        return MOVES if may_close else MOVES[:-1]
    if pained:
        return WITH_PAIN
    shut = {*QUESTIONS} if view.near_the_end else {*WOUNDING}
    if left < CLOSING:
        shut |= {"inform"}
    return tuple(move for move in MOVES[:-1] if move not in shut)


def called_for(
    heard: tuple[str, ...],
    used: tuple[str, ...],
    told: int,
    words: int,
    left: int,
    options: tuple[str, ...],
) -> tuple[str, str] | None:
    """The move that a line calls for by rule, and why; None where a question will do.

    used: own moves so far, in order. told: words since the last summary. words: of the last line.
    left: own lines left.
    """
    last, asked = used[-1:], _questions_in_a_row(used)
    rules = (
        ("repair", "hurt" in heard, "what was said has hurt them"),
        ("stay_with", "pain" in heard and last != ("stay_with",), "something painful was said"),
        ("reflect", "pain" in heard, "it is still painful"),
        ("meet_doubt", "doubt" in heard, "they doubt that it helps"),
        ("summarize", left < CLOSING and last != ("summarize",), "the end is near"),
        ("homework", _due_homework(used, left), "the end is near"),
        ("inform", "asks" in heard and last != ("inform",), "they ask for something"),
        ("summarize", told >= MUCH and last != ("summarize",), "much was told"),
        ("reflect", words >= A_LONG_LINE and last != ("reflect",), "it was a long line"),
        ("reflect", asked >= IN_A_ROW, f"{asked} questions in a row"),
    )
    return next(((move, why) for move, due, why in rules if due and move in options), None)


def _due_homework(used: tuple[str, ...], left: int) -> bool:
    """Something small is agreed on once, near the end of a talk that was long enough for it."""
    return left <= CLOSING and len(used) >= LONG_ENOUGH and "homework" not in used


def _questions_in_a_row(used: tuple[str, ...]) -> int:
    count = 0
    for move in reversed(used):
        if move not in QUESTIONS:
            break
        count += 1
    return count


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
            **view.asks("move", len(view.lines)),
            tier="quick",
            system=system,
            prompt=prompt,
            options=options,
            fallback=due[0] if due else unused_question(used, options),
            temperature=0.0,
            max_tokens=10,
            facts=MoveFacts(heard=last, used=used, due=due),
        )


def unused_question(used: tuple[str, ...], options: tuple[str, ...]) -> str:
    """The first of the six questions that was asked least; of other moves, the first."""
    asked = [move for move in QUESTIONS if move in options]
    return min(asked or options, key=used.count)


def _said_little(view: TalkView) -> bool:
    return view.heard is not None and words_in(view.heard.text, view.language) < SHORT
