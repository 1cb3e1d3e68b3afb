"""How rich a session is."""

from dataclasses import dataclass

USUAL_SKILLS, MOST_METAS = 6, 4
"""Most skills of a usual session, and the most meta skills that they are chosen from."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How rich a session is."""

    objectives: int = 4
    """The most points that it is for."""
    skills: int = USUAL_SKILLS
    """The most atomic skills that are chosen for it."""

    @property
    def metas(self) -> int:
        """The most meta skills that these are chosen from."""
        return max(MOST_METAS, -(-self.skills // 2))

    def fewest(self, usual: int) -> int:
        """The least of something of which a usual session has that many: in proportion, as far as
        the session is richer.
        """
        return max(min(usual, self.skills), usual * self.skills // (2 * USUAL_SKILLS))


USUAL = Measure()
