"""Every loop becomes CUDA machine code, also on a machine without a GPU.

The simulator runs loops as Python, so it cannot see a type that CUDA's compiler refuses. Here each loop is
compiled to PTX for the types that real calls gave it on the CPU. It needs numba-cuda and NVVM
(``pip install "refimpl[cuda]"``), but no device.
"""

from __future__ import annotations

import importlib.util

import pytest
from numba import cuda

from refimpl.kernels import distinct
from refimpl.kernels.foundation import LOOPS, plain_kernels
from refimpl.kernels.foundation.loop import SIMULATED, _ForCuda, _rewrite
from refimpl.oracle.pages.calls import Trial, has_gradient
from refimpl.oracle.pages.draws import SeededDraw, example

CAPABILITY = (7, 5)


class _NoDevice:
    """Stands for the device whose capability formulas are compiled for."""

    compute_capability = CAPABILITY


def _warm_up() -> None:
    """Run every page with its plain loops, both ways, in both precisions."""
    with plain_kernels():
        for op in distinct():
            if op.cases is None:
                continue
            for seed in range(6):
                of = example(op, SeededDraw(seed), "float64" if seed % 2 else "float32")
                trial = Trial(of, is_train=op.mode)
                trial.forward()
                if has_gradient(of):
                    trial.backward()


@pytest.mark.long
@pytest.mark.skipif(SIMULATED, reason="the simulator does not compile")
@pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="needs numba-cuda and NVVM: pip install refimpl[cuda]"
)
def test_every_loop_compiles_for_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: _NoDevice)
    _warm_up()
    refused = []
    compiled = 0
    for loop in LOOPS:
        for signature in getattr(loop._cpu, "signatures", ()):
            body = _rewrite(loop._cuda_source, "gpu", _ForCuda())
            try:
                text, _ = cuda.compile(body, signature, device=False, abi="numba", cc=CAPABILITY)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is collected and shown
                refused.append(f"{loop} {signature}: {type(error).__name__} {str(error)[:300]}")
                continue
            compiled += ".entry" in text
    assert not refused, "\n".join(refused)
    assert compiled > len(LOOPS) // 2
