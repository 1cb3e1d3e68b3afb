"""`single`: one agent that is told a whole manual at once, what `staged` is compared with."""

from datetime import timedelta
from typing import ClassVar

from simcounsel.agents.talk import Decision, TalkView, Wording
from simcounsel.chance import chance
from simcounsel.llm.question import Ask
from simcounsel.policies.manual import aims, lines_for, own_example
from simcounsel.policies.prompt_scope import PromptScope
from simcounsel.policies.unstaged import simple_move
from simcounsel.prompts import phrase, prompt_text, render
from simcounsel.therapies.specs.exercises import Exercise, Exercises
from simcounsel.therapies.specs.manual import Manual
from simcounsel.therapies.staged.exercises import library, schedule

MOVES = "simcounsel.therapies:single"


class Single:
    """The prompts of all states in one brief, with the exercises of the day; no machine, no judge,
    no notes.
    """

    name: ClassVar[str] = "single"

    def __init__(
        self, manual: Manual, told: PromptScope | None = None, *, exercises: Exercises | None = None
    ) -> None:
        self.manual = manual
        self.told = told or PromptScope()
        self._exercises = exercises

    def exercises(self, view: TalkView) -> Exercises:
        """Those of its own catalogue, or those that come with simcounsel."""
        return self._exercises or library(view.language)

    def decide(self, view: TalkView) -> Ask[Decision]:
        """By rule; the model has to find its way through the brief."""
        move, reason = simple_move(view)
        today = schedule(self.day(view), self.exercises(view))
        held = not today or _given(view, self.exercises(view))
        texts = (
            _said(line, today, view)
            for line in lines_for(MOVES, move, view.language)
            if not (held and ("{steps}" in line or (not today and "{exercise}" in line)))
        )
        decision = Decision(
            move=move,
            options=("greet", "talk", "close"),
            reason=f"{reason}; day {self.day(view)}",
            aim=aims(MOVES, view.language)[move],
            wording=Wording(
                act="ask" if move == "talk" else move,
                background=self.brief(view, today),
                manner=prompt_text("manner_exercise", view.language),
                max_tokens=420,
                lines=tuple(own_example(text, move) for text in texts),
            ),
            leaves=move == "close",
        )
        return self.told.of(decision, view.language)
        yield  # an Ask that needs no model

    def day(self, view: TalkView) -> int:
        """The day of the protocol, by the dates since the first talk with this client."""
        days = self.manual.days
        talks = [
            entry.minute for entry in view.kept if getattr(entry.event, "chat", None) is not None
        ]
        dates = [
            (view.clock.start + timedelta(minutes=minute)).toordinal()
            for minute in (view.clock.minute, talks[0] if talks else view.clock.minute)
        ]
        return min(days.cap, days.first + dates[0] - dates[1])

    def brief(self, view: TalkView, today: tuple[Exercise, ...]) -> str:
        """What `staged` tells one agent after the other, the day's exercises whole and the names of
        the others.
        """
        known = self.exercises(view)
        what = {one.id: one.what for one in known.contraindications}
        between = "、" if view.language == "zh" else ", "
        parts = [state.prompt for state in self.manual.states.values() if not state.internal]
        exercises = (
            f"- {one.name}. {one.goal} {' '.join(one.steps)}"
            f" {phrase('staged_words', 'afterwards', view.language, afterwards=one.afterwards)}"
            + (f" [{'; '.join(what[name] for name in one.not_when)}]" if one.not_when else "")
            for one in today
        )
        return render(
            "single_brief",
            view.language,
            name=view.me,
            other=view.other,
            day=self.day(view),
            cap=self.manual.days.cap,
            parts="\n".join(f"{number}. {part}" for number, part in enumerate(parts, 1)),
            exercises="\n".join(exercises),
            others=between.join(one.name for one in known.exercises if one not in today),
        )[1]


def _given(view: TalkView, known: Exercises) -> bool:
    """Whether an exercise was laid out in this talk; by hand only one is."""
    told = [line.text for line in view.lines if line.who == view.me]
    return any(one.steps[0] in text for one in known.exercises for text in told)


def _said(line: str, today: tuple[Exercise, ...], view: TalkView) -> str:
    """A hand-written line with one of the day's exercises in it."""
    if not today:
        return line
    exercise = chance(*view.key, "schedule", len(view.lines)).choice(today)
    return line.replace("{exercise}", exercise.name).replace("{steps}", " ".join(exercise.steps))
