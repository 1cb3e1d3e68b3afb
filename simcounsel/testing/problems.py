"""All that is wrong with one thing, in one error."""

from collections.abc import Iterable

from simcounsel.errors import SimcounselError


class BrokenContract(SimcounselError):
    """What was checked does not keep to what simcounsel expects of it."""

    def __init__(self, what: str, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join([f"{what} breaks its contract:", *(f"- {p}" for p in problems)]))
        self.problems = problems
        """What is wrong, one sentence each."""


def raise_all(what: str, problems: Iterable[str]) -> None:
    """BrokenContract when there are problems; each is said once."""
    found = tuple(dict.fromkeys(problems))
    if found:
        raise BrokenContract(what, found)
