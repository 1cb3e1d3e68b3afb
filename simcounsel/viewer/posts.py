"""What pages post: JSON objects, from pages of this site only."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from simcounsel.intake import json_data


async def read_object(request: Request) -> dict[str, Any]:
    """The body of a post, a JSON object; 400 when it is none, 415 when it does not say that it is.

    A form of another site cannot send this content type unasked.
    """
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise HTTPException(415, "send application/json")
    try:
        body = json_data(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is not JSON") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "a JSON object is expected")
    return body
