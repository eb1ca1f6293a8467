"""Every operator of a step in words, for the page: all its facts, or a line of a table."""

from __future__ import annotations

from typing import Any

from ..base import decides
from .brevity import LEFT_OUT, NAMES, WHOLE, ends
from .markup import duration, folded, heat, largest, rules, shape, size, table, text, value

Data = dict[str, Any]


@decides("Explain/small")
def listed(steps: list[tuple[int, Data]], plan: Data, contexts: list[str], times: list[dict[str, float]]) -> str:
    """The operators in the order in which they run; of many, those between the first and the last ones in a table.

    Args:
        steps: the number of each operator's step, and the operator.
        plan: the memory of the first context.
        contexts: their names.
        times: microseconds by operator, for each context.
    """
    places = _places(plan)
    firsts: dict[tuple[str, ...], int] = {}
    for at, (_, node) in enumerate(steps):
        firsts.setdefault(_with_rules(node), at)
    whole = ends(len(steps), WHOLE) | set(firsts.values())
    parts: list[str] = []
    lines: list[list[str]] = []
    between = 0
    for at, (position, node) in enumerate(steps):
        took = [(c, t.get(node["id"])) for c, t in zip(contexts, times, strict=True)]
        if at not in whole:
            between = between or len(parts)
            lines.append(_line(position, node, took))
            continue
        around = [steps[near][1]["id"] if near in whole else None for near in (at - 1, at + 1)]
        parts.append(_operator(position, node, places, took, around, steps[firsts[_with_rules(node)]][1]))
    if lines:
        heads = ["step", "operator", "kind", "gives", "first numbers", "norm", *map(text, contexts)]
        told = f"{len(lines)} operators between these and the last, a line for each"
        content = f'<p class="note">{LEFT_OUT}</p>' + table(heads, lines, told)
        parts.insert(between, folded(told, content, "operators-between"))
    return "".join(parts)


def _places(plan: Data) -> dict[str, str]:
    """Value -> where it lies, in words."""
    return {
        value["name"]: (
            f"in the memory of {row['within']}" if row["within"] else f"at byte {row['offset']:,} of the arena"
        ) + f", steps {row['first'] + 1} to {row['last'] + 1}"
        for row in plan["rows"] for value in row["values"]
    }


@decides("Explain/values")
def _operator(
    position: int, node: Data, places: dict[str, str], times: list[tuple[str, float | None]], around: list[str | None],
    first: Data,
) -> str:
    kind = node["operator"].removeprefix("_backward_")
    what = f"gradient of {kind}" if node["phase"] == "backward" else kind
    reads = _some([r["value"] for r in node["all_reads"]]) or "nothing"
    gives = "".join(
        f"<li><code>{text(v['name'])}</code>: {shape(v['shape'])} of {v['dtype']}, {size(v['bytes'])};"
        f" {text(places.get(v['name'], 'an array of its own'))}{_glance(v)}</li>"
        if v["kept"] else f"<li><code>{text(v['name'])}</code>: nobody reads it, so it is not computed</li>"
        for v in node["values"][:NAMES]
    ) + (f"<li>and {len(node['values']) - NAMES} more alike</li>" if len(node["values"]) > NAMES else "")
    took = ", ".join(f"{duration(time)} on {text(context)}" for context, time in times if time is not None)
    settings = ", ".join(f"<code>{text(k)} = {text(v)}</code>" for k, v in node["attributes"].items())
    facts = [
        ("stands for", f"{node['copies']} operators alike" if node["copies"] > 1 else ""),
        ("reads", reads), ("gives", f"<ul>{gives}</ul>"), ("parameters", settings), ("takes", took),
        ("live", f"{size(node['live'])} of the arena" if "live" in node else ""),
        ("overwrites", _some(node.get("overwrites", []))),
        ("page", f"<code>{text(node['page'])}</code>"), ("rules", _rules(node, first, kind)),
    ]
    body = "".join(f"<dt>{key}</dt><dd>{content}</dd>" for key, content in facts if content)
    links = "".join(
        f'<a href="#in-{name}">{words}</a> '
        for name, words in zip(around, ("\N{LEFTWARDS ARROW} before", "next \N{RIGHTWARDS ARROW}"), strict=True) if name
    )
    copies = f" \N{MULTIPLICATION SIGN} {node['copies']}" if node["copies"] > 1 else ""
    summary = (
        f'<span class="badge {node["phase"]}">{position}</span> <b>{text(node["name"])}</b> <span class="note">'
        f"{text(what)}, {node['phase']}{copies}</span>"
    )
    content = f'<dl class="facts" id="in-{node["id"]}">{body}</dl><p class="around">{links}</p>'
    live = f' data-live="{node["live"]}"' if "live" in node else ""
    shut = folded(summary, content, "node-" + node["id"])
    return f'<div class="operator" data-node="{node["id"]}"{live}>{shut}</div>'


def _with_rules(node: Data) -> tuple[str, ...]:
    """The description that operators with the same rules share."""
    return (node["page"], *node["rules"])


def _rules(node: Data, first: Data, kind: str) -> str:
    """The rules of an operator, where it is the first with them; else a link to that one."""
    if node is first or not node["rules"]:
        return rules(node["rules"], f"Rules of {kind}")
    many = "the rule" if len(node["rules"]) == 1 else f"the {len(node['rules'])} rules"
    return f'<a href="#node-{first["id"]}">{many} of {text(kind)}</a>, at <code>{text(first["name"])}</code>'


def _line(position: int, node: Data, times: list[tuple[str, float | None]]) -> list[str]:
    """An operator in a table: its first value only."""
    made = next((value for value in node["values"] if value["kept"]), node["values"][0])
    seen = made.get("seen") or {"window": [], "norm": None}
    numbers = " ".join(value(one) for one in seen["window"][0][:NAMES]) if seen["window"] else ""
    copies = f" \N{MULTIPLICATION SIGN} {node['copies']}" if node["copies"] > 1 else ""
    return [
        f'<span id="node-{node["id"]}">{position}</span>', text(node["name"]) + copies, text(node["operator"]),
        shape(made["shape"]), numbers, value(seen["norm"]) if numbers else "",
        *("" if time is None else duration(time) for _, time in times),
    ]


def _some(names: list[str]) -> str:
    """Names as code; of many the first ones."""
    told = ", ".join(f"<code>{text(name)}</code>" for name in names[:NAMES])
    return told + (f" and {len(names) - NAMES} more" if len(names) > NAMES else "")


def _glance(given: Data) -> str:
    """The first numbers of a value, as a picture and as words."""
    found = given.get("seen")
    if not found or not found["window"]:
        return ""
    picture = heat(found, largest([found]), f"{given['name']}: its first rows and columns")
    numbers = " ".join(value(number_) for number_ in found["window"][0][:NAMES])
    more = " \N{HORIZONTAL ELLIPSIS}" if found["rows"] * found["columns"] > NAMES else ""
    return f'<div class="glance">{picture}<p class="numbers">{numbers}{more}; norm {value(found["norm"])}</p></div>'


__all__ = ["listed"]
