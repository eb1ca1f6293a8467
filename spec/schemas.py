"""Writes the JSON Schemas of the oracle: programs and messages in ``refimpl/oracle/schema``, cases beside its suite.

    python spec/schemas.py            writes the files
    python spec/schemas.py --check    exit code 1 when a file is not what would be written

Settings and steps come from the checks of ``refimpl/oracle/programs/fields.py``; what else a program has stands below.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from refimpl.oracle.backends.hello import HELLO  # noqa: E402
from refimpl.oracle.programs import fields, messages, program, values  # noqa: E402
from spec import generated  # noqa: E402

Schema = dict[str, Any]
FOLDER = ROOT / "refimpl/oracle/schema"
CASE = ROOT / "refimpl/oracle/suite/schema/case.schema.json"
LEVELS = {"executor": (1, 2), "module": (3,), "bucketing": (4,), "optimizer": (5,), "store": (6,), "cluster": (7,)}
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string", "maxLength": program.LONGEST_TEXT}
INT32: Schema = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}


def _object(required: Sequence[str], **properties: Schema) -> Schema:
    return {
        "type": "object", "properties": properties, "required": list(required), "additionalProperties": False,
    }


def _list(items: Schema, most: int, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "maxItems": most, **({"minItems": least} if least else {})}


def _tuple(*items: Schema) -> Schema:
    return {"type": "array", "prefixItems": list(items), "minItems": len(items), "maxItems": len(items)}


ARRAY = _object(
    ["shape", "dtype"],
    shape=_list({"type": "integer", "minimum": 0, "maximum": values.LARGEST_ARRAY}, values.LONGEST_RANK),
    dtype={"enum": list(values.DTYPES)},
    kind={"anyOf": [
        {"enum": list(values.KINDS)}, _tuple({"const": "labels"}, INT32), _tuple({"const": "ints"}, INT32, INT32),
    ]},
    style={"enum": list(values.STYLES)},
    seed={"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    elements=_list({"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}, values.LARGEST_ARRAY),
)
WITH_ELEMENTS = _object(
    ["shape", "dtype", "elements"], **{key: ARRAY["properties"][key] for key in ("shape", "dtype", "elements")}
)
"""What an array is in a case of a suite."""
REFERENCE = _object(["array"], array={"type": "integer", "minimum": 0})
"""What an array is in a request to a worker that reads arrays as bytes."""


NAMED = ("array", "index", "requirement", "shape", "arrays", "rows", "parameter", "schedule", "description", "metric")
"""Checks whose schemas are definitions, in an order in which each needs only earlier ones."""


def _shared(schema: Any, names: Sequence[str] = NAMED) -> Any:
    """A schema with references in the place of parts that are definitions."""
    for name in names:
        if schema == getattr(fields, name).schema:
            return {"$ref": f"#/$defs/{name}"}
    if isinstance(schema, dict):
        return {key: _shared(value, names) for key, value in schema.items()}
    return [_shared(value, names) for value in schema] if isinstance(schema, list) else schema


def program_schema(array: Schema) -> Schema:
    """The schema of a program whose arrays have the schema ``array``, without the head of a file."""
    entry = _tuple(
        {"type": "integer", "minimum": 0, "maximum": program.MOST["nodes"] - 1},
        {"type": "integer", "minimum": 0, "maximum": 999},
    )
    node = _object(
        ["op", "name"], op=TEXT, name=TEXT, inputs=_list({"$ref": "#/$defs/entry"}, program.MOST["nodes"]),
        attrs={"type": "object", "propertyNames": TEXT, "additionalProperties": TEXT},
    )
    definitions: Schema = {"array": array, "entry": entry, "node": node}
    for number, name in enumerate(NAMED[1:], 1):
        definitions[name] = _shared(getattr(fields, name).schema, NAMED[:number])
    module, cases = fields.MODULE, []
    for name, levels in LEVELS.items():
        steps, then = fields.STEPS[levels[0]], {}
        own = {verb: check for verb, check in steps.items() if name != "bucketing" or check is not module.get(verb)}
        for verb, check in own.items():
            definitions[f"{name}.{verb}"] = _step(verb, _shared(check.schema), may_fail=name != "cluster")
        options = [{"$ref": f"#/$defs/{name if verb in own else 'module'}.{verb}"} for verb in steps]
        then["steps"] = {"items": {"oneOf": options}}
        then["settings"] = _shared(fields.SETTINGS.get(levels[0], fields.fields()).schema)
        if name == "cluster":
            then |= {"nodes": {"maxItems": 0}, "arrays": {"maxProperties": 0}}
        needed = {"required": ["settings"]} if name == "cluster" else {}
        cases.append({
            "if": {"properties": {"level": {"enum": list(levels)}}}, "then": {"properties": then, **needed},
        })
    whole = _object(
        ["version", "level"], version={"const": program.VERSION}, level={"enum": list(program.LEVELS)},
        nodes=_list({"$ref": "#/$defs/node"}, program.MOST["nodes"]),
        heads=_list({"$ref": "#/$defs/entry"}, program.MOST["heads"]),
        arrays={
            "type": "object", "additionalProperties": {"$ref": "#/$defs/array"},
            "maxProperties": program.MOST["arrays"],
        },
        steps=_list({"type": "object"}, program.MOST["steps"]), settings={"type": "object"},
    )
    return {**whole, "allOf": cases, "$defs": definitions}


def _step(verb: str, schema: Schema, *, may_fail: bool) -> Schema:
    properties = {"do": {"const": verb}, "attempt": {"type": "boolean"} if may_fail else {"const": False}}
    return {**schema, "properties": {**properties, **schema["properties"]}, "required": ["do", *schema["required"]]}


def _listed(names: Schema) -> Schema:
    """The schema of the list of a message's arrays."""
    sides = _list({"type": "integer", "minimum": 0, "maximum": messages.LARGEST}, messages.MOST_SIDES)
    return {"type": "array", "items": _tuple(names, {"enum": list(messages.TYPES)}, sides)}


def case_schema() -> Schema:
    """The schema of a case of a suite."""
    made = program_schema(WITH_ELEMENTS)
    definitions = {**made.pop("$defs"), "program": made}
    words: Schema = {"type": "array", "items": {"type": "string"}}
    bound: Schema = {"anyOf": [{"type": "number", "minimum": 0}, {"const": "free"}]}
    expected = _object(
        ["shape", "dtype", "bound"], shape={"type": "array", "items": {"type": "integer", "minimum": 0}},
        dtype={"enum": list(messages.TYPES)},
        elements={"type": "array", "items": ARRAY["properties"]["elements"]["items"]},
        bound={"anyOf": [bound, {"type": "array", "items": bound}]},
    )
    properties: Schema = {
        "case": {"type": "string"}, "level": {"type": "integer", "minimum": 1, "maximum": 6}, "operators": words,
        "clauses": words, "tier": {"enum": ["exact", "bounded", "free"]}, "corner": {"type": "boolean"},
        "styles": words, "program": {"$ref": "#/$defs/program"},
        "trace": {"type": "object", "additionalProperties": expected},
    }
    return {**_object(list(properties), **properties), "$defs": definitions}


def files() -> dict[Path, str]:
    """The files, and what each should hold."""
    request = program_schema(REFERENCE)
    definitions = {**request.pop("$defs"), "program": request}
    none: Schema = {"type": "array", "maxItems": 0}
    error = _object(["error", "text"], error={"enum": ["refused", "unsupported"]}, text={"type": "string"}, arrays=none)
    named = {"type": "string", "maxLength": messages.LONGEST_NAME}
    schemas = {
        "program": {"title": "A program of refimpl oracle", **program_schema(ARRAY)},
        "hello": {
            "title": "The first message of a worker",
            **HELLO.schema, "properties": {**HELLO.schema["properties"], "arrays": none},
        },
        "request": {
            "title": "A request to a worker whose first message says inline",
            **_object(
                ["programs", "arrays"], programs=_list({"$ref": "#/$defs/program"}, 10_000, 1),
                arrays=_listed({"type": "string", "pattern": "^[0-9]+$"}),
            ), "$defs": definitions,
        },
        "answer": {
            "title": "An answer to one program", "anyOf": [_object(["arrays"], arrays=_listed(named)), error],
        },
    }
    made = {FOLDER / f"{name}.json": schema for name, schema in schemas.items()}
    made[CASE] = {"title": "A case of a suite", **case_schema()}
    return {path: _text({"$schema": DIALECT, **schema}) for path, schema in made.items()}


def _text(schema: Schema) -> str:
    """JSON with a line for each field and for each definition."""
    rows = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in schema.items() if key != "$defs"]
    if "$defs" in schema:
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in schema["$defs"].items())
        rows.append(f'"$defs": {{\n{lines}\n }}')
    return "{\n " + ",\n ".join(rows) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files or compare them."""
    check = generated.asks_check(arguments, "The JSON Schemas of the oracle.")
    problems = generated.renew(files(), "schemas", check=check)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
