"""`recorded:RUN`: no model at all. Replies come out of a run's calls.jsonl, through the
Switchboard.
"""

from typing import Any

from simcounsel.llm.catalog import prompts_for
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.models import ChatModel, Completion, Failure, Provider
from simcounsel.llm.question import Question
from simcounsel.runs.record import open_record
from simcounsel.runs.sources import recordings


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


class RecordedVectors(HashEmbeddings):
    """Never asked, since a recording has its vectors too. Named as the model that made them, since
    what knows only some model's vectors has to know these.
    """

    def __init__(self, run: str) -> None:
        super().__init__()
        lived = next(recordings(open_record(run)))
        self.name = lived.manifest.models.get("embed", self.name)


def _recorded(name: str) -> ChatModel:
    run = name.partition(":")[2]
    open_record(run)
    return Recorded(run)


def _prompts(name: str) -> str | None:
    """Those that the recorded model gets by itself, so that the questions are the same."""
    lived = next(recordings(open_record(name.partition(":")[2])))
    return prompts_for(str(lived.manifest.models.get("reason", "")))


RECORDED = Provider(
    chat=_recorded,
    embed=lambda name: RecordedVectors(name.partition(":")[2]),
    forms={"recorded:RUN": "no model: the replies of an earlier run"},
    prompts=_prompts,
    vectors_for=lambda name: name,
)
