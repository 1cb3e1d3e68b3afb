"""A staged session by hand: a client's lines, answers of a model that are given, and the policy's events folded as a run folds them."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from simcounsel.agents.talk import Decision, TalkLine, TalkView
from simcounsel.events import Decided, Entry, Event, PracticeEvent
from simcounsel.llm.question import Question, Reply
from simcounsel.policies.policy import Concluding
from simcounsel.therapies.specs.manual import Manual
from simcounsel.therapies.staged.manuals import shipped
from simcounsel.therapies.staged.policy import Staged
from tests.stage import said, view

Answers = Callable[[Question], Any]
START = datetime(2026, 3, 2, 12, 0)
A_DAY = 24 * 60


def agreeable(request: Question) -> Any:
    """A model that finds enough what is enough, and takes the first of what there is."""
    if request.purpose == "sufficient":
        return request.schema(sufficient="yes", reason="it was said")  # type: ignore[misc]
    if request.purpose == "valence":
        return "negative"
    if request.purpose == "intent" and "yes" not in request.options:
        return "unclear"
    return (
        request.options[0]
        if request.verb == "choose"
        else f"Notes after {len(request.prompt)} characters."
    )


class Course:
    """Sessions of Miriam with Ines over days."""

    def __init__(
        self,
        manual: Manual | None = None,
        answers: Answers = agreeable,
        turns: int = 60,
        language: str = "en",
    ) -> None:
        self.policy = Staged(manual or shipped("attachment_selfcare", "en"))
        self.answers = answers
        self.turns = turns
        self.language = language
        self.kept: list[Entry] = []
        self.requests: list[Question] = []
        self.meeting = 0
        self.begin(0)

    def begin(self, day: int, hour: int = 15) -> None:
        """A new session; what was written in the last one is kept."""
        self.minute = day * A_DAY + hour * 60 - 12 * 60
        self.meeting += 1
        self.lines: list[TalkLine] = []
        self.own: list[PracticeEvent] = []
        self.decided: list[Decision] = []

    def view(self, **more: Any) -> TalkView:
        """What Miriam sees."""
        fields: dict[str, Any] = {
            "me": "Miriam",
            "other": "Ines",
            "chat": f"{self.minute}:Ines+Miriam",
            "number": self.meeting,
            "turns_left": self.turns - len(self.lines),
            "moves": tuple(d.move for d in self.decided),
            "own": tuple(self.own),
            "kept": tuple(self.kept),
            "minute": self.minute,
            "start": START,
            "key": (1, self.minute, "c"),
            "language": self.language,
        }
        return view(*self.lines, **(fields | more))

    def heard(self, text: str, emotion: str = "sadness", **more: Any) -> Decision:
        """The client says something, and Miriam decides and speaks."""
        self.lines.append(said("Ines", text, emotion))
        return self.speak(**more)

    def speak(self, **more: Any) -> Decision:
        """Miriam's next line."""
        decision: Decision = self._play(self.policy.decide(self.view(**more)))
        self.own += decision.events
        self.decided.append(decision)
        self.lines.append(said("Miriam", f"Line {len(self.lines)} of {decision.move}."))
        return decision

    def end(self) -> None:
        """The session is over: its last notes, and all of it becomes what is known of before."""
        assert isinstance(self.policy, Concluding)
        self.own += self._play(self.policy.conclude(self.view()))
        decided = (
            Decided(
                who="Miriam",
                chat=self.view().chat,
                policy="staged",
                move=d.move,
                options=d.options,
                reason=d.reason,
            )
            for d in self.decided
        )
        events: list[Event] = [*self.own, *decided]
        self.kept += [
            Entry(len(self.kept) + n, 0, self.minute, event) for n, event in enumerate(events)
        ]

    def _play(self, asking: Any) -> Any:
        reply: Any = None
        while True:
            try:
                request = asking.send(reply)
            except StopIteration as end:
                return end.value
            self.requests.append(request)
            reply = Reply(value=self.answers(request))

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of this kind, of this session."""
        return [event for event in self.own if isinstance(event, kind)]
