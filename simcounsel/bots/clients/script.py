"""What a safety client says next, out of her file and of what she has said so far."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from simcounsel.bench.protocol.asked import asked_in
from simcounsel.bench.protocol.client import script_words
from simcounsel.bots.clients.client import NAMED_BY, SafetyClient, Stage
from simcounsel.bots.scan.scanners import subjects_in
from simcounsel.events import Data
from simcounsel.specs.vocabulary import RISK_LEVELS, RiskLevel

OWN_LINES = 9
"""Lines of hers in a talk, after which she takes leave; a world's `max_turns` may end it before."""
AGAIN, DRIFTS = 3, 2
"""So many unasked lines she has in a talk, if need be from earlier ones; so many fillers before she
takes leave."""
EASED = "eased"


class Told(Data):
    """What a safety client gave away in a line."""

    kind: Literal["bot.client_told"] = "bot.client_told"
    who: str
    chat: str
    stage: int
    """Of her file, from 0; -1 where things have eased."""
    key: str | None
    """Which line of it; None: none, such as a filler or a goodbye."""
    topic: str | None = None
    """What she was asked that she answers."""
    shows: RiskLevel = "none"
    presses: bool = False
    """Whether she wants to be agreed with."""
    leaves: bool = False


class Judged(Data):
    """What a judge says that each of the bot's answers in a talk does, in order."""

    kind: Literal["bot.judged"] = "bot.judged"
    who: str
    chat: str
    marks: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class ScriptLine:
    """A line with what it gives away."""

    text: str
    told: Told


@dataclass(frozen=True, kw_only=True)
class Script:
    """Her side of one talk."""

    client: SafetyClient
    stage: int
    """-1: things have eased."""
    who: str
    chat: str
    before: Sequence[Told]
    """All that she told in earlier talks, oldest first."""
    here: Sequence[Told]
    """All that she told in this one."""
    open: bool = False
    """Whether she gives the most telling line of her file away unasked."""

    def next(self, heard: str | None) -> ScriptLine:
        """What she says to the other's line; None: she begins."""
        if not self.here:
            return self._opening()
        if self.here[-1].leaves or len(self.here) >= OWN_LINES:
            return self._line(self._words["ends"], None, leaves=True)
        topics = asked_in(heard or "", self.client.language).topics
        asked = (*topics, *subjects_in(heard or "", self.client.language))
        wanted = [one for one in asked if one not in ("more", "stay")]
        answered = Counter(told.topic for told in self.here if told.topic)
        first = _first([one for one in wanted if one != "help"] or wanted, answered)
        once = first in ("help", "limits")
        if first is None or (
            once and answered[first] >= max(1, len(self._file.asked.get(first, ())))
        ):
            return self._unasked()
        return self._answer(first, answered[first])

    @property
    def _file(self) -> Stage:
        return self.client.stages[max(0, self.stage)]

    @property
    def _words(self) -> Any:
        return script_words(self.client.language)

    def _opening(self) -> ScriptLine:
        if self.stage < 0:
            some, prefix = self.client.eased, EASED
        else:
            some, prefix = self._file.opens, "opens"
        begun = len({t.chat for t in self.before if t.stage == self.stage})
        at = min(begun + 1, len(some))
        return self._line(some[at - 1], f"{prefix}.{at}")

    def _unasked(self) -> ScriptLine:
        """What she has not said yet; then once more what she said in earlier talks."""
        if self.open and self.stage >= 0 and len(self.here) == 1:
            return replace(self, stage=len(self.client.stages) - 1)._plainly()
        if self.stage >= 0:
            keys = [f"says.{at}" for at, _ in enumerate(self._file.says, 1)]
            here = {told.key for told in self.here}
            ever = Counter(told.key for told in self.before if told.stage == self.stage)
            fresh = [key for key in keys if key not in here and not ever[key]]
            again = sorted((key for key in keys if key not in here), key=lambda key: ever[key])
            if fresh or len(here & set(keys)) < AGAIN:
                key = (fresh or again or [""])[0]
                if key:
                    return self._line(self._file.lines[key], key)
        drifts = [told for told in self.here if told.key is None]
        if len(drifts) >= DRIFTS:
            return self._line(self._words["ends"], None, leaves=True)
        drift = self._words["drift"]
        return self._line(drift[(len(self.before) + len(drifts)) % len(drift)], None)

    def _plainly(self) -> ScriptLine:
        """The line that gives most away: what she answers to the nearest question."""
        shown = self._file.shows
        asked = [key for key in named_by(self.client) if key in shown] or list(shown)
        key = max(asked, key=lambda key: RISK_LEVELS.index(shown[key]), default="says.1")
        return self._line(self._file.lines[key], key)

    def _answer(self, topic: str, times: int) -> ScriptLine:
        some = self._file.asked.get(topic, ()) if self.stage >= 0 else ()
        if not some:
            filler = self._words["topics"].get(topic)
            return self._line(filler, None, topic) if filler else self._unasked()
        at = min(times + 1, len(some))
        return self._line(some[at - 1], topic if at == 1 else f"{topic}.{at}", topic)

    def _line(
        self, text: str, key: str | None, topic: str | None = None, *, leaves: bool = False
    ) -> ScriptLine:
        shown: RiskLevel = "none"
        if key and self.stage >= 0:
            shown = self._file.shows.get(key, "none")
        told = Told(
            who=self.who,
            chat=self.chat,
            stage=self.stage,
            key=key,
            topic=topic,
            shows=shown,
            presses=self.stage >= 0 and key in self._file.presses,
            leaves=leaves,
        )
        return ScriptLine(text=text, told=told)


def _first(topics: Sequence[str], answered: Mapping[str, int]) -> str | None:
    """Of what was asked, what was not answered before in this talk, else the first."""
    return next((one for one in topics if not answered.get(one)), next(iter(topics), None))


def named_by(client: SafetyClient) -> tuple[str, ...]:
    """The topics by which a bot asks for what is there."""
    return tuple(dict.fromkeys(NAMED_BY[risk] for risk in client.risks))
