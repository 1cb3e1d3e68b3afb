"""A synthesis counted from its log."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.measures import units
from simcounsel.corpus.synthesis.reading import dialogues_of
from simcounsel.corpus.synthesis.strategies import Strategies
from simcounsel.events import (
    Disclosed,
    Drafted,
    Entry,
    Extracted,
    ParameterLeftOut,
    Revised,
    SessionEnded,
    StrategyKnown,
    Warned,
)
from simcounsel.runs.run import Run
from simcounsel.runs.spending import Spending


@dataclass(frozen=True, kw_only=True)
class Account:
    """Counts over a synthesis (Xue et al. 2026, Tables II and V)."""

    sessions: int
    wanted: int
    """How many sessions the settings ask for."""
    utterances: float | None
    """Lines of both sides in a session, mean; None without sessions."""
    length: float | None
    """Words in a line (characters of Chinese), mean; None without lines."""
    revises: bool
    """Whether there is a corrector."""
    drafts: int
    """The supporter's lines."""
    revised: int
    """How many of them were revised."""
    seconds_per_session: float | None
    """The time that a session's own questions took, one after the other, mean; None without calls.
    Calls that a fork copied but may not have needed are left out.
    """
    strategies: int
    """Those that are carried or kept."""
    found_again: int
    """How often the manager found one again."""
    causes: dict[str, int]
    """Sessions by what ended them."""
    sources: dict[str, int]
    """Lines by how they came about."""
    themes: dict[str, int]
    """Sessions by theme."""
    warnings: dict[str, int]
    """Fallbacks by purpose."""
    failures: dict[str, int]
    """The same by what went wrong."""
    left_out: dict[str, list[str]]
    """Parameters that a model does not take, by the model's name."""
    spending: Spending

    @property
    def modified(self) -> float | None:
        """The share of the supporter's lines that were revised; None when there are none, or nobody
        revises.
        """
        return self.revised / self.drafts if self.drafts and self.revises else None


def account(run: Run) -> Account:
    """Read the log and the calls once."""
    counted = _Counted()
    for entry in run.entries(until_tick=run.ticks_done()):
        counted.observe(entry)
    dialogues = dialogues_of(run, own=False)
    counted.sources += Counter(
        turn.source
        for one in dialogues
        for turn in one.turns
        if turn.speaker == "counselor" and turn.source
    )
    lines = [len(units(turn.text)) for one in dialogues for turn in one.turns]
    calls = [call for call in run.calls() if call.get("verb") != "embed" and not call.get("spare")]
    return Account(
        sessions=len(dialogues),
        wanted=run.synthesis.count,
        utterances=len(lines) / len(dialogues) if dialogues else None,
        length=sum(lines) / len(lines) if lines else None,
        revises=not {"evaluator", "corrector"} & set(run.synthesis.without),
        drafts=counted.drafts,
        revised=counted.revised,
        seconds_per_session=_seconds(dialogues, calls),
        strategies=sum(not one.dropped for one in counted.strategies.all()),
        found_again=counted.found_again,
        causes=dict(counted.causes),
        sources=dict(counted.sources),
        themes=dict(counted.themes),
        warnings=dict(counted.warnings),
        failures=dict(counted.failures),
        left_out=dict(counted.left_out),
        spending=Spending.of(run.calls()),
    )


class _Counted:
    """What the events of a synthesis add up to; see `Account`."""

    def __init__(self) -> None:
        self.strategies = Strategies()
        self.drafts = self.revised = self.found_again = 0
        self.causes: Counter[str] = Counter()
        self.sources: Counter[str] = Counter()
        self.themes: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.left_out: defaultdict[str, list[str]] = defaultdict(list)

    def observe(self, entry: Entry) -> None:
        """Take in an event."""
        self.strategies.observe(entry)
        match entry.event:
            case Extracted(theme=theme):
                self.themes[theme] += 1
            case Disclosed(source=source):
                self.sources[source] += 1
            case Drafted():
                self.drafts += 1
            case Revised():
                self.revised += 1
            case SessionEnded(cause=cause):
                self.causes[cause] += 1
            case Warned(purpose=purpose, cause=cause):
                self.warnings[purpose] += 1
                self.failures[cause] += 1
            case ParameterLeftOut(model=model, parameter=parameter):
                self.left_out[model].append(parameter)
            case StrategyKnown():
                self.found_again += 1


def _seconds(dialogues: Sequence[Dialogue], calls: Sequence[Mapping[str, Any]]) -> float | None:
    """The time that a session's own questions took, mean; None without calls."""
    spent: defaultdict[str, float] = defaultdict(float)
    for call in calls:
        spent[str(call.get("who"))] += call.get("latency_s") or 0.0
    done = [spent[one.origin.chat] for one in dialogues if one.origin and spent[one.origin.chat]]
    return sum(done) / len(done) if done else None
