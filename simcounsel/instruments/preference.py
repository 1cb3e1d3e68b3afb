"""What a judge answers who compares two conversations."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


def _all_required(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema["properties"])


class Preference(BaseModel):
    """Which of two conversations is better, and before that why."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra=_all_required)

    because: str = ""
    """What decides; '' from the embedded model, which gives no reasons."""
    better: Literal["first", "second"]
