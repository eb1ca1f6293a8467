"""The parts of the page that only some trainers have: SVRG's correction of gradients, and buckets over one pool."""

from __future__ import annotations

from typing import Any

from ..base import decides
from . import charts
from .changes import telling
from .markup import cropped, figure, folded, heat, largest, shape, size, table, text, value

Data = dict[str, Any]


@decides("Explain/corrections")
def corrections(data: Data) -> str:
    """How SVRG makes a gradient that varies less."""
    contexts = [text(context) for context in data["contexts"]]
    found = data["corrections"]
    opened = telling([entry["devices"][0]["corrected"] for entry in found])
    return (
        "<p>The gradient of a batch is that of the whole data, and noise. <b>SVRG</b> keeps a snapshot of the weights"
        " from some steps ago, and the <b>full gradient</b> there: the mean over all rows, times the size of a batch."
        " The noise of this batch is in the gradient at the weights and in the gradient at the snapshot alike: so it"
        " takes the second from the first, and adds the full gradient. Where several devices share a store, the first"
        " one alone adds it. What the optimizer is handed is this corrected gradient.</p>"
        + "".join(_correction(entry, contexts, index == opened) for index, entry in enumerate(found))
    )


def _correction(entry: Data, contexts: list[str], opened: bool) -> str:
    windows = [part for device in entry["devices"] for part in device.values() if part is not None]
    scale, lines = largest(windows), []
    for at, (context, device) in enumerate(zip(contexts, entry["devices"], strict=True)):
        pieces = [_picture(device["gradient"], scale, "at the weights", entry["name"], context)]
        pieces.append(_sign("\N{MINUS SIGN}"))
        pieces.append(_picture(device["snapshot"], scale, "at the snapshot", entry["name"], context))
        if device["mean"] is not None:
            pieces += [_sign("+"), _picture(device["mean"], scale, "full gradient", entry["name"], context)]
        pieces += [_sign("="), _picture(device["corrected"], scale, "corrected", entry["name"], context)]
        lines.append(f'<h3>{context}</h3><div class="sum device{at % 8}">{"".join(pieces)}</div>')
    first = entry["devices"][0]["gradient"]
    note = cropped(first)
    summary = f'<b>{text(entry["name"])}</b> <span class="note">{shape(first["shape"])}</span>'
    content = "".join(lines) + (f'<p class="note">Shown: {note}.</p>' if note else "")
    return folded(summary, content, f"correction-{entry['name']}", opened=opened)


def _picture(window: Data, scale: float, what: str, name: str, context: str) -> str:
    return figure(heat(window, scale, f"{name} on {context}: {what}"), f"{what}<br>norm {value(window['norm'])}")


def _sign(sign: str) -> str:
    return f'<span class="sign" aria-hidden="true">{sign}</span>'


@decides("Explain/buckets")
def buckets(data: Data) -> str:
    """Which buckets there are, and how much of the pool each of them uses."""
    found = data["buckets"]
    pool = found["pool"][0]
    rows = [
        [
            text(one["key"]) + " (this step)" * (one["key"] == found["current"])
            + " (default)" * (one["key"] == found["default"]),
            ", ".join(f"<code>{text(d['name'])}</code> {shape(d['shape'])}" for d in one["inputs"]), str(one["steps"]),
            f"{one['planned'][0]:,} bytes",
        ]
        for one in found["keys"]
    ]
    alone = sum(one["planned"][0] for one in found["keys"])
    pictures = "".join(
        figure(
            charts.scrolled(charts.shares([
                ("kept" if one["key"] == found["current"] else "passing", f"bucket {one['key']}", one["planned"][0]),
                ("unused", "not used", max(pool - one["planned"][0], 0)),
            ]), f"Bucket {one['key']} in the pool"),
            f"bucket {text(one['key'])}: {size(one['planned'][0])} of {size(pool)}",
        )
        for one in found["keys"]
    )
    return (
        f"<p>Each bucket is a graph of its own, bound once; this step is one of bucket <b>{text(found['current'])}</b>."
        f" All share parameters, gradients and optimizer, and on each device <b>one pool</b> of {size(pool)} for the"
        f" values in between: every bucket begins at its first byte, so that the largest decides. With memory of its"
        f" own for each bucket it would be {size(alone)}. What one bucket left there, the next one overwrites.</p>"
        + pictures + table(["bucket", "inputs", "operators", f"bytes on {text(found['contexts'][0])}"], rows,
                           "The buckets that are bound so far")
    )
