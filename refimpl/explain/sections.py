"""The first four parts of the page, about the operators that run: functions from the data of ``collect`` to HTML."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..base import decides
from . import charts, operator_words
from .brevity import LEFT_OUT, ROWS, greatest
from .folding import shown
from .markup import (
    cropped,
    duration,
    figure,
    folded,
    heat,
    largest,
    shape,
    size,
    sprites,
    table,
    text,
    value,
)
from .update_arithmetic import number

Data = dict[str, Any]
ACROSS = 8  # pictures side by side


# --- slices ------------------------------------------------------------------------------------------


def slices(data: Data) -> str:
    """Who gets which rows."""
    found = data["slices"]
    inputs = ", ".join(f"<code>{text(i['name'])}</code> of shape {shape(i['shape'])}" for i in found["inputs"])
    if not found["cut"]:
        return f"<p>The inputs ({inputs}) have no batch axis, so every device gets them whole.</p>"
    names = [text(part["context"]) for part in found["parts"]]
    devices = f"<b>{names[0]}</b> alone" if len(names) == 1 else " and ".join(f"<b>{name}</b>" for name in names)
    lines = [
        (
            f"<p>A batch of <b>{found['batch_size']} rows</b> arrives: {inputs}. It is cut along the batch axis,"
            " and each"
            f" device copies its own slice: {devices}.</p>"
        ),
        charts.scrolled(charts.batch(found), "The batch, cut"),
        '<div class="columns">',
    ]
    lines += [_part(part, index, found) for index, part in enumerate(found["parts"])]
    return "".join([*lines, "</div>"])


def _part(part: Data, index: int, found: Data) -> str:
    rows = part["end"] - part["begin"]
    pieces = [
        (
            f'<article class="device device{index % 8}"><h3>{text(part["context"])}</h3><p>{rows} rows, number'
            f" {part['begin']} to {part['end'] - 1}. With a weight of {number(part['weight'])} it is owed"
            f" {number(part['owed'])}.</p>"
        )
    ]
    for entry in found["inputs"]:
        values, name = part["arrays"][entry["name"]], text(entry["name"])
        where = f"{entry['name']} on {part['context']}"
        if "pictures" in values:
            count = len(values["pictures"])
            more = "" if count == rows else f", the first {count} of {rows}"
            image = sprites(values["pictures"], ACROSS, f"{count} pictures: {where}")
            pieces.append(figure(image, f"<code>{name}</code>: one picture per row{more}"))
        elif len(values["shape"]) == 1:
            numbers = " ".join(value(v) for v in values["window"][0])
            pieces.append(figure(f'<p class="numbers">{numbers}</p>', f"<code>{name}</code>: {shape(values['shape'])}"))
        else:
            image = heat(values, largest([values]), f"{where}, {shape(values['shape'])}")
            pieces.append(figure(image, f"<code>{name}</code>: {shape(values['shape'])} {cropped(values)}"))
    return "".join([*pieces, "</article>"])


# --- graph -------------------------------------------------------------------------------------------


def graph(data: Data) -> str:
    """The drawing, and every operator in words."""
    nodes = data["graph"]
    drawn = shown(nodes)
    stands = {node["id"]: node["shown_by"] for node in nodes}
    times = [_added(times_by_node(data, index), stands) for index in range(len(data["contexts"]))]
    forward = sum(node["phase"] == "forward" for node in nodes)
    backward = sum(node["phase"] == "backward" for node in nodes)
    wanted = sum(len(node.get("gradients", ())) for node in nodes)
    parts = [
        (
            f"<p>Every device runs the same graph on its slice. <b>Forward</b> runs {forward} operators, from the"
            " data down"
            f" to the loss. <b>Backward</b> runs {backward} more, up again: each takes the gradient of what its"
            " operator"
            f" gave and makes the gradients of what it had read. So the gradients of {wanted} arguments"
            " come out on the right. Dashed lines lead to values of forward that backward reads once more; the"
            " thin line at"
            " the foot of a box is its share of the time. Choose a box to read about it.</p>"
        ),
        _folds(drawn, len(nodes)),
        _without_parameters(drawn),
        (
            '<ul class="legend" aria-label="Colors"><li class="forward">forward</li><li'
            ' class="backward">backward</li>'
            '<li class="parameter">parameter</li><li class="gradient">its gradient</li><li class="label">label,'
            " state</li></ul>"
        ),
        charts.scrolled(charts.graph(drawn, times[0]), "The graph, scrollable"),
        '<h3 id="operators">Every operator, one by one</h3>',
        (
            f"<p>In the order in which {text(data['contexts'][0])} runs them, with the first numbers that each wrote"
            " in this very step, the memory that was in use, and the values whose bytes it took: these can be read no"
            " more.</p>"
        ),
        f'<div id="stepper" data-arena="{data["memory"][0]["planned"]}"></div>',
    ]
    numbers = {name: number for number, name in enumerate(data["memory"][0]["steps"], start=1)}
    steps = [(numbers[node["id"]], node) for node in drawn if node["phase"] != "variable"]
    parts.append(operator_words.listed(steps, data["memory"][0], data["contexts"], times))
    return "".join(parts)


@decides("Explain/folded")
def _folds(drawn: list[Data], count: int) -> str:
    """Says that copies of a cell are folded, where some are."""
    folded_nodes = [node for node in drawn if node["copies"] > 1]
    if not folded_nodes:
        return ""
    most = max(node["copies"] for node in folded_nodes)
    return (
        f"<p>The graph repeats itself, so <b>{count} nodes are drawn as {len(drawn)}</b>: a box with"
        f" \N{MULTIPLICATION SIGN}\N{NARROW NO-BREAK SPACE}n above it stands for n operators alike, up to {most}, each"
        " of which reads what the one before it left. What is said of it is true of the one that is named; its time is"
        " that of all. <code>--json</code> has every operator.</p>"
    )


@decides("Explain/small")
def _without_parameters(drawn: list[Data]) -> str:
    """Says that a large drawing has operators only."""
    return (
        "<p>So large a graph is drawn without its parameters; <code>--json</code> says what every operator reads.</p>"
        if charts.is_large(drawn) else ""
    )


def _added(times: list[tuple[str, float, Data]], stands: dict[str, str]) -> dict[str, float]:
    """Microseconds of each drawn node, with all its folded copies."""
    found: dict[str, float] = {}
    for name, took, _ in times:
        found[stands[name]] = found.get(stands[name], 0) + took
    return found


def times_by_node(data: Data, index: int) -> list[tuple[str, float, Data]]:
    """(node, microseconds, row) of each step of a device that is a node's."""
    ids = identities(data)
    rows = data["times"]["contexts"][index]["steps"]
    return [(ids[row["phase"], row["name"]], row["least"], row) for row in rows if (row["phase"], row["name"]) in ids]


def identities(data: Data) -> dict[tuple[str, str], str]:
    """(phase, name) -> node."""
    return {(node["phase"], node["name"]): node["id"] for node in data["graph"] if node["phase"] != "variable"}


# --- memory ------------------------------------------------------------------------------------------


def memory(data: Data) -> str:
    """The place of each value in memory, and its life time."""
    first, *others = data["memory"]
    saved = first["requested"] - first["planned"]
    share = 100 * saved / first["requested"] if first["requested"] else 0
    own = first["own"]
    named = {node["id"] for node in data["graph"] if node["shown_by"] == node["id"]}
    parts = [
        (
            "<p>Where every value lies is decided once, before anything runs. Arguments, gradients and outputs"
            " have arrays of"
            " their own, because others see them. All values in between lie in one <b>arena</b> per device: two"
            " values whose"
            f" lives do not overlap may use the same bytes. On {text(first['context'])} they need"
            f" <b>{size(first['planned'])}</b>; with memory of its own for each it would be"
            f" {size(first['requested'])}, so"
            f" {share:.0f}\N{NARROW NO-BREAK SPACE}% is saved.</p>"
        ),
        charts.scrolled(charts.shares([
            ("parameter", "arguments", own["arguments"]), ("gradient", "gradients", own["gradients"]),
            ("kept", "arena", first["planned"]), ("label", "outputs", own["outputs"]),
            ("passing", "states", own["auxiliary states"]),
        ]), "Who takes how many bytes"),
        (
            '<p class="note">'
            f"Arguments {size(own['arguments'])}, gradients {size(own['gradients'])}, arena"
            f" {size(first['planned'])}, outputs"
            f" {size(own['outputs'])}, auxiliary states {size(own['auxiliary states'])}.</p>"
        ),
        (
            '<ul class="legend" aria-label="Colors"><li class="kept">forward, kept for backward</li><li'
            ' class="passing">'
            'forward, given up earlier</li><li class="backward">backward</li></ul>'
        ),
        _plan(first, named),
    ]
    for plan in others:
        same = _bytes(plan) == _bytes(first)
        told = f"The plan of {text(plan['context'])}: {size(plan['planned'])}"
        parts.append(f'<p class="note">{told}, the same plan.</p>' if same else folded(told, _plan(plan, named)))
    return "".join(parts)


def _bytes(plan: Data) -> list[tuple[Any, ...]]:
    return [(r["offset"], r["size"], r["first"], r["last"]) for r in plan["rows"]]


def _plan(plan: Data, named: set[str]) -> str:
    chosen = [row for row in plan["rows"] if any(value["node"] in named for value in row["values"])]
    told = greatest([row["size"] for row in chosen], ROWS)
    rows = [
        [
            f"{row['offset']:,}" if row["within"] is None else f"in {text(row['within'])}", text(row["context"]),
            f"{row['size']:,} bytes",
            f"{row['first'] + 1} to {row['last'] + 1}",
            ", then ".join(
                f"<code>{text(v['name'])}</code>{' (the same numbers in another shape)' if v['view'] else ''}"
                for v in row["values"]
            ),
        ]
        for number_of, row in enumerate(chosen) if number_of in told
    ]
    left = len(plan["rows"]) - len(chosen)
    more = f"; {left} more are those of folded copies" if left else ""
    heads = ["offset", "device", "size", "steps", "values that lie there"]
    content = table(heads, rows, f"Places of {text(plan['context'])}")
    several = len(plan["arenas"]) > 1
    picture = "".join(
        (f"<h3>{text(context)}</h3>" if several else "")
        + charts.scrolled(charts.memory(plan, context), f"Memory of {context}, scrollable")
        for context in plan["arenas"]
    )
    few = f"the largest {len(rows)} of " if len(rows) < len(chosen) else ""
    told_not = f'<p class="note">{LEFT_OUT}</p>' if few else ""
    return picture + folded(f"{few}{len(chosen)} places as a table{more}", told_not + content)


# --- times -------------------------------------------------------------------------------------------


def _times_of(
    contexts: list[Data], position: int, node: str | None, added: list[dict[str, float]], slowest: float
) -> list[str]:
    """The time of a step on each device, as bars."""
    cells = []
    for device, context in enumerate(contexts):
        if len(context["steps"]) != len(contexts[0]["steps"]):
            cells.append("")  # devices whose graphs differ are measured, but share no row
            continue
        took = context["steps"][position]["least"]
        if node is not None:
            took = added[device].get(node, took)
        cells.append(
            f'<span class="meter device{device % 8}" style="--share:{100 * took / slowest:.1f}%">'
            f"{duration(took)}</span>"
        )
    return cells


def times(data: Data) -> str:
    """Where the time goes."""
    found = data["times"]
    contexts = found["contexts"]
    together = "side by side, a thread for each" if len(contexts) > 1 else "alone"
    parts = [
        (
            f"<p>Forward and backward take <b>{duration(found['span'])}</b>; the devices work {together}."
            " Measured by the"
            f" profiler when all kernels were compiled: the fastest of {found['repeats']} runs of this very step."
            " A bar lasts"
            " from the beginning of an operator to its end, so it includes what the operator had to wait for:"
            " Python lets one"
            " thread at a time find its next kernel, and only kernels run side by side.</p>"
        ),
        charts.scrolled(charts.timeline(found, identities(data)), "Time, a line per device"),
    ]
    rows, count = _step_rows(data, contexts)
    heads = ["step", "operator", "phase", *[text(c["context"]) for c in contexts]]
    totals = ", ".join(f"{duration(c['total'])} on {text(c['context'])}" for c in contexts)
    whole = len(rows) == count
    which = f"All {len(contexts[0]['steps'])}" if whole else f"The slowest {len(rows)} of {len(contexts[0]['steps'])}"
    told_not = "" if whole else f'<p class="note">{LEFT_OUT}</p>'
    parts.append(folded(f"{which} steps as a table: {totals} without waiting", told_not + table(
        heads, rows, f"The least time of each step in {found['repeats']} runs")))
    return "".join(parts)


def _step_rows(data: Data, contexts: list[Data]) -> tuple[list[list[str]], int]:
    """The rows of the slowest steps, each with its folded copies, and the number of all steps."""
    ids, stands = identities(data), {node["id"]: node["shown_by"] for node in data["graph"]}
    copies = Counter(stands[ids[row["phase"], row["name"]]] for row in contexts[0]["steps"] if
                     (row["phase"], row["name"]) in ids)
    added = [_added(times_by_node(data, index), stands) for index in range(len(contexts))]
    slowest = max((row["least"] for c in contexts for row in c["steps"]), default=0) or 1.0
    slowest = max([slowest, *(took for of_context in added for took in of_context.values())])
    lines = [
        (position, row, node) for position, row in enumerate(contexts[0]["steps"])
        for node in [ids.get((row["phase"], row["name"]))] if node is None or stands[node] == node
    ]
    told = greatest([row["least"] if node is None else added[0].get(node, 0) for _, row, node in lines], ROWS)
    rows = []
    for at, (position, row, node) in enumerate(lines):
        if at in told:
            many = f" \N{MULTIPLICATION SIGN} {copies[node]}" if node is not None and copies[node] > 1 else ""
            names = [text(row["name"]) + many, text(row["operator"].removeprefix("_backward_")), row["phase"]]
            rows.append([*names, *_times_of(contexts, position, node, added, slowest)])
    return rows, len(lines)
