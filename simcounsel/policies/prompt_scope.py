"""What a policy's lines are told besides what it decides: by default as the role is; for studies in
which arms must differ in nothing else, alike for all.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from simcounsel.agents.talk import Decision
from simcounsel.prompts import prompt_text


class PromptScope(BaseModel):
    """Settings of a policy whose structure is compared with that of others."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    manner: Literal["own", "shared"] = "own"
    """How lines are to be worded and how long they may be: as this policy has it, or by the one
    rule that all policies share.
    """
    persona: bool = True
    """Whether the counselor's persona and the rules of its role are in the prompts of its
    lines.
    """
    recall: bool = True
    """Whether they say what comes to the counselor's mind, and when the two last talked."""

    def of(self, decision: Decision, language: str) -> Decision:
        """The decision, told so."""
        shared = self.manner == "shared"
        return decision.worded(
            manner=prompt_text("manner_shared", language) if shared else decision.wording.manner,
            steady=shared or decision.wording.steady,
            bare=not self.persona,
            recalls=self.recall,
        )
