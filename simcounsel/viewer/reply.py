"""JSON answers."""

import json
from typing import Any

from starlette.responses import Response

from simcounsel.secret import scrub


def as_json(found: Any, status: int = 200) -> Response:
    """JSON; half a character (a surrogate that a model made up) becomes a replacement mark."""
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return Response(scrub(text).encode("utf-8", "replace"), status, media_type="application/json")
