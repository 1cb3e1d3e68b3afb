"""The JSON schema of an answer's type: as it is in a question's key, and as it is sent, which
is narrowed to what only its question knows, in words that grammars take.
"""

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from simcounsel.prompts.twins import described

Limits = Mapping[str, Mapping[str, Any] | None]
"""By field ("slots.place": the field `place` of each of `slots`), the words of a JSON schema that
narrow it: they replace its own of the same name, or all but its description where they name a
`type` or `anyOf`. None: the field is not asked for.
"""
MOST_REPEATED = 1999
"""A grammar of llama.cpp (as in Ollama) is refused whole for a text of 2,000 characters or more."""
_SCHEMAS: dict[tuple[type, str], dict[str, Any]] = {}
_SCHEMA_TEXTS: dict[tuple[type, str], str] = {}
_SENT: dict[tuple[type, str], dict[str, Any]] = {}
_DATA = ("default", "enum", "const", "examples")
"""Parts of a schema that hold values, not schemas."""
_LETTERS = "A-Za-zÀ-ÖØ-öø-ɏ一-龥"
_ESCAPES = {r"\d": "0-9", r"\w": f"{_LETTERS}0-9_", r"\s": r" \t"}
"""Which characters a short form stands for, in a grammar that knows none."""
_PART = re.compile(r"\[\^\\W\\d_\]|\[(?:\\.|[^\]\\])*\]|\\.|[^\[\\]+")


def schema_of(schema: type, language: str = "en") -> dict[str, Any]:
    """The JSON schema of a pydantic model, without the titles that only repeat names; shared, not
    to be changed. In another language its descriptions are in that language, as far as
    `prompts/LANGUAGE/descriptions.txt` has them, and the words of a closed list that has an
    explanation there are explained; the words themselves stay, for they are ids.
    """
    if (schema, language) not in _SCHEMAS:
        assert issubclass(schema, BaseModel)
        plain = _each(schema.model_json_schema(), _untitled)
        _SCHEMAS[schema, language] = (
            plain if language == "en" else _each(plain, lambda part: _told(part, language))
        )
    return _SCHEMAS[schema, language]


def sent_schema(schema: type, language: str = "en", limits: Limits | None = None) -> dict[str, Any]:
    """The same as a server is sent it; shared where there are no limits, not to be changed. A
    grammar can be made of it, so some of what the model checks may be missing: what it checks of
    texts by patterns that grammars cannot have, and lengths above MOST_REPEATED.
    """
    if limits:
        narrowed: dict[str, Any] = _each(
            limited(schema_of(schema, language), limits), _for_grammars
        )
        return narrowed
    if (schema, language) not in _SENT:
        _SENT[schema, language] = _each(schema_of(schema, language), _for_grammars)
    return _SENT[schema, language]


def exactly(wanted: Sequence[object]) -> dict[str, int]:
    """Of a list: one for each of these."""
    return {"minItems": len(wanted), "maxItems": len(wanted)}


def some_of(words: Sequence[str], most: int) -> dict[str, Any]:
    """Of a list of texts: so many of these words at most, and none where there is none."""
    if not words:
        return {"maxItems": 0}
    return {"items": {"type": "string", "enum": [*words]}, "maxItems": most}


def limited(schema: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """A schema narrowed. KeyError for a field that it does not have."""
    root: dict[str, Any] = copy.deepcopy(dict(schema))
    for path, limit in limits.items():
        *way, name = path.split(".")
        owner = root
        for step in way:
            owner = _members(root, owner["properties"][step])
        if limit is None:
            del owner["properties"][name]
            owner["required"] = [one for one in owner.get("required", ()) if one != name]
        else:
            owner["properties"][name] = _narrowed(owner["properties"][name], limit)
    return root


def _members(root: Mapping[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """The object that a field holds, or a list of which."""
    while "properties" not in part:
        part = root["$defs"][part["$ref"].rsplit("/", 1)[-1]] if "$ref" in part else part["items"]
    return part


def _narrowed(part: Mapping[str, Any], limit: Mapping[str, Any]) -> dict[str, Any]:
    if "type" in limit or "anyOf" in limit:
        return {**{key: part[key] for key in ("description",) if key in part}, **limit}
    texts = ("minLength", "maxLength", "pattern") if "enum" in limit else ()
    return {key: value for key, value in part.items() if key not in texts} | dict(limit)


def _each(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A schema with a change made to each of its parts, inner ones first. A field is never taken
    for a word of the schema, whatever its name.
    """
    if isinstance(schema, list):
        return [_each(one, change) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return change(
        {
            key: {name: _each(part, change) for name, part in value.items()}
            if key in ("properties", "$defs")
            else value
            if key in _DATA
            else _each(value, change)
            for key, value in schema.items()
        }
    )


def _untitled(part: dict[str, Any]) -> dict[str, Any]:
    """Without its `title`: it says what the name of the field says, and costs a tenth of what is
    sent.
    """
    return {key: value for key, value in part.items() if key != "title"}


def _told(part: dict[str, Any], language: str) -> dict[str, Any]:
    """With its description in a language."""
    own = part.get("description")
    words = described(", ".join(map(str, part.get("enum", ()))), language)
    texts = [text for text in (own and (described(own, language) or own), words) if text]
    return part | ({"description": " ".join(texts)} if texts else {})


def _for_grammars(part: dict[str, Any]) -> dict[str, Any]:
    """Without what servers that make a grammar of it refuse: a pattern with short forms, and a
    great number of repetitions; an object has the fields that are asked for and no others.
    """
    sent = {
        key: value
        for key, value in part.items()
        if not (key == "maxLength" and value > MOST_REPEATED)
    }
    if "pattern" in sent:
        pattern = _plain_pattern(sent.pop("pattern"))
        sent |= {"pattern": pattern} if pattern else {}
    return {"additionalProperties": False} | sent if "properties" in sent else sent


def _plain_pattern(pattern: str) -> str | None:
    """A pattern without short forms; None where it needs what grammars lack."""
    if not (pattern.startswith("^") and pattern.endswith("$")) or "(?" in pattern:
        return None
    plain = "".join(map(_spelled_out, _PART.findall(pattern)))
    return plain if not re.search(r"\\[A-Za-z]", plain.replace(r"\t", "")) else None


def _spelled_out(part: str) -> str:
    if part == r"[^\W\d_]":
        return f"[{_LETTERS}]"
    if part in _ESCAPES:
        return f"[{_ESCAPES[part]}]"
    if part.startswith("["):
        for short, characters in _ESCAPES.items():
            part = part.replace(short, characters)
    return part


def response_format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema as a chat completion takes it beside its messages."""
    return {
        "type": "json_schema",
        "json_schema": {
            "name": re.sub(r"\W", "_", name, flags=re.ASCII)[:64],
            "strict": False,
            "schema": schema,
        },
    }


def schema_text(schema: type, language: str = "en") -> str:
    """The JSON schema of a pydantic model as text, as it is in a question's key."""
    if (schema, language) not in _SCHEMA_TEXTS:
        _SCHEMA_TEXTS[schema, language] = json.dumps(
            schema_of(schema, language), ensure_ascii=False, separators=(",", ":")
        )
    return _SCHEMA_TEXTS[schema, language]
