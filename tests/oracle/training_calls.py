"""A user's call that shows each fault of ``training_faults.json``: ``python -m tests.oracle.training_calls [ID ...]``.

Each function of ``training_modules`` and ``training_others`` that is named as a fault makes a handful of calls of the
public interface, and returns what the user sees. The script runs each in a copy of the package without a fault and in
one with it, and says which results differ; it fails where one does not. Nothing here knows how the oracle draws its
programs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__" and len(sys.argv) > 2 and sys.argv[1] == "--inside":
    sys.path[0] = sys.argv[2]  # the copy of the package; the tests come from here
    sys.path.append(str(Path(__file__).resolve().parents[2]))


def seen(name: str) -> str:
    """What the call of a fault returns, or the error that it raises, as text."""
    from refimpl.kernels.foundation.loop import plain_kernels
    from tests.oracle import training_modules, training_others

    try:
        with plain_kernels(), np.errstate(all="ignore"):
            return repr(getattr(training_modules if hasattr(training_modules, name) else training_others, name)())
    except Exception as error:  # noqa: BLE001  # a fault may do anything
        return f"{type(error).__name__}: {error}"


def in_copy(fault: Any, names: list[str]) -> list[str]:
    """:func:`seen` of each name, in a process that has a copy of the package with a fault, or without one."""
    from refimpl.oracle.scoring.copies import _compiled

    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "refimpl"
        shutil.copytree(_compiled()[1], root, copy_function=os.link)
        if fault is not None:
            fault.apply(root)
        found = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, "--inside", folder, *names], env=environment, cwd=folder,
            capture_output=True, text=True, check=False,
        )
    lines = found.stdout.splitlines()
    return [*map(json.loads, lines)] if lines else [found.stderr[-500:]]


def main() -> int:
    """Run the script."""
    from refimpl.oracle.scoring.faults import TRAINING, faults

    chosen = [fault for fault in faults(TRAINING) if fault.id in sys.argv[1:] or len(sys.argv) == 1]
    names = [fault.id.partition("/")[2].replace("-", "_") for fault in chosen]
    good = 0
    for fault, name, right in zip(chosen, names, in_copy(None, names), strict=True):
        (wrong,) = in_copy(fault, [name])
        shows = right != wrong and "Error: " not in right[:40]
        good += shows
        print(json.dumps({"id": fault.id, "shows": shows, "right": right[:400], "wrong": wrong[:400]}), flush=True)
    return good < len(chosen)


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--inside":
        for one in sys.argv[3:]:
            print(json.dumps(seen(one)))
        sys.exit(0)
    sys.exit(main())
