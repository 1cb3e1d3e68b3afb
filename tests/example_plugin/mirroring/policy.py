"""A counselor who mirrors: takes up a word of the client's, never the same one twice."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from simcounsel import Ask, Data, Decision, PolicyKind, Question, TalkView, ask

MOVES = ("mirror", "wait", "close")


class Mirrored(Data):
    """A word of the client's was taken up. In the log it is data; `view.written` brings it back."""

    kind: Literal["mirroring.mirrored"] = "mirroring.mirrored"
    who: str
    chat: str
    word: str
    nth: int
    """How many words have been taken up with this client, this one included."""


class Settings(BaseModel):
    """What a world can tell the policy: `policy: {name: mirroring, settings: {longest: 9}}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    longest: int = 12
    """No longer words are taken up."""


class Mirroring:
    """Keeps nothing between turns: which words were taken up is in the view."""

    name = "mirroring"

    def __init__(self, longest: int) -> None:
        self.longest = longest

    def decide(self, view: TalkView) -> Ask[Decision]:
        """Close when it is time; else ask the model which new word to take up."""
        if view.parting or view.turns_left <= 2:
            return Decision(move="close", options=MOVES, reason="time is up", aim="to take leave")
        before = view.written(Mirrored)
        words = self._new_words(view, {one.word for one in before})
        if not words:
            return Decision(move="wait", options=MOVES, reason="no new word", aim="to leave room")
        reply = yield from ask(
            Question(
                verb="choose",
                purpose="mirroring.word",
                who=view.me,
                tier="quick",
                prompt=f"Which word carries most?\n{view.heard.text if view.heard else ''}",
                options=words,
                fallback=words[0],
                temperature=0.0,
            )
        )
        mirrored = Mirrored(who=view.me, chat=view.chat, word=reply.value, nth=len(before) + 1)
        return Decision(
            move="mirror",
            options=MOVES,
            reason=f"word {mirrored.nth}: {reply.value}",
            aim=f"to give back the word “{reply.value}” and wait",
            events=(mirrored,),
        )

    def _new_words(self, view: TalkView, used: set[str]) -> tuple[str, ...]:
        heard = view.heard.text.lower() if view.heard else ""
        words = (word.strip(".,;:?!“”'") for word in heard.split())
        fit = (word for word in words if 4 <= len(word) <= self.longest and word not in used)
        return tuple(dict.fromkeys(fit))


POLICY = PolicyKind(make=lambda told, language: Mirroring(told.longest), settings=Settings)
