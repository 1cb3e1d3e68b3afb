"""How rich a session is."""

from dataclasses import dataclass

LINES_A_POINT, LINES_A_SKILL = 6, 2
"""Lines of a session, both sides counted, for each point that it is for, and for each skill that is
chosen for it. Sessions of published cases have 44 to 59 lines, 6 to 9 points, and 42 to 62 uses of
skills; a line may use several.
"""
FEWEST_POINTS, MOST_POINTS = 2, 12
USUAL_SKILLS, MOST_SKILLS, MOST_METAS = 6, 60, 4
"""Most skills of a short session, of any, and the most meta skills that those of a short one are
chosen from.
"""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How rich a session is."""

    objectives: int
    """The most points that it is for."""
    skills: int
    """The most atomic skills that are chosen for it."""

    @property
    def metas(self) -> int:
        """The most meta skills that these are chosen from."""
        return max(MOST_METAS, -(-self.skills // 2))

    def fewest(self, usual: int) -> int:
        """The least of something of which a short session has that many: in proportion, as far as
        the session is richer.
        """
        return max(min(usual, self.skills), usual * self.skills // USUAL_SKILLS)


def measure_of(lines: int, objectives: int | None = None, skills: int | None = None) -> Measure:
    """What a session of so many lines has room for, where nothing else is said."""
    points = min(max(round(lines / LINES_A_POINT), FEWEST_POINTS), MOST_POINTS)
    chosen = min(max(lines // LINES_A_SKILL, USUAL_SKILLS), MOST_SKILLS)
    return Measure(
        objectives=points if objectives is None else objectives,
        skills=chosen if skills is None else skills,
    )
