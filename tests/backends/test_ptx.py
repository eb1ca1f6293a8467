"""Every loop, and every twin by blocks, becomes CUDA machine code, also on a machine without a GPU.

The simulator runs loops as Python, so it cannot see a type that CUDA's compiler refuses. Here each loop is
compiled to PTX for the types that real calls gave it on the CPU. It needs numba-cuda and NVVM
(``pip install "refimpl[cuda]"``), but no device. It takes about four minutes of processor time.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import re
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import pytest
from numba import cuda

from refimpl.kernels import distinct
from refimpl.kernels.foundation import LOOPS, items, pairs, plain_kernels, scalar, texts
from refimpl.kernels.foundation.axes import Axes
from refimpl.kernels.foundation.devices import SIMULATED
from refimpl.kernels.foundation.loop import Loop
from refimpl.kernels.foundation.texts import rewrite
from refimpl.oracle.pages.calls import Trial, has_gradient
from refimpl.oracle.pages.draws import SeededDraw, example

CAPABILITY = (7, 5)
FUSED, ROUNDED = re.compile(r"\bfma\.rn\.f"), re.compile(r"\bmul\.rn\.f")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(SIMULATED, reason="the simulator does not compile"),
    pytest.mark.skipif(
        importlib.util.find_spec("numba_cuda") is None, reason="needs numba-cuda and NVVM: pip install refimpl[cuda]"
    ),
]


class _NoDevice:
    """Stands for the device whose capability formulas are compiled for."""

    compute_capability = CAPABILITY


@pytest.fixture(autouse=True)
def _no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: _NoDevice)


def _warm_up() -> None:
    """Run every page with its plain loops, both ways, in both precisions."""
    with plain_kernels():
        for op in distinct():
            if op.cases is None:
                continue
            for seed in range(8):
                of = example(op, SeededDraw(seed), "float64" if seed % 2 else "float32")
                trial = Trial(of, is_train=op.mode)
                trial.forward()
                if has_gradient(of):
                    trial.backward()


def _ptx(source: FunctionType, signature: Any, axes: Axes = ()) -> str:
    text, _ = cuda.compile(rewrite(source, "gpu", axes), signature, device=False, abi="numba", cc=CAPABILITY)
    return text


def _forms(loop: Loop) -> Iterator[tuple[FunctionType, Any]]:
    """The texts of a loop for CUDA, each with the types of a call."""
    for signature in getattr(loop._cpu, "signatures", ()):
        yield loop._cuda_source, signature
        if loop._blocks_source and str(signature[0].dtype) in ("float32", "float64"):
            yield loop._blocks_source, signature


def _calls_functions(source: FunctionType) -> bool:
    """Whether a loop or one of its formulas takes a power, a remainder or the like: CUDA's own fuse operations."""
    named = inspect.getclosurevars(source).globals
    return source is pairs.modulo or "**" in inspect.getsource(source) or any(
        value is math or getattr(value, "__module__", "") == "math"
        or (hasattr(value, "__scalar__") and _calls_functions(value)) for value in named.values()
    )


def test_every_loop_compiles_for_cuda() -> None:
    _warm_up()
    refused, fused = [], []
    compiled = twins = exact = 0
    for loop in LOOPS:
        for source, signature in _forms(loop):
            try:
                text = _ptx(source, signature, loop.axes)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is collected and shown
                refused.append(f"{loop} {signature}: {type(error).__name__} {str(error)[:300]}")
                continue
            compiled += ".entry" in text
            twins += source is loop._blocks_source
            if not _calls_functions(source):
                exact += 1
                fused += [f"{loop} {signature}"] * bool(FUSED.search(text))
    assert not refused, "\n".join(refused)
    assert not fused, "products that are added without being rounded first:\n" + "\n".join(fused)
    assert compiled > len(LOOPS) // 2
    assert exact > compiled // 2
    assert twins >= 2 * sum(loop._blocks_source is not None for loop in LOOPS)


@scalar
def _product(a: float, b: float) -> float:
    return a * b


def _sums(a, b, out, n):
    for i in items(n):
        out[i] = a[i] * b[i] + out[i]
        out[i] = _product(a[i], out[i]) + b[i]
        b[i] *= a[i]
        out[i] += b[i]


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("rounded", [True, False])
def test_products_are_rounded(kind: str, rounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a loop, in a formula and in an assignment; without that CUDA's compiler fuses all three."""
    if not rounded:
        monkeypatch.setattr(texts._ForCuda, "FUNCTIONS", {})
    monkeypatch.setattr(texts, "formula_for", texts.formula_for.__wrapped__)  # so that nothing is remembered
    text = _ptx(_sums, f"void({kind}[::1], {kind}[::1], {kind}[::1], int64)")
    fused, apart = len(FUSED.findall(text)), len(ROUNDED.findall(text))  # three each time, in a loop that is unrolled
    assert (fused == 0 and apart >= 3) if rounded else (fused >= 3 and apart == 0)


def _remainders(a, b, out, n):
    for i in items(n):
        out[i] = a[i] % b[i]
        b[i] %= a[i]


@pytest.mark.parametrize(("kind", "exact", "rounded"), [
    ("float32", "copysign.f32", "cvt.rmi.f32"), ("float64", "copysign.f64", "cvt.rmi.f64"),
    ("int64", "rem.s64", "fmod"),
])
def test_remainders_are_exact(kind: str, exact: str, rounded: str) -> None:
    """Of floats they are not x - floor(x / y) * y; see ``rounding``."""
    text = _ptx(_remainders, f"void({kind}[::1], {kind}[::1], {kind}[::1], int64)")
    assert exact in text
    assert rounded not in text
