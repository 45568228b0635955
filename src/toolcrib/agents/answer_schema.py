"""A JSON schema for an answer: sent with the request, and looked at in what comes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from toolcrib.core.errors import BadInput

ASK = "Give your answer now as JSON by this schema, and nothing besides:\n{schema}"
AGAIN = "That does not fit the schema: {why}. Give the JSON alone, corrected."
WORDS = {"int": "integer", "float": "number", "num": "number", "bool": "boolean", "str": "string"}
KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
SHORT = re.compile(r"\s*([A-Za-z_]\w{0,60})(?:\s+(\w+))?(?:\s*:\s*(.+?))?\s*", re.DOTALL)
FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)


def schema_of(text: str) -> dict[str, Any]:
    """A schema from JSON, or from fields by commas or lines, as `name, age int, bio: in a line`.

    Raises:
        BadInput: it is neither.
    """
    text = text.strip()
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"The schema is not valid JSON: {error}.") from None
        if not isinstance(value, dict):
            raise BadInput("The schema must be a JSON object.")
        return value
    properties: dict[str, Any] = {}
    for part in filter(str.strip, re.split(r"\n" if "\n" in text else r",", text)):
        found = SHORT.fullmatch(part)
        kind = WORDS.get((found[2] or "string").lower(), found[2] or "string") if found else ""
        if found is None or kind not in KINDS:
            raise BadInput(
                f"'{part.strip()[:60]}' is no field of a schema.",
                hint="Give JSON, a file with it, or fields such as 'name, age int'.",
            )
        properties[found[1]] = {"type": kind}
        if found[3]:
            properties[found[1]]["description"] = found[3]
    if not properties:
        raise BadInput("The schema is empty.", hint="Give JSON or fields such as 'name, age int'.")
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The field of a request that asks for it."""
    name = re.sub(r"\W", "_", str(schema.get("title") or "answer"))[:60]
    inner = {"name": name, "schema": dict(schema), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": inner}}


def json_answer(text: str, schema: Mapping[str, Any]) -> tuple[Any, str]:
    """The JSON of an answer, and why it does not fit; empty where it does."""
    for candidate in (text.strip(), *FENCED.findall(text)):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return value, misfit(value, schema)
    return None, "it is no JSON"


def misfit(value: Any, schema: Any, place: str = "it", depth: int = 0) -> str:
    """Why a value does not fit: kinds, names, items and choices are looked at.

    What else a schema may say is left to the server that was given it.
    """
    if not isinstance(schema, Mapping) or depth > 60:
        return ""
    kinds = schema.get("type")
    named = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    if named and not any(_is_kind(value, kind) for kind in named):
        return f"{place} must be {' or '.join(map(str, named))}"
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return f"{place} must be one of {json.dumps(choices, ensure_ascii=False)[:200]}"
    if isinstance(value, dict):
        return _misfit_object(value, schema, place, depth)
    if isinstance(value, list):
        items = schema.get("items")
        found = (misfit(v, items, f"{place}[{n}]", depth + 1) for n, v in enumerate(value))
        return next(filter(None, found), "")
    return ""


def _misfit_object(value: dict[str, Any], schema: Mapping[str, Any], place: str, depth: int) -> str:
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in value:
            return f"{place} needs '{name}'"
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    for name, item in value.items():
        if name not in known and schema.get("additionalProperties") is False:
            return f"{place} may have no '{name}'"
        why = misfit(item, known.get(name), name, depth + 1)
        if why:
            return why
    return ""


def _is_kind(value: object, kind: object) -> bool:
    if not isinstance(kind, str) or kind not in KINDS:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, KINDS[kind])
