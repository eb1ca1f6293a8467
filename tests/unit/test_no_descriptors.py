"""The first call of a kernel in a process that may open no more files."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="the system has no limit of open files")

SCRIPT = """
import os, resource, sys
import numpy as np
import refimpl as mx

def dot():
    return mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((3, 2))).asnumpy().tolist()

def drawn():
    mx.random.seed(1)
    return (mx.nd.random.uniform(shape=(2,)) * 0 + 3).asnumpy().tolist()

def network():
    executor = (mx.sym.Variable("a") * 2).bind(mx.cpu(), {"a": mx.nd.ones(2)})
    return executor.forward()[0].asnumpy().tolist()

call = {"dot": dot, "drawn": drawn, "network": network}[sys.argv[1]]
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
try:
    print(call())
except mx.MXNetError as error:
    print(error)
for descriptor in held:
    os.close(descriptor)
print(call())
"""


@pytest.mark.heavy
@pytest.mark.clause("kernel-cache/no-files")
@pytest.mark.parametrize("call, expected", [
    ("dot", "[[3.0, 3.0], [3.0, 3.0]]"), ("drawn", "[3.0, 3.0]"), ("network", "[2.0, 2.0]"),
])
def test_a_first_call_without_descriptors_can_be_repeated(call: str, expected: str) -> None:
    """Sums of three ones, zero times anything plus 3, twice 1."""
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, call], capture_output=True, text=True, timeout=300, check=False,
    )
    assert ran.returncode == 0, ran.stderr
    first, again = ran.stdout.splitlines()
    assert again == expected
    assert "close files or raise the limit of open files (ulimit -n), then repeat the call" in first
