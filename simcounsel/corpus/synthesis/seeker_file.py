"""A seeker's file while it is told."""

from dataclasses import dataclass, field

from simcounsel.corpus.disclosure import DISCLOSURES, Disclosure
from simcounsel.corpus.synthesis.events import Fact

OFFERED = 3
"""How many facts could come out in one line; at most two do."""


@dataclass
class SeekerFile:
    """How far a seeker has opened up."""

    facts: tuple[Fact, ...]
    """All of its file."""
    disclosed: list[Fact] = field(default_factory=list)
    """What it has told, in its order."""
    quiet: int = 0
    """How many of its last lines told nothing new."""
    due: int = 0
    """The stage, from 0, that it should have come to by now, so that a long story does not take up
    the whole session; what is left behind then may still come up.
    """

    @property
    def stage(self) -> Disclosure:
        """The first stage that is due, or later, of which something is untold; the last one when
        there is none.
        """
        waiting = {fact.stage for fact in self._untold()}
        return next(
            (stage for stage in DISCLOSURES[self.due :] if stage in waiting), DISCLOSURES[-1]
        )

    def offered(self) -> tuple[Fact, ...]:
        """What could come out now: of this stage, one of the next, and what was left behind; never
        all at once.
        """
        at = DISCLOSURES.index(self.stage)
        ordered = sorted(self._untold(), key=lambda fact: DISCLOSURES.index(fact.stage))
        here = [fact for fact in ordered if fact.stage == self.stage]
        beyond = [fact for fact in ordered if DISCLOSURES.index(fact.stage) > at]
        behind = [fact for fact in ordered if DISCLOSURES.index(fact.stage) < at]
        return (*here[: OFFERED - 1], *beyond[: 1 if len(here) < OFFERED else 0], *behind)[:OFFERED]

    def tell(self, ids: tuple[str, ...]) -> None:
        """Note what a line told."""
        self.disclosed += [fact for fact in self.facts if fact.id in ids]
        self.quiet = 0 if ids else self.quiet + 1

    def _untold(self) -> list[Fact]:
        return [fact for fact in self.facts if fact not in self.disclosed]

    @property
    def complete(self) -> bool:
        """Whether everything was told."""
        return not self._untold()
