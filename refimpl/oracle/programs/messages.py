"""Messages between the oracle and the process of an implementation, and the loop that answers them.

A message is its length (8 bytes, little-endian), the length of a JSON text, that text, and the elements of the arrays
that the text lists. A request is ``{"programs": [...]}``; every program is answered by a message of its own, as soon as
it has run: a trace, or ``{"error": kind, "text": ...}`` with kind "refused" or "unsupported".
"""

import ctypes
import json
import os
import signal
import struct
import sys
import time

import numpy as np

from .interpreter import Refused

LARGEST = 1 << 30
"""Bytes that a message may have."""


def pack(header, arrays=None):
    """A message of an object and named arrays."""
    arrays = {name: np.ascontiguousarray(value).reshape(np.shape(value)) for name, value in (arrays or {}).items()}
    listed = [[name, value.dtype.name, list(value.shape)] for name, value in arrays.items()]
    text = json.dumps({**header, "arrays": listed}).encode()
    parts = [struct.pack("<Q", len(text)), text] + [value.tobytes() for value in arrays.values()]
    return b"".join([struct.pack("<Q", sum(map(len, parts)))] + parts)


def unpack(stream):
    """(object, arrays) of the next message of a file; None at its end.

    Raises:
        ValueError: the bytes are no message.
    """
    head = stream.read(8)
    if len(head) < 8:
        return None
    length = struct.unpack("<Q", head)[0]
    if not 8 <= length <= LARGEST:
        raise ValueError("a message cannot have %d bytes" % length)
    content = stream.read(length)
    if len(content) < length:
        return None
    begin = 8 + struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:begin].decode())
    if not isinstance(header, dict):
        raise ValueError("a message is an object")
    arrays = {}
    for name, dtype, shape in header.pop("arrays"):
        size = int(np.prod(shape, dtype=object)) if shape else 1
        end = begin + size * np.dtype(dtype).itemsize
        arrays[name] = np.frombuffer(content[begin:end], dtype).reshape(shape).copy()
        begin = end
    return header, arrays


def answer(run, program):
    """The message that answers a program.

    Args:
        run: from a program to its trace, or the text of a history; raises Refused, or an exception whose class is
            named Unsupported.
        program: the program.
    """
    try:
        made = run(program)
        return pack({}, {"history": np.frombuffer(made.encode(), "uint8")} if isinstance(made, str) else made)
    except Refused as error:
        return pack({"error": "refused", "text": str(error)})
    except Exception as error:
        if type(error).__name__ == "Unsupported":
            return pack({"error": "unsupported", "text": str(error)})
        return pack({"error": "refused", "text": "%s: %s" % (type(error).__name__, error)})


def serve(start, forks=False):
    """Answer requests on standard input until it ends.

    Args:
        start: returns the first message (an object) and ``run``; its own output cannot get into the answers.
        forks: whether copies of the process answer, which have only run ``start``. Where one ends, the
            message ``{"ended": code}`` says so, and the next request, or ``{"restart": true}``, makes another one.
    """
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the implementation prints goes elsewhere
    hello, run = start()
    try:
        pipe.write(pack(dict(hello, forks=forks)))
        pipe.flush()
        if forks:
            _serve_by_copies(pipe, run)
        else:
            _answer_all(sys.stdin.buffer, pipe, run)
    except BrokenPipeError:  # nobody listens any more
        return


def _answer_all(requests, pipe, run, done=None):
    """Answer requests until they end; say when each is done."""
    while True:
        message = unpack(requests)
        if message is None:
            return
        for program in message[0]["programs"]:
            pipe.write(answer(run, program))
            pipe.flush()
        if done is not None:
            os.write(done, b".")


def _serve_by_copies(pipe, run):
    copy = None
    while True:
        message = unpack(sys.stdin.buffer)
        if copy is not None and (message is None or "restart" in message[0]):
            copy.end()
            copy = None
        if message is None:
            return
        if "restart" in message[0]:
            continue
        copy = copy or _Copy(pipe, run)
        if not copy.does(pack(message[0])):
            pipe.write(pack({"ended": copy.end()}))
            pipe.flush()
            copy = None


class _Copy:
    """A copy of this process that answers requests."""

    def __init__(self, pipe, run):
        theirs, self.requests = os.pipe()
        self.done, done = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                os.close(self.requests)
                os.close(self.done)
                if sys.platform == "linux":
                    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with this process
                _answer_all(os.fdopen(theirs, "rb"), pipe, run, done)
            finally:
                os._exit(0)
        os.close(theirs)
        os.close(done)

    def does(self, request):
        """Hand over a request; whether the copy is still there when it should be done."""
        try:
            with os.fdopen(os.dup(self.requests), "wb") as stream:
                stream.write(request)
        except BrokenPipeError:
            return False
        return os.read(self.done, 1) != b""

    def end(self):
        """End the copy, if it has not ended; returns the exit status, negative where a signal ended it."""
        ended, status = os.waitpid(self.process, os.WNOHANG)
        if not ended:
            _, status = self._waited()
        os.close(self.requests)
        os.close(self.done)
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def _waited(self):
        time.sleep(0.05)  # its end of the pipe closes a little before it can be waited for
        ended, status = os.waitpid(self.process, os.WNOHANG)
        if ended:
            return ended, status
        os.kill(self.process, signal.SIGKILL)
        return os.waitpid(self.process, 0)
