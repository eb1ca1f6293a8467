"""The script ``refimpl``. It is installed as the package ``refimpl_entry``, which imports refimpl only within ``main``.

So a page of an operator that is refused when it is registered ends any command with one sentence, not a traceback.
"""

from __future__ import annotations

import importlib
import os
import sys


def main() -> None:
    """Import the command line, run it and end the process with its exit code."""
    if sys.argv[1:2] == ["check-operator"]:
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # read when Numba is imported
    try:
        run = importlib.import_module("refimpl.cli").run  # it imports every page, and one may be refused
    except Exception as error:
        if getattr(error, "clause", None) is None:  # not a refusal
            raise
        print(f"refimpl: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    sys.exit(run())
