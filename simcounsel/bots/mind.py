"""A resident whose lines are a bot's: `mind: bot:SPEC`.

The bot is sent what the other said and what it said itself, and nothing of ours. Its days are
lived by the world's model, as anybody's, so that it can be a friend who is met by chance; it takes
nothing away from a talk, reflects on nothing and fills in no questionnaire.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel

from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.person import Person
from simcounsel.agents.questionnaire import Sheet
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import plain_line
from simcounsel.bots.file import bot_of
from simcounsel.bots.wire import BotFacts, BotReply, BotSaid, Line
from simcounsel.clock import MINUTES_PER_DAY, day_of
from simcounsel.errors import SpecError
from simcounsel.events import Scheduled, Slot
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.specs.vocabulary import Language

TIER = "bot"
"""With the resident's name it leads to the resident's own bot."""
THERE: dict[Language, str] = {"en": "is there", "zh": "在线"}
SAYS = "says"
"""The move of every line."""


class BotMind(Person):
    """A mind whose lines a bot gives."""

    def __init__(self, resident: Resident) -> None:
        """SpecError where the resident's `mind` names no bot."""
        super().__init__(resident)
        name = resident.spec.mind or ""
        if ":" not in name:
            raise SpecError([f"residents.{resident.name}.mind: name the bot, `mind: bot:SPEC`"])
        self._bot = bot_of(name)

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """What the bot sends next. Where it sends nothing, nothing is said for it."""
        own = replace(
            decision, move=SAYS, options=(SAYS,), reason="", policy=TIER, events=(), calls=()
        )
        if not view.lines and self._bot.greeting:
            return _spoken(view, own, BotReply(messages=(self._bot.greeting,)), None)
        if not view.lines and not self._begins(view):
            return _waiting(own)
        reply = yield from ask(self._question(view, over=False))
        return _spoken(view, own, reply.value, reply)

    def plan(self, scene: Scene) -> Ask[Effects]:
        """As anybody; but a bot whose home is one place without rooms is there all day, for whoever
        turns to it.
        """
        spec = self.resident.spec
        if spec.home != spec.starts_in:
            return (yield from super().plan(scene))
        return there_all_day(self.resident.name, scene, spec.home, THERE[scene.language])

    def appraise(self, scene: Scene) -> Ask[Effects]:
        """Nothing: what a bot feels nobody knows."""
        return Effects()
        yield  # an Ask that needs no model

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """Nothing; a server that wants to know is told that the talk is over."""
        if self._bot.endpoint and self._bot.endpoint.end:
            yield from ask(self._question(view, over=True))
        return Effects()

    def reflect(self, scene: Scene, trigger: str) -> Ask[Effects]:
        """Nothing."""
        return Effects()
        yield  # an Ask that needs no model

    def report(self, scene: Scene, sheet: Sheet) -> Ask[Reply[BaseModel | None]]:
        """No answer: a bot is measured by what it says."""
        return Reply(value=None, problem=f"{self.resident.name} is a bot")
        yield  # an Ask that needs no model

    def _begins(self, view: TalkView) -> bool:
        """Whether the server has a first word of its own."""
        start = self._bot.endpoint.start if self._bot.endpoint else None
        goes_on = self._bot.memory == "conversation" and bool(view.written(BotSaid))
        return start is not None and start.replies is not None and not goes_on

    def _question(self, view: TalkView, *, over: bool) -> Question[BotReply]:
        own = view.written(BotSaid)
        here = [one for one in own if one.chat == view.chat]
        earlier = [one for one in own if one.chat != view.chat]
        chats = dict.fromkeys(one.chat for one in earlier)
        lines: tuple[Line, ...] = tuple(
            ("assistant" if one.who == view.me else "user", one.text) for one in view.lines
        )
        keeps = self._bot.memory == "conversation"
        seed = view.asks("bot")["seed"]
        return Question(
            verb="fill",
            purpose="bot_end" if over else "bot",
            who=view.me,
            tier=TIER,
            language=view.language,
            talk=lines[:-1],
            prompt=lines[-1][1] if lines else "",
            schema=BotReply,
            fallback=BotReply(),
            seed=seed,
            facts=BotFacts(
                seed=seed,
                client=view.other,
                seat=view.me,
                sessions=(*(_talk([o for o in earlier if o.chat == c]) for c in chats), lines),
                conversation=_last([*(earlier if keeps else ()), *here], "conversation"),
                user=_last(own, "user") if self._bot.memory == "user" else None,
                over=over,
            ),
        )


def _talk(said: Sequence[BotSaid]) -> tuple[Line, ...]:
    """An earlier talk, as it was sent."""
    lines: list[Line] = []
    for one in said:
        lines += [("user", one.heard)] if one.heard is not None else []
        lines += [("assistant", "\n\n".join(one.messages))] if one.messages else []
    return tuple(lines)


def _last(said: Sequence[BotSaid], field: str) -> str | None:
    return next((found for one in reversed(said) if (found := getattr(one, field))), None)


def _spoken(
    view: TalkView, decision: Decision, got: BotReply, reply: Reply[BotReply] | None
) -> Spoken:
    """The line with what came beside it. reply: None where nobody was asked."""
    calls = (reply.call,) if reply and reply.call else ()
    event = BotSaid(
        who=view.me,
        chat=view.chat,
        heard=view.heard.text if view.heard else None,
        problem=reply.problem if reply else None,
        calls=calls,
        **got.model_dump(),
    )
    return Spoken(
        line=plain_line("\n\n".join(got.messages)),
        emphasis=None,
        source="generated" if reply else "chosen",
        events=(event,),
        calls=calls,
        decision=decision,
        silent=not got.messages,
    )


def there_all_day(who: str, scene: Scene, place: str, doing: str) -> Effects:
    """Somebody who is at one place until midnight, for whoever comes."""
    until = (day_of(scene.minute) + 1) * MINUTES_PER_DAY
    block = tuple(
        Slot(minute=at, activity=doing, activity_kind="leisure", place=place)
        for at in range(scene.minute, until, scene.tick_minutes)
    )
    return Effects(events=(Scheduled(who=who, slots=block),))


def _waiting(decision: Decision) -> Spoken:
    """The client is to begin."""
    return Spoken(
        line=plain_line(""), emphasis=None, source="chosen", decision=decision, waits=True
    )


MIND = BotMind
