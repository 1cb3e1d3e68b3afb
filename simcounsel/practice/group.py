"""A folder in which people practice: who they are, what was said, feedback, reports, comments.

practice.jsonl holds all that happened, in chained lines that are on the disk before a page is told;
calls.jsonl what models were asked, so that a session goes on after any end of the process; runs/ a
run for each session that has ended; links.json who may come in.
"""

import json
import logging
import secrets
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from simcounsel.disk import write_text
from simcounsel.errors import SimcounselError, StudyError
from simcounsel.llm.switchboard import Switchboard
from simcounsel.locks import taken
from simcounsel.practice.clients import cast_of, difficulty, setting_of
from simcounsel.practice.exchange import Exchange, Feedback
from simcounsel.practice.session import MODES, NotTheSame, PracticeSession, Recording
from simcounsel.runs.call_chain import ChainedFile, damaged_calls
from simcounsel.runs.jsonl import json_lines
from simcounsel.specs.world import World
from simcounsel.therapies.specs.therapy import shipped_therapy

log = logging.getLogger(__name__)
LINE_CHARACTERS, NOTE_CHARACTERS = 2000, 1000
RETRY_S = 5.0
"""Before a model that did not answer is asked again."""
EXCHANGE, FEEDBACK = TypeAdapter(Exchange), TypeAdapter(Feedback)
LOG, CALLS, LINKS = "practice.jsonl", "calls.jsonl", "links.json"


class Refused(ValueError):
    """What was sent cannot be taken; the text is for whoever sent it."""


@dataclass(kw_only=True)
class Held:
    """A session as its folder knows it."""

    number: int
    """From 1, in the folder."""
    trainee: str
    client: str
    """As it was asked for: the client's name, or a case's."""
    at: str
    """When it began, in UTC."""
    seed: int
    feedback: Any
    """A `Mode`."""
    focus: str = ""
    therapy: str | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    taken_back: list[Exchange] = field(default_factory=list)
    over: bool = False
    todo: list[tuple[Any, ...]] = field(default_factory=list)
    """What is owed: ("say", text, leaves), ("feed", number), ("end",)."""
    ids: set[str] = field(default_factory=set)
    """Of the lines that came from the page, so that one that is sent again is not said again."""
    report: dict[str, Any] | None = None
    """`Report.data`; None before the session has ended."""
    run: str | None = None
    """The name of its run; None where it could not be written."""
    comments: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""
    """Why it cannot go on; '' where it can."""
    trouble: str = ""
    """Why there is no answer now; '' where nothing is wrong."""

    @property
    def busy(self) -> bool:
        """Whether no step can be taken now."""
        owed = {one[0] for one in self.todo}
        return bool(self.report or self.stopped or owed & {"say", "end"})

    def fold(self, line: Mapping[str, Any]) -> None:
        """Take in what happened."""
        match line["kind"]:
            case "said":
                self.ids.add(line["id"])
                self.todo.append(("say", line["text"], line["leaves"]))
            case "replied":
                self.todo.pop(0)
                self.exchanges.append(EXCHANGE.validate_python(line["exchange"]))
                self.over = line["over"]
                if self.feedback == "line":
                    self.todo.append(("feed", len(self.exchanges)))
            case "asked":
                self.todo.append(("feed", line["line"]))
            case "fed":
                self._feed(line["line"], FEEDBACK.validate_python(line["feedback"]))
            case "undone":
                self._owed_no_more("feed", len(self.exchanges))
                self.taken_back.append(self.exchanges.pop())
                self.over = False
            case "ending":
                if self.feedback == "end":
                    self.todo += [("feed", one.number) for one in self.exchanges]
                self.todo.append(("end",))
            case "ended":
                self.todo, self.over = [], True
                self.report, self.run = line["report"], line["run"]
            case "stopped":
                self.todo, self.over, self.stopped = [], True, line["why"]
            case "commented":
                self.comments.append(dict(line))

    def _feed(self, at: int, feedback: Feedback) -> None:
        self._owed_no_more("feed", at)
        if at <= len(self.exchanges):
            self.exchanges[at - 1] = replace(self.exchanges[at - 1], feedback=feedback)

    def _owed_no_more(self, *what: Any) -> None:
        self.todo = [one for one in self.todo if one != what]


def begin_folder(folder: Path, trainees: tuple[str, ...], settings: Mapping[str, Any]) -> None:
    """Make a folder to practice in, with a link of 128 bits for each trainee and the supervisor.
    StudyError where there is one already, or a name comes twice.
    """
    if (folder / LINKS).exists():
        raise StudyError(f"{folder}: people practice there already; choose another folder")
    if len({*trainees, "supervisor"}) != len(trainees) + 1:
        raise StudyError("--trainee: each needs a name of their own, other than `supervisor`")
    folder.mkdir(parents=True, exist_ok=True)
    names = ("supervisor", *trainees)
    links = {name: secrets.token_urlsafe(16) for name in names}
    write_text(folder / LINKS, json.dumps({"settings": dict(settings), "links": links}, indent=2))
    (folder / LINKS).chmod(0o600)


def read_folder(folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Its settings, and the secret of each link by name. StudyError where there is none."""
    try:
        found = json.loads((folder / LINKS).read_text(encoding="utf-8"))
        return found["settings"], found["links"]
    except (OSError, ValueError, KeyError, TypeError):
        raise StudyError(
            f"{folder}: nobody practices there; `simcounsel practice new {folder}` begins"
        ) from None


class Practice:
    """All sessions of a folder. models: None to look at it alone. StudyError where the log is not
    as it was written, or another process serves it.
    """

    def __init__(self, folder: Path, world: World, models: Switchboard | None = None) -> None:
        self.folder, self.world = folder, world
        self.settings, self.links = read_folder(folder)
        self.sessions: dict[int, Held] = {}
        self.assigned: list[dict[str, Any]] = []
        self._models, self._lock, self._closing = models, threading.RLock(), threading.Event()
        self._going: dict[int, PracticeSession] = {}
        self._busy: set[int] = set()
        wrong = next(damaged_calls(folder / LOG, chained=True), None)
        if wrong:
            raise StudyError(f"{folder / LOG}:{wrong[0]}: {wrong[1]}; restore it from a copy")
        busy = "is served by another process; stop that first"
        self._folder_lock = taken(folder / ".lock", busy, StudyError) if models else None
        self._file, calls = ChainedFile(folder / LOG), ChainedFile(folder / CALLS)
        for line in json_lines(folder / LOG):
            self._fold(line)
        self._pool = ThreadPoolExecutor(64, thread_name_prefix="practice")
        if models:
            recording = Recording(models, calls.append)
            for call in json_lines(folder / CALLS):
                recording.recall(call)
            models.recorder = recording
            for held in self.sessions.values():
                self._go_on(held)

    def close(self) -> None:
        """Let go of all; what is owed is done after the next start."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._models:
            self._models.close()
        if self._folder_lock:
            self._folder_lock.release()

    def begin(
        self, trainee: str, client: str, feedback: str, focus: str = "", therapy: str = ""
    ) -> Held:
        """A new session. SpecError for a client or a therapy that is not there."""
        cast_of(self.world, client)
        if therapy:
            shipped_therapy(therapy)
        if feedback not in MODES:
            raise Refused(f"feedback {feedback!r}; one of {', '.join(MODES)}")
        told = {"client": client, "feedback": feedback, "therapy": therapy or None}
        told |= {"focus": focus[:NOTE_CHARACTERS], "by": trainee}
        with self._lock:
            number = len(self.sessions) + 1
            self.happen("began", number, seed=secrets.randbelow(2**31), **told)
        return self.sessions[number]

    def step(self, held: Held, do: object, body: Mapping[str, Any]) -> None:
        """A step of a trainee in a session: say, undo, ask or end. A line that comes again with the
        same id is the same line.
        """
        with self._lock:
            said, line = len(held.exchanges), body.get("line")
            if do == "say" and str(body.get("id")) not in held.ids:
                text = str(body.get("text", "")).strip()
                if not 1 <= len(text) <= LINE_CHARACTERS:
                    raise Refused(f"{len(text)} characters; a line has 1 to {LINE_CHARACTERS}")
                self._can(not held.busy and not held.over)
                leaves = body.get("leaves") is True
                self.happen("said", held.number, id=str(body.get("id")), text=text, leaves=leaves)
            elif do in ("undo", "end"):
                self._can(not held.busy and said > 0)
                self.happen({"undo": "undone", "end": "ending"}[str(do)], held.number)
            elif do == "ask":
                self._can(
                    held.feedback == "request" and isinstance(line, int) and 1 <= line <= said
                )
                self.happen("asked", held.number, line=line)
            elif do != "say":
                raise Refused(f"no step {do!r}; say, undo, ask or end")

    @staticmethod
    def _can(may: bool) -> None:
        if not may:
            raise Refused("this cannot be done now; the page shows what can")

    def happen(self, kind: str, session: int | None = None, **data: Any) -> None:
        """Something happened: written down, then taken in, then what it asks for is done."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = {"kind": kind, "session": session, "at": now} | data
        with self._lock:
            self._file.append(line)
            self._fold(line)
        if session:
            self._go_on(self.sessions[session])

    def _fold(self, line: Mapping[str, Any]) -> None:
        """State is a fold over what happened."""
        kind, number = line["kind"], line["session"]
        if kind == "assigned":
            self.assigned.append(dict(line))
        elif kind == "began":
            keys = ("client", "at", "seed", "feedback", "focus", "therapy")
            own = {key: line[key] for key in keys}
            self.sessions[number] = Held(number=number, trainee=line["by"], **own)
        else:
            self.sessions[number].fold(line)
            if kind == "undone":
                self._going.pop(number, None)

    def _go_on(self, held: Held) -> None:
        """What is owed is done, in one thread for each session."""
        with self._lock:
            closed = self._closing.is_set() or not self._models
            if closed or not held.todo or held.number in self._busy:
                return
            self._busy.add(held.number)
        self._pool.submit(self._going_on, held)

    def _going_on(self, held: Held) -> None:
        try:
            while held.todo and not self._closing.is_set():
                try:
                    self._do(held, held.todo[0])
                    held.trouble = ""
                except NotTheSame as why:
                    self.happen("stopped", held.number, why=str(why))
                except Exception as error:
                    if self._closing.is_set():
                        return
                    self._going.pop(held.number, None)
                    held.trouble = str(error) or type(error).__name__
                    known = isinstance(error, SimcounselError)
                    log.warning("session %d: %s", held.number, held.trouble, exc_info=not known)
                    self._closing.wait(RETRY_S)
        finally:
            with self._lock:
                self._busy.discard(held.number)
        self._go_on(held)

    def _do(self, held: Held, owed: tuple[Any, ...]) -> None:
        session = self._session(held)
        if owed[0] == "say":
            found = session.answer(owed[1], leaves=owed[2])
            self.happen("replied", held.number, exchange=asdict(found), over=session.over)
        elif owed[0] == "feed":
            fed = session.feedback_on(owed[1]).feedback
            assert fed is not None
            self.happen("fed", held.number, line=owed[1], feedback=asdict(fed))
        else:
            report = asdict(session.end())
            try:
                run = session.export(self.folder / "runs").name
            except SimcounselError as why:
                log.warning("session %d has no run: %s", held.number, why)
                run = None
            self.happen("ended", held.number, report=report, run=run)

    def _session(self, held: Held) -> PracticeSession:
        assert self._models is not None
        if held.number not in self._going:
            setting = setting_of(self.world, held.client, held.seed)
            session = PracticeSession(
                setting,
                self._models,
                feedback=held.feedback,
                focus=held.focus,
                therapy=held.therapy,
            )
            session.take_up(held.exchanges, held.taken_back, over=held.over)
            self._going[held.number] = session
        return self._going[held.number]

    def record(self, trainee: str | None = None) -> Iterator[dict[str, Any]]:
        """The learning record: a row for each session that has ended."""
        for held in self.sessions.values():
            if held.report is None or trainee not in (None, held.trainee):
                continue
            before, after = held.report["openness"] or (None, None)
            persona: Any = cast_of(self.world, held.client).client.persona
            yield {
                "trainee": held.trainee,
                "session": held.number,
                "at": held.at,
                "client": held.client,
                "difficulty": difficulty(persona, self.world.language),
                "feedback": held.feedback,
                **held.report["counts"],
                "openness_before": before,
                "openness_after": after,
                **{key: _counted(held.report[key]) for key in ("used", "missed")},
                "by": held.report["by"],
                "run": held.run,
            }


def _counted(skills: Mapping[str, int]) -> str:
    return " ".join(f"{name}:{times}" for name, times in sorted(skills.items()))
