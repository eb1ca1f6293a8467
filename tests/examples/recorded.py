"""What MXNet 1.9.1 gave for a script of ``scripts/unchanged``: its losses, what else it printed, the weights it saved.

``recorded/NAME.json`` holds it, and this writes it:
``REFIMPL_MXNET_PYTHON=PATH python -m tests.examples.recorded NAME ...``

A script ends with ``print('losses', ...)``, and saves weights as ``*.params`` in the folder in which it runs.
If it has a BatchNorm, it calls ``mx.nd.waitall()`` first: MXNet does not wait for moving means that backward writes.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

SCRIPTS = Path(__file__).parent / "scripts" / "unchanged"
RECORDED = Path(__file__).parent / "recorded"
PEER = os.environ.get("REFIMPL_MXNET_PYTHON", "")
UNDER_MXNET = """
import runpy, sys
import mxnet as mx
mx.gpu = mx.context.gpu = mx.cpu
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
TO_NUMPY = """
import glob
import mxnet as mx
import numpy as np
for file in glob.glob("*.params"):
    np.savez(file + ".npz", **{name: array.asnumpy() for name, array in mx.nd.load(file).items()})
"""
SETTINGS = {"dcgan": {"MXNET_MKLDNN_ENABLED": "0"}, "rl_dqn_like": {"MXNET_SUBGRAPH_BACKEND": "NONE"}}
"""dcgan: oneDNN fails in it. rl_dqn_like: the layers that oneDNN fuses for inference go on with the first weights."""
CLUSTERS = {
    "dist_async_linear": (2, 2), "dist_compression": (2, 1), "dist_sync_mlp": (2, 2), "dist_sync_sparse": (2, 1),
}
"""How many workers and servers the cluster of a script has; only worker 0 prints."""
SAID_BY_MXNET = "WARNING: discarded", "learning rate from ``lr_scheduler``"
"""How lines begin that MXNet itself prints; refimpl warns instead."""
QUIRKS = {"mtcnn_like": ["prelu-in-place"]}
"""Scripts whose numbers under MXNet come from its mistakes, which refimpl repeats when it is told to."""
KEPT = 16
"""Elements of each array in a digest, evenly spaced."""


def recorded(name: str) -> dict:
    """``{"losses": [number, ...], "printed": [line, ...], "weights": {"FILE ARRAY": digest}}`` of a script."""
    return json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))


def printed(out: str) -> dict:
    """The numbers of the last line, ``losses 0.6931472 0.6821 ...``, and the lines before it."""
    *lines, last = out.splitlines()
    word, *numbers = last.split()
    assert word == "losses", last
    return {
        "losses": [float(number) for number in numbers],
        "printed": [line for line in lines if not line.startswith(SAID_BY_MXNET)],
    }


def digests(arrays: dict[str, np.ndarray]) -> dict:
    """What is kept of each array: type, shape, mean, norm, and ``KEPT`` of its elements."""
    kept = {}
    for name, array in sorted(arrays.items()):
        flat = array.astype(np.float64).ravel()
        digits = 15 if array.dtype == np.float64 else 9
        some = flat[np.linspace(0, flat.size - 1, min(KEPT, flat.size)).astype(int)]
        mean, norm, *elements = (float(f"{value:.{digits}g}") for value in (flat.mean(), np.linalg.norm(flat), *some))
        kept[name] = {
            "dtype": str(array.dtype), "shape": list(array.shape), "mean": mean, "norm": norm, "elements": elements,
        }
    return kept


def assert_same(found: dict, wanted: dict, loosest: float = 1e-4) -> None:
    """Each number agrees: to 1e-6 if it is or comes from float64, else to ``loosest``.

    That is relative to the number, for those of weights also to their root mean square or to a hundredth.
    """
    assert {name: (kept["dtype"], kept["shape"]) for name, kept in found["weights"].items()} == {
        name: (kept["dtype"], kept["shape"]) for name, kept in wanted["weights"].items()
    }
    exact = all(kept["dtype"] == "float64" for kept in wanted["weights"].values())
    bound = 1e-6 if exact else loosest
    assert found["losses"] == pytest.approx(wanted["losses"], rel=bound)
    assert len(found["printed"]) == len(wanted["printed"])
    for line, expected in zip(found["printed"], wanted["printed"], strict=True):
        assert [_word(word) for word in line.split()] == [_word(word, bound) for word in expected.split()], line
    for name, expected in wanted["weights"].items():
        bound = 1e-6 if expected["dtype"] == "float64" else loosest
        scale = max(expected["norm"] / max(np.prod(expected["shape"]), 1.0) ** 0.5, 1e-2)
        for part in ("norm", "mean", "elements"):
            close = pytest.approx(expected[part], rel=bound, abs=bound * scale)
            assert found["weights"][name][part] == close, (name, part)


def _word(word: str, bound: float = 0.0):
    try:
        return pytest.approx(float(word), rel=bound) if bound else float(word)
    except ValueError:
        return word


def under_mxnet(name: str) -> dict:
    """Run a script under MXNet 1.9.1, in a folder that is thrown away."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | SETTINGS.get(name, {})
    with tempfile.TemporaryDirectory() as folder:

        def start(*words: str | Path, **more: str) -> subprocess.Popen:
            return subprocess.Popen(
                [PEER, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=environment | more,
            )

        script = "-c", UNDER_MXNET, SCRIPTS / f"{name}.py"
        out = of_cluster(start, script, *CLUSTERS[name]) if name in CLUSTERS else said(start(*script))
        said(start("-c", TO_NUMPY))
        arrays = {}
        for file in Path(folder).glob("*.params.npz"):
            with np.load(file) as saved:
                arrays |= {f"{file.name.removesuffix('.params.npz')} {array}": saved[array] for array in saved}
    return printed(out) | {"weights": digests(arrays)}


def said(process: subprocess.Popen) -> str:
    """What a process printed, once it has ended well."""
    try:
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return out


def of_cluster(start, script: tuple, workers: int, servers: int) -> str:
    """What the worker prints that prints losses, in a cluster of processes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    members = {
        "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(port), "DMLC_NUM_WORKER": str(workers),
        "DMLC_NUM_SERVER": str(servers),
    }
    others = [
        start("-c", "import mxnet", DMLC_ROLE=role, **members) for role in ("scheduler", *["server"] * servers)
    ]
    working = [start(*script, DMLC_ROLE="worker", **members) for _ in range(workers)]
    try:
        return next(out for out in [said(worker) for worker in working] if "losses" in out)
    finally:
        for each in (*others, *working):
            each.kill()
            each.wait()


def main(names: list[str]) -> None:
    """Record the scripts of these names, an array to a line."""
    assert PEER, "REFIMPL_MXNET_PYTHON names no Python with mxnet 1.9.1"
    for name in names:
        found = under_mxnet(name)
        lines = ",\n".join(f"  {json.dumps(line)}" for line in found["printed"])
        rows = ",\n".join(f"  {json.dumps(array)}: {json.dumps(kept)}" for array, kept in found["weights"].items())
        parts = json.dumps(found["losses"]), f"[\n{lines}\n ]", f"{{\n{rows}\n }}"
        text = '{{\n "losses": {},\n "printed": {},\n "weights": {}\n}}\n'.format(*parts)
        (RECORDED / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
