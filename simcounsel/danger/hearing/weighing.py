"""Cues with what is around them become evidence, and evidence becomes a level.

- An open cue of the client's own present counts as its level. What was, counts as low. What is
  denied, told of a film or the news, or said by somebody else about the client counts as nothing; a
  denial left open ("not yet") counts as a strong hint.
- Suicide or self-harm of somebody else, in the present, counts as low and in doubt: the client may
  need help in helping.
- Hints of different sorts add up: 1 raises doubt only, 2 or 3 low, 4 high; beside an open low cue a
  strong hint makes high. All in doubt.
- Traces, words that say nothing by themselves, count where several of different sorts are near
  each other and nothing around them says otherwise: two as a weak hint, three or more as a strong
  one.
- Now or today, or the means at hand, said in a sentence with a cue of the client's own present,
  makes low high and high imminent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from simcounsel.danger.hearing.grammar import Found, Line
from simcounsel.safety.open_danger import higher
from simcounsel.specs.vocabulary import RISK_LEVELS, Danger, RiskLevel
from simcounsel.texts.sentences import Span

STRONG, GRAVE = 2, 4
"""The points of hints that make low, and high."""
TRACE_WINDOW = 200
"""Characters within which traces are together."""
MOST_OF_TRACES = 2
"""The most points that come from traces: they make low, not high."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Words by which danger is heard."""

    kind: Danger
    level: RiskLevel
    """What they count as alone; `none` for a hint that only raises doubt."""
    span: Span
    """Where they are in the line."""
    words: str
    """As they were said."""
    what: str
    """In words for people."""
    doubt: bool = False
    """They may mean something else."""
    points: int = 0
    """Of a hint, 0 of an open cue."""
    trace: bool = False
    answers: bool = False
    """They mean something by the question that they answer."""


def next_level(level: RiskLevel) -> RiskLevel:
    """The next level, or imminent."""
    return RISK_LEVELS[min(RISK_LEVELS.index(level) + 1, len(RISK_LEVELS) - 1)]


def previous_level(level: RiskLevel) -> RiskLevel:
    """The level before, or none."""
    return RISK_LEVELS[max(RISK_LEVELS.index(level) - 1, 0)]


def evidence_of(line: Line, text: str, found: Found) -> Evidence | None:
    """What a cue comes to; None for nothing. text: as it was said."""
    words = text[slice(*found.span)]
    if found.cue.hint == 0:
        return _trace(found, words)
    counted = _counted(found)
    if counted is None:
        return None
    level, what = counted.level, counted.what
    if counted.points >= STRONG:
        level = "low"
    if (
        _own_present(found)
        and (level in ("low", "high") or counted.points >= STRONG)
        and any(line.says(section, line.sentence(found.span)) for section in ("at_hand", "now"))
    ):
        level, what = next_level(level), f"{what}, now or with the means at hand"
    return Evidence(
        kind=found.cue.kind,
        level=level,
        span=found.span,
        words=words,
        what=what,
        doubt=counted.doubt,
        points=counted.points,
    )


def _own_present(found: Found) -> bool:
    return found.whose == "own" and not (found.past or found.denied or found.told or found.asked)


def _another_in_danger(found: Found) -> bool:
    """Whether it is somebody else who may die or be hurt by their own hand."""
    return found.whose != "own" and found.cue.kind in ("suicide", "self_harm")


def _trace(found: Found, words: str) -> Evidence | None:
    """Nothing where something around it says otherwise."""
    if found.denied or found.told or found.asked or found.past or _another_in_danger(found):
        return None
    return Evidence(
        kind=found.cue.kind,
        level="none",
        span=found.span,
        words=words,
        what=found.cue.what,
        doubt=True,
        trace=True,
    )


@dataclass(frozen=True, kw_only=True)
class _Counted:
    """What a cue counts as, by what is around it."""

    level: RiskLevel
    points: int
    doubt: bool
    what: str


def _counted(found: Found) -> _Counted | None:
    """None for nothing."""
    cue, what, points = found.cue, found.cue.what, found.cue.hint or 0
    if found.denied:
        said = f"{what}, denied for now only"
        return _Counted(level="none", points=STRONG, doubt=True, what=said) if found.open else None
    if found.told or found.asked:
        said = f"{what}, as somebody else's words"
        return (
            _Counted(level="none", points=1, doubt=True, what=said)
            if found.whose == "own"
            else None
        )
    if _another_in_danger(found):
        level: RiskLevel = "low" if points != 1 else "none"
        said = f"{what}, of somebody else"
        return None if found.past else _Counted(level=level, points=points, doubt=True, what=said)
    doubt = cue.hint is not None
    if found.past:
        return _Counted(
            level="low" if points == 0 else "none",
            points=points and 1,
            doubt=doubt,
            what=f"{what}, in the past",
        )
    return _Counted(level=cue.level or "none", points=points, doubt=doubt, what=what)


def traces(some: Sequence[Evidence]) -> int:
    """How many traces of different sorts are near each other."""
    found = [one for one in some if one.trace]
    return max(
        (
            len({other.what for other in found if 0 <= other.span[0] - one.span[0] <= TRACE_WINDOW})
            for one in found
        ),
        default=0,
    )


def weigh(some: Sequence[Evidence]) -> tuple[RiskLevel, bool]:
    """The level of one kind of danger out of all its evidence, and whether it is in doubt."""
    clear = higher(*(one.level for one in some if not one.doubt))
    hints = sum({one.what: one.points for one in some}.values())
    together = traces(some)
    hints += min(together - 1, MOST_OF_TRACES) if together >= 2 else 0
    level = higher(*(one.level for one in some))
    if hints >= GRAVE or (hints >= STRONG and clear == "low"):
        level = higher(level, "high")
    elif hints >= STRONG:
        level = higher(level, "low")
    doubtful = any(one.doubt for one in some)
    return level, doubtful and (level != clear or clear in ("none", "low"))
