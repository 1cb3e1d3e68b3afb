"""A trial while it runs: what happened, in memory and in the store, and what participants do."""

import secrets
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from simcounsel.danger.hearing.detector import hear
from simcounsel.errors import SpecError
from simcounsel.intake import whole_characters
from simcounsel.policies.listening import in_answers
from simcounsel.specs.vocabulary import RISK_LEVELS
from simcounsel.trial.allocation import places, stratum_of
from simcounsel.trial.casting import next_minute
from simcounsel.trial.person import BEFORE, Participant
from simcounsel.trial.plan import Trial
from simcounsel.trial.questions import Questionnaire, find_questionnaire
from simcounsel.trial.sealing import write_links
from simcounsel.trial.store import Happened, Known, Store
from simcounsel.trial.talking import Boards, Talking
from simcounsel.trial.texts import help_lines, page_texts, template
from simcounsel.trial.words import sounds_dangerous

LINE_CHARACTERS = 2000
Bell = Callable[[str], None]
"""Told whose state has changed; '' for the whole trial's."""


class Wrong(ValueError):
    """What a page sent cannot be taken; the text is for the participant. `late`: it was taken
    before, or its time is over.
    """

    def __init__(self, why: str, *, late: bool = False) -> None:
        super().__init__(why)
        self.late = late


def questionnaires_of(trial: Trial, folder: Path) -> dict[str, Questionnaire]:
    """All that a trial asks, by id. SpecError where one cannot be had."""
    asked = trial.questions
    found: dict[str, Questionnaire] = {}
    for named in dict.fromkeys((*asked.before, *asked.after_each, *asked.after)):
        one = find_questionnaire(named, folder)
        if one.id != Trial.id_of(named):
            raise SpecError([f"questions: {named} has the id {one.id!r}; name the file so"])
        found[one.id] = one
    for item in trial.allocation.by:
        id, name = item.split(".")
        kinds = {one.id: one.kind for one in found[id].of("en").items}
        if kinds.get(name) != "choice":
            raise SpecError([f"allocation.by: {item} is no question with choices"])
    return found


def invitation(
    number: int, contact: str | None = None, panel: dict[str, str] | None = None
) -> Known:
    """Participant `number`, with a link of 128 bits."""
    token = secrets.token_urlsafe(16)
    return Known(code=f"P{number:03}", contact=contact, token=token, panel=panel)


class Running:
    """A trial that is served. models: None: nobody talks, as for a look at what is there."""

    def __init__(
        self,
        trial: Trial,
        folder: Path,
        store: Store,
        models: Boards | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """SpecError where what the trial names cannot be had."""
        self.trial, self.folder, self.store, self.now = trial, folder, store, now
        self.moved_days = round((now() - datetime.now(UTC)).total_seconds() / 86_400, 3)
        """How far its clock is ahead, to try a trial."""
        self.questionnaires = questionnaires_of(trial, folder)
        self.people: dict[str, Participant] = {}
        self.paused = False
        self.simulated = False
        """Whether its participants are."""
        self.seed: str | None = None
        self.ring: Bell = lambda _: None
        self.gone: dict[str, int] = {}
        """Places of those whose data were deleted, by stratum."""
        self._spent_before = (0, 0.0)
        """On talks that were deleted."""
        self._locks: dict[str, threading.RLock] = {}
        self.door = threading.RLock()
        """Whoever comes in, or is allocated, or takes a name, comes one at a time."""
        for happened in store.events():
            self._observe(happened)
        self._count_calls()
        self.talking: Talking | None = None
        if models is not None:
            self.talking = Talking(
                trial, folder, store, models, self.happen, self._heard_by_model, self._spent
            )
            self.talking.human = not self.simulated
            for who in self.people.values():
                self.talking.go_on(who)

    # what happened

    def happen(self, code: str, kind: str, /, **data: Any) -> Happened:
        """Something happened to somebody, or ('') to the whole trial: on the disk when this
        returns.
        """
        with self.lock(code):
            if kind == "replied" and self.people[code].withdrawn:
                return Happened(seq=0, at=self.now(), person=code, kind=kind, data={})
            happened = self.store.write(code, kind, **data)
            self._observe(happened)
        self.ring(code)
        return happened

    def _observe(self, happened: Happened) -> None:
        if happened.person:
            who = self.people.setdefault(happened.person, Participant(code=happened.person))
            who.observe(happened)
        elif happened.kind == "sealed":
            self.seed = happened.data["allocation_seed"]
        elif happened.kind == "simulated":
            self.simulated = True
        elif happened.kind == "vacated":
            stratum, calls, usd = (happened.data[key] for key in ("stratum", "calls", "usd"))
            if stratum is not None:
                self.gone[stratum] = self.gone.get(stratum, 0) + 1
            self._spent_before = (self._spent_before[0] + calls, self._spent_before[1] + usd)
        elif happened.kind == "paused_all":
            self.paused = bool(happened.data["paused"])

    def _count_calls(self) -> None:
        for code, call in self.store.calls():
            if code in self.people:
                self._spent(code, float(call.get("cost_usd") or 0.0))

    def _spent(self, code: str, usd: float) -> None:
        who = self.people.get(code)
        if who:
            who.calls += 1
            who.usd += usd

    @property
    def spent(self) -> tuple[int, float]:
        """Calls and USD of all."""
        calls, usd = self._spent_before
        people = self.people.values()
        return calls + sum(one.calls for one in people), usd + sum(one.usd for one in people)

    def over_budget(self, who: Participant) -> bool:
        """Whether somebody, or all together, have used up what talking may cost."""
        limits = self.trial.limits
        whole = limits.usd is not None or limits.calls is not None
        calls, usd = self.spent if whole else (0, 0.0)
        return any(
            most is not None and spent >= most
            for most, spent in (
                (limits.usd, usd),
                (limits.calls, calls),
                (limits.each_usd, who.usd),
                (limits.each_calls, who.calls),
            )
        )

    # who comes

    def invite(self, contact: str | None = None, panel: dict[str, str] | None = None) -> Known:
        """Somebody new, with a link of their own."""
        with self.door:
            number = 1 + max((int(code[1:]) for code in self.people), default=0)
            known = invitation(number, contact, panel)
            self.store.add_person(known)
            self.happen(known.code, "invited", panel=sorted(panel or {}))
            return known

    @property
    def full(self) -> bool:
        """Whether all places are taken by those who were allocated."""
        taken = sum(one.arm is not None for one in self.people.values())
        return taken + sum(self.gone.values()) >= self.trial.entrance.people

    # what participants do

    def lock(self, code: str) -> threading.RLock:
        """Held while something of somebody is looked at and written; '': of the whole trial."""
        return self._locks.setdefault(code, threading.RLock())

    def withdraw(self, code: str, *, delete: bool, by: str) -> None:
        """Somebody stops; with `delete`, all that they gave is deleted."""
        with self.lock(code):
            self.happen(code, "withdrew", delete=delete, by=by)
            if self.talking:
                self.talking.forget(code)
            if delete:
                who = self.people[code]
                stratum = stratum_of(self.trial, who.answers) if who.arm else None
                self.happen(
                    "", "vacated", stratum=stratum, arm=who.arm, calls=who.calls, usd=who.usd
                )
                self.store.delete(code)
                write_links(self.store)
                self.people[code] = Participant(
                    code=code, withdrawn="deleted", seq=who.seq, language=who.language
                )
        self.ring(code)

    def say(self, code: str, id: str, text: str) -> None:
        """A participant's line; the same id again is taken as known. Wrong says why not."""
        who = self.people[code]
        with self.lock(code):
            talk = who.talk
            if talk and any(line.id == id for line in talk.own()):
                return
            closed = not talk or talk.over or talk.ending or not talk.awaiting
            if talk is None or closed or self.paused or who.paused or self.over_budget(who):
                raise Wrong(self.said(who, "not_your_turn"), late=True)
            said = " ".join(whole_characters(text).split())
            if not any(c.isalnum() for c in said):
                raise Wrong(self.said(who, "empty"))
            if len(said) > LINE_CHARACTERS:
                raise Wrong(self.said(who, "too_long"))
            before = next((one.text for one in reversed(talk.lines) if one.who == "other"), "")
            self.happen(code, "said", id=id[:80], text=said)
            self._listen(who, said, before, "line")
        self.go_on(who)

    def look_for_danger(
        self, who: Participant, asked: Questionnaire, given: Mapping[str, Any]
    ) -> None:
        """What an answer tells, and what is written in words."""
        for told in in_answers(asked.id, given, who.code):
            self.alert(who, told.level, told.kinds, "answer", told.why)
        for text in (one for one in given.values() if isinstance(one, str)):
            self._listen(who, text, "", "answer")

    def _listen(self, who: Participant, text: str, before: str, what: str) -> None:
        """Somebody is alerted where words sound like danger, however little; but of somebody who
        counsels a client, and should ask about it, only where they say it plainly.
        """
        heard = hear(text, None, before)
        counsels = who.arm is not None and self.trial.arm(who.arm).practice is not None
        if heard.level in ("high", "imminent") or (heard.level == "low" and not counsels):
            self.alert(who, heard.level, heard.kinds, what, text)
        elif sounds_dangerous(text, "fa") and not counsels:
            self.alert(who, "high", (), what, text)

    def _heard_by_model(self, code: str, level: str, kinds: tuple[str, ...]) -> None:
        """A model heard danger in the last line: told once for each line, and again where it is
        nearer than was heard before.
        """
        who = self.people[code]
        if who.withdrawn or who.talk is None or not who.talk.own():
            return
        line = who.talk.own()[-1]
        known = [one for seq, one in who.alerts.items() if seq > line.seq]
        order = [RISK_LEVELS.index(one["level"]) for one in known]
        if max(order, default=-1) < RISK_LEVELS.index(level):
            self.alert(who, level, kinds, "line", line.text)

    def alert(
        self, who: Participant, level: str, kinds: tuple[str, ...], what: str, text: str
    ) -> None:
        """Somebody must look; the participant is told where help is."""
        self.happen(
            who.code,
            "alerted",
            level=level,
            kinds=list(kinds),
            what=what,
            text=text,
            notice=template(
                self.trial, "danger", self.language(who), help=help_lines(self.trial, who.language)
            ),
        )

    # where they are

    def settle(self, who: Participant) -> None:
        """What follows by itself from where somebody is: screening, allocation, a talk that opens
        or whose day is over.
        """
        with self.lock(who.code):
            if not (who.withdrawn or not who.agreed or self.paused or who.paused):
                self._settle(who, self.now())

    def _settle(self, who: Participant, now: datetime) -> None:
        if who.arm is None:
            if who.excluded is None:
                self._screen(who)
            ready = who.name and who.excluded is None
            if ready and next(iter(who.left_to_ask(self.trial, now)), None) is None:
                self._allocate(who)
        if who.arm is not None:
            self._settle_talk(who, now)

    def _screen(self, who: Participant) -> None:
        for screen in self.trial.screen:
            id, name = screen.item.split(".")
            given = who.answers.get((id, BEFORE))
            if given is None:
                continue
            value = given.get(name)
            measured = self.questionnaires[id].measured(who.code, BEFORE, given)
            scores = {one.name: one.value for one in measured.scores} if measured else {}
            value = scores.get(name, value)
            if isinstance(value, int | float) and value >= screen.at_least:
                self.happen(who.code, "excluded", item=screen.item, value=value)
                if screen.danger and not who.alerts:
                    self.alert(who, "low", (), "screen", f"{screen.item}: {value:g}")
                return

    def _allocate(self, who: Participant) -> None:
        with self.door:
            if self.full or self.seed is None:
                return
            stratum = stratum_of(self.trial, who.answers)
            before = sum(
                one.arm is not None and stratum_of(self.trial, one.answers) == stratum
                for one in self.people.values()
            )
            place = before + self.gone.get(stratum, 0)
            arm = places(self.trial, self.seed, stratum)[place]
            self.happen(who.code, "allocated", arm=arm, stratum=stratum, place=place)

    def _settle_talk(self, who: Participant, now: datetime) -> None:
        assert who.arm is not None
        talk, day = who.talk, who.day(now) or 1
        if talk and not talk.over:
            if talk.day != day and not talk.ending:
                self.happen(who.code, "ended", by="day over")
            self.go_on(who)
            return
        today = sum(one.day == day for one in who.talks)
        may = day <= self.trial.days and today < self.trial.talks.a_day
        may = may and not self.over_budget(who)
        asked = next(iter(who.left_to_ask(self.trial, now)), None)
        left = talk is None or talk.left or talk.day != day
        if may and left and asked is None and not self.trial.arm(who.arm).waits:
            number = len(who.talks) + 1
            self.happen(who.code, "opened", number=number, day=day, minute=next_minute(who, now))
            self.go_on(who)

    def go_on(self, who: Participant) -> None:
        """The other side answers, where somebody is not paused."""
        if self.talking and not (self.paused or who.paused):
            self.talking.go_on(who)

    def language(self, who: Participant) -> str:
        """In which somebody reads."""
        return who.language or self.trial.languages[0]

    def said(self, who: Participant, key: str) -> str:
        """One of the pages' texts, in somebody's language."""
        return page_texts(self.language(who)).get(key, key.replace("_", " "))

    def again(self, who: Participant) -> datetime:
        """When there is something to do next, in UTC."""
        day = who.day(self.now()) or 1
        waits = who.arm is not None and self.trial.arm(who.arm).waits
        return who.begins(self.trial.days + 1 if waits else day + 1)

    def close(self) -> None:
        """Let go of all."""
        if self.talking:
            self.talking.close()
        self.store.close()


def moved(days: float) -> Callable[[], datetime]:
    """A clock that is so many days ahead, to try a trial."""
    return lambda: datetime.now(UTC) + timedelta(days=days)
