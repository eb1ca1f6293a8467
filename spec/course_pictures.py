"""Writes the pictures of ``spec/course/``, each drawn from what the package really did.

    python spec/course_pictures.py            writes them
    python spec/course_pictures.py --check    exit code 1 when one is not what would be drawn

A function of the table at the end makes the objects of its chapter, reads arrays, plans, slices, sums and events off
them, and draws these. No number in a picture is written here by hand.
"""

from __future__ import annotations

import html
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log10
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import refimpl as mx  # noqa: E402
from refimpl.executor_manager import _split_input_slice  # noqa: E402
from refimpl.explain.clusters.diagram import diagram  # noqa: E402
from refimpl.explain.clusters.event_log import recording  # noqa: E402
from refimpl.module.life_cycle import table  # noqa: E402
from refimpl.symbol.ir import Node  # noqa: E402
from spec import generated  # noqa: E402

FOLDER = ROOT / "spec/course/pictures"
STYLE = (
    "svg{background:#fff;color:#16202c}text{font:13px system-ui,sans-serif;fill:currentColor}.small{font-size:11px}"
    ".m{text-anchor:middle}.e{text-anchor:end}.a{fill:#bfdbfe}.b{fill:#fed7aa}.c{fill:#bbf7d0}.d{fill:#e9d5ff}"
    ".n{fill:#e5e7eb}rect{stroke:currentColor;stroke-width:1}.l{fill:none;stroke:currentColor;stroke-width:1.5}"
    ".h{fill:currentColor}.blue{stroke:#2563eb}.red{stroke:#dc2626}.dash{stroke-dasharray:5 4}"
    "@media(prefers-color-scheme:dark){svg{background:#131416;color:#e5e7eb}.a{fill:#1e3a5f}.b{fill:#6b3410}"
    ".c{fill:#14532d}.d{fill:#4a2a6b}.n{fill:#374151}.blue{stroke:#60a5fa}.red{stroke:#f87171}}"
)
COLOURS = "abcd"


def svg(width: float, height: float, title: str, body: Iterable[str]) -> str:
    """A whole picture."""
    name = html.escape(title)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
        f' height="{height:.0f}" role="img"><title>{name}</title><style>{STYLE}</style>'
    )
    return "\n".join([head, *body, "</svg>\n"])


def box(x: float, y: float, width: float, height: float, kind: str, words: str = "") -> str:
    """A rectangle with words in its middle."""
    shown = text(x + width / 2, y + height / 2 + 4, words, "m") if words else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3" class="{kind}"/>{shown}'


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """Words."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{html.escape(words)}</text>'


def line(points: Sequence[tuple[float, float]], kind: str = "") -> str:
    """A line through points."""
    return f'<polyline class="l {kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


# --- one function per chapter ------------------------------------------------------------------------


def array() -> str:
    """Six numbers in memory, and which of them a view and a copy reach."""
    whole = mx.nd.array(np.arange(6).reshape(2, 3))
    views = {"a": whole, "a[1]": whole[1], "a.reshape((3, 2))": whole.reshape((3, 2)), "a[:, 0]": whole[:, 0]}
    body = [text(10, 24, "the memory of a, which has the shape (2, 3)")]
    for row, (name, each) in enumerate(views.items()):
        before = whole.asnumpy().ravel()
        each[:] = each + 10  # writing shows what it reaches
        after = whole.asnumpy().ravel()
        changed = after != before
        for place, value in enumerate(before):
            kind = COLOURS[row] if changed[place] else "n"
            body.append(box(190 + 62 * place, 40 + 44 * row, 58, 34, kind, f"{value:g}"))
        body.append(text(180, 62 + 44 * row, name, "e"))
        verdict = f"reaches {changed.sum()} of 6" if changed.any() else "a copy: reaches none"
        body.append(text(572, 62 + 44 * row, verdict))
        whole[:] = mx.nd.array(before.reshape(2, 3))
    return svg(720, 226, "Which numbers a write to each selection of an array reaches", body)


def _net() -> Any:
    with mx.name.NameManager():
        out = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc1")
        out = mx.sym.Activation(out, act_type="tanh", name="act")
        out = mx.sym.FullyConnected(out, num_hidden=2, name="fc2")
        return mx.sym.SoftmaxOutput(out, name="softmax")


def _arcs(order: Sequence[Node], title: str) -> str:
    """Nodes in their order, an arc from each input to the node that reads it; gradients hang below."""
    place = {id(node): number for number, node in enumerate(order)}
    rows, height = 34, 26
    body = []
    for number, node in enumerate(order):
        sources = [place[id(entry.node)] for entry in node.inputs if id(entry.node) in place]
        for arrival, source in enumerate(sorted(sources, reverse=True), start=1):
            a, b = source * rows + 30, number * rows + 17 + height * arrival / (len(sources) + 1)
            reach = 22 + 9 * (number - source)
            body.append(f'<path class="l" d="M300 {a}C{300 + reach} {a} {300 + reach} {b:.1f} 307 {b:.1f}"/>')
            body.append(f'<path class="h" d="M301 {b:.1f}l8 -4v8z"/>')
        backward = node.kind.startswith("_backward")
        kind = "n" if node.is_variable else "b" if backward else "a"
        body.append(box(20, number * rows + 17, 280, height, kind))
        words = node.name if node.is_variable else f"{node.name}: {node.kind.removeprefix('_backward_')}"
        body.append(text(30, number * rows + 34, f"{number}  {words}"))
    return svg(470, len(order) * rows + 24, title, body)


def symbol() -> str:
    """The nodes of a net in their order."""
    order = _net().order()
    return _arcs(order, f"{len(order)} nodes in their order, with an arc from each input to the node that reads it")


def bind() -> str:
    """What each of the six steps of bind leaves."""
    x = mx.sym.Variable("x")
    twice = mx.sym.exp(x, name="one") + mx.sym.exp(x, name="two")
    executor = mx.sym.sum(twice * twice, name="sum").simple_bind(mx.cpu(), x=(1000,))
    program = executor.program
    own = sum(array.size for array in (*executor.outputs, *executor.grad_arrays))
    steps = [
        ("derive", f"{len(program.symbol.order())} nodes and {len(program.gradients.nodes)} for the gradient"),
        ("infer", f"shapes and types of {len(program.derived.order())} nodes"),
        ("simplify", f"{len(program.graph.order())} nodes: what was there twice is there once"),
        ("place", f"outputs and gradients: {own} numbers in arrays of their own"),
        ("plan", f"everything between: {program.plan.total} bytes"),
        ("list", f"{len(program.forward_steps)} steps forward, {len(program.backward_steps)} backward"),
    ]
    body = []
    for number, (name, words) in enumerate(steps):
        y = 14 + 46 * number
        body += [box(14, y, 110, 32, "a", f"{number + 1}  {name}"), text(140, y + 21, words)]
        if number:
            body.append(line([(69, y - 14), (69, y)]))
    return svg(560, 290, "The six steps of bind, with what each of them made of one small graph", body)


def gradient() -> str:
    """The graph of a net and of its gradient."""
    executor = _net().simple_bind(mx.cpu(), data=(8, 3))
    return _arcs(executor.program.derived.order(), "The graph of a net (blue), and that of its gradient (orange)")


def memory() -> str:
    """The plan of a residual chain: bytes upwards, steps to the right."""
    deep = mx.sym.Variable("data")
    for number in range(4):
        layer = mx.sym.FullyConnected(deep, num_hidden=16, name=f"layer{number}")
        wide = mx.sym.FullyConnected(mx.sym.exp(layer, name=f"exp{number}"), num_hidden=48, name=f"wide{number}")
        wide = mx.sym.tanh(wide, name=f"tanh{number}")
        back = mx.sym.FullyConnected(wide, num_hidden=16, name=f"back{number}")
        deep = mx.sym.elemwise_add(layer, back, name=f"sum{number}")
    executor = mx.sym.sum(deep, name="sum").simple_bind(mx.cpu(), grad_req="null", data=(4, 8))
    plan = executor.plan
    names = {id(node): node.name for node in executor.program.graph.order()}
    values = [(key, place) for key, place in plan.place.items() if place.output is None]
    last = max(plan.lifetimes[key][1] for key, _ in values) + 1
    across, up = 720 / last, 190 / plan.total
    alone = sum(place.size for _, place in values)
    body = [text(60, 18, f"{len(values)} values, {alone} bytes in all, lie in {plan.total} bytes")]
    for number, (key, place) in enumerate(values):
        born, dies = plan.lifetimes[key]
        x, y = 60 + born * across, 226 - (place.offset + place.size) * up
        body.append(box(x, y, (dies + 1 - born) * across - 1, place.size * up - 1, COLOURS[number % 4]))
        body.append(text(x + 4, y + 14, names[key[0]], "small"))
    body += [text(52, 40, str(plan.total), "e small"), text(52, 226, "0", "e small")]
    body += [text(60 + across * (step + 0.5), 242, str(step), "m small") for step in range(last)]
    body.append(text(60 + 360, 260, "step", "m small"))
    return svg(800, 270, "A memory plan: bytes upwards, steps to the right", body)


def slicing() -> str:
    """Four cuts of a batch."""
    body = []
    for row, (size, weights) in enumerate(((18, [1] * 4), (14, [1] * 4), (11, [1, 1]), (8, [1, 3]))):
        y, wide = 16 + 52 * row, 500 / size
        body.append(text(180, y + 21, f"{size} rows, weights {':'.join(map(str, weights))}", "e"))
        for number, part in enumerate(_split_input_slice(size, weights)):
            rows = part.stop - part.start
            body.append(box(190 + part.start * wide, y, rows * wide, 32, COLOURS[number], str(rows)))
    return svg(710, 226, "Who gets how many rows", body)


def store() -> str:
    """Running sums of seven terms in the two orders, as the stores themselves give them."""
    terms = [1e8, 1, -1e8, 1, 1, 1, 1]
    body = [text(150, 24, "terms", "e")]
    body += [text(190 + 70 * n, 24, f"{term:g}", "m") for n, term in enumerate(terms)]
    for row, kind in enumerate(("local", "device")):
        body.append(text(150, 62 + 44 * row, f"{kind}: sum so far", "e"))
        for count in range(1, 8):
            adder, found = mx.kv.create(kind), mx.nd.zeros(1)
            adder.init(0, found)
            adder.push(0, [mx.nd.array([v], ctx=mx.cpu(i)) for i, v in enumerate(terms[:count])])
            adder.pull(0, out=found)
            body.append(box(157 + 70 * (count - 1), 40 + 44 * row, 66, 34, COLOURS[row], f"{found.asscalar():g}"))
    return svg(660, 136, "The same terms added in two orders", body)


def module() -> str:
    """The life cycle: which flag an operation needs, and which it sets."""
    head, *rows = table().splitlines()
    flags = head.split()
    body = [text(236 + 96 * n, 24, flag.replace("_initialized", ""), "m small") for n, flag in enumerate(flags)]
    chosen = {"bind", "init_params", "init_optimizer", "forward", "backward", "update", "get_input_grads"}
    shown = [row for row in rows if row.split()[0] in chosen and len(row.split()) == 1 + len(flags)]
    for number, row in enumerate(shown):
        name, *marks = row.split()
        y = 36 + 36 * number
        body.append(text(170, y + 19, name, "e"))
        for column, mark in enumerate(marks):
            kind, words = {"+": ("c", "sets"), "?": ("d", "as asked"), "x": ("a", "needs")}.get(mark, ("n", ""))
            body.append(box(190 + 96 * column, y, 92, 28, kind, words))
    return svg(680, 44 + 36 * len(shown), "What each call needs, and what it sets", body)


def cluster() -> str:
    """The messages of one round, two workers and a server, on a network that loses some."""
    with recording() as recorder:
        made = mx.kv.simulate(workers=2, servers=1, seed=3)

        def work(one: Any) -> float:
            one.init("w", mx.nd.zeros(1))
            one.push("w", mx.nd.array([one.rank + 1.0]))
            total = mx.nd.zeros(1)
            one.pull("w", out=total)
            return float(total.asscalar())

        assert made.run(work) == [3.0, 3.0]
    drawing = diagram({"workers": 2, "servers": 1, "events": recorder.events}, "course")
    width, height = map(int, re.findall(r'(?:width|height)="(\d+)"', drawing.partition(">")[0]))
    counts = Counter(event["action"] for event in recorder.events)
    told = [f"{counts[action]} {words}" for action, words in FAULTS.items() if counts[action]]
    title = f"One round of two workers, time downwards; of its messages {', '.join(told)}"
    return svg(width, height, title, [f"<style>{_explain_style()}</style>", drawing])


FAULTS = {
    "drop": "lost", "duplicate": "doubled", "again": "sent again", "crash": "crash of the server",
}


def _explain_style() -> str:
    """The colours of the pages of ``refimpl explain``, and how those draw messages."""
    assets = ROOT / "refimpl/explain/assets"
    page, messages = ((assets / name).read_text(encoding="utf-8") for name in ("page.css", "cluster.css"))
    colours = page[: page.index("* {")].replace("\n", " ")
    rules = [rule for rule in messages.splitlines() if rule.startswith((".messages", ".member", ".event"))]
    return f"{colours}{''.join(rules)}svg{{background:var(--ground)}}text{{fill:var(--ink)}}.tick{{fill:var(--soft)}}"


def svrg() -> str:
    """How far SGD and SVRG are from the best line, epoch after epoch."""
    rows = np.array([[1, 2, 1], [2, -1, 1], [-1, 1, 1], [3, 0, 1], [0, 1, 1], [1, -2, 1], [2, 2, 1], [-1, -1, 1.0]])
    targets = np.array([1, 0, 2, 1, -1, 3, 0, 2.0])
    best = np.linalg.lstsq(rows, targets, rcond=None)[0]
    from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule

    def gaps(variance_reduced: bool) -> list[float]:
        with mx.name.NameManager():
            net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
            net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("target"), name="line")
        data = mx.io.NDArrayIter(rows[:, :2], targets, batch_size=1, label_name="target")
        kind: Callable[..., Any] = SVRGModule if variance_reduced else mx.mod.Module
        made = kind(net, label_names=["target"], **({"update_freq": 1} if variance_reduced else {}))
        made.bind(data.provide_data, data.provide_label)
        made.init_params(mx.init.One())
        made.init_optimizer(optimizer_params={"learning_rate": 1 / 8})
        found = []
        for _ in range(20):
            weights = made.get_params()[0]
            now = np.array([*weights["fc_weight"].asnumpy()[0], *weights["fc_bias"].asnumpy()])
            found.append(float(np.abs(now - best).max()))
            if variance_reduced:
                made.update_full_grads(data)
            data.reset()
            for batch in data:
                made.forward_backward(batch)
                made.update()
        return found

    body = [line([(70, 20), (70, 240), (620, 240)])]
    for power in range(1, -7, -1):
        y = 20 + (1 - power) * 220 / 8
        body.append(text(62, y + 4, f"1e{power}", "e small"))
    for name, kind, reduced in (("SGD", "red", False), ("SVRG", "blue", True)):
        curve = [max(gap, 1e-7) for gap in gaps(reduced)]
        points = [(70 + 28 * n, 20 + (1 - log10(gap)) * 220 / 8) for n, gap in enumerate(curve)]
        body += [line(points, kind), text(points[-1][0] + 6, points[-1][1] + 4, name)]
    body += [text(70 + 28 * n, 256, str(n), "m small") for n in range(0, 20, 2)]
    body.append(text(340, 274, "epochs; upwards: the distance of the weights from the best line", "m small"))
    return svg(680, 284, "SGD stays at a distance, SVRG comes nearer at a constant rate", body)


PICTURES: dict[str, Callable[[], str]] = {
    made.__name__: made
    for made in (array, symbol, bind, gradient, memory, slicing, store, module, cluster, svrg)
}


def with_titles(chapter: str, pictures: Mapping[str, str]) -> str:
    """The text of a chapter, with the title of each picture as its alternative text."""

    def named(found: re.Match[str]) -> str:
        title = re.search("<title>(.*?)</title>", pictures[found[1]])
        assert title is not None
        return f"![{html.unescape(title[1])}](pictures/{found[1]}.svg)"

    return re.sub(r"!\[[^\]]*\]\(pictures/(\w+)\.svg\)", named, chapter)


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    check = generated.asks_check(arguments, "The pictures of the course.")
    pictures = {name: made() for name, made in PICTURES.items()}
    files = {FOLDER / f"{name}.svg": picture for name, picture in pictures.items()}
    for chapter in sorted(FOLDER.parent.glob("[01]*.md")):
        files[chapter] = with_titles(chapter.read_text(encoding="utf-8"), pictures)
    problems = generated.renew(files, "course_pictures", check=check)
    print(*(problems or ["fresh"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
