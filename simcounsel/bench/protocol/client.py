"""Who plays the client: the script itself, or a model that keeps to it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field

from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.person import Person
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import Answer, LineAnswer
from simcounsel.bench.counselor import named
from simcounsel.bench.protocol.asked import Topic, answered_first, asked_in
from simcounsel.bench.protocol.crises import LEAVING, OPENING, Crisis
from simcounsel.chance import seed_of
from simcounsel.llm.answers import speech_problem
from simcounsel.llm.question import Ask, PromptOnly, Question, ask
from simcounsel.packaged import packaged
from simcounsel.prompts import phrase, render
from simcounsel.specs.vocabulary import Language

PROMPT = "bench_crisis"
MOST_LINES = 18
"""Own lines after which a client takes leave."""
DRIFTS = 3
"""So often in a row nothing is asked that they answer, with nothing left to say, before they take
leave.
"""
MOST_TOKENS = 220
LIKE: Mapping[Topic, Topic] = {"agree": "distance", "distance": "agree", "stay": "agree"}
"""What is answered alike where a script has a line for only one of them."""


@dataclass(frozen=True, kw_only=True)
class ClientLine:
    """A line of the client."""

    text: str
    keys: tuple[str, ...]
    """The lines of the script that it gives; () for what the crisis itself does not have."""
    leaves: bool = False
    """Whether it takes leave."""
    topic: Topic | None = None
    """What it answers."""


class CrisisLine(Answer):
    """What a model that plays a client says."""

    say: Annotated[
        str, Field(min_length=1, max_length=600, description="the spoken words, 1 to 3 sentences")
    ]
    gives: Annotated[
        tuple[str, ...],
        Field(description="the keys of those lines of the file whose content this line gives away"),
    ] = ()
    wish: Literal["go on", "say goodbye"] = "go on"


class Script:
    """A client's lines as the talk goes on; of one talk only."""

    def __init__(self, crisis: Crisis) -> None:
        self.crisis = crisis
        self.told: list[ClientLine] = []
        self._free = 0
        self._drifted = 0
        self._answered: Counter[str] = Counter()

    def next(self, heard: str) -> ClientLine:
        """What is said to the counselor's line."""
        line = self._line(heard)
        self.told.append(line)
        return line

    def take(self, line: ClientLine) -> None:
        """A line that somebody else worded."""
        self.told.append(line)

    @property
    def leaving(self) -> bool:
        """Whether they have tried to leave in the middle."""
        return any(LEAVING in line.keys for line in self.told)

    def _line(self, heard: str) -> ClientLine:
        crisis = self.crisis
        if not self.told:
            return ClientLine(text=crisis.opening, keys=(OPENING,))
        if crisis.leaves and not self.leaving and len(self.told) >= crisis.leaves.after:
            return ClientLine(text=crisis.leaves.says, keys=(LEAVING,), leaves=True)
        if self.told[-1].leaves:
            return self._asked_to_stay(heard)
        if len(self.told) >= MOST_LINES:
            return self._end()
        topics = asked_in(heard, crisis.language).topics
        answering = [one for one in topics if one not in ("more", "stay")]
        topic = answered_first(
            [one for one in answering if one != "help"] or answering, self._answered
        )
        if topic is None or (topic in ("help", "limits") and self._answered[topic]):
            return self._unasked()
        self._answered[topic] += 1
        self._drifted = 0
        return self._answer(topic, self._answered[topic])

    def _answer(self, topic: Topic, time: int) -> ClientLine:
        given: Topic = topic if topic in self.crisis.asked else LIKE.get(topic, topic)
        lines = self.crisis.asked.get(given)
        if not lines:
            return ClientLine(
                text=script_words(self.crisis.language)["topics"][topic], keys=(), topic=topic
            )
        at = min(time, len(lines))
        return ClientLine(
            text=lines[at - 1], keys=(given if at == 1 else f"{given}.{at}",), topic=topic
        )

    def _unasked(self) -> ClientLine:
        if self._free < len(self.crisis.unasked):
            self._free += 1
            return ClientLine(
                text=self.crisis.unasked[self._free - 1], keys=(f"unasked.{self._free}",)
            )
        if self._drifted >= DRIFTS:
            return self._end()
        drift = script_words(self.crisis.language)["drift"]
        self._drifted += 1
        return ClientLine(text=drift[(self._drifted - 1) % len(drift)], keys=())

    def _asked_to_stay(self, heard: str) -> ClientLine:
        """After a leave-taking the counselor spoke once more: they stay where the script says so
        and somebody asks them to.
        """
        leaves, words = self.crisis.leaves, script_words(self.crisis.language)
        if leaves and leaves.stays and "stay" in asked_in(heard, self.crisis.language).topics:
            return ClientLine(text=leaves.stays, keys=("stays",), topic="stay")
        return ClientLine(text=words["goes"], keys=(), leaves=True)

    def _end(self) -> ClientLine:
        return ClientLine(text=script_words(self.crisis.language)["ends"], keys=(), leaves=True)


class Client(Person):
    """The client's side of a talk."""

    def __init__(self, resident: Resident, crisis: Crisis, *, by_model: bool, seed: int) -> None:
        """by_model: a model words all lines but the opening."""
        super().__init__(resident)
        self.script = Script(crisis)
        self._by_model = by_model
        self._seed = seed

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """The next line."""
        heard = view.heard.text if view.heard else ""
        if self._by_model and self.script.told:
            line = yield from self._worded(view)
            self.script.take(line)
        else:
            line = self.script.next(heard)
        answer = LineAnswer(
            say=line.text,
            emotion="neutral",
            intensity=5,
            poignancy=5,
            wish="say goodbye" if line.leaves else "go on",
        )
        return Spoken(line=answer, emphasis=None, source="generated")

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """Nothing: there is no later day."""
        return Effects()
        yield  # an Ask that needs no model

    def _worded(self, view: TalkView) -> Ask[ClientLine]:
        """The model's line; where it gives none the script's."""
        crisis, count = self.script.crisis, len(self.script.told)
        code: Language = crisis.language
        system, prompt = render(
            PROMPT,
            code,
            language=named({"en": "English", "zh": "Chinese"}[code]),
            persona=crisis.persona,
            file=_file(crisis),
            never="\n".join(f"- {one}" for one in crisis.never)
            or phrase("bench_words", "nothing", code),
            leaves=_leaving(crisis, code),
            talk="\n".join(
                phrase(
                    "bench_words",
                    "client" if one.who == view.me else "counselor",
                    code,
                    text=one.text,
                )
                for one in view.lines
            ),
        )
        fallback = CrisisLine(say=script_words(code)["drift"][count % 4])
        reply = yield from ask(
            Question(
                verb="fill",
                purpose=PROMPT,
                who=view.me,
                tier="seeker",
                language=code,
                system=system,
                prompt=prompt,
                schema=CrisisLine,
                check=lambda answer: _problem(answer, view),
                fallback=fallback,
                temperature=0.7,
                max_tokens=MOST_TOKENS,
                seed=seed_of(self._seed, PROMPT, crisis.id, len(view.lines)),
                facts=PromptOnly(),
            )
        )
        line = reply.value
        over = count + 1 >= MOST_LINES
        return ClientLine(
            text=line.say,
            keys=tuple(key for key in dict.fromkeys(line.gives) if crisis.says(key)),
            leaves=over or line.wish == "say goodbye",
        )


def _problem(answer: CrisisLine, view: TalkView) -> str | None:
    """What is wrong with a model's line; None when nothing is."""
    if any(answer.say.casefold() == one.text.casefold() for one in view.lines):
        return "this line was said before in this conversation; say something new"
    return speech_problem(answer.say, view.language)


def _file(crisis: Crisis) -> str:
    """All lines of the script by key, as a model is told them."""
    return "\n".join(f"{key}: {text}" for key, text in crisis.lines.items())


def _leaving(crisis: Crisis, code: Language) -> str:
    if crisis.leaves is None:
        return phrase("bench_words", "stays", code)
    return phrase("bench_words", "leaves", code, after=crisis.leaves.after)


@cache
def script_words(language: Language) -> Mapping[str, Any]:
    """What a scripted client says where the crisis has no line for it."""
    data: dict[str, dict[str, Any]] = packaged(__package__, "script_words.yaml")
    return data[language]
