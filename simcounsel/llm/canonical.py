"""Data as bytes, the same for the same data, so that they can be hashed into a question's key."""

import json
from collections.abc import Mapping

import orjson
from pydantic import BaseModel


def canonical(value: object) -> bytes:
    """The same bytes for the same data. TypeError for what is not data."""
    try:
        return orjson.dumps(value, default=_data, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError as error:
        if "surrogates" not in str(error):
            raise TypeError(f"facts are data only: {error}") from None
    plain = orjson.loads(orjson.dumps(_without_halves(value), default=_data))
    return json.dumps(plain, ensure_ascii=True).encode()


def _data(value: object) -> object:
    if isinstance(value, BaseModel):
        return dict(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not data")


def _without_halves(value: object) -> object:
    """Texts with halves of characters (lone surrogates) written out, so that they can be hashed."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, tuple | list):
        return [_without_halves(one) for one in value]
    if isinstance(value, Mapping | BaseModel):
        return {str(key): _without_halves(one) for key, one in dict(value).items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: _without_halves(getattr(value, name)) for name in value.__dataclass_fields__}
    return value
