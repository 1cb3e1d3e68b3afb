"""`recorded:RUN`: no model at all. Replies come out of a run's calls.jsonl, through the
Switchboard.
"""

from typing import Any

from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question


class Recorded:
    """Stands where a model would; is only reached when a recording has no reply."""

    def __init__(self, run: str) -> None:
        self.name = f"recorded:{run}"

    async def complete(self, request: Question[Any], complaint: str | None) -> Completion:
        """There is nobody to ask."""
        raise Failure(
            f"the recorded reply to {request.purpose!r} does not fit this version's checks"
        )

    async def close(self) -> None:
        """Nothing to let go of."""
