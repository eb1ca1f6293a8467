"""One library behind a pipe: does the work of rows on request. Runs under the library's own Python, 3.8 or newer.

    PYTHON refimpl/cli/benchmark/library_process.py mxnet 1

Requests and answers are JSON lines: {"build": 7, "most": 0} makes the work of the eighth row, with sizes of at most
``most`` if that is not 0; {"steps": 20} does it and answers the seconds; {"about": 1} answers versions.
"""

import time

START = time.time()

import importlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path[0] = str(Path(__file__).resolve().parent)  # where the package rows is


class Server:
    """The library, and the work that was asked for last."""

    def __init__(self, library, threads):
        wall, processor = time.perf_counter(), time.process_time()
        self.library = importlib.import_module(library)
        self.imported = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - processor}
        self.is_torch = library == "torch"
        if self.is_torch:
            self.library.set_num_threads(threads)
        self.rows = importlib.import_module("rows")
        self.work = None

    def build(self, number, most):
        """Make the work of a row, None where this library has nothing to compare."""
        self.work = None
        case = self.rows.case_of(self.rows.ROWS[number], most)
        make = case.torch if self.is_torch else case.mx
        if make is not None:
            self.work = make(self.library)
        if self.work is None:
            return {"absent": True}
        return {"flops": self.work.flops, "bytes": self.work.bytes, "items": self.work.items}

    def steps(self, count):
        """Do it so many times, and wait for the end."""
        if self.work.value is not None:
            return {"value": self.work.value()}
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(count):
            self.work.step()
        if not self.is_torch:
            self.library.nd.waitall()
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - processor}

    def answer(self, request):
        """The answer to one request."""
        if "build" in request:
            return self.build(request["build"], request.get("most", 0))
        if "steps" in request:
            return self.steps(request["steps"])
        return {
            "import": self.imported, "since_start": {"wall": time.time() - START, "cpu": time.process_time()},
            "version": self.library.__version__,
        }


def main():
    """Answer until the pipe is closed."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a library that prints must not disturb the answers
    server = Server(sys.argv[1], int(sys.argv[2]))
    for line in sys.stdin:
        try:
            found = server.answer(json.loads(line))
        except Exception as error:  # a row that fails must not end the others
            found = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
