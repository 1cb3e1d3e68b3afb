"""What two of the six roles are asked for where a schema holds their answers: shapes that leave no
room for what would be refused.
"""

from collections.abc import Mapping
from typing import Any, Literal

from simcounsel.corpus.disclosure import DISCLOSURES, Disclosure
from simcounsel.corpus.synthesis.role_answers import LEAST_ADVICE, MOST_FACTS
from simcounsel.llm.schemas import Limits

PARTS: Mapping[Disclosure, Literal["character", "plight", "demand"]] = {
    "introduces": "character",
    "describes": "plight",
    "feels": "plight",
    "remembers": "plight",
    "asks_for_help": "demand",
    "asks_for_advice": "demand",
}
"""Of which part of the file a stage tells, as a rule."""
SURE = ("introduces", "describes", "asks_for_help")
"""Stages that tell of no other part."""


def _of_stage(stage: Disclosure) -> dict[str, Any]:
    """The schema of the facts of one stage."""
    parts = [PARTS[stage]] if stage in SURE else list(dict.fromkeys(PARTS.values()))
    fact = {
        "of": {"type": "string", "enum": parts},
        "text": {"type": "string", "minLength": 3, "maxLength": 400},
        "invented": {"type": "boolean"},
    }
    one = {"type": "object", "properties": fact, "required": [*fact]}
    return {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_FACTS // len(PARTS)}


BY_STAGE: Limits = {
    "facts": {
        "type": "object",
        "properties": {stage: _of_stage(stage) for stage in DISCLOSURES},
        "required": [*DISCLOSURES],
    }
}
"""Facts as they are asked for where a schema holds the answer: none can say of a list that it has
something for each stage and of each part.
"""


BY_ADVICE: Limits = {
    "revise": None,
    "advice": {"anyOf": [{"enum": [""]}, {"type": "string", "minLength": LEAST_ADVICE}]},
}
"""Where a schema holds the answer, whether to revise follows from the advice."""
