"""A validator of the part of JSON Schema that ``spec/schemas.py`` writes; another keyword is an error."""

from __future__ import annotations

import json
import re
from pathlib import Path

import refimpl

FOLDER = Path(refimpl.__file__).parent / "oracle/schema"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
IGNORED = {"$schema", "title", "$defs", "then"}


def schema_of(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def _has_type(value, name):
    if name in ("integer", "number"):
        return type(value) is int or (name == "number" and type(value) is float)
    return isinstance(value, TYPES[name])


def _same(one, other):
    return type(one) is type(other) and one == other  # true is not 1


def _items(value):
    return value if isinstance(value, list) else []


def _fields(value):
    return value if isinstance(value, dict) else {}


# Each gets the keyword's content, the value, the schema, and the function that asks another schema.
KEYWORDS = {
    "type": lambda name, value, schema, allow: _has_type(value, name),
    "const": lambda const, value, schema, allow: _same(const, value),
    "enum": lambda options, value, schema, allow: any(_same(option, value) for option in options),
    "anyOf": lambda parts, value, schema, allow: any(allow(part, value) for part in parts),
    "oneOf": lambda parts, value, schema, allow: sum(allow(part, value) for part in parts) == 1,
    "allOf": lambda parts, value, schema, allow: all(allow(part, value) for part in parts),
    "if": lambda part, value, schema, allow: not allow(part, value) or allow(schema["then"], value),
    "minimum": lambda least, value, schema, allow: not _has_type(value, "number") or value >= least,
    "maximum": lambda most, value, schema, allow: not _has_type(value, "number") or value <= most,
    "maxLength": lambda most, value, schema, allow: not isinstance(value, str) or len(value) <= most,
    "pattern": lambda pattern, value, schema, allow: not isinstance(value, str) or bool(re.search(pattern, value)),
    "maxItems": lambda most, value, schema, allow: len(_items(value)) <= most,
    "minItems": lambda least, value, schema, allow: not isinstance(value, list) or len(value) >= least,
    "prefixItems": lambda parts, value, schema, allow: all(map(allow, parts, _items(value))),
    "items": lambda part, value, schema, allow: all(
        allow(part, each) for each in _items(value)[len(schema.get("prefixItems", ())):]
    ),
    "required": lambda names, value, schema, allow: not isinstance(value, dict) or set(names) <= set(value),
    "properties": lambda parts, value, schema, allow: all(
        allow(parts[key], each) for key, each in _fields(value).items() if key in parts
    ),
    "additionalProperties": lambda part, value, schema, allow: all(
        allow(part, each) for key, each in _fields(value).items() if key not in schema.get("properties", {})
    ),
    "propertyNames": lambda part, value, schema, allow: all(allow(part, key) for key in _fields(value)),
    "maxProperties": lambda most, value, schema, allow: len(_fields(value)) <= most,
}


def allows(schema, value, whole=None):
    """Whether a schema allows a value; ``whole`` has the definitions."""
    whole = schema if whole is None else whole

    def allow(part, each):
        if isinstance(part, bool):
            return part
        if "$ref" in part:
            return allow(whole["$defs"][part["$ref"].removeprefix("#/$defs/")], each)
        return all(KEYWORDS[key](content, each, part, allow) for key, content in part.items() if key not in IGNORED)

    return allow(schema, value)
