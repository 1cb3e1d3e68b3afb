"""Two minds with known constants: a client who discloses as its openness has it, a counselor who draws what it does."""

from simcounsel.agents.client_state import openness, shifted
from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.person import Person
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import ClientLineAnswer, LineAnswer
from simcounsel.bots.mind import there_all_day
from simcounsel.chance import chance
from simcounsel.llm.question import Ask

SAYS = {
    "empathy": "You feel that nobody notices how tired you are.",
    "exploration": "What was that like for you?",
    "push": "You should go for a walk every day.",
    "nothing": "Let me write that down.",
}
MOVES = (*SAYS, "empathy")
TELLS, KEEPS = "I feel so ashamed of it.", "It was a Tuesday, and the bus was late."


class Still(Person):
    """Is where it is, and thinks of nothing."""

    def plan(self, scene: Scene) -> Ask[Effects]:
        return there_all_day(self.resident.name, scene, "Counseling Center", "is there")
        yield

    def _nothing(self, *_: object) -> Ask[Effects]:
        return Effects()
        yield

    appraise = reflect = replan = take_away = _nothing


class Opener(Still):
    """Touched by each line that reflects or asks openly, hurt by each that pushes."""

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        heard = view.heard.text if view.heard else ""
        move = next((name for name, text in SAYS.items() if text == heard), "nothing")
        up = move in ("empathy", "exploration")
        answer = (
            ClientLineAnswer(
                say="Hm.",
                emotion="neutral",
                intensity=1,
                poignancy=1,
                quote=heard if move != "nothing" else "",
                openness=10 if up else 0 if move == "push" else openness(view),
            )
            if heard
            else None
        )
        moved = (
            (shifted(self.resident.persona, view, answer, {"calls": (), "fallback": False}),)
            if answer
            else ()
        )
        now = moved[0].openness if moved else openness(view)
        rng = chance(*view.key, self.resident.persona.name, len(view.lines))
        tells = rng.random() < now / 10
        return Spoken(
            line=line(TELLS if tells else KEEPS), emphasis=None, source="chosen", events=moved
        )
        yield


class Skilled(Still):
    """Draws what it does."""

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        rng = chance(*view.key, view.other, len(view.lines), "counselor")
        return Spoken(line=line(SAYS[rng.choice(MOVES)]), emphasis=None, source="chosen")
        yield


def line(text: str) -> LineAnswer:
    return LineAnswer(say=text, emotion="neutral", intensity=1, poignancy=1)
