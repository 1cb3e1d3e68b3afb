"""A synthesis counted from its log."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simcounsel.corpus.measures import units
from simcounsel.events import Drafted, Extracted
from simcounsel.runs.conversation import Conversation
from simcounsel.runs.history import History
from simcounsel.runs.run import SynthesisRun
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
    authors: Mapping[str, int]
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


def account(run: SynthesisRun) -> Account:
    """Count what the history and the calls tell."""
    history, settings = History.of(run), run.synthesis
    sessions = list(history.conversations())
    lines = [line for one in sessions for line in one.lines]
    lengths = [len(units(line.text)) for line in lines]
    drafts = [line for line in lines if isinstance(line.event, Drafted)]
    learned = history.strategies().values()
    warnings = [one.event for one in history.warnings()]
    calls = [call for call in run.calls() if call.get("verb") != "embed" and not call.get("spare")]
    calls = [call for call in calls if not call.get("given_up")]  # that was waiting
    return Account(
        sessions=len(sessions),
        wanted=settings.count,
        utterances=len(lines) / len(sessions) if sessions else None,
        length=sum(lengths) / len(lengths) if lengths else None,
        revises=not {"evaluator", "corrector"} & set(settings.without),
        drafts=len(drafts),
        revised=sum(line.revised is not None for line in drafts),
        seconds_per_session=_seconds(sessions, calls),
        strategies=sum(one.dropped is None for one in learned),
        found_again=sum(len(one.found) for one in learned),
        causes=Counter(one.ended.cause for one in sessions if one.ended),
        authors=Counter(name for one in sessions for name in history.authors(one).values()),
        themes=Counter(one.started.theme for one in sessions if isinstance(one.started, Extracted)),
        warnings=Counter(warned.purpose for warned in warnings),
        failures=Counter(warned.cause for warned in warnings),
        left_out=history.left_out(),
        spending=Spending.of(run.calls()),
    )


def _seconds(sessions: Sequence[Conversation], calls: Sequence[Mapping[str, Any]]) -> float | None:
    """The time that a session's own questions took, mean; None without calls."""
    spent: defaultdict[str, float] = defaultdict(float)
    for call in calls:
        spent[str(call.get("who"))] += call.get("latency_s") or 0.0
    done = [spent[one.id] for one in sessions if spent[one.id]]
    return sum(done) / len(done) if done else None
