"""A program: one test case as a small JSON value. Drawing, running, shrinking, storing and reporting all act on it.

    {"version": 1, "level": 2,
     "nodes": [{"op": "null", "name": "a"}, {"op": "relu", "name": "n1", "inputs": [[0, 0]], "attrs": {}}],
     "heads": [[1, 0]],
     "arrays": {"a": {"shape": [2], "dtype": "float32", "style": "tied", "seed": 3}},
     "steps": [{"do": "bind", "requirements": {"a": "write"}},
               {"do": "forward", "train": true}, {"do": "backward"}]}

``nodes`` and ``heads`` are the graph in the terms of MXNet's symbol files: a node's inputs are pairs of the number of
an earlier node and the number of its output; variables have the operator "null". ``arrays`` gives every variable its
value (see ``values``). ``steps`` lists the steps in order (see ``interpreter``). Unknown fields are refused, and so are
sizes beyond the limits for untrusted files.
"""

import hashlib
import json

from .clusters import check_cluster
from .fields import check_settings, check_step
from .values import check_array

VERSION = 1
FIELDS = {"version", "level", "nodes", "heads", "arrays", "steps", "settings"}
NODE_FIELDS = {"op", "name", "inputs", "attrs"}
BY_VARIABLE = ("requirements", "gradients", "arrays")
"""Fields of steps that are objects with a variable's name as key."""
MOST = {"nodes": 2000, "heads": 64, "arrays": 2000, "steps": 2000}
"""How many of each a program may have."""
LONGEST_TEXT = 10_000
LEVELS = {
    1: "forward", 2: "executor", 3: "module", 4: "bucketing and SVRG", 5: "optimizers", 6: "store", 7: "cluster",
}
"""What the programs of each level exercise."""


def check_program(program):
    """Return ``program`` if it is a program; otherwise raise ValueError, which names the fault and its place."""
    _check(isinstance(program, dict), "a program is an object")
    unknown = sorted(set(program) - FIELDS)
    _check(not unknown, "a program has no field %s" % (unknown or [""])[0])
    version, level = program.get("version"), program.get("level")
    _check(type(version) is int and version == VERSION, "version %r is not %d" % (version, VERSION))
    _check(type(level) is int and level in LEVELS, "level %r is none of 1 to 7" % (level,))
    for field, most in MOST.items():
        kind = dict if field == "arrays" else list
        part = program.get(field, kind())
        _check(isinstance(part, kind), "%s is no %s" % (field, "object" if kind is dict else "list"))
        _check(len(part) <= most, "%d %s are more than %d" % (len(part), field, most))
    for position, node in enumerate(program.get("nodes", [])):
        _check_node(position, node)
    for head in program.get("heads", []):
        _check_entry(head, len(program.get("nodes", [])), "heads")
    for name, spec in program.get("arrays", {}).items():
        check_array(spec, "array %s" % name[:100])
    for position, step in enumerate(program.get("steps", [])):
        _check(isinstance(step, dict) and isinstance(step.get("do"), str), "step %d says not what to do" % position)
        check_step(program["level"], step, "step %d" % position)
    check_settings(program["level"], program.get("settings", {}))
    if program["level"] == 7:
        _check(not program.get("nodes") and not program.get("arrays"), "level 7 has neither nodes nor arrays")
        wrong = check_cluster(program)
        _check(not wrong, wrong)
    for bucket in program.get("settings", {}).get("buckets", []):
        known = all(place < len(program.get("heads", [])) for place in bucket["heads"])
        _check(known, "settings: bucket %d has heads that the program has not" % bucket["key"])
    return program


def _check(right, message):
    if not right:
        raise ValueError("no program: " + message)


def _check_node(position, node):
    where = "node %d" % position
    _check(isinstance(node, dict) and not set(node) - NODE_FIELDS, "%s has unknown fields" % where)
    texts = [node.get("op"), node.get("name")]
    attrs = node.get("attrs", {})
    _check(isinstance(attrs, dict), "%s: attrs is no object" % where)
    texts += [*attrs, *attrs.values()]
    _check(all(isinstance(t, str) and len(t) <= LONGEST_TEXT for t in texts), "%s: texts must be short" % where)
    inputs = node.get("inputs", [])
    _check(isinstance(inputs, list) and len(inputs) <= MOST["nodes"], "%s: inputs is no list" % where)
    for entry in inputs:
        _check_entry(entry, position, where)


def _check_entry(entry, nodes, where):
    _check(
        isinstance(entry, list) and len(entry) == 2 and all(type(n) is int for n in entry)
        and 0 <= entry[0] < nodes and 0 <= entry[1] < 1000, "%s: %r is no output of an earlier node" % (where, entry),
    )


def symbol_json(program):
    """The graph as the text of a symbol file of MXNet 1.9.1."""
    nodes = [
        {"op": n["op"], "name": n["name"], "inputs": [[*e, 0] for e in n.get("inputs", [])],
         **({"attrs": n["attrs"]} if n.get("attrs") else {})} for n in program["nodes"]
    ]
    return json.dumps({
        "nodes": nodes, "arg_nodes": [i for i, n in enumerate(nodes) if n["op"] == "null"],
        "node_row_ptr": list(range(len(nodes) + 1)), "heads": [[*e, 0] for e in program["heads"]],
        "attrs": {"mxnet_version": ["int", 10901]},
    })


def variables(program):
    """Names of the graph's variables, in order."""
    return [node["name"] for node in program.get("nodes", []) if node["op"] == "null"]


def operators(program):
    """Names of the operators in the graph, in order, with repetitions."""
    return [node["op"] for node in program.get("nodes", []) if node["op"] != "null"]


def text_of(program):
    """The program as one line of JSON, always the same for equal programs."""
    return json.dumps(program, sort_keys=True, separators=(",", ":"))


def name_of(program):
    """A name made of the content: the first 12 digits of its SHA-256."""
    return hashlib.sha256(text_of(program).encode()).hexdigest()[:12]


def read(text):
    """The program in ``text``; ValueError where it is none."""
    if len(text) > 50_000_000:
        raise ValueError("no program: %d bytes are too many" % len(text))
    return check_program(json.loads(text))


def pruned(program):
    """The same program without the nodes that no head needs, and without the fields of their variables."""
    needed = set()
    waiting = [head[0] for head in program["heads"]]
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed.add(number)
            waiting += [entry[0] for entry in program["nodes"][number].get("inputs", [])]
    if len(needed) == len(program["nodes"]):
        return program
    place = {old: new for new, old in enumerate(sorted(needed))}
    nodes = []
    for old in sorted(needed):
        node = dict(program["nodes"][old])
        if "inputs" in node:
            node["inputs"] = [[place[n], output] for n, output in node["inputs"]]
        nodes.append(node)
    kept = {node["name"] for node in nodes if node["op"] == "null"}

    def of_kept(part):
        return {name: value for name, value in part.items() if name in kept}

    steps = [
        {key: of_kept(value) if key in BY_VARIABLE else value for key, value in step.items()}
        for step in program["steps"]
    ]
    heads = [[place[n], output] for n, output in program["heads"]]
    return {**program, "nodes": nodes, "heads": heads, "arrays": of_kept(program["arrays"]), "steps": steps}


def most_readers(program):
    """How many operators and heads read the same node, at most."""
    counts = [0] * len(program.get("nodes", []))
    for node in program.get("nodes", []):
        for entry in node.get("inputs", []):
            counts[entry[0]] += 1
    for head in program.get("heads", []):
        counts[head[0]] += 1
    return max(counts, default=0)
