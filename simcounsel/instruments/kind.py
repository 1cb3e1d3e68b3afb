"""What a package registers as an instrument (entry points of the group simcounsel.instruments): a
scale, the YAML file of one, or a way to count.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Literal

from simcounsel.events import ItemAnswer, Measured, Score
from simcounsel.specs.load import load_spec
from simcounsel.specs.scale import Scale


@dataclass(frozen=True, kw_only=True)
class ScaleFile:
    """A scale in a YAML file that a package carries."""

    package: str
    """The package, `mypackage` or `mypackage.scales`."""
    file: str
    """The file's path within it, `pain.yaml`."""

    def read(self) -> Scale:
        """The scale. SpecError names every problem in the file with its line."""
        with as_file(files(self.package).joinpath(self.file)) as path:
            return load_spec(path, Scale)[0]


@dataclass(frozen=True, kw_only=True)
class Counted:
    """An instrument that is counted from the lines of a conversation, without any model."""

    id: str
    """Its name, as it is registered and is in measurements."""
    version: str
    """Changes whenever the same lines could give other numbers."""
    scores: tuple[str, ...]
    """The names of what it counts."""
    measure: Callable[[Sequence[tuple[str, str]]], tuple[ItemAnswer, ...]]
    """Every score of one conversation, in order, from lines as (`Client` or `Counselor`, text);
    a value of None with a reason where there is nothing to count. The same lines give the same
    numbers."""
    respondent: Literal["talk"] = "talk"
    """Nobody answers: the talk itself does."""
    sees: Literal["transcript"] = "transcript"
    """What it is counted from."""
    hash: None = None
    """A scale has one of its items; here `version` says all."""

    def measured(
        self,
        who: str,
        point: str,
        lines: Sequence[tuple[str, str]],
        chats: tuple[str, ...],
        absent: str | None = None,
    ) -> Measured:
        """The scores as a measurement. absent: why there is no conversation; None when there is
        one.
        """
        items = (
            tuple(ItemAnswer(id=name, value=None, reason=absent) for name in self.scores)
            if absent
            else self.measure(lines)
        )
        scores = tuple(
            Score(
                name=item.id,
                value=item.value,
                used=int(item.value is not None),
                of=1,
                reason=item.reason,
            )
            for item in items
        )
        return Measured(
            who=who,
            instrument=self.id,
            version=self.version,
            point=point,
            respondent="talk",
            items=items,
            scores=scores,
            chats=chats,
        )


@dataclass(frozen=True, kw_only=True)
class AuditRules:
    """What code finds in a conversation by itself, for the items of audits that name a rule (entry
    points of the group simcounsel.audit_rules).

    Lines are (`Client` or `Counselor`, text).
    """

    places: Callable[[tuple[tuple[str, str], ...]], list[int]]
    """The client's lines with danger that leaves no doubt, as their places from 0."""
    rules: Mapping[str, Callable[[tuple[tuple[str, str], ...], list[int]], str | None]]
    """By name: the words that prove a yes, from the lines and the places of danger; None where
    code is not sure.
    """
