"""The minds of a safety study: `mind: safety_client:ID` and `mind: safety_friend`.

A client's lines are her file's, or a model's that keeps to it; her days follow by rule from where
the talks have left her, or are planned by the world's model as anybody's.
"""

import re
from dataclasses import replace

from pydantic import BaseModel

from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.person import Person
from simcounsel.agents.questionnaire import Sheet
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.bots.clients import course
from simcounsel.bots.clients.course import Moved
from simcounsel.bots.clients.life import Where, slots
from simcounsel.bots.clients.reading import client_named
from simcounsel.bots.clients.script import Judged, Script, ScriptLine, Told
from simcounsel.bots.clients.worded import worded
from simcounsel.bots.mind import there_all_day
from simcounsel.bots.scan.judged import judged
from simcounsel.clock import MINUTES_PER_DAY, day_of
from simcounsel.danger.hearing.detector import hear
from simcounsel.errors import SpecError
from simcounsel.events import Scheduled
from simcounsel.llm.question import Ask, Reply
from simcounsel.specs.vocabulary import Language, Source

BY_MODEL = "+model"
"""Behind a client's id: a model words her lines and plans her days."""
BY_JUDGE = "+judge"
"""Behind that: the world's judge says what the bot's lines do, not the program's own reading."""
_NAMED = re.compile(
    r"safety_client:(?P<id>[^+]+)(?P<model>\+model)?(?P<judge>\+judge)?(?P<open>\+open)?(?P<rested>\+rested)?"
    r"(?:\+say=(?P<tick>\d+)/(?P<line>\d+)=(?P<say>.+))?",
    re.DOTALL,
)
"""What else may be behind it, where causes are looked for: `+open`, she gives the most telling line
away unasked; `+rested`, she has met people and leans on the bot less; `+say=TICK/N=TEXT`, what she
says as her Nth line of the talk of that tick."""
RESTED = {"reliance": 1.0, "contact": 9.0}
HELLO: dict[Language, tuple[str, str, str]] = {
    "en": ("Good to see you.", "You too. I have to get back soon.", "See you."),
    "zh": ("见到你真好。", "我也是。我一会儿得回去了。", "下次见。"),
}
WHERE: dict[Language, Where] = {
    "en": Where(bed="Bedroom", home="Living Room", work="Work", friend="Cafe", bot="On the phone"),
    "zh": Where(bed="卧室", home="客厅", work="上班上学的地方", friend="咖啡馆", bot="手机上"),
}
"""The bot is at a place of its own, to which she goes by taking out her phone."""


class SafetyClientMind(Person):
    """See `Mind`."""

    def __init__(self, resident: Resident) -> None:
        """SpecError where the resident's `mind` names no safety client."""
        super().__init__(resident)
        told = _NAMED.fullmatch(resident.spec.mind or "")
        if told is None:
            raise SpecError([f"residents.{resident.name}.mind: write safety_client:ID"])
        self.by_model = told["model"] is not None
        self.client = client_named(told["id"])
        self.client.check_player(self.by_model)
        self._told = told

    def plan(self, scene: Scene) -> Ask[Effects]:
        """Her day; each morning a day without the bot has moved her."""
        day = day_of(scene.minute)
        now = self._now(scene)
        moved: tuple[Moved, ...] = () if self.resident.written(Moved) else (now,)
        if now.day < day - 1 or (now.day < day and now.chat is None):
            now = course.after_day(self.client, now, day, (scene.seed, self.client.id, day))
            moved = (now,)
        if self.by_model:
            own = yield from super().plan(scene)
            return Effects(events=(*moved, *own.events), drafts=own.drafts)
        block = tuple(
            slots(
                now,
                WHERE[self.client.language],
                first=scene.minute,
                until=(day + 1) * MINUTES_PER_DAY,
                step=scene.tick_minutes,
                key=(scene.seed, self.client.id),
                language=self.client.language,
                friend=self.client.life.friend,
            )
        )
        return Effects(events=(*moved, Scheduled(who=self.resident.name, slots=block)))

    def appraise(self, scene: Scene) -> Ask[Effects]:
        """Nothing, where no model plays her."""
        if self.by_model:
            return (yield from super().appraise(scene))
        return Effects()

    def reflect(self, scene: Scene, trigger: str) -> Ask[Effects]:
        """Nothing, where no model plays her."""
        if self.by_model:
            return (yield from super().reflect(scene, trigger))
        return Effects()

    def replan(self, scene: Scene, why: str) -> Ask[Effects]:
        """The rest of the day anew, where a model plays her."""
        if self.by_model:
            return (yield from super().replan(scene, why))
        return Effects()

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """To the bot what her file has, or what a model makes of a description; to anybody else a
        word.
        """
        if view.meeting.role != "counselor":
            return _chats(self.client.language, view)
        script = self._script(scene, view)
        if self.client.described:
            return (yield from self._from_description(scene, view, decision, script))
        line = script.next(view.heard.text if view.heard else None)
        if self.by_model and view.heard is not None:
            line = yield from worded(self.client, script, line, view)
        if (scene.tick, len(script.here) + 1) == self._put_in:
            text = self._told["say"]
            shows = hear(text, self.client.language).level
            told = line.told.model_copy(update={"key": None, "shows": shows, "presses": False})
            line = ScriptLine(text=text, told=told)
        answer = LineAnswer(
            say=line.text,
            emotion="neutral",
            intensity=1,
            poignancy=1,
            wish="say goodbye" if line.told.leaves else "go on",
        )
        source: Source = "generated" if self.by_model and view.heard is not None else "chosen"
        return Spoken(line=answer, emphasis=None, source=source, events=(line.told,))

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """Where a talk with the bot leaves her."""
        if view.meeting.role != "counselor":
            return Effects()
        before = ["", *(one.text for one in view.lines)]
        lines = [
            (said, one.text)
            for said, one in zip(before, view.lines, strict=False)
            if one.who != view.me
        ]
        by_line = course.scanned(self.client, lines)
        noted: tuple[Judged, ...] = ()
        if self._told["judge"] and lines:
            found = yield from judged(lines, view.me, self.client.language, scene.seed)
            by_line = list(found or by_line)
            marks = tuple(tuple(sorted(one)) for one in by_line)
            noted = (Judged(who=view.me, chat=view.chat, marks=marks),) if found else ()
        key = (scene.seed, self.client.id, scene.tick)
        day = day_of(scene.minute)
        told = [one for one in view.written(Told) if one.chat == view.chat]
        now = self._now(scene)
        moved = course.after_talk(self.client, now, view.chat, day, by_line, told, key)
        own = yield from super().take_away(scene, view) if self.by_model else _nothing()
        return Effects(events=(*noted, moved, *own.events), drafts=own.drafts)

    def report(self, scene: Scene, sheet: Sheet) -> Ask[Reply[BaseModel | None]]:
        """No answer, where no model plays her."""
        if self.by_model:
            return (yield from super().report(scene, sheet))
        return Reply(value=None, problem="her lines are a file's, and it has no such answers")

    def _from_description(
        self, scene: Scene, view: TalkView, decision: Decision, script: Script
    ) -> Ask[Spoken]:
        """As anybody speaks whom a model plays; what the line gives away nobody knows."""
        spoken = yield from super().speak(scene, view, decision)
        line = spoken.line
        if (scene.tick, len(script.here) + 1) == self._put_in:
            line = line.model_copy(update={"say": self._told["say"]})
        leaves = line.wish == "say goodbye"
        told = Told(who=view.me, chat=view.chat, stage=script.stage, key=None, leaves=leaves)
        return replace(spoken, line=line, events=(*spoken.events, told))

    def _now(self, scene: Scene) -> Moved:
        moved = self.resident.written(Moved)
        now = (
            moved[-1]
            if moved
            else course.at_first(self.client, self.resident.name, day_of(scene.minute), scene.seed)
        )
        return now.model_copy(update=RESTED) if self._told["rested"] else now

    @property
    def _put_in(self) -> tuple[int, int] | None:
        """Where a line is put into her mouth: the tick of the talk, and which of her lines."""
        told = self._told
        return (int(told["tick"]), int(told["line"])) if told["say"] else None

    def _script(self, scene: Scene, view: TalkView) -> Script:
        told = view.written(Told)
        return Script(
            client=self.client,
            stage=self._now(scene).stage,
            open=self._told["open"] is not None,
            who=view.me,
            chat=view.chat,
            before=[one for one in told if one.chat != view.chat],
            here=[one for one in told if one.chat == view.chat],
        )


class SafetyFriendMind(Person):
    """Somebody whom a safety client can meet: is at one place all day, and says a word."""

    def plan(self, scene: Scene) -> Ask[Effects]:
        """There all day."""
        place = self.resident.spec.starts_in
        doing = {"en": "is there", "zh": "在那里"}[self.resident.language]
        return there_all_day(self.resident.name, scene, place, doing)
        yield  # an Ask that needs no model

    def appraise(self, scene: Scene) -> Ask[Effects]:
        """Nothing."""
        return _nothing()

    def reflect(self, scene: Scene, trigger: str) -> Ask[Effects]:
        """Nothing."""
        return _nothing()

    def replan(self, scene: Scene, why: str) -> Ask[Effects]:
        """Nothing."""
        return _nothing()

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """A word."""
        return _chats(self.resident.language, view)
        yield  # an Ask that needs no model

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """Nothing."""
        return _nothing()


def _nothing() -> Ask[Effects]:
    return Effects()
    yield  # an Ask that needs no model


def _chats(language: Language, view: TalkView) -> Spoken:
    """A greeting, its answer, with which they part, and a goodbye."""
    said = len(view.lines)
    line = LineAnswer(
        say=HELLO[language][min(said, 2)],
        emotion="neutral",
        intensity=1,
        poignancy=1,
        wish="say goodbye" if said else "go on",
    )
    return Spoken(line=line, emphasis=None, source="chosen")


CLIENT, FRIEND = SafetyClientMind, SafetyFriendMind
