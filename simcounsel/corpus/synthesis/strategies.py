"""What the supporter has learned: a list that grows from wave to wave, without saying the same
twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import yaml

from simcounsel.corpus.synthesis.events import (
    Extracted,
    StrategyDropped,
    StrategyKnown,
    StrategyLearned,
    StrategyRestored,
    own,
)
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.errors import RunError
from simcounsel.events import TickEnded

NEAR = 0.8
"""From this cosine on two strategies are the same advice. all-MiniLM-L6-v2 gives paraphrases 0.75
to 0.95 and unrelated advice about talks 0.2 to 0.6.
"""
CARRIED = 24
"""How many a supporter carries at the most: those learned, or found again, last. A prompt that only
grows would be read by nobody.
"""


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """Advice that a supporter may carry."""

    id: str
    """`K001`."""
    text: str
    session: str
    """Of whose suggestions it was made; '' when it was given from the beginning."""
    wave: int
    """That made it."""
    advice: tuple[str, ...]
    """These suggestions."""
    again: tuple[tuple[int, StrategyKnown], ...] = ()
    """Where it was found again, with the wave."""
    dropped: int | None = None
    """The wave from which it is no longer carried, since the settings say so; None while it is."""

    @property
    def last(self) -> int:
        """The wave in which it was last found."""
        return self.again[-1][0] if self.again else self.wave

    @property
    def found(self) -> int:
        """How often."""
        return 1 + len(self.again)


class Strategies:
    """The list as a fold over events."""

    def __init__(self) -> None:
        self._known: dict[str, Strategy] = {}

    def observe(self, wave: int, event: object) -> None:
        """Take in an event."""
        known = self._known
        match event:
            case StrategyLearned(id=id):
                known[id] = Strategy(
                    id=id, text=event.text, session=event.session, wave=wave, advice=event.advice
                )
            case StrategyKnown(id=id) if id in known:
                known[id] = replace(known[id], again=(*known[id].again, (wave, event)))
            case StrategyDropped(id=id) if id in known:
                known[id] = replace(known[id], dropped=wave)
            case StrategyRestored(id=id) if id in known:
                known[id] = replace(known[id], dropped=None)

    def all(self) -> tuple[Strategy, ...]:
        """Every strategy that was ever learned, in order."""
        return tuple(self._known.values())

    def carried(self) -> tuple[Strategy, ...]:
        """Those that a supporter carries now, in the order of their ids."""
        alive = sorted(
            (s for s in self._known.values() if s.dropped is None),
            key=lambda s: (-s.last, -s.found, s.id),
        )
        return tuple(sorted(alive[:CARRIED], key=lambda s: s.id))

    def next_id(self) -> str:
        """Of the next one to be learned."""
        return f"K{len(self._known) + 1:03d}"


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A strategy as the manager words it."""

    session: str
    """The session that it comes from."""
    text: str
    advice: tuple[str, ...]
    """What the evaluator asked for in that session."""
    call: str
    """The key of the manager's call."""


def sorted_in(
    known: Strategies, proposals: Sequence[Proposal], vectors: "dict[str, np.ndarray]", call: str
) -> Iterable[StrategyLearned | StrategyKnown]:
    """One event for each proposal, in their order: new, or near one that is there, which may have
    come just before.

    A strategy that was dropped counts as there: who removed it does not want it back in other
    words. vectors: unit vectors of all texts; call: the key of the call that they came from.
    """
    there = [(strategy.id, strategy.text) for strategy in known.all()]
    number = len(there)
    for proposal in proposals:
        cosines = [float(vectors[text] @ vectors[proposal.text]) for _, text in there]
        best = int(np.argmax(cosines)) if cosines else -1
        if cosines and cosines[best] >= NEAR:
            yield StrategyKnown(
                id=there[best][0],
                text=proposal.text,
                session=proposal.session,
                cosine=round(cosines[best], 3),
                calls=(proposal.call, call),
            )
            continue
        number += 1
        there.append((f"K{number:03d}", proposal.text))
        yield StrategyLearned(
            id=f"K{number:03d}",
            text=proposal.text,
            session=proposal.session,
            advice=proposal.advice,
            calls=(proposal.call, call),
        )


# in plain text and in YAML


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count} times"


def strategies_at(run: SynthesisRecord, wave: int | None = None) -> Strategies:
    """What a wave (from 0) began with, what is given or dropped at its head included; at the end,
    if None. RunError when that wave was not reached.
    """
    done = run.ticks_done()
    if wave is not None and not 0 <= wave <= done:
        raise RunError(f"{run.folder}: wave {wave} was not reached; choose one from 0 to {done}")
    strategies = Strategies()
    for entry in run.entries(until_tick=done if wave is None else min(done, wave + 1)):
        event = own(entry.event)
        if entry.tick == wave and isinstance(event, Extracted | TickEnded):
            break
        strategies.observe(entry.tick, event)
    return strategies


def strategy_lines(run: SynthesisRecord, wave: int | None = None) -> Iterator[str]:
    """All strategies that were known then, each with its wave, its session and how often it was
    found.
    """
    known = strategies_at(run, wave).all()
    if not known:
        yield "no strategies" + ("" if wave is None else f" before wave {wave}")
    for one in known:
        origin = f"wave {one.wave}, {one.session}" if one.session else "given from the beginning"
        yield (
            f"{one.id}  {one.text}  ({origin}; found"
            f" {times(one.found)}{'' if one.dropped is None else '; dropped'})"
        )


def strategies_yaml(run: SynthesisRecord, wave: int | None = None) -> str:
    """The strategies that a supporter would carry then, for `synthesize --strategies`."""
    texts = [one.text for one in strategies_at(run, wave).carried()]
    return yaml.safe_dump({"strategies": texts}, allow_unicode=True, sort_keys=False, width=140)
