"""The test server's own answers fit the schemas that it is sent."""

import json
import random
from typing import Annotated

from pydantic import Field, TypeAdapter

from tests.each import each
from tests.llm.server import instance


@each(
    "pattern",
    [
        r"^([01]?\d|2[0-3]):[0-5]\d$",
        r"^[\w][\w .-]*$",
        r"^[^\W\d_][\w .'’-]*$",
        r"^[a-z][a-z0-9_]{1,40}$",
        r"^(default|[a-z]{2}-[A-Z]{2})$",
    ],
)
def test_a_default_answer_fits_the_pattern_of_its_schema(pattern: str) -> None:
    """Fifty texts, read by pydantic's own engine for patterns."""
    reader: TypeAdapter[str] = TypeAdapter(Annotated[str, Field(pattern=pattern, max_length=30)])
    for seed in range(50):
        made = instance(reader.json_schema(), random.Random(seed))
        assert reader.validate_json(json.dumps(made)) == made
