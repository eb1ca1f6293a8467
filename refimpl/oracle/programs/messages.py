"""Messages between the oracle and the process of an implementation, and the loop that answers them.

A message is its length (8 bytes, little-endian), the length of a JSON text, that text, and the elements of the arrays
that the text lists. A request is ``{"programs": [...]}``; every program is answered by a message of its own, as soon as
it has run: a trace, or ``{"error": kind, "text": ...}`` with kind "refused" or "unsupported". The chapter
``spec/reference/tools/oracle-protocol.md`` says this for every language.
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

PROTOCOL = 1
"""The version of these messages, which a worker's first message names."""
LARGEST = 1 << 28
"""Bytes that a message may have."""
LARGEST_TEXT = 1 << 26
"""Bytes of them that its text may have."""
LONGEST_NAME = 1000
"""Characters in the name of an array of a message."""
MOST_SIDES = 32
TYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)
"""Types of the arrays of a message."""
PIECE = 1 << 20
"""Bytes that are read at once: memory is taken for what has come, not for what a length promises."""


def pack(header, arrays=None):
    """A message of an object and named arrays.

    Raises:
        ValueError: it would be too long, or an array has a type that a message cannot have.
    """
    arrays = {name: np.ascontiguousarray(value).reshape(np.shape(value)) for name, value in (arrays or {}).items()}
    listed = [[name, value.dtype.name, list(value.shape)] for name, value in arrays.items()]
    for name, dtype, _ in listed:
        _check(dtype in TYPES, "array %s has type %s, which is none of %s", name, dtype, ", ".join(TYPES))
    text = json.dumps(dict(header, arrays=listed)).encode()
    parts = [struct.pack("<Q", len(text)), text]
    parts += [value.astype(value.dtype.newbyteorder("<"), copy=False).tobytes() for value in arrays.values()]
    length = sum(map(len, parts))
    _check(length <= LARGEST, "a message cannot have %d bytes", length)
    _check(len(text) <= LARGEST_TEXT, "the text of a message cannot have %d bytes", len(text))
    return b"".join([struct.pack("<Q", length)] + parts)


def unpack(stream):
    """(object, arrays) of the next message of a file; None at its end, which may also cut a message off.

    Raises:
        ValueError: the bytes are no message.
    """
    head = _next_bytes(stream, 8)
    if len(head) < 8:
        return None
    length = struct.unpack("<Q", head)[0]
    _check(8 <= length <= LARGEST, "a message cannot have %d bytes", length)
    content = _next_bytes(stream, length)
    if len(content) < length:
        return None
    size = struct.unpack_from("<Q", content)[0]
    _check(size <= min(length - 8, LARGEST_TEXT), "the text of a message of %d bytes cannot have %d", length, size)
    try:
        header = json.loads(content[8:8 + size].decode())
    except (ValueError, RecursionError) as error:
        raise ValueError("the text of a message is no JSON: %s" % error) from error
    _check(isinstance(header, dict), "the text of a message is no object")
    return header, _arrays(header.pop("arrays", []), memoryview(content)[8 + size:])


def _next_bytes(stream, count):
    """The next bytes of a file; fewer at its end."""
    if count <= PIECE:
        return stream.read(count)
    content = bytearray()
    while len(content) < count:
        piece = stream.read(min(PIECE, count - len(content)))
        if not piece:
            break
        content += piece
    return content


def _arrays(listed, content):
    """The arrays that a message lists; their elements are all of ``content``."""
    arrays, begin = {}, 0
    _check(isinstance(listed, list), "the arrays of a message are no list")
    for entry in listed:
        _check(isinstance(entry, list) and len(entry) == 3, "%r is no name, type and shape", entry)
        name, dtype, shape = entry
        _check(isinstance(name, str) and len(name) <= LONGEST_NAME, "%r is no name of an array", name)
        _check(name not in arrays, "there are two arrays %r", name)
        _check(isinstance(dtype, str) and dtype in TYPES, "array %r: there is no type %r", name, dtype)
        right = isinstance(shape, list) and len(shape) <= MOST_SIDES
        right = right and all(type(side) is int and 0 <= side <= LARGEST for side in shape)
        _check(right, "array %r: %r is no shape", name, shape)
        size = np.dtype(dtype).itemsize
        for side in shape:
            size *= side
        _check(size <= len(content) - begin, "array %r needs %d bytes, %d are left", name, size, len(content) - begin)
        elements = np.frombuffer(content[begin:begin + size], np.dtype(dtype).newbyteorder("<"))
        arrays[name] = elements.reshape(shape).astype(dtype)
        begin += size
    _check(begin == len(content), "%d bytes are behind the last array", len(content) - begin)
    return arrays


def _check(right, text, *values):
    if not right:
        raise ValueError(text % tuple(str(value)[:200] if isinstance(value, str) else value for value in values))


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
        start: returns the first message (an object) and ``run``; its own output cannot get into the answers. Where the
            message has ``pack``, ``run`` is from a list of programs to an answer for each: what ``run`` of one program
            would return, or the exception.
        forks: whether copies of the process answer, which have only run ``start``. Where one ends, the
            message ``{"ended": code}`` says so, and the next request, or ``{"restart": true}``, makes another one.
    """
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the implementation prints goes elsewhere
    hello, run = start()
    answers = _together(run) if "pack" in hello else _one_by_one(run)
    try:
        pipe.write(pack(dict(hello, protocol=PROTOCOL, forks=forks)))
        pipe.flush()
        if forks:
            _serve_by_copies(pipe, answers)
        else:
            _answer_all(sys.stdin.buffer, pipe, answers)
    except BrokenPipeError:  # nobody listens any more
        return


def _one_by_one(run):
    return lambda programs: (answer(run, program) for program in programs)


def _together(run):
    def known(found):
        if isinstance(found, Exception):
            raise found
        return found

    return lambda programs: (answer(known, found) for found in run(programs))


def _answer_all(requests, pipe, answers, done=None):
    """Answer requests until they end; say when each is done. ``answers`` is from programs to messages."""
    while True:
        message = unpack(requests)
        if message is None:
            return
        for each in answers(message[0]["programs"]):
            pipe.write(each)
            pipe.flush()
        if done is not None:
            os.write(done, b".")


def _serve_by_copies(pipe, answers):
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
        copy = copy or _Copy(pipe, answers)
        if not copy.does(pack(message[0])):
            pipe.write(pack({"ended": copy.end()}))
            pipe.flush()
            copy = None


class _Copy:
    """A copy of this process that answers requests."""

    def __init__(self, pipe, answers):
        theirs, self.requests = os.pipe()
        self.done, done = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                os.close(self.requests)
                os.close(self.done)
                if sys.platform == "linux":
                    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with this process
                _answer_all(os.fdopen(theirs, "rb"), pipe, answers, done)
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
