"""MXNet 1.9.1, in processes of its own Python; it needs nothing of this package but the text of ``programs``.

    REFIMPL_MXNET_PYTHON=PATH    an environment with ``pip install numpy==1.23.5 mxnet==1.9.1``

Not supported: operators that are ours alone. An update operator with states is called with ``out`` in scripts; in a
graph it is an operator like others.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ..drawing.drawn_graphs import changing, drawable
from ..drawing.drawn_networks import IN_NETWORKS
from ..drawing.random_numbers import random_operators
from ..programs.interpreter import SESSIONS
from .isolate import Isolated
from .protocol import Capabilities, Crashed

OURS = re.compile(r"_backward_|_sum_like|_stretch_like|_CrossDeviceCopy|_\w+_step$")
"""Names under which MXNet has another operator, or none."""

TYPES = (*["float32"] * 5, "float64", "float64", "float16")
"""Single precision is what most of MXNet was written for: it is drawn most."""


class MXNet(Isolated):
    """MXNet 1.9.1.

    Args:
        python: its Python; by default the one that REFIMPL_MXNET_PYTHON names.
        options: those of :class:`Isolated`.

    Raises:
        Crashed: that Python has no MXNet, or another version.
    """

    leaves_out = ("store/more arrays than before", "executor/monitor")
    """Lists that grow from one push of a key to the next end the process, and would be in most programs of level 6.
    What a monitor is told depends on how an implementation arranges a graph: names of steps of a backward pass."""

    def __init__(self, python: str = "", **options: Any) -> None:
        python = python or os.environ.get("REFIMPL_MXNET_PYTHON", "")
        if not python:
            raise Crashed("REFIMPL_MXNET_PYTHON names no Python with mxnet 1.9.1")
        # OpenBLAS sums in another order when its CPU type is forced, and PYTHONPATH is for another Python
        environment = {"OPENBLAS_CORETYPE": None, "PYTHONPATH": None}
        worker = Path(__file__).with_name("mxnet_worker.py")
        super().__init__([python, str(worker)], environment, capabilities=Capabilities(), **options)
        if self.version != "1.9.1":
            raise Crashed(f"{python} has mxnet {self.version or 'not installed'}, wanted 1.9.1")
        names = set(self.hello["names"])
        self.capabilities = Capabilities(
            level=max(SESSIONS), operators=frozenset(
                n for n in (*drawable(), *changing(), *IN_NETWORKS, *random_operators())
                if n in names and not OURS.match(n)
            ), dtypes=TYPES, corners=True,
        )

    def describe(self) -> str:
        """The supported levels and operators, as text."""
        own = self.capabilities.operators or ()
        missing = sorted(set(drawable()) - set(own))
        return "\n".join([
            f"MXNet {self.version}: levels 1 to {self.capabilities.level}, {len(own)} operators",
            f"not supported: {', '.join(missing)}",
        ])


backend = MXNet
"""What ``--oracle-backend=refimpl.oracle.backends.mxnet`` finds."""
