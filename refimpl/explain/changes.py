"""The last two parts of the page: the sums of gradients, and the change of the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import decides
from .brevity import LEFT_OUT, PARAMETERS, ends
from .markup import cropped, figure, folded, heat, largest, prose, shape, table, text, value
from .update_arithmetic import number

Data = dict[str, Any]


# --- store -------------------------------------------------------------------------------------------


def store(data: Data) -> str:
    """How the gradients of the devices become one."""
    found, contexts = data["store"], [text(c) for c in data["contexts"]]
    if found["type"] is None:
        told = (
            "<p>There is one device, so nothing has to be merged: its gradient goes straight to the optimizer.</p>"
            if len(contexts) == 1 else
            "<p>There is no store: each device updates its own weights by the gradient of its own slice.</p>"
        )
    else:
        after = (
            "The store updates its own copy of the weight by the sum, and every device pulls the new weight."
            if found["updates"] else "Every device gets the sum and updates its own weight by it."
        )
        told = (
            f"<p>Each device knows the gradient of its own slice only. All of them are pushed to a"
            f" <b>{text(found['type'])}</b> store, which adds them up: the sum is the gradient of the whole"
            f" batch. {after}"
            " Blue is below zero, orange above; all pictures of one parameter have one scale.</p>"
        )
    if data["cluster"]:
        told = _told_of_cluster(data["cluster"], found)
    entries = found["parameters"]
    opened = telling([entry["devices"][0] for entry in entries])
    return told + _told(entries, lambda entry, at: _merge(entry, contexts, at == opened), _merged_line, MERGED)


MERGED = ("parameter", "shape", "norm on the first device", "norm of the sum")
CHANGED = ("parameter", "shape", "norm before", "norm of the change", "norm after", "its followed number becomes")


@decides("Explain/small")
def _told(
    entries: list[Data], whole: Callable[[Data, int], str], line: Callable[[Data], list[str]], heads: Sequence[str]
) -> str:
    """The parameters, one after the other; of many, those between the first and the last ones in a table."""
    chosen = ends(len(entries), PARAMETERS)
    pieces = [whole(entry, at) if at in chosen else "" for at, entry in enumerate(entries)]
    between = [at for at in range(len(entries)) if at not in chosen]
    if between:
        told = f"{len(between)} parameters between these and the last, a line for each"
        rows = [line(entries[at]) for at in between]
        pieces[between[0]] = folded(told, f'<p class="note">{LEFT_OUT}</p>' + table(list(heads), rows, told))
    return "".join(pieces)


def _merged_line(entry: Data) -> list[str]:
    """The gradients of a parameter in a table."""
    first, merged = entry["devices"][0], entry["merged"]
    norms = [value(first["norm"]), "" if merged is None else value(merged["norm"])]
    return [text(entry["name"]), shape(first["shape"]), *norms]


def _changed_line(entry: Data) -> list[str]:
    """The change of a parameter in a table."""
    sample = entry.get("sample")
    arrow = "" if sample is None else (
        f"{value(sample['before'])} \N{RIGHTWARDS ARROW} {value(sample['after'])}"
    )
    norms = [value(entry[part]["norm"]) for part in ("before", "change", "after")]
    return [text(entry["name"]), shape(entry["before"]["shape"]), *norms, arrow]


@decides("Explain/rounds")
def _told_of_cluster(cluster: Data, found: Data) -> str:
    rounds = ", ".join(sorted({str(number) for number in cluster["rounds"].values()}))
    servers = "1 server" if cluster["servers"] == 1 else f"{cluster['servers']} servers"
    after = (
        "The optimizer on the server is handed this sum, and every worker pulls the weight that it makes"
        if found["updates"] else "Every worker pulls this sum and updates its own weight by it"
    )
    codes = (
        " Here gradients are compressed: a term is what the two-bit codes stand for that the worker sent."
        if cluster["compressed"] else ""
    )
    return (
        f"<p>{cluster['workers']} workers share a <b>{text(found['type'])}</b> store on {servers}. This page shows the"
        f" step of worker {cluster['rank']}. Each worker adds up the gradients of its own devices and pushes"
        f" that sum, its <b>term</b>.{codes} The first pushes of all workers to a key make round 1, the next ones"
        f" round 2; this is round {rounds}. When the last term has arrived, the server adds them up in the order of the"
        f" workers' ranks, whichever came first. {after}. Blue is below zero, orange above; all pictures of one"
        " parameter have one scale.</p>"
    )


def telling(windows: list[Data]) -> int:
    """The first array that has several rows and is not zero, or simply the first."""
    return next((i for i, window in enumerate(windows) if window["rows"] > 1 and window["norm"]), 0)


def _merge(entry: Data, contexts: list[str], opened: bool) -> str:
    shown = [*entry["devices"], *entry["workers"], *([entry["merged"]] if entry["merged"] is not None else [])]
    scale = largest(shown)
    pieces: list[str] = []
    if entry["workers"]:
        return _round(entry, contexts, scale, opened)
    for number_of, (context, part) in enumerate(zip(contexts, entry["devices"], strict=True)):
        picture = heat(part, scale, f"gradient of {entry['name']} on {context}: {shape(part['shape'])}")
        sign = '<span class="sign" aria-hidden="true">+</span>' if number_of and entry["merged"] is not None else ""
        caption = f"{context}<br>norm {value(part['norm'])}"
        pieces.append(sign + figure(picture, caption, f"device device{number_of % 8}"))
    if entry["merged"] is not None and len(contexts) > 1:
        picture = heat(entry["merged"], scale, f"merged gradient of {entry['name']}")
        caption = f"merged<br>norm {value(entry['merged']['norm'])}"
        pieces.append('<span class="sign" aria-hidden="true">=</span>' + figure(picture, caption, "merged"))
    note = cropped(entry["devices"][0])
    summary = f"<b>{text(entry['name'])}</b> <span class=\"note\">{shape(entry['devices'][0]['shape'])}</span>"
    content = f'<div class="sum">{"".join(pieces)}</div>' + (f'<p class="note">Shown: {note}.</p>' if note else "")
    return folded(summary, content, f"merge-{entry['name']}", opened=opened)


def _round(entry: Data, contexts: list[str], scale: float, opened: bool) -> str:
    """One parameter in a cluster: devices of the worker, then the terms of all workers, and their sum."""
    name = entry["name"]
    devices = [
        figure(heat(part, scale, f"gradient of {name} on {context} of worker 0"),
               f"{context} of worker 0<br>norm {value(part['norm'])}", f"device device{number_of % 8}")
        for number_of, (context, part) in enumerate(zip(contexts, entry["devices"], strict=True))
    ]
    terms = [
        figure(heat(part, scale, f"term of worker {part['rank']} for {name}"),
               f"worker {part['rank']}<br>norm {value(part['norm'])}", f"device device{part['rank'] % 8}")
        for part in entry["workers"]
    ]
    total = figure(heat(entry["merged"], scale, f"sum of the round for {name}"),
                   f"the round's sum<br>norm {value(entry['merged']['norm'])}", "merged")
    plus, equals = (f'<span class="sign" aria-hidden="true">{sign}</span>' for sign in "+=")
    note = cropped(entry["devices"][0])
    content = (
        (f'<h3>On worker 0</h3><div class="sum">{plus.join(devices)}</div>' if len(devices) > 1 else "")
        + f'<h3>On the server</h3><div class="sum">{plus.join(terms)}{equals}{total}</div>'
        + (f'<p class="note">Shown: {note}.</p>' if note else "")
    )
    summary = f'<b>{text(name)}</b> <span class="note">{shape(entry["devices"][0]["shape"])}</span>'
    return folded(summary, content, f"merge-{name}", opened=opened)


# --- update ------------------------------------------------------------------------------------------


def update(data: Data) -> str:
    """The update that the optimizer makes of the summed gradient."""
    found = data["update"]
    settings = ", ".join(
        f"<code>{text(k)} = {text(number(v) if isinstance(v, float) else v)}</code>"
        for k, v in found["settings"].items()
    )
    formula = "".join(
        f"<p>{prose(part)}</p>" for part in found["says"].replace("<-", "\N{LEFTWARDS ARROW}").split("\n\n")
    )
    if found["equations"]:
        equations = "\n".join(found["equations"]).replace("<-", "\N{LEFTWARDS ARROW}")
        formula = f"<pre>{text(equations)}</pre>"
    opened = telling([entry["change"] for entry in found["parameters"]])
    return (
        f"<p>The optimizer is <b>{text(found['optimizer'])}</b> with {settings}.</p>"
        f'<blockquote class="formula">{formula}</blockquote>'
        + _told(
            found["parameters"], lambda entry, at: _change(entry, at == opened, data["contexts"]), _changed_line,
            CHANGED,
        )
    )


def _change(entry: Data, opened: bool, contexts: list[str]) -> str:
    name = text(entry["name"])
    before, change, after = entry["before"], entry["change"], entry["after"]
    scale = largest([before, after])
    largest_change = largest([change])
    pictures = [
        figure(heat(before, scale, f"{entry['name']} before the update"), f"before<br>norm {value(before['norm'])}"),
        '<span class="sign" aria-hidden="true">+</span>',
        figure(
            heat(change, largest_change, f"change of {entry['name']}"),
            f"change, stronger by {number(scale / largest_change)}<br>norm {value(change['norm'])}",
        ),
        '<span class="sign" aria-hidden="true">=</span>',
        figure(heat(after, scale, f"{entry['name']} after the update"), f"after<br>norm {value(after['norm'])}"),
    ]
    same = (
        "All devices now hold the same weight." if entry["equal_everywhere"] and len(contexts) > 1
        else "The devices now hold different weights." if not entry["equal_everywhere"] else ""
    )
    rates = f"lr {number(entry['lr'])}, wd {number(entry['wd'])}" if "lr" in entry else ""
    summary = f'<b>{name}</b> <span class="note">{shape(before["shape"])}{"; " if rates else ""}{rates}</span>'
    sample = _sample(entry["sample"], contexts) if "sample" in entry else ""
    note = f'<p class="note">Shown: {cropped(before)}.</p>' if cropped(before) else ""
    content = f'<div class="sum">{"".join(pictures)}</div>{note}{sample}<p>{same}</p>'
    return folded(summary, content, f"update-{entry['name']}", opened=opened)


def _sample(sample: Data, contexts: list[str]) -> str:
    """One number, followed from the devices to the new weight."""
    where = ", ".join(map(str, sample["position"]))
    rows: list[list[str]] = []
    corrected = bool(sample["corrections"])
    for at, (context, part) in enumerate(zip(contexts, sample["gradients"], strict=True)):
        if corrected and at < len(sample["corrections"]):
            terms = sample["corrections"][at]
            rows += [[f"gradient at the weights on {text(context)}", value(terms["gradient"])],
                     [f"gradient at the snapshot on {text(context)}", value(terms["snapshot"])]]
            if terms["mean"] is not None:
                rows.append(["full gradient at the snapshot", value(terms["mean"])])
        rows.append([f"{'corrected ' if corrected else ''}gradient on {text(context)}", value(part)])
    rows += [[f"term of worker {part['rank']}", value(part["value"])] for part in sample["workers"]]
    rows.append(["gradient that the optimizer gets", value(sample["used"])])
    rows.append(["w before", value(sample["before"])])
    several = len(sample["state_after"]) > 1
    rows += [
        [f"state{f' {i}' if several else ''} before", value(part)]
        for i, part in enumerate(sample["state_before"], start=1)
    ]
    rows += [
        [f"{text(line['what'])} = {text(line['formula'])}", value(line["value"])]
        for line in sample.get("arithmetic", ())
    ]
    rows += [
        [f"state{f' {i}' if several else ''} after", value(part)]
        for i, part in enumerate(sample["state_after"], start=1)
    ]
    rows.append(["<b>w after</b>", f"<b>{value(sample['after'])}</b>"])
    return table(["what", "number"], rows, f"The number at ({where}), whose gradient is the largest, all the way")
