"""The body of a server's answer, read and unzipped within bounds: some bytes of gzip can stand for
billions, and a server need not ever end.
"""

import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from simcounsel.intake import json_data
from simcounsel.llm.models import Failure

MOST_MB = 8
"""Of one answer, unzipped; our longest are vectors."""
ZIPPED = "gzip, deflate"
"""What an answer may be encoded as."""


async def bounded(came: AsyncIterator[bytes]) -> bytes:
    """All of an answer as it came. Failure when there is more than any answer needs."""
    parts, size = [], 0
    async for part in came:
        size += len(part)
        if size > MOST_MB * 2**20:
            raise _too_large()
        parts.append(part)
    return b"".join(parts)


def unzipped(raw: bytes, headers: Mapping[str, str]) -> bytes:
    """What was zipped for the way. Failure when it is damaged, or more than any answer needs."""
    encoding = headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in ("identity", "") or not raw:
        return raw
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Failure(f"the answer is encoded as {encoding[:40]!r}, which was not asked for")
    bare = encoding == "deflate" and raw[0] & 0xF != 8  # some servers leave out the head of zlib
    unzip = zlib.decompressobj(-zlib.MAX_WBITS if bare else zlib.MAX_WBITS | 32)
    try:
        text = unzip.decompress(raw, MOST_MB * 2**20)
    except zlib.error:
        raise Failure("the answer cannot be unzipped") from None
    if unzip.unconsumed_tail:
        raise _too_large()
    if not unzip.eof:
        raise Failure("the answer was cut off while it was zipped", transport=True)
    return text


def object_in(raw: bytes) -> dict[str, Any]:
    """The JSON object that a body is. Failure when it is none."""
    try:
        answer = json_data(raw)
    except ValueError:
        raise Failure("the answer is not JSON" if raw.strip() else "the answer is empty") from None
    if not isinstance(answer, dict):
        raise Failure(f"the answer is no JSON object but {type(answer).__name__}")
    return answer


def _too_large() -> Failure:
    return Failure(f"the answer is larger than {MOST_MB} MB, unzipped")
