"""An implementation with a fault: a patched copy of this package, in a process that shares nothing with this one."""

from __future__ import annotations

import compileall
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from ..backends.isolate import Isolated
from ..drawing.choices import Capabilities
from .faults import PACKAGE, Fault

LIMIT = 20.0
"""Seconds that a program may take: loops run as Python, and a fault may make one endless."""

START = """
import runpy, sys
sys.path[0] = sys.argv.pop(1)  # instead of the current folder, which may have another refimpl
runpy.run_module("refimpl.oracle.backends.worker", run_name="__main__", alter_sys=True)
"""
"""What the process runs."""


def copy_package(folder: Path) -> Path:
    """Copy the package without following links back here, so that a change reaches nobody else; returns its folder.

    Args:
        folder: where to put it.
    """
    root = folder / "refimpl"
    shutil.copytree(PACKAGE, root, symlinks=False, ignore=shutil.ignore_patterns("__pycache__", "*.gz"))
    return root


@cache
def _compiled() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """A copy with Python's bytecode, which is imported in half the time; it goes with this process.

    Implementations share its files except the one that a fault replaces, whose bytecode is out of date.
    """
    holder = tempfile.TemporaryDirectory(prefix="refimpl-compiled-")
    root = copy_package(Path(holder.name))
    compileall.compile_dir(root, quiet=2)
    return holder, root


@contextmanager
def faulty(fault: Fault | None, capabilities: Capabilities | None = None) -> Iterator[Isolated]:
    """An implementation with one fault, or none, during a block.

    Its loops run as Python, so that nothing is compiled.

    Args:
        fault: the fault; None for a correct copy, to compare with.
        capabilities: limits of drawing; by default the programs in which the fault can show.

    Raises:
        ValueError: the fault does not fit the code.
        Crashed: the package cannot be imported with it.
    """
    with tempfile.TemporaryDirectory(prefix="refimpl-fault-") as name:
        folder = Path(name)
        root = folder / "refimpl"
        shutil.copytree(_compiled()[1], root, copy_function=os.link)
        if fault is not None:
            fault.apply(root)
        environment: dict[str, str | None] = {
            "PYTHONPATH": None, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_DISABLE_JIT": "1",
            "REFIMPL_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-c", START, str(folder), "refimpl.oracle.backends.ours:plain"]
        wanted = capabilities or capabilities_of(fault)
        with Isolated(command, environment, limit=LIMIT, capabilities=wanted, give_up=True) as made:
            yield made


COMPANIONS = ("Reshape", "tile", "slice_axis", "elemwise_add", "relu", "_mul_scalar", "tanh", "FullyConnected")
"""Operators that are drawn beside those of a fault, so that graphs have several nodes and a cause has to be found:
a choice of the scoring, no fact about operators."""


def capabilities_of(fault: Fault | None) -> Capabilities:
    """The capabilities for drawing: the operators at fault in graphs with COMPANIONS, or all of the fault's level."""
    if fault is None:
        return Capabilities(level=6, corners=True)
    alone = fault.level <= 2 and fault.operators  # the networks of modules need several operators
    return Capabilities(
        level=fault.level, operators=frozenset((*fault.operators, *COMPANIONS)) if alone else None, corners=True
    )
