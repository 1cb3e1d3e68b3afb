"""Beginning a trial, opening its models, and serving it."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from string import Template

from simcounsel.disk import write_text
from simcounsel.engine.opening import check_models
from simcounsel.errors import StudyError
from simcounsel.llm.catalog import open_chats, open_embed
from simcounsel.llm.prices import Prices
from simcounsel.llm.switchboard import Switchboard
from simcounsel.locks import taken
from simcounsel.specs.world_settings import ModelRoles
from simcounsel.trial.casting import arm_world
from simcounsel.trial.plan import FILE, Trial
from simcounsel.trial.running import Running, moved, questionnaires_of
from simcounsel.trial.sealing import make_secrets, read_secrets, seal, write_links
from simcounsel.trial.store import Store
from simcounsel.trial.talking import Boards


def begin(folder: Path, people: int, *, open_link: bool, design: str = "structure_matters") -> str:
    """Write a trial to fill in, and make links and a password, which is returned. StudyError where
    there is one already. design: the name of a file in designs/.
    """
    if (folder / FILE).exists():
        raise StudyError(f"{folder / FILE}: is there already; choose another folder")
    text = (files("simcounsel.trial") / "designs" / f"{design}.yaml").read_text(encoding="utf-8")
    links = "open" if open_link else "personal"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / FILE, Template(text).safe_substitute(people=people, links=links))
    password = make_secrets(folder)
    store = Store(folder)
    try:
        for number in range(0 if open_link else people):
            _add(store, number + 1, None)
        write_links(store)
    finally:
        store.close()
    return password


def _add(store: Store, number: int, contact: str | None) -> None:
    from simcounsel.trial.running import invitation

    known = invitation(number, contact)
    store.add_person(known)
    store.write(known.code, "invited", panel=[])


def invite(trial: Trial, folder: Path, contacts: Sequence[str | None]) -> Path:
    """More people, and a file with everybody's link. StudyError while the trial is served."""
    with _locked(folder):
        store = Store(folder)
        try:
            last = max((int(one.code[1:]) for one in store.people()), default=0)
            for number, contact in enumerate(contacts, last + 1):
                _add(store, number, contact)
            return write_links(store)
        finally:
            store.close()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    lock = taken(folder / ".lock", "is served by another process; stop that first", StudyError)
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True, kw_only=True)
class Models:
    """The models of each arm by role, not opened yet; under '' those of the trial."""

    by_arm: dict[str, dict[str, str]]
    prices: Prices
    in_flight: int

    @property
    def names(self) -> dict[str, str]:
        """All of them, each once."""
        found = {name for roles in self.by_arm.values() for name in roles.values()}
        return {name: name for name in sorted(found)}

    def open(self) -> Boards:
        """Opened; arms with the same models share them."""
        made: dict[str, Switchboard] = {}
        boards = {}
        for arm, roles in self.by_arm.items():
            same = repr(sorted(roles.items()))
            if same not in made:
                made[same] = Switchboard(
                    open_chats(roles),
                    open_embed(roles["embed"]),
                    in_flight=self.in_flight,
                    prices=self.prices,
                )
            boards[arm] = made[same]
        return boards


def open_models(trial: Trial, folder: Path, prices: Prices, in_flight: int) -> Models:
    """What the trial and its arms' worlds name. ModelError says what is missing."""
    by_arm = {"": (trial.models or ModelRoles()).resolved()}
    for arm in (one for one in trial.arms if not one.waits):
        world = arm_world(trial, arm, folder)
        check_models(world)
        by_arm[arm.name] = world.model_names()
    return Models(by_arm=by_arm, prices=prices, in_flight=in_flight)


@contextmanager
def opened(
    trial: Trial,
    folder: Path,
    models: Boards,
    *,
    ahead: float = 0.0,
    amend: str | None = None,
    clock: Callable[[], datetime] | None = None,
    simulated: Path | None = None,
) -> Iterator[Running]:
    """A trial that goes on, sealed where it was not. ahead: days that its clock is ahead, in place
    of `clock`. simulated: where the data of simulated participants go; the log says so.
    """
    now = clock or (moved(ahead) if ahead else lambda: datetime.now(UTC))
    place = simulated or folder
    with _locked(place):
        store = Store(place, now)
        try:
            seal(trial, questionnaires_of(trial, folder), store, amend)
            if simulated:
                store.write("", "simulated")
            if ahead:
                store.write("", "clock_moved", days=ahead)
            running = Running(trial, folder, store, models, now=now)
        except BaseException:
            for board in set(models.values()):
                board.close()
            store.close()
            raise
        try:
            yield running
        finally:
            running.close()


@contextmanager
def looked_at(trial: Trial, folder: Path) -> Iterator[Running]:
    """A trial as it is, whether it is served or not: nobody talks."""
    running = Running(trial, folder, Store(folder))
    try:
        yield running
    finally:
        running.close()


@contextmanager
def serve_site(running: Running, address: str | None, port: int) -> Iterator[str]:
    """Serve on this machine for as long as the block lasts; yields how people reach it."""
    from simcounsel.trial.site import make_site
    from simcounsel.viewer.serve import serving

    kept = read_secrets(running.folder)
    base = (address or f"http://127.0.0.1:{port}").rstrip("/")
    code = kept["code"] if running.trial.entrance.links == "open" else None
    site = make_site(running, base=base, code=code, password=(kept["salt"], kept["password"]))
    with serving(site, host="127.0.0.1", port=port) as here:
        try:
            yield address or here
        finally:
            site.state.stop()


def serve_until_stopped(
    running: Running, address: str | None, port: int, say: Callable[[str], None]
) -> None:
    """Serve until Ctrl-C."""
    trial = running.trial
    with serve_site(running, address, port) as reached:
        say(f"participants   {reached}/take, by their links in {running.folder}/private")
        say(f"coordinator    {reached}/watch")
        say(f"watched        {trial.watched}")
        if running.moved_days:
            say(f"the clock is {running.moved_days:g} days ahead: this is no real trial")
        threading.Event().wait()
