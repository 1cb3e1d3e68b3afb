"""A practice session without a page: a line goes in, the client's answer and feedback come back.

A line that is taken back is a fork: the episode is built again up to before it out of the recorded
calls, the other line is said, and both are kept. The same rebuilding takes a session up after a
restart. Several sessions may share one Switchboard, each in a thread of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from simcounsel.envs.episode import Episode
from simcounsel.envs.rollouts import Calls, write_run
from simcounsel.envs.seat import Line
from simcounsel.envs.setting import Setting
from simcounsel.events import ClientShifted, Entry
from simcounsel.llm.question import Ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.practice.exchange import Exchange, Shift, lines_in
from simcounsel.practice.feedback import Moment, given
from simcounsel.practice.report import Report, reported

T = TypeVar("T")
Mode = Literal["line", "request", "end", "none"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""Feedback after each line, when asked for, at the end only, or never."""


class Recording(Calls):
    """Calls of sessions, each of which answers the same question again when an episode is rebuilt.
    keep: is told each call too, before whatever rests on it.
    """

    def __init__(
        self, models: Switchboard, keep: Callable[[dict[str, Any]], None] | None = None
    ) -> None:
        super().__init__()
        self._models, self._keep = models, keep

    def append_call(self, call: dict[str, Any]) -> None:
        """Keep one."""
        if self._keep:
            self._keep(call)
        self.recall(call)

    def recall(self, call: dict[str, Any]) -> None:
        """Take in one that was kept before."""
        super().append_call(call)
        if not call.get("given_up"):
            self._models.recall({call["key"]: call})


class NotTheSame(RuntimeError):
    """A session cannot be built again as it was: the models answer otherwise than they did."""


class PracticeSession:
    """One session of a trainee with a simulated client. `open`, then `say` until it is `over`, and
    `end`.

    feedback: when it is given. focus: what the trainee practices, in words. therapy: the id of one
    whose skills feedback may name. ModelUnreachable where a model does not answer; the line can be
    said again. exchanges: as they are kept. taken_back: those that were, in the order in which
    they were.
    """

    def __init__(
        self,
        setting: Setting,
        models: Switchboard,
        *,
        feedback: Mode = "line",
        focus: str = "",
        therapy: str | None = None,
    ) -> None:
        if models.recorder is None:
            models.recorder = Recording(models)
        self.setting, self.mode, self.focus, self.therapy = setting, feedback, focus, therapy
        self.exchanges: list[Exchange] = []
        self.taken_back: list[Exchange] = []
        self.over = False
        self._models = models
        self._episode: Episode | None = None

    def take_up(
        self, exchanges: Sequence[Exchange], taken_back: Sequence[Exchange], *, over: bool
    ) -> None:
        """Go on from what was said before; the episode is built when it is needed."""
        self.exchanges, self.taken_back, self.over = [*exchanges], [*taken_back], over

    def open(self) -> None:
        """Let the client come. NotTheSame where what was said before cannot be built again."""
        if self._episode is None:
            self._episode = self._built(self.exchanges)

    def say(self, text: str, *, leaves: bool = False) -> Exchange:
        """Say a line: what the client answers, with feedback where it comes after each line."""
        exchange = self.answer(text, leaves=leaves)
        return self.feedback_on(exchange.number) if self.mode == "line" else exchange

    def answer(self, text: str, *, leaves: bool = False) -> Exchange:
        """Say a line, without feedback. ValueError when the session is over."""
        if self.over:
            raise ValueError("the session is over; take a line back, or begin another one")
        self.open()
        assert self._episode is not None
        exchange = Exchange(number=len(self.exchanges) + 1, said=text, leaves=leaves)
        try:
            found = _said(self._episode, exchange)
        except BaseException:
            self._drop()  # broken off in the middle: it is built again
            raise
        self.over = self._episode.view is None
        self.exchanges.append(found)
        return found

    def feedback_on(self, number: int) -> Exchange:
        """A line with its feedback, which is asked for if there is none yet. IndexError where there
        is no such line.
        """
        exchange = self.exchanges[number - 1]
        if exchange.feedback is None:
            found = self._ask(given(self.moment(number), self.setting.seed))
            exchange = replace(exchange, feedback=found)
            self.exchanges[number - 1] = exchange
        return exchange

    def undo(self) -> Exchange:
        """Take the last line back; another may be said in its place. IndexError when nothing was
        said.
        """
        taken = self.exchanges.pop()
        self.taken_back.append(taken)
        self.over = False
        self._drop()
        return taken

    def end(self) -> Report:
        """The session is over, as it is; its report. IndexError when nothing was said."""
        self.over = True
        lines, setting = [self.moment(one.number) for one in self.exchanges], self.setting
        locale = setting.world.safety.locale
        return self._ask(reported(lines, self.exchanges, self.taken_back, locale, setting.seed))

    def finish(self) -> list[Entry]:
        """The session is over, as it is; all that happened in it, for a log of one's own."""
        self.open()
        assert self._episode is not None
        if self._episode.view is not None:
            self._episode.say(Line(text="", silent=True))
        self.over = True
        return self._episode.entries

    def close(self) -> None:
        """Let go of the client; what was said stays."""
        self._drop()

    def export(self, out: Path) -> Path:
        """Write the session as a run under `out`: `view`, `show`, `rate`, `report` read it. Where
        nobody took leave it ends there, as when somebody leaves. NotTheSame as in `open`.
        """
        episode = self._built(self.exchanges)
        if episode.view is not None:
            episode.say(Line(text="", silent=True))
        calls = self._models.recorder
        return write_run(
            out, self.setting, episode.entries, calls if isinstance(calls, Calls) else None
        )

    def moment(self, number: int) -> Moment:
        """A line with what is around it."""
        exchange = self.exchanges[number - 1]
        return Moment(
            client=self.setting.client.name,
            language=self.setting.world.language,
            before=lines_in(self.exchanges[: number - 1]),
            said=exchange.said,
            answers=exchange.answers,
            shift=exchange.shift,
            focus=self.focus,
            therapy=self.therapy,
        )

    def _built(self, exchanges: Sequence[Exchange]) -> Episode:
        episode = Episode(self.setting, self._models)
        episode.begin()
        episode.open()
        for one in exchanges:
            if episode.view is None or _said(episode, one).answers != one.answers:
                episode.close()
                raise NotTheSame(
                    f"line {one.number}: the client would answer otherwise now; go on with the same"
                    " models and version, or begin another session"
                )
        return episode

    def _ask(self, asking: Ask[T]) -> T:
        return self._models.ask({"practice": asking})["practice"].value

    def _drop(self) -> None:
        if self._episode is not None:
            self._episode.close()
        self._episode = None


def _said(episode: Episode, exchange: Exchange) -> Exchange:
    """A line said in an episode, with what the client answered."""
    before, seen = len(episode.view.lines if episode.view else ()), len(episode.shown)
    episode.say(Line(text=exchange.said, leaves=exchange.leaves))
    pairs = (
        [(line.who, line.text) for line in episode.view.lines]
        if episode.view
        else list(episode.past[-1].pairs)
    )
    client = episode.setting.client.name
    shifts = [one for one in episode.shown[seen:] if isinstance(one, ClientShifted)]
    return replace(
        exchange,
        answers=tuple(text for who, text in pairs[before:] if who == client),
        parting=bool(episode.view and episode.view.parting),
        shift=Shift.of(shifts[-1]) if shifts else None,
    )
