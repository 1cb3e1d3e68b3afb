"""Every error that simcounsel raises on purpose.

    SimcounselError          what the command line prints in one line, without a traceback
    ├── SpecError            a world, persona or experiment file is wrong (file:line, remedy)
    ├── RunError             a run folder is missing, locked, damaged or of another version
    │   └── NothingToMeasure an instrument finds nothing in it that it could measure
    ├── StudyError           a rating study's folder, or a file of answers, cannot be used as asked
    ├── CorpusError          a corpus file cannot be read, or what is asked of it is not there
    ├── BenchError           a benchmark's data, or the folder of its answers, cannot be used
    ├── ModelError           a model cannot be used at all (unknown name, no key, no weights)
    │   └── GivenUp          what was under way is not written; the same work can be gone on with
    │       ├── ModelUnreachable  a model did not answer for as long as it was waited for
    │       ├── TooManyFallbacks  more answers were unusable than the world allows
    │       └── BudgetSpent       the next request may take more than is left of a budget
    ├── PluginError          what a package of others brings cannot be imported or used
    ├── WeightsError         weights could not be fetched, or are not the pinned ones
    └── IllegalTransition    a manual does not let this state follow that one

A reply that is merely bad (nonsense, a refusal) is no error: it leads to a second try, then to
the caller's declared fallback and a `warned` event. A reply that does not come is waited for. See
`llm.ask`.
"""

from typing import Self


class SimcounselError(Exception):
    """Base of all; its text names the file or object, the value, what is allowed, what to do."""


class SpecError(SimcounselError):
    """A file that people write is wrong. `problems` has one `file:line: what; remedy` each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class RunError(SimcounselError):
    """A run folder cannot be used as asked."""


class NothingToMeasure(RunError):
    """An instrument finds nothing in a run, such as no conversation of a client who lives alone."""


class StudyError(SimcounselError):
    """A rating study's folder, or a returned file of answers, cannot be used as asked."""


class CorpusError(SimcounselError):
    """A corpus file cannot be read or written, or holds nothing of what is asked for."""


class BenchError(SimcounselError):
    """A benchmark's data file is wrong, or the folder of its answers cannot be used as asked."""


class ModelError(SimcounselError):
    """A model cannot be used at all."""


class GivenUp(ModelError):
    """The tick (wave, rating, ...) that was under way is given up: nothing of it is written. The
    same work can be gone on with later; the command line ends with exit code 3.
    """

    option = ""
    """What the command that goes on needs besides, `--budget-calls 200`."""
    remedy = ""
    """What helps where going on would fail the same way, in its text too; '' where going on
    helps.
    """

    def telling(self, more: str) -> Self:
        """The same with more in its text: what is kept, how to go on; as it is where that would
        fail the same way.
        """
        if self.remedy:
            return self
        larger = self.option and self.option not in more
        with_more = f" with a larger budget, such as {self.option}" if larger else ""
        told = type(self)(f"{self}; {more}{with_more}")
        told.option = self.option
        return told


class ModelUnreachable(GivenUp):
    """A model did not answer for as long as it was waited for, or waiting does not help."""


class BudgetSpent(GivenUp):
    """The next request may take more than is left of a budget; `option` is one that goes on."""

    def __init__(self, cause: str, option: str = "") -> None:
        super().__init__(cause)
        self.option = option


class TooManyFallbacks(GivenUp):
    """More answers were unusable than the world allows (`fallbacks:`)."""


class PluginError(SimcounselError):
    """What an installed package brings cannot be used: two of one name, an import that fails."""


class WeightsError(SimcounselError):
    """Weights of the embedded models are missing, or differ from the pinned SHA-256."""


class IllegalTransition(SimcounselError):
    """A manual does not let this state follow that one; the text names what is allowed."""
