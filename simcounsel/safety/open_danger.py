"""Danger that a conversation leaves open: what the log, the views and whoever listens say of it."""

from dataclasses import dataclass

from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS, Danger, RiskLevel


def higher(*levels: RiskLevel) -> RiskLevel:
    """The highest; none when there is none."""
    return max(levels, key=RISK_LEVELS.index, default="none")


@dataclass(frozen=True, kw_only=True)
class OpenDanger:
    """Danger that nobody has met yet."""

    level: RiskLevel = "none"
    """none: there is no such danger."""
    kinds: tuple[Danger, ...] = ()
    """In the order of DANGERS; () at level none."""

    def __bool__(self) -> bool:
        return self.level != "none"

    def and_also(self, other: "OpenDanger") -> "OpenDanger":
        """Both: the higher level, all kinds."""
        kinds = {*self.kinds, *other.kinds}
        return OpenDanger(
            level=higher(self.level, other.level),
            kinds=tuple(kind for kind in DANGERS if kind in kinds),
        )


NOTHING_OPEN = OpenDanger()
