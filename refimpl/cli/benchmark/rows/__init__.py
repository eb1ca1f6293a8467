"""The measurements as data: rows by group, each with its code for refimpl, MXNet and PyTorch.

This package is read by the Pythons of other libraries too (3.8 or newer, with NumPy), under the name ``rows``.
"""

import collections

from . import handling, networks, operator_rows
from .work import Row, Work, case_of, row

Group = collections.namedtuple("Group", "title seconds unit environment fresh", defaults=("s", {}, False))
Group.__doc__ = """What rows share.

A round takes at least ``seconds``; ``environment`` is MXNet's; where ``fresh``, each row has a process of its own.
"""

ALONE = {"MXNET_ENGINE_TYPE": "NaiveEngine", "MXNET_SUBGRAPH_BACKEND": "NONE"}  # MXNet: no threads, no fused graphs

GROUPS = {
    "training": Group("One training step", 0.5),
    "operators": Group("One operator", 0.02, environment=ALONE),
    "calls": Group("Handing over small calls", 0.05),
    "start": Group("Starting a process", 0.0),
    "bind": Group("Graphs by their nodes", 0.02),
    "update": Group("Updates by parameters", 0.02),
    "store": Group("A store by its keys", 0.02),
    "buckets": Group("Buckets of an LSTM", 0.05),
    "contexts": Group("One batch on several contexts", 0.3),
    "memory": Group("Memory", 0.0, "MB", environment=ALONE, fresh=True),
}

ROWS = [
    *networks.ROWS, *operator_rows.ROWS, *handling.ROWS,
    row("start", "import", None), row("start", "import of Numba alone", None),
    row("start", "first step of LeNet, no compiled kernels kept", None),
    row("start", "first step of LeNet, kernels kept", None),
]
"""Those of ``start`` have no family: they are the seconds of whole processes."""

__all__ = ["GROUPS", "ROWS", "Group", "Row", "Work", "case_of"]
