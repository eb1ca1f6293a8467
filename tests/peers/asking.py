"""Asking MXNet 1.9.1: programs of the oracle, and requests to the functions of server.py; how answers are judged.

Nothing is compared within a tolerance: an element is equal, or inside the bound of the oracle, or not judged.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.oracle import Verdict
from refimpl.oracle.backends.isolate import Isolated
from refimpl.oracle.backends.mxnet import MXNet
from refimpl.oracle.bounds import tracking
from refimpl.oracle.judging.comparing import compare_within
from refimpl.oracle.judging.reference import Expected

from . import server

PYTHON = os.environ.get("REFIMPL_MXNET_PYTHON", "")
needs_mxnet = pytest.mark.skipif(
    not PYTHON, reason="REFIMPL_MXNET_PYTHON names no Python with mxnet 1.9.1"
)
SECONDS = 60.0  # that MXNet may take for one answer: now and then it hangs
Arrays = dict[str, np.ndarray]


def backend() -> MXNet:
    """MXNet, for programs."""
    return MXNet(PYTHON, limit=SECONDS)


def functions() -> Isolated:
    """MXNet, for requests."""
    environment = {"OPENBLAS_CORETYPE": None, "PYTHONPATH": None}  # see backends/mxnet.py
    return Isolated([PYTHON, str(Path(server.__file__))], environment, limit=SECONDS)


def here(request: dict[str, Any]) -> Arrays:
    """The same lines here; what MXNet would call an error is raised."""
    return server.run(mx, request)


def text_of(answer: Arrays, key: str) -> str:
    return answer[key].tobytes().decode()


def spec_of(array: np.ndarray) -> dict[str, Any]:
    """An array as data, element by element."""
    words = {np.inf: "inf", -np.inf: "-inf"}
    listed = [words.get(e, "nan" if e != e else e) for e in array.ravel().tolist()]
    return {"shape": list(array.shape), "dtype": array.dtype.name, "elements": listed}


def verdict_on(request: dict[str, Any], theirs: Arrays, ours: Arrays | None = None) -> Verdict:
    """How an answer to a request is judged; ``ours`` is the answer here, where it is known."""
    def expected() -> dict[str, Expected]:
        with tracking() as shadow:
            found = server.run(mx, request, shadow.of)
        return {name: Expected(*pair) for name, pair in found.items() if isinstance(pair, tuple)}

    return compare_within(here(request) if ours is None else ours, theirs, expected)


def assert_right(
    request: dict[str, Any], theirs: Arrays, ours: Arrays | None = None, known: Sequence[str] = ()
) -> Verdict:
    """Demand that every array of an answer is right, but those ``known`` to differ, and that some are judged."""
    verdict = verdict_on(request, theirs, ours)
    wrong = [mismatch.text for mismatch in verdict.mismatches if mismatch.name not in known]
    assert not wrong, (request["do"], wrong)
    assert verdict.exact + verdict.bounded > 0, verdict
    return verdict
