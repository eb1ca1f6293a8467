"""One training step as plain data, which ``page`` draws and ``--json`` prints.

The data are numbers, strings, lists and dicts. An array is described by its shape and a *window*: its first rows and
columns, as two axes.
"""

from __future__ import annotations

import inspect
import platform
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from .. import __version__
from ..base import decides
from ..contrib.svrg_optimization.svrg_optimizer import _SVRGOptimizer
from ..io import DataDesc
from ..kvstore import KVStore
from ..kvstore.distributed import DistributedKVStore
from ..module import BucketingModule
from . import rules, structure, update_arithmetic
from .folding import stand_ins
from .observe import Heard, Update, observed
from .stepping import add_steps
from .timing import timed
from .watching import Correction, Watched
from .windows import plain_number as _number
from .windows import window

Data = dict[str, Any]

PICTURES = 64
"""Rows of a slice that are shown."""
_PACKAGE = __name__.partition(".")[0]
_OWN_SETTINGS = ("aggregate_num", "allow_np_array", "begin_num_update", "lr", "lr_mult", "num_update", "wd_mult")


@decides("Explain/looks-only")
def collect(
    module: Any, update: Callable[[], None], title: str, source: str, number: int = 1, watched: Watched | None = None
) -> Data:
    """Call ``update`` on a module whose backward has just run, and return the data of the whole step.

    Args:
        module: a Module, bound for training and initialised, with an optimizer.
        update: what updates its parameters, usually ``module.update``.
        title: the name of the network or training, in a few words.
        source: the file or command that trains.
        number: the number of the update in the training, from 1.
        watched: values noted during forward and backward, and rounds of servers.
    """
    group, watched = module._exec_group, watched or Watched()
    optimizer = _trainer(module)
    seen = observed(module, update, watched.rounds)
    names = [structure.Names(executor.program) for executor in group.execs]
    nodes = structure.graph(names[0], group)
    add_steps(nodes, names[0], watched.values)
    for node, stand_in in zip(nodes, stand_ins(nodes), strict=True):
        node["shown_by"] = stand_in
    cited = _cited(module, watched)
    shown = {name for part in cited.values() for name in part} | {n for node in nodes for n in node.get("rules", ())}
    more = rules.of_optimizer(type(optimizer).__name__)
    for op in {id(one.op): one.op for one in (*names[0].forward, *names[0].backward)}.values():
        assert op is not None
        more.update(rules.of_operator(op))
    return {
        "title": title,
        "source": source,
        "number": number,
        "made_by": {
            "refimpl": __version__, "Python": platform.python_version(), "NumPy": np.__version__,
            "Numba": numba.__version__,
        },
        "contexts": [str(context) for context in group.contexts],
        "slices": _slices(group),
        "graph": nodes,
        "memory": [{"context": str(c), **structure.memory(n)} for c, n in zip(group.contexts, names, strict=True)],
        "times": timed(group),
        "corrections": _corrections(group, watched),
        "buckets": _buckets(watched.buckets),
        "cluster": _cluster(module, watched, seen),
        "store": _store(module, seen),
        "update": _update(module, seen, watched),
        "cited": cited,
        "rules": rules.words(sorted(shown), more),
    }


# --- slices ------------------------------------------------------------------------------------------


@decides("Explain/slices")
def _slices(group: Any) -> Data:
    parts = group.slices or [slice(0, group.batch_size)] * len(group.contexts)
    total = sum(group.workload)
    descriptions = [*(("data", d) for d in group.data_shapes), *(("label", d) for d in group.label_shapes or [])]
    return {
        "batch_size": group.batch_size,
        "cut": group.slices is not None,
        "inputs": [
            {
                "name": d.name, "role": role, "shape": list(d.shape), "dtype": np.dtype(d.dtype).name,
                "axis": DataDesc.get_batch_axis(d.layout),
            }
            for role, d in descriptions
        ],
        "parts": [
            {
                "context": str(context), "begin": part.start, "end": part.stop, "weight": float(weight),
                "owed": None if group.batch_size is None else float(weight * group.batch_size / total),
                "arrays": {d.name: _rows(executor.arg_dict[d.name].asnumpy()) for _, d in descriptions},
            }
            for context, part, weight, executor in zip(
                group.contexts, parts, group.workload, group.execs, strict=True
            )
        ],
    }


def _rows(values: np.ndarray) -> Data:
    """The first rows of one context's slice: whole pictures where it holds some, a window otherwise."""
    pictures = values.ndim == 4 and values.shape[1] in (1, 3) and max(values.shape[2:]) <= 64
    found = window(values)
    if pictures:
        found["pictures"] = [[[[_number(v) for v in r] for r in c] for c in row] for row in values[:PICTURES]]
    elif values.ndim == 1:
        found["window"] = [[_number(value) for value in values[:PICTURES]]]
    return found


# --- SVRG, buckets, clusters --------------------------------------------------------------------------


def _trainer(module: Any) -> Any:
    """The optimizer that trains parameters: SVRG keeps it beside one for its accumulators."""
    optimizer = module._optimizer
    return optimizer.default_opt if isinstance(optimizer, _SVRGOptimizer) else optimizer


@decides("Explain/corrections")
def _corrections(group: Any, watched: Watched) -> list[Data]:
    """SVRG's corrections of the gradients: an entry per parameter, with terms for each context; empty without SVRG."""
    found = []
    for name, gradients in zip(group.param_names, group.grad_arrays, strict=True):
        noted = [watched.corrections[id(one)][1] for one in gradients if id(one) in watched.corrections]
        if noted:
            found.append({"name": name, "devices": [_correction(one) for one in noted]})
    return found


def _correction(one: Correction) -> Data:
    return {
        "gradient": window(one.gradient), "snapshot": window(one.snapshot),
        "mean": None if one.mean is None else window(one.mean), "corrected": window(one.corrected),
    }


def _followed(module: Any, watched: Watched, name: str, position: list[int]) -> list[Data]:
    """The terms of one number on each context."""
    group, at = module._exec_group, tuple(position)
    gradients = group.grad_arrays[group.param_names.index(name)]
    noted = [watched.corrections[id(one)][1] for one in gradients if id(one) in watched.corrections]
    return [
        {
            "gradient": _number(one.gradient[at]), "snapshot": _number(one.snapshot[at]),
            "mean": None if one.mean is None else _number(one.mean[at]),
        }
        for one in noted
    ]


@decides("Explain/buckets")
def _buckets(outer: BucketingModule | None) -> Data | None:
    """The buckets that were bound when the step was made, and the memory that they share."""
    if outer is None:
        return None
    bound = {key: module for key, module in outer._buckets.items() if module.binded}
    owner = outer._buckets[outer._default_bucket_key]._exec_group
    return {
        "current": str(outer._curr_bucket_key), "default": str(outer._default_bucket_key),
        "contexts": [str(context) for context in owner.contexts],
        "keys": [
            {
                "key": str(key), "steps": sum(map(len, module._exec_group.execs[0].program.graph.steps())),
                "inputs": [{"name": d.name, "shape": list(d.shape)} for d in module.data_shapes],
                "planned": [executor.plan.total for executor in module._exec_group.execs],
            }
            for key, module in bound.items()
        ],
        "pool": [
            sum(arena.size for arena in executor.program.pool.arenas.values()) for executor in owner.execs
        ],
    }


def _cluster(module: Any, watched: Watched, seen: Update) -> Data | None:
    """Which worker's step this is, and which round; None without a cluster."""
    if not isinstance(module._kvstore, DistributedKVStore):
        return None
    return {
        "workers": watched.workers, "servers": watched.servers, "rank": module._kvstore.rank,
        "rounds": {name: found.number for name, found in seen.rounds.items()},
        "compressed": module._kvstore._compression is not None,
    }


# --- store and update --------------------------------------------------------------------------------


def _store(module: Any, seen: Update) -> Data:
    store = module._kvstore
    return {
        "type": None if store is None else store.type,
        "updates": bool(module._update_on_kvstore),
        "parameters": [
            {
                "name": name,
                "devices": [window(gradient) for gradient in gradients],
                "workers": [
                    {"rank": rank, **window(term)} for rank, term in seen.rounds[name].terms
                ] if name in seen.rounds else [],
                "merged": _merged(name, seen) if store is not None else None,
            }
            for name, gradients in seen.gradients.items()
        ],
    }


@decides("Explain/sum")
def _merged(name: str, seen: Update) -> Data | None:
    """The store's sum of a parameter's gradients; None for a store that does not show it."""
    heard = seen.heard.get((name, 0))
    if name in seen.rounds:
        return window(seen.rounds[name].total)
    return None if heard is None else window(heard.gradient)


@decides("Explain/weights")
def _update(module: Any, seen: Update, watched: Watched) -> Data:
    optimizer = _trainer(module)
    found = []
    for name, before in seen.before.items():
        heard = seen.heard.get((name, 0))
        after = seen.after[name]
        entry: Data = {
            "name": name, "before": window(before[0]), "after": window(after[0]),
            "change": window(after[0].astype(np.float64) - before[0]),
            "equal_everywhere": all(np.array_equal(after[0], other) for other in after[1:]),
        }
        if heard is not None:
            here = {"lr": float(optimizer._get_lr(heard.key)), "wd": float(optimizer._get_wd(heard.key))}
            rates = heard.rates or here
            entry.update(rates)
            entry["sample"] = _sample(optimizer, seen, name, heard, rates)
            entry["sample"]["corrections"] = _followed(module, watched, name, entry["sample"]["position"])
        found.append(entry)
    return {
        "optimizer": type(optimizer).__name__,
        **_formula(type(optimizer)),
        "settings": _settings(optimizer),
        "parameters": found,
    }


def _formula(kind: type) -> Data:
    """The docstring of an optimizer's class up to its arguments, and its file's equations for the package's own."""
    own = kind.__module__.startswith(f"{_PACKAGE}.optimizer.")
    page = (inspect.getdoc(inspect.getmodule(kind)) or "") if own else ""
    equations = [line[4:] for line in page.splitlines() if line.startswith("    ")]
    return {"says": (inspect.getdoc(kind) or "").partition("\nArgs:")[0].strip(), "equations": equations}


def _settings(optimizer: Any) -> Data:
    """The numbers, flags and texts among the optimizer's attributes, without its counts."""
    plain = {
        key: value for key, value in vars(optimizer).items()
        if not key.startswith("_") and key not in _OWN_SETTINGS and isinstance(value, (bool, int, float, str))
    }
    return {"learning_rate": float(optimizer.learning_rate), **plain}


def _sample(optimizer: Any, seen: Update, name: str, heard: Heard, rates: Data) -> Data:
    """The number of a parameter whose gradient is the largest, followed through the update (of the first device)."""
    at = np.unravel_index(int(np.argmax(np.abs(heard.gradient))), heard.gradient.shape)
    before, after = seen.before[name][0], seen.after[name][0]
    alike = [s for s in heard.state if s.shape == before.shape]
    alike_after = [s for s in heard.state_after if s.shape == before.shape]
    found: Data = {
        "position": [int(i) for i in at],
        "gradients": [_number(gradient[at]) for gradient in seen.gradients[name]],
        "workers": [
            {"rank": rank, "value": _number(term[at])} for rank, term in seen.rounds[name].terms
        ] if name in seen.rounds else [],
        "used": _number(heard.gradient[at]),
        "before": _number(before[at]), "after": _number(after[at]),
        "state_before": [_number(s[at]) for s in alike] or [0.0 for _ in alike_after],
        "state_after": [_number(s[at]) for s in alike_after],
    }
    if type(optimizer).__name__ == "SGD" and not (optimizer.multi_precision and before.dtype == np.float16):
        found |= _arithmetic(optimizer, found, rates)
    return found


def _arithmetic(optimizer: Any, sample: Data, rates: Data) -> Data:
    """SGD's step of one number, line by line, where all of them are finite."""
    if any(sample[key] is None for key in ("used", "before", "after")):
        return {}
    momentum = sample["state_before"][0] if optimizer.momentum > 0 and sample["state_before"] else None
    lines = update_arithmetic.sgd(
        sample["used"], sample["before"], momentum, rates["lr"], rates["wd"], _settings(optimizer)
    )
    return {"arithmetic": [line._asdict() for line in lines]}


# --- rules -------------------------------------------------------------------------------------------


def _cited(module: Any, watched: Watched) -> dict[str, list[str]]:
    """Part of the page -> names of its rules."""
    store = module._kvstore
    parts = {part: list(rules.CITED[part]) for part in ("slices", "graph", "memory", "times", "store", "update")}
    if store is None:
        parts["store"] = list(rules.CITED["no store"])
    else:
        if isinstance(store, KVStore):
            parts["store"] += rules.CITED[f"store, summing as {store._mode}"]
        parts["store"] += rules.CITED["store, updating" if module._update_on_kvstore else "store, not updating"]
    if isinstance(store, DistributedKVStore):
        parts["store"] = [*rules.CITED["store of a cluster"], *parts["store"]]
    parts["update"] += rules.of_optimizer(type(_trainer(module)).__name__)
    if watched.corrections:
        parts["corrections"] = list(rules.CITED["corrections"])
    if watched.buckets is not None:
        parts["buckets"] = list(rules.CITED["buckets"])
    return parts
