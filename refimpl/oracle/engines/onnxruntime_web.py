"""ONNX Runtime as WebAssembly, in a process of Node: the npm package onnxruntime-web, in one thread."""

from __future__ import annotations

import json
import subprocess
import sys
from base64 import b64decode, b64encode
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.protocol import Unsupported
from . import Run

SCRIPT = """
const ort = require(process.argv[1]);
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "fatal";
const KINDS = {float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int8: Int8Array,
  uint8: Uint8Array, int32: Int32Array, int64: BigInt64Array};
const held = (text) => new Uint8Array(Buffer.from(text, "base64"));
const text = (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
let session;
const answer = async (asked) => {
  if (asked.model) { session = await ort.InferenceSession.create(held(asked.model)); return {}; }
  const given = {};
  for (const [name, [kind, shape, data]] of Object.entries(asked))
    given[name] = new ort.Tensor(kind, new KINDS[kind](held(data).buffer), shape);
  const found = await session.run(given);
  return {outputs: session.outputNames.map((name) => [found[name].type, found[name].dims, text(found[name].data)])};
};
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  answer(JSON.parse(line)).catch((error) => ({error: String(error)}))
    .then((said) => process.stdout.write(JSON.stringify(said) + "\\n"));
});
"""
"""Answers lines of JSON: a model, or its inputs by name as type, shape and base64 of the elements."""


class Engine:
    """See ``engines``.

    Args:
        folder: where npm has put the package; ``node`` in this Python's environment by default.

    Raises:
        FileNotFoundError: the package or Node is not there.
    """

    name, opset = "ONNX Runtime Web", 21

    def __init__(self, folder: str | None = None) -> None:
        package = Path(folder or Path(sys.prefix, "node"), "node_modules", "onnxruntime-web").resolve()
        self.version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
        self.command = ["node", "-e", SCRIPT, str(package)]
        self.process = self._started()
        self.opened = b""

    def load(self, model: bytes) -> Run:
        """Open a session, the only one of the process."""
        if self.process.poll() is not None:
            self.process = self._started()
        self._ask({"model": b64encode(model).decode()})
        self.opened = model
        return partial(self._run, model)

    def _run(self, model: bytes, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        if self.opened is not model:
            self.load(model)
        given = {n: [v.dtype.name, v.shape, b64encode(v.tobytes()).decode()] for n, v in inputs.items()}
        return [
            np.frombuffer(b64decode(data), kind).reshape(shape) for kind, shape, data in self._ask(given)["outputs"]
        ]

    def _ask(self, message: dict[str, Any]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        said = json.loads(self.process.stdout.readline() or '{"error": "Node ended"}')
        if "ERROR_CODE: 9" in said.get("error", ""):
            raise Unsupported(said["error"])
        if "error" in said:
            raise RuntimeError(said["error"])
        return said

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  # our own
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
