"""Cases of a suite as folders of tests that ONNX's own runner reads: a model, its inputs and its outputs.

The runner compares with one relative and one absolute tolerance, so a case becomes a test only where these forgive
every right answer: where all that its bounds allow lies inside them.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from ...base import decides
from ..backends.onnx import on
from ..backends.protocol import Refused, Unsupported
from ..engines import Run
from ..judging.reference import Trace, trace_of
from ..programs.values import DTYPES
from .answering import lacks
from .elements import rounded

RELATIVE, ABSOLUTE = 1e-3, 1e-7
"""The tolerances of ONNX's backend tests."""
OPSET = 17
"""The version of ONNX's operators: the oldest that models are written in, which most runtimes read."""
FOLDER = Path("onnx", "refimpl")
"""Where a suite has the tests; ONNX's loader calls the second name the kind of a test."""
Case = dict[str, Any]


@decides("oracle/suite-onnx")
def is_within_tolerances(arrays: dict[str, Any], trace: Trace) -> bool:
    """Whether ONNX's tolerances forgive whatever the bounds of a case allow.

    Args:
        arrays: the expected arrays of the case.
        trace: those arrays that answers are compared with, as this implementation computes them.
    """
    return all(_is_within(arrays[name], out) for name, out in trace.items())


def _is_within(array: dict[str, Any], out: np.ndarray) -> bool:
    bounds = array["bound"] if isinstance(array["bound"], list) else [array["bound"]]
    if "free" in bounds:
        return False
    bound, found = np.array(bounds, np.float64), out.astype(np.float64).reshape(-1)
    values = np.where(bound > 0, rounded(array["elements"], "float64"), rounded(array["elements"], array["dtype"]))
    with np.errstate(all="ignore"):
        same = (found == values) | (np.isnan(found) & np.isnan(values))
        reach = bound + np.where(same, 0.0, np.abs(found - values))
        smallest = np.minimum(np.abs(found), np.abs(values) - bound)  # the tolerance grows with either's size
        return bool(((reach <= ABSOLUTE + RELATIVE * np.maximum(smallest, 0.0)) | (same & (bound == 0))).all())


class Folders:
    """Writes the tests of a suite; as an engine it is handed the model and the inputs of a case.

    Args:
        folder: of the suite.
    """

    name, version, opset = "folders", onnx.__version__, OPSET

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self.count = 0
        self.backend = on(self, opset=OPSET, dtypes=DTYPES, weights="input")
        self._handed: list[tuple[bytes, dict[str, np.ndarray]]] = []

    def load(self, model: bytes) -> Run:
        """See ``engines.Engine``."""
        def run(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            self._handed.append((model, inputs))
            raise Unsupported("a folder computes nothing")

        return run

    def write(self, case: Case) -> bool:
        """Write the test of a case; not where it has no form in ONNX, or bounds beyond the tolerances.

        Args:
            case: of level 1.

        Returns:
            whether there is a test.
        """
        self._handed.clear()
        if lacks(self.backend.capabilities, case):
            return False
        with contextlib.suppress(Unsupported, Refused):  # whatever it is handed, it refuses
            self.backend.run(case["program"])
        if len(self._handed) != 1:
            return False
        trace = {name: array for name, array in trace_of(case["program"]).items() if "/output" in name}
        if not is_within_tolerances(case["trace"], trace):
            return False
        self._write(f"test_{case['case'].replace('-', '_')}", trace)
        return True

    def _write(self, name: str, trace: Trace) -> None:
        model, inputs = self._handed[0]
        data = self.folder / name / "test_data_set_0"
        data.mkdir(parents=True)
        (data.parent / "model.onnx").write_bytes(model)
        outputs = [value.name for value in onnx.load_from_string(model).graph.output]
        for kind, arrays in (("input", inputs), ("output", dict(zip(outputs, trace.values(), strict=True)))):
            for number, (key, array) in enumerate(arrays.items()):
                tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), key)
                (data / f"{kind}_{number}.pb").write_bytes(tensor.SerializeToString())
        self.count += 1
