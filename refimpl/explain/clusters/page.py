"""The page of a cluster: each message in order, and the violations of the store's rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

from ... import __version__
from ...base import decides
from ..markup import heat, largest, rules, table, text
from ..page import ASSETS, document, rule_articles
from ..rules import words as words_of_rules
from ..update_arithmetic import number
from .diagram import DRAWN, diagram, least_width, words
from .rounds import answer_of, round_tables

Data = dict[str, Any]
CITED: Mapping[str, tuple[str, ...]] = {
    "broken": ("History/check", "History/wait", "History/residual", "History/tag"),
    "messages": (
        "Cluster/once", "Cluster/durable", "Cluster/crash", "Cluster/weather", "Cluster/replay", "Cluster/pull-own",
    ),
    "rounds": ("Cluster/sync-round", "Cluster/rank-order", "Cluster/ahead", "Cluster/async"),
    "ends": ("Cluster/rank-order", "Cluster/once", "Cluster/durable"),
}


@decides("Explain/cluster", "Explain/accused")
def cluster_page(data: Mapping[str, Any]) -> str:
    """One HTML file that shows runs of a cluster.

    Args:
        data: the result of ``cluster``, ``cluster_script`` or ``logged``.
    """
    names = [name for name in CITED if name != "broken" or data["violations"]]
    names = [name for name in names if name != "ends" or all(run["ends"] is not None for run in data["runs"])]
    made = {"broken": _broken, "messages": _messages, "rounds": _rounds, "ends": _ends}
    titles = {
        "broken": ("The history is broken", "Broken"), "messages": ("Messages", "Messages"),
        "rounds": ("Rounds, and versions of keys", "Rounds"), "ends": ("How it ends", "Ends"),
    }
    sections = "".join(
        f'\n<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title"><span class="number"'
        f' aria-hidden="true">{at}</span>{titles[name][0]}</h2>{made[name](data)}'
        f"{rules(CITED[name], f'Rules of: {titles[name][0]}')}</section>"
        for at, name in enumerate(names, start=1)
    )
    cited = words_of_rules(sorted({rule for name in names for rule in CITED[name]}), {})
    links = "".join(f'<li><a href="#{name}">{titles[name][1]}</a></li>' for name in names)
    navigation = f'<nav aria-label="Parts of the page"><ol>{links}<li><a href="#rules">Rules</a></li></ol></nav>'
    style, script = ((ASSETS / f"cluster.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    versions = f"refimpl {__version__}, NumPy {np.__version__}, Numba {numba.__version__}"
    return document(
        data["title"], f"{_header(data)}{navigation}", f"{sections}\n{rule_articles(cited)}", f"Made by {versions}.",
        names[0], style, script,
    )


def _header(data: Mapping[str, Any]) -> str:
    facts = [
        ("workers", str(data["workers"])), ("servers", str(data["servers"])), ("store", str(data["kind"])),
        ("seed", "not told" if data["seed"] is None else str(data["seed"])),
        ("events", ", ".join(str(len(run["events"])) for run in data["runs"])),
    ]
    cards = "".join(f"<div><dt>{text(name)}</dt><dd>{text(found)}</dd></div>" for name, found in facts)
    again = "" if data["seed"] is None else f" The seed {data['seed']} makes the same run again."
    return (
        f'<header><p class="over">A parameter server</p><h1>{text(data["title"])}</h1><p>From'
        f" {text(data['source'])}: workers ask, servers answer, and the network in between loses messages, repeats"
        f" them and lets them overtake each other.{text(again)}</p>"
        f'<dl class="cards">{cards}</dl></header>'
    )


# --- what is wrong -----------------------------------------------------------------------------------


@decides("Explain/accused")
def _broken(data: Mapping[str, Any]) -> str:
    first, *others = data["violations"]
    pull = first["pull"]
    shown = [value for value in data["shrunk"] if value]
    left = (
        f"Of those only <b>{len(shown)}</b> that are not 0 are left." if shown else
        "None of them has to be other than 0: it goes wrong in peace."
    )
    told = (
        f"<p>No sound server could have handed out what worker {pull['worker']} pulled:"
        f' <b class="name">{text(first["name"])}</b>. {text(first["means"])}</p>'
        f'<blockquote class="formula"><p>{text(first["explanation"])}</p>'
        f'<p class="note">by <a class="rule plain" href="#rule-{text(first["clause"])}">{text(first["clause"])}</a></p>'
        "</blockquote>"
    )
    if pull["value"] is not None:
        told += "<h3>The offending pull</h3>" + _pulled(pull, first["columns"])
    accused = _marked(data)
    links = ", ".join(f'<a href="#e0-{at}">event {at}</a>' for at in accused)
    told += f"<p>It was asked and answered at {links}, marked below.</p>" if accused else ""
    told += (
        "<h3>The smallest schedule that shows it</h3><p>A schedule is the list of decisions that the network made; 0"
        f" is the quietest. {data['decisions']} decisions were made at first. {left} The events below are those of this"
        " schedule:</p>"
        f"<pre><code>schedule={text(data['shrunk'])}</code></pre>"
    )
    if others:
        items = "".join(f"<li><b>{text(one['name'])}</b>: {text(one['explanation'])}</li>" for one in others)
        told += f"<p>What follows from it, or is wrong besides:</p><ul>{items}</ul>"
    return told


def _pulled(pull: Data, columns: list[str]) -> str:
    window = {"window": pull["value"], "rows": len(pull["value"]), "columns": len(pull["value"][0])}
    rows = [
        [str(at), *[number(value) for value in row]] for at, row in enumerate(pull["value"][:8])
    ]
    heads = ["row", *[text(column.replace(" of all", "")) for column in columns[: window["columns"]]]]
    caption = f"Key {text(pull['key'])} as worker {pull['worker']} pulled it: a column for each push"
    return heat(window, largest([window]), f"the pulled array of key {pull['key']}") + table(heads, rows, caption)


def _marked(data: Mapping[str, Any]) -> list[int]:
    """The events of the first run that the page accuses."""
    if not data["violations"]:
        return []
    pull = data["violations"][0]["pull"]
    return answer_of(data["runs"][0], pull["worker"], pull["key"], pull["number"])


# --- messages ----------------------------------------------------------------------------------------


def _messages(data: Mapping[str, Any]) -> str:
    marked = _marked(data)
    several = len(data["runs"]) > 1
    told = (
        "<p>Time runs downwards, one event to a line: an arrow begins where a message is sent and ends where it"
        " arrives. A cross is a message that is lost, a solid bar a server that is down; whoever has no answer sends"
        " again. Move the slider, or read the events as a list.</p>"
    )
    if several:
        told += (
            "<p>First the run with its faults, then the same program in peace: no message is lost, none overtakes"
            " another.</p>"
        )
    runs = "".join(_run(run, at, marked if at == 0 else []) for at, run in enumerate(data["runs"]))
    narrowest = max(least_width(run) for run in data["runs"])
    return told + f'<div class="columns runs" style="--drawn:{narrowest}px">{runs}</div>'


def _run(run: Data, at: int, marked: list[int]) -> str:
    counts = Counter(event["action"] for event in run["events"])
    faults = ", ".join(f"{count} {text(name)}" for name, count in sorted(counts.items()) if name != "arrives")
    left = len(run["events"]) - DRAWN
    more = f" The first {DRAWN} are drawn." if left > 0 else ""
    drawing, name = diagram(run, f"run{at}", marked), text(run["name"])
    return (
        f'<article class="run" data-run="{at}"><h3>{text(run["name"])}</h3><p class="note">{len(run["events"])} events:'
        f" {counts['arrives']} arrivals{', ' if faults else ''}{faults}.{more}</p>"
        f'<div class="slider" data-steps="{min(len(run["events"]), DRAWN)}"></div>'
        f'<div class="scroll tall" role="region" tabindex="0" aria-label="Message diagram: {name}">{drawing}'
        f"</div><details><summary>The events as a list, with the versions of keys</summary>{_listed(run, at)}"
        "</details></article>"
    )


def _listed(run: Data, at: int) -> str:
    keys = sorted({key for event in run["events"] for key in event.get("versions", {})})
    now: dict[str, int] = {}
    rows = []
    for step, event in enumerate(run["events"][:DRAWN], start=1):
        now.update(event.get("versions", {}))
        cells = "".join(
            f'<td{" class=changed" if key in event.get("versions", {}) else ""}>{now.get(key, "")}</td>' for key in keys
        )
        rows.append(
            f'<tr id="e{at}-{step}" data-step="{step}"><th scope="row">{step}</th>'
            f"<td>{text(words(event))}</td>{cells}</tr>"
        )
    heads = "".join(f'<th scope="col">{text(key)}</th>' for key in keys)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="Events: {text(run["name"])}">'
        '<table class="events">'
        f'<thead><tr><th scope="col">event</th><th scope="col">what happens</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


# --- rounds and ends ---------------------------------------------------------------------------------


def _rounds(data: Mapping[str, Any]) -> str:
    sync = "async" not in str(data["kind"])
    told = (
        "<p>The first push of every worker to a key makes round 1, the second of every worker round 2. A round is full"
        " when its last push has arrived: then the servers add up, in the order of ranks, and the key has its next"
        " version. The table says at which event each push arrived first. One that overtakes an earlier"
        " request of its worker waits for that, so a round may be made later than its last push arrives.</p>"
        if sync else
        "<p>In a <b>dist_async</b> store every push is applied when its turn comes, and makes a version of its own.</p>"
    )
    parts = [told, '<div class="columns">']
    for run in data["runs"]:
        tables = round_tables(run)
        parts.append(f'<div><h3>{text(run["name"])}</h3>')
        parts += [_rounds_of(one, run, sync) for one in tables] or ['<p class="note">no pushes in this log</p>']
        parts.append("</div>")
    return "".join([*parts, "</div>"])


def _rounds_of(found: Data, run: Data, sync: bool) -> str:
    heads = ["round" if sync else "push", *[f"worker {worker}" for worker in range(run["workers"])]]
    rows = [
        [str(row["number"]), *[_step(at) for at in row["arrived"]], *([_step(row["made"])] if sync else [])]
        for row in found["rounds"][:40]
    ]
    if sync:
        heads.append("version made")
    return table(heads, rows, f"{text(found['key'])}, {text(run['name'])}: arrived at event")


def _step(at: int | None) -> str:
    return "not yet" if at is None else str(at)


@decides("Explain/same-bits")
def _ends(data: Mapping[str, Any]) -> str:
    first, *others = [run["ends"] for run in data["runs"]]
    heads = ["key", *[text(run["name"]) for run in data["runs"]], "same bits"]
    rows, alike = [], True
    for key in sorted(first):
        ends = [first[key], *[other.get(key) for other in others]]
        same = all(end is not None and end["bits"] == ends[0]["bits"] for end in ends)
        alike = alike and same
        rows.append([text(key), *[_end(end) for end in ends], "yes" if same else "<b>no</b>"])
    if data["violations"]:
        told = "The servers are not sound, so these ends prove nothing."
    elif alike:
        told = (
            "Whatever the network did, the end is the same, <b>bit for bit</b>: requests count once and in order, and"
            " sums are made in the order of ranks, not of arrival."
        )
    else:
        told = (
            "The ends differ: in a dist_async store the network decides in which order pushes are applied."
            if "async" in str(data["kind"]) else "The ends differ: the program does not do the same in every run."
        )
    return f"<p>{told}</p>" + table(heads, rows, "The last value of each key: its version, a checksum of its bits")


def _end(end: Data | None) -> str:
    if end is None:
        return "not there"
    numbers = " ".join("not finite" if x is None else number(x) for x in end["first"])
    return f'version {end["version"]}, <code>{text(end["bits"])}</code><br><span class="note">{numbers}</span>'
