"""The process of MXNet: interprets programs under MXNet's own Python (3.8 or newer), which has no refimpl.

    PYTHON refimpl/oracle/backends/mxnet_worker.py
"""

import ctypes
import os
import signal
import sys
from pathlib import Path


def operators(mx):
    """Names of all operators."""
    names, count = ctypes.POINTER(ctypes.c_char_p)(), ctypes.c_uint()
    mx.base._LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names))
    return [names[i].decode() for i in range(count.value)]


def start():
    """Import MXNet; returns the first message and the function that runs a program."""
    import mxnet as mx

    for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL):
        signal.signal(number, signal.SIG_DFL)  # MXNet's handlers may wait for ever: they allocate memory
    return {"version": mx.__version__, "names": operators(mx)}, lambda program: interpreter.run(mx, program)


if __name__ == "__main__":
    folder = Path(__file__).resolve().parent
    sys.path = [path for path in sys.path if Path(path or ".").resolve() != folder]  # it has an mxnet.py
    sys.path.insert(0, str(folder.parent))
    from programs import interpreter
    from programs.messages import serve

    serve(start, forks=hasattr(os, "fork"))  # importing MXNet takes seconds, a copy none
