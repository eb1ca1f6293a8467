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


def allows(schema, value, whole=None):
    """Whether a schema allows a value; ``whole`` has the definitions."""
    whole = whole or schema

    def other(part, each):
        return part is True or (part is not False and allows(part, each, whole))

    fields = value if isinstance(value, dict) else {}
    items = value if isinstance(value, list) else []
    prefix = schema.get("prefixItems", [])
    same = lambda a, b: type(a) is type(b) and a == b  # noqa: E731  # true is not 1
    checks = {
        "$ref": lambda ref: other(whole["$defs"][ref.removeprefix("#/$defs/")], value),
        "type": lambda name: _has_type(value, name),
        "const": lambda const: same(const, value),
        "enum": lambda options: any(same(option, value) for option in options),
        "anyOf": lambda parts: any(other(part, value) for part in parts),
        "oneOf": lambda parts: sum(other(part, value) for part in parts) == 1,
        "allOf": lambda parts: all(other(part, value) for part in parts),
        "if": lambda part: not other(part, value) or other(schema["then"], value),
        "minimum": lambda least: not _has_type(value, "number") or value >= least,
        "maximum": lambda most: not _has_type(value, "number") or value <= most,
        "maxLength": lambda most: not isinstance(value, str) or len(value) <= most,
        "pattern": lambda pattern: not isinstance(value, str) or bool(re.search(pattern, value)),
        "maxItems": lambda most: len(items) <= most,
        "minItems": lambda least: not isinstance(value, list) or len(items) >= least,
        "prefixItems": lambda parts: all(map(other, parts, items)),
        "items": lambda part: all(other(part, each) for each in items[len(prefix):]),
        "required": lambda names: not isinstance(value, dict) or set(names) <= set(fields),
        "properties": lambda parts: all(other(parts[key], fields[key]) for key in parts if key in fields),
        "additionalProperties": lambda part: all(
            other(part, each) for key, each in fields.items() if key not in schema.get("properties", {})
        ),
        "propertyNames": lambda part: all(other(part, key) for key in fields),
        "maxProperties": lambda most: len(fields) <= most,
    }
    return all(checks[keyword](content) for keyword, content in schema.items() if keyword not in IGNORED)
