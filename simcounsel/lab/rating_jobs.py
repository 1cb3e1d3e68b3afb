"""One run measured in a process of its own, as often as is wanted and it was not yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simcounsel.errors import BudgetSpent, GivenUp, NothingToMeasure, RunError, SimcounselError
from simcounsel.instruments.kind import Counted
from simcounsel.instruments.scale import find_instrument
from simcounsel.lab.crew import Report, Tell
from simcounsel.lab.shared_budget import InFile, Shared
from simcounsel.llm.ledger import FILE, Ledger
from simcounsel.llm.prices import Prices
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.models import default_judge, own_models, source_of
from simcounsel.measuring.rate import Rating
from simcounsel.runs.measurements import FOLDER
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import open_checked
from simcounsel.specs.world_settings import FallbackLimits


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is measured in each run, and how (see `Rating.plan`)."""

    instrument: str
    """A scale's name, `talk_measures`, or a scale's YAML file."""
    model: str | None = None
    """The judge, in place of each run's own."""
    samples: int = 1
    """Answers to average where no probabilities are told."""
    who: str | None = None
    """Only this client."""
    at: int | None = None
    """As of the end of this tick; None: of the last complete one."""
    every_talk: bool = False
    """A self-report as of the end of each conversation."""
    rounds: int = 1
    """So many finished ratings each run shall have; from the second on each is a retest."""
    fallbacks: FallbackLimits | None = None
    """How many answers may be unusable; None: as each run's world says."""
    damaged: bool = False
    """Go on with what can be read of damaged runs."""

    def plan(self, folder: Path, chat: str | None = None) -> Rating:
        """The rating of one run. chat: of one conversation alone. SpecError, RunError name what is
        not there.
        """
        return Rating.plan(
            open_checked(folder, damaged=self.damaged),
            self.instrument,
            model=self.model,
            samples=self.samples,
            who=self.who,
            chat=chat,
            at=self.at,
            every_talk=self.every_talk,
            fallbacks=self.fallbacks,
        )

    def models(self, folders: Sequence[Path]) -> dict[str, str]:
        """By the name of a role, each once, the models that answer, and as `embed` that of the
        vectors that self-reports need; {} where nobody is asked. Runs that cannot be opened are
        left out: they say so when they are measured.
        """
        scale = find_instrument(self.instrument)
        if isinstance(scale, Counted):
            return {}
        judges: dict[str, None] = {self.model: None} if self.model else {}
        vectors: dict[str, None] = {}
        for folder in folders:
            try:
                run = Run.open(folder, damaged=True)
                if self.model is None:
                    judges[default_judge(run, scale)] = None
                if scale.respondent == "self":
                    everybody = (one.name for one in run.world.residents)
                    judges |= (
                        {} if self.model else dict.fromkeys(own_models(run, everybody).values())
                    )
                    vectors[source_of(run).manifest.models["embed"]] = None
            except SimcounselError:
                continue
        roles = {f"judge {number}": name for number, name in enumerate(judges)}
        # where they differ, that of which weights may have to be fetched
        if vectors:
            roles["embed"] = min(vectors, key=lambda name: name != "embedded")
        return roles


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run to be measured, for the process that does it."""

    folder: Path
    """The run's."""
    wanted: Wanted
    """What is measured in it."""
    in_flight: int
    """Requests at once."""
    prices_file: Path | None
    """Prices of one's own."""
    budget: Shared | None
    """That of all runs; None: without one."""


def measure_run(job: Job, tell: Tell) -> Report:
    """Measure one run, in this process, as often as is wanted and it was not yet; how it ended, and
    why. tell: is told how far it is.
    """
    try:
        _measure(job, tell)
        return {"end": "done", "cause": None}
    except KeyboardInterrupt:
        return {"end": "stopped", "cause": None}
    except NothingToMeasure as error:
        return {"end": "nothing", "cause": str(error)}
    except GivenUp as error:
        used_up = str(error) if isinstance(error, BudgetSpent) else None
        return {"end": "given up", "cause": str(error), "used_up": used_up}
    except SimcounselError as error:
        return {"end": "failed", "cause": str(error)}
    except Exception as error:
        return {"end": "failed", "cause": f"{type(error).__name__}: {error}"}


def _measure(job: Job, tell: Tell) -> None:
    _refuse_other_budget(job)
    telling = _Telling(tell)
    while True:
        rating = job.wanted.plan(job.folder)
        with rating.held():
            if len(rating.finished) >= job.wanted.rounds:
                telling.of(rating, None, len(rating.targets))
                return
            _rate(rating, job, telling)


def _rate(rating: Rating, job: Job, telling: "_Telling") -> None:
    """Make one rating, or what is left of it."""
    models = rating.open_models(job.in_flight, Prices.load(job.prices_file))
    try:
        if models is not None and job.budget is not None:
            models.limit(job.budget.opened(str(job.folder)), None)
        telling.of(rating, models, len(rating.targets) - len(rating.left()))
        rating.measure(models, telling.one_more)
    finally:
        telling.over()
        if models is not None:
            models.close()


class _Telling:
    """Tells how far a run is, over all its ratings."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._models: Switchboard | None = None
        self._measured = self._targets = self._calls = 0
        self._usd: float | None = 0.0

    def of(self, rating: Rating, models: Switchboard | None, measured: int) -> None:
        """A rating goes on, of which so many measurements are complete."""
        self._models, self._measured, self._targets = models, measured, len(rating.targets)
        self._say()

    def one_more(self, _: object) -> None:
        """One more measurement is complete."""
        self._measured += 1
        self._say()

    def over(self) -> None:
        """It has ended; what it took counts on."""
        self._calls, self._usd = self._spent()
        self._models = None

    def _spent(self) -> tuple[int, float | None]:
        if self._models is None:
            return self._calls, self._usd
        usage = self._models.usage
        known = self._usd is not None and usage.cost_usd is not None
        return self._calls + usage.requests, self._usd + usage.cost_usd if known else None  # type: ignore[operator]

    def _say(self) -> None:
        calls, usd = self._spent()
        self._tell(
            {"measured": self._measured, "targets": self._targets, "calls": calls, "cost_usd": usd}
        )


def _refuse_other_budget(job: Job) -> None:
    """RunError when the run's ratings have a budget of their own, which would not be kept here."""
    file = job.folder / FOLDER / FILE
    if not file.is_file() or (isinstance(job.budget, InFile) and job.budget.file == file):
        return
    ledger = Ledger(file)
    limits = ledger.limits()
    ledger.end()
    if limits:
        said = " and ".join(f"{most:g} {what}" for what, most in sorted(limits.items()))
        raise RunError(
            f"{job.folder}: its ratings have a budget of their own ({said}); lift it with"
            f" `simcounsel rate {job.folder} --budget-usd none --budget-calls none`, or measure it"
            " by itself"
        )
