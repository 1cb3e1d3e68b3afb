"""A trial with simulated participants: the same steps, pages' texts, allocation, talks and data as
with people, so that all of it is tried before the first person comes.
"""

import shutil
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from simcounsel.chance import chance
from simcounsel.envs.casting import person
from simcounsel.envs.episode import Episode
from simcounsel.envs.seat import Line
from simcounsel.envs.setting import Setting
from simcounsel.llm.switchboard import Switchboard
from simcounsel.therapies.clinic import with_client
from simcounsel.trial.casting import partner_of, practice_of, resident, setting_of
from simcounsel.trial.exporting import export_all
from simcounsel.trial.opening import opened
from simcounsel.trial.person import Participant
from simcounsel.trial.plan import Trial
from simcounsel.trial.questions import Questionnaire, SurveyItem
from simcounsel.trial.running import Running
from simcounsel.trial.sealing import make_secrets
from simcounsel.trial.stages import state_of
from simcounsel.trial.status import status_lines
from simcounsel.trial.steps import do
from simcounsel.trial.talking import Boards

AT_ONCE = 16
MOST_COME = 5
"""So many times the places come at most: some are screened out."""
WAIT_S = 0.02


@dataclass
class _Clock:
    """Begins now, and goes on by days."""

    day: int = 0
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        """The time."""
        return datetime.now(UTC) + timedelta(days=self.day)


def simulated(trial: Trial, folder: Path, models: Boards, people: int) -> Iterator[str]:
    """Play a trial in FOLDER/simulated, all days, and export it; what came of it, a line each."""
    place = folder / "simulated"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    make_secrets(place)
    clock = _Clock()
    entrance = trial.entrance.model_copy(update={"people": people})
    plan = trial.model_copy(update={"entrance": entrance})
    with opened(plan, folder, models, clock=clock, simulated=place) as running:
        cast: list[_Simulated] = []
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while not running.full and len(cast) < MOST_COME * people:
                come = range(len(cast), len(cast) + people)
                new = [_Simulated(running, running.invite().code, n, models[""]) for n in come]
                list(pool.map(_Simulated.spend_day, new))
                cast += new
            for day in range(trial.days + 1):
                clock.day = day
                list(pool.map(_Simulated.spend_day, cast))
                yield f"day {min(day + 1, trial.days)} of {trial.days}: {running.spent[0]} requests"
        yield from status_lines(running)
        yield from export_all(running, place / "export")


class _Simulated:
    """A drawn client in a participant's place."""

    def __init__(self, running: Running, code: str, number: int, models: Switchboard) -> None:
        self._running, self._code, self._models = running, code, models
        self._persona = person(number)
        self._chance = chance(running.trial.name, "simulated", number)
        self._mind: Episode | None = None

    @property
    def _who(self) -> Participant:
        return self._running.people[self._code]

    def spend_day(self) -> None:
        """Go on until there is nothing to do today."""
        while True:
            self._running.settle(self._who)
            state = state_of(self._running, self._who)
            step = getattr(self, f"_{state['stage']}", None)
            if step is None or not step(state["page"]):
                return

    def _do(self, what: str, **body: Any) -> bool:
        do(self._running, self._code, {"do": what, **body})
        return True

    def _language(self, page: Mapping[str, Any]) -> bool:
        return self._do("language", language="en")

    def _information(self, page: Mapping[str, Any]) -> bool:
        return self._do("information")

    def _consent(self, page: Mapping[str, Any]) -> bool:
        ticked = [id for id, _ in page["items"]]
        return self._do("consent", agree=True, ticked=ticked, version=page["version"])

    def _about_you(self, page: Mapping[str, Any]) -> bool:
        name = self._persona.name.split()[0]
        taken = {one.name for one in self._running.people.values()}
        free = name if name not in taken else f"{name}-{self._spelt(int(self._code[1:]))}"
        return self._do("about_you", name=free, zone="UTC", offset_min=0)

    @staticmethod
    def _spelt(number: int) -> str:
        """A number in letters."""
        return "".join("ABCDEFGHIJ"[int(digit)] for digit in str(number))

    def _questions(self, page: Mapping[str, Any]) -> bool:
        asked = self._running.questionnaires[page["id"]]
        answers = self._scale(asked, page["point"]) if asked.scale else self._survey(asked)
        return self._do("answers", id=page["id"], point=page["point"], answers=answers, seconds=60)

    def _scale(self, asked: Questionnaire, point: str) -> dict[str, Any]:
        """As the person's mind reports."""
        assert asked.scale is not None
        mind = self._mind or self._alone()
        measured = mind.measure(asked.scale, point, len(mind.past))
        return {item.id: item.value for item in measured.items}

    def _alone(self) -> Episode:
        """The mind of somebody who has met nobody."""
        trial, talking = self._running.trial, self._running.talking
        assert talking is not None
        name, world = next(iter(talking.worlds.items()))
        partner = partner_of(trial, trial.arm(name))
        placed = with_client(
            world, resident(world, trial.in_place_of), resident(world, partner), self._persona
        )
        client, counselor = placed.residents
        setting = Setting(
            world=placed,
            client=client,
            counselor=counselor,
            outside="counselor",
            seed=int(self._code[1:]),
            sessions=1,
            days_apart=1,
            max_turns=trial.talks.lines,
        )
        mind = Episode(setting, self._models)
        mind.begin()
        return mind

    def _survey(self, asked: Questionnaire) -> dict[str, Any]:
        return {item.id: self._answer(item) for item in asked.of("en").items}

    def _answer(self, item: SurveyItem) -> Any:
        if item.check is not None:
            return item.check
        if item.id == "age":
            return self._persona.age
        if item.kind == "choice":
            return self._chance.choice(item.choices)[0]
        if item.kind == "several":
            return [self._chance.choice(item.choices)[0]]
        if item.kind == "text":
            return "" if item.optional else "-"
        return self._chance.randint(int(item.low), int(item.high))

    def _chat(self, page: Mapping[str, Any]) -> bool:
        """One line more, as the person's own mind says it."""
        talk = self._who.talk
        assert talk is not None
        if talk.over:
            self._close()
            return self._do("next")
        if talk.ending or not talk.awaiting:
            time.sleep(WAIT_S)
            return True
        heard = [line.text for line in talk.lines if line.who == "other"]
        said = self._reply(heard[-1] if heard else None)
        if said is None:
            return self._do("end_talk")
        self._running.say(self._code, str(uuid4()), said)
        return True

    def _reply(self, heard: str | None) -> str | None:
        """What the mind says next; None where it has taken leave."""
        mind = self._begun()
        if mind.view is not None and heard is not None:
            mind.say(Line(text=heard))
        lines = (
            [(one.who, one.text) for one in mind.view.lines]
            if mind.view is not None
            else list(mind.past[-1].pairs)
        )
        talk = self._who.talk
        assert talk is not None
        mine = [text for who, text in lines if who == mind.setting.inside.name]
        new = mine[len(talk.own()) :]
        return new[0] if new else None

    def _begun(self) -> Episode:
        """The mind in today's talk: of the client, or in a practice arm of a counselor."""
        who = self._who
        assert who.arm is not None and who.talk is not None and self._running.talking is not None
        world, trial = self._running.talking.worlds[who.arm], self._running.trial
        if trial.arm(who.arm).practice:
            setting = practice_of(trial, world, who, who.talk.number)
            setting = replace(setting, outside="client", human=False)
            if self._mind is None or self._mind.setting != setting:
                self._mind = _opened(Episode(setting, self._models))
            return self._mind
        setting = replace(setting_of(trial, world, who, who.talk.number), outside="counselor")
        persona = self._persona.model_copy(update={"name": setting.client.name})
        client = setting.client.model_copy(update={"persona": persona})
        setting = replace(setting, client=client)
        if self._mind is None:
            self._mind = _opened(Episode(setting, self._models))
        elif self._mind.view is None and self._mind.session == who.talk.number:
            self._mind.setting = setting
            self._mind.open()
        return self._mind

    def _close(self) -> None:
        """The talk is over for the mind as well."""
        if self._mind is not None and self._mind.view is not None:
            self._mind.say(Line(text="", silent=True))


def _opened(mind: Episode) -> Episode:
    """In its first talk."""
    mind.begin()
    mind.open()
    return mind
